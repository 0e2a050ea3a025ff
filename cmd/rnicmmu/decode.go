package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rnicmmu/model"
	"rnicmmu/model/ats"
)

func decodeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "decode",
		Short: "read messages bit by bit",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(decodeTLPCommand())
	return c
}

func decodeTLPCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tlp HEX...",
		Short: "the fields of a TLP of address translation or page requests",
		Long: "Print the fields of one TLP of ATS or PRI: a translation request or its completion, an\n" +
			"Invalidate Request or its completion, a page request or the response to its group.\n" +
			"HEX is its bytes in the order of the link, from a PASID prefix or the header on, without\n" +
			"framing, sequence number and LCRC; groups of digits are put together, and 0x, _ and :\n" +
			"between them are left out. A digest may follow where the header says so.",
		Example: "  rnicmmu decode tlp 72000002 00080501 01000000 00000000 00000000 400ff800\n" +
			"  xargs -L 1 rnicmmu decode tlp < tlps.txt",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: HEX is due; see %s --help", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			b, err := parseHex(args)
			if err != nil {
				return err
			}
			m, ids, err := ats.DecodeTLP(b)
			if err != nil {
				return fmt.Errorf("%w; only TLPs of ATS and PRI are decoded", err)
			}
			return printTLP(c.OutOrStdout(), m, ids)
		},
	}
}

// parseHex puts groups of digits together.
func parseHex(groups []string) ([]byte, error) {
	var digits strings.Builder
	for _, g := range groups {
		for _, word := range strings.FieldsFunc(g, func(r rune) bool { return strings.ContainsRune(" \t\n_:,", r) }) {
			word, _ = strings.CutPrefix(strings.ToLower(word), "0x")
			digits.WriteString(word)
		}
	}
	b, err := hex.DecodeString(digits.String())
	var bad hex.InvalidByteError
	switch {
	case errors.As(err, &bad):
		return nil, fmt.Errorf("HEX: %q is no hexadecimal digit", rune(bad))
	case err != nil:
		return nil, fmt.Errorf("HEX: %d digits: two for each byte are due", digits.Len())
	}
	return b, nil
}

// fields writes names and values in two columns.
type fields struct{ *tabwriter.Writer }

func (f fields) add(name, format string, args ...any) {
	fmt.Fprintf(f, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
}

// begin names a message and its ends; one that is not routed by ID tells its
// sender only.
func (f fields) begin(what string, from uint16, to ...uint16) {
	fmt.Fprintln(f, what)
	f.add("from", "%s", idText(from))
	for _, id := range to {
		f.add("to", "%s", idText(id))
	}
}

func (f fields) pasid(p uint32) {
	if p != 0 {
		f.add("PASID", "%#x", p)
	}
}

// printTLP writes a message's fields, a line each.
func printTLP(w io.Writer, m any, ids ats.IDs) error {
	f := fields{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	switch m := m.(type) {
	case ats.TranslationRequest:
		printTranslationRequest(f, &m, ids)
	case ats.TranslationCompletion:
		printCompletion(f, &m, ids)
	case ats.InvalidateRequest:
		f.begin("invalidate request", ids.From, ids.To)
		f.add("ITag", "%d", m.ITag)
		f.pasid(m.PASID)
		f.add("range", "%s", rangeText(m.Range.Shift, uint64(m.Range.VA)))
		f.add("of every PASID", "%v", m.Global)
	case ats.InvalidateCompletion:
		f.begin("invalidate completion", ids.From, ids.To)
		f.add("ITags", "%s", itagText(m.ITags))
		f.add("completions", "%d for each", m.Count)
	case ats.PageRequest:
		printPageRequest(f, &m, ids)
	case ats.PageResponse:
		f.begin("page request group response", ids.From, ids.To)
		f.add("group", "%d", m.Group)
		f.pasid(m.PASID)
		f.add("code", "%d: %s", m.Code, codeText(m.Code))
	}
	return f.Flush()
}

func printTranslationRequest(f fields, m *ats.TranslationRequest, ids ats.IDs) {
	f.begin("translation request", ids.From)
	f.add("tag", "%#x", m.Tag)
	f.pasid(m.PASID)
	f.add("address", "%#x", uint64(m.VA))
	f.add("translations", "%d", m.Count)
	f.add("wanted", "%s", said(flag{true, "read"}, flag{!m.NoWrite, "write"}, flag{m.Execute, "execute"}, flag{m.Privileged, "privileged"}))
}

func printCompletion(f fields, m *ats.TranslationCompletion, ids ats.IDs) {
	f.begin("translation completion", ids.From, ids.To)
	f.add("tag", "%#x", m.Tag)
	f.add("status", "%d: %s", m.Status, statusText(m.Status))
	if m.Poisoned {
		f.add("poisoned", "the entries are not to be used")
	}
	f.add("byte count", "%d", m.Bytes)
	f.add("lower address", "%#x", m.Lower)
	for i, e := range m.Entries {
		f.add(fmt.Sprintf("entry %d", i), "%s: %s", rangeText(e.Shift, uint64(e.PA)), said(flag{e.Read, "read"}, flag{e.Write, "write"},
			flag{e.Execute, "execute"}, flag{e.Privileged, "privileged"}, flag{e.Untranslated, "untranslated requests only"},
			flag{e.Global, "global"}, flag{e.NoSnoop, "no snoop"}, flag{e.CXL, "CXL.io"}))
	}
}

func printPageRequest(f fields, m *ats.PageRequest, ids ats.IDs) {
	what := "page request"
	if m.StopMarker() {
		what = "stop marker"
	}
	f.begin(what, ids.From)
	f.add("group", "%d", m.Group)
	f.add("last of it", "%v", m.Last)
	f.pasid(m.PASID)
	f.add("address", "%#x", uint64(m.VA))
	f.add("wanted", "%s", said(flag{m.Read, "read"}, flag{m.Write, "write"}, flag{m.Execute, "execute"}, flag{m.Privileged, "privileged"}))
}

// flag is a word that is said where it is set.
type flag struct {
	set  bool
	word string
}

func said(flags ...flag) string {
	var words []string
	for _, f := range flags {
		if f.set {
			words = append(words, f.word)
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// idText is a requester ID as bus, device and function.
func idText(id uint16) string { return fmt.Sprintf("%02x:%02x.%d", id>>8, id>>3&31, id&7) }

// rangeText is a power of two of bytes at its place.
func rangeText(s model.PageShift, at uint64) string {
	if s >= 64 {
		return "the whole space"
	}
	return fmt.Sprintf("%d %ciB at %#x", 1<<(s%10), "?KMGTPE"[s/10], at)
}

func itagText(v uint32) string {
	var tags []string
	for ; v != 0; v &= v - 1 {
		tags = append(tags, fmt.Sprint(bits.TrailingZeros32(v)))
	}
	if len(tags) == 0 {
		return "none"
	}
	return strings.Join(tags, ", ")
}

func statusText(s ats.CompletionStatus) string {
	switch s {
	case ats.Successful:
		return "successful"
	case ats.CompleterAbort:
		return "completer abort"
	case ats.UnsupportedRequest:
		return "unsupported request"
	}
	return "reserved, counts as unsupported request"
}

func codeText(c ats.ResponseCode) string {
	switch c {
	case ats.ResponseSuccess:
		return "success"
	case ats.ResponseInvalid:
		return "invalid request"
	case ats.ResponseFailure:
		return "response failure"
	}
	return "reserved, counts as response failure"
}
