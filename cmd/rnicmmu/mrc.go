package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rnicmmu/configs"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/sweep/mrc"
)

// curveFlags are the flags of mrc as written.
type curveFlags struct {
	page, ways, policy string
	entries            []int
	accesses           uint64
}

func mrcCommand() *cobra.Command {
	var f curveFlags
	c := &cobra.Command{
		Use:   "mrc TRACE",
		Short: "exact misses of a trace against the size of the translation cache",
		Long: "Print, as CSV, how often the page references of a trace or capture miss in caches of\n" +
			"many sizes, without timing. An access makes one reference to each page that it spans;\n" +
			"a page's set is its number modulo the sets. SENDs name no address and are left out.\n" +
			"In a cache of one way there is no choice to make: its policy is printed as direct.",
		Example: "  rnicmmu mrc redis\n" +
			"  rnicmmu mrc capture.pcap --page 2MiB --ways 4 --policy fifo --entries 16,64,256",
		Args: exactly("TRACE"),
		RunE: func(c *cobra.Command, args []string) error {
			return drawCurve(c.OutOrStdout(), args[0], &f)
		},
	}
	c.Flags().StringVar(&f.page, "page", "4KiB", "page size, a power of two from 4KiB")
	c.Flags().StringVar(&f.ways, "ways", "full", "ways of a set: full (one set), 1, 2, 4, 8, …")
	c.Flags().StringVar(&f.policy, "policy", "lru", "replacement: lru or fifo")
	c.Flags().IntSliceVar(&f.entries, "entries", nil,
		"sizes in entries of one page, e.g. 64,1024 (default powers of two from 64 until all pages fit)")
	c.Flags().Uint64Var(&f.accesses, "accesses", 0, "take the first N accesses only; 0 is all")
	return c
}

func drawCurve(w io.Writer, name string, f *curveFlags) error {
	shift, err := pageShift(f.page)
	if err != nil {
		return err
	}
	ways, err := parseWays(f.ways)
	if err != nil {
		return err
	}
	policy, err := cache.ParsePolicy(f.policy)
	if err != nil || policy != cache.LRU && policy != cache.FIFO {
		return fmt.Errorf("--policy %q: lru or fifo is due", f.policy)
	}
	if err := mrc.Check(policy, ways, f.entries); err != nil {
		return fmt.Errorf("--entries: %w", err)
	}
	refs, err := references(name, shift, f.accesses)
	if err != nil {
		return err
	}
	entries := f.entries
	if len(entries) == 0 {
		entries = mrc.DefaultEntries(refs.Pages(), ways)
	}
	points, err := mrc.Curve(refs, policy, ways, entries)
	if err != nil {
		return fmt.Errorf("%w; choose --entries", err)
	}
	label := f.policy
	if ways == 1 {
		label = "direct"
	}
	prefix := []string{traceName(name), strconv.FormatUint(shift.Bytes(), 10), strconv.Itoa(refs.Len()), label, f.ways}
	return printCurve(w, prefix, points, refs.Pages())
}

// references reads the page references of a trace and prints what was skipped.
func references(name string, shift model.PageShift, limit uint64) (*mrc.References, error) {
	trace, err := open(name)
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	refs, err := mrc.Read(trace, shift, limit)
	for _, line := range trace.Warnings() {
		fmt.Fprintln(os.Stderr, line)
	}
	if err != nil && trace.Err() == nil { // a trace's own errors name it
		err = fmt.Errorf("%s: %w", name, err)
	}
	return refs, err
}

func printCurve(w io.Writer, prefix []string, points []mrc.Point, cold int) error {
	out := csv.NewWriter(w)
	out.Write([]string{"trace", "page_bytes", "refs", "policy", "ways", "entries", "misses", "cold_misses"})
	for _, p := range points {
		row := append(prefix[:len(prefix):len(prefix)],
			strconv.Itoa(p.Entries), strconv.FormatUint(p.Misses, 10), strconv.Itoa(cold))
		out.Write(row)
	}
	out.Flush()
	return out.Error() // of any Write before, too
}

func pageShift(text string) (model.PageShift, error) {
	size, err := configs.ParseBytes(text)
	if err != nil {
		return 0, fmt.Errorf("--page %w", err)
	}
	if size < 4096 || bits.OnesCount64(uint64(size)) != 1 {
		return 0, fmt.Errorf("--page %s: a power of two from 4KiB is due", text)
	}
	return model.PageShift(bits.TrailingZeros64(uint64(size))), nil
}

// parseWays reads the number of ways; full is 0.
func parseWays(text string) (int, error) {
	if text == "full" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mrc.MaxEntries {
		return 0, fmt.Errorf("--ways %q: full or a number from 1 to %d is due", text, mrc.MaxEntries)
	}
	return n, nil
}

// traceName is the file's name without its folder and the suffixes that tell
// the format.
func traceName(path string) string {
	name := filepath.Base(path)
	for _, suffix := range []string{".gz", ".csv", ".pcap"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
