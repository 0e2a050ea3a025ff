// Command rnicmmu models the memory-management unit of an RDMA NIC, the PCIe
// link that it talks over and the host that it must agree with.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"rnicmmu/platform"
	"rnicmmu/sweep"
)

// Exit statuses.
const (
	exitViolation = 1 // the run completed and a rule was broken
	exitUsage     = 2 // bad usage, configuration or input
	exitStopped   = 3 // the model stopped itself

	exitInterrupted = 130 // as a shell reports SIGINT
)

// errViolation says that a run completed with violations, which are printed.
var errViolation = errors.New("violation")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the program at once
		if !simulating.Load() {
			fmt.Fprintln(os.Stderr, sweep.ErrInterrupted)
			os.Exit(exitInterrupted)
		}
	})
	c, out := root(), &output{to: os.Stdout}
	c.SetOut(out)
	os.Exit(report(out.check(c.ExecuteContext(ctx))))
}

// output remembers the first error of writing to standard output: what did not
// arrive is no success, whichever line it was.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// check is the command's error, or else that of writing.
func (o *output) check(err error) error {
	if o.err != nil && (err == nil || errors.Is(err, errViolation)) {
		return o.err
	}
	return err
}

// simulating is set while there are results to keep; before, a signal ends the
// program at once.
var simulating atomic.Bool

// report prints an error for people and chooses the exit status.
func report(err error) int {
	var stuck *platform.Stuck
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errViolation):
		return exitViolation
	case errors.As(err, &stuck):
		fmt.Fprintln(os.Stderr, err)
		return exitStopped
	}
	fmt.Fprintln(os.Stderr, err)
	if errors.Is(err, sweep.ErrInterrupted) {
		return exitInterrupted
	}
	return exitUsage
}

const firstSteps = `rnicmmu models the memory-management unit of an RDMA NIC, per access.

Try first:

  rnicmmu run                  the default adapter under random writes, in seconds
  rnicmmu sweep tlb-size       miss rate and latency against the size of the translation cache

More:

  rnicmmu run --trace FILE     your own traffic: CSV, pcap, pcapng, lackey or Akita trace
  rnicmmu sweep paging-pressure  pinned beside on-demand paging under memory overcommit
  rnicmmu mrc FILE             misses of every cache size at once, without a simulation
  rnicmmu trace info FILE      what is in a trace or capture
  rnicmmu scenario FILE        directed scenarios: what happens when, and what must come of it
  rnicmmu calibrate            the PCIe link beside closed forms and measured machines
  rnicmmu run --verify         a run with its rules checked
  rnicmmu verify random        systems drawn from seeds, with their rules checked
  rnicmmu verify protocol      every state of the paging protocols
  rnicmmu decode tlp HEX       the fields of a TLP of ATS or PRI
  rnicmmu describe             every parameter with unit, range, default and source
  rnicmmu help COMMAND         flags and examples of a command
`

func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "rnicmmu",
		Short:         "cycle-level model of an RDMA NIC's memory-management unit",
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprint(c.OutOrStdout(), firstSteps)
			return nil
		},
	}
	c.SetVersionTemplate("{{.Version}}\n")
	c.CompletionOptions.HiddenDefaultCmd = true
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%s: %w; see %s --help", c.CommandPath(), flagError(err), c.CommandPath())
	})
	c.AddCommand(runCommand(), sweepCommand(), plotCommand(), mrcCommand(), traceCommand(), decodeCommand(), calibrateCommand(), scenarioCommand(), verifyCommand(), describeCommand())
	return c
}

// flagError words what is wrong with a number without naming the parser. No
// flag takes a number below 0.
func flagError(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	problem := "a whole number, 0 or more, is due"
	if errors.Is(number, strconv.ErrRange) {
		problem = "too large a number"
	}
	return errors.New(strings.TrimSuffix(err.Error(), number.Error()) + problem)
}

// noArgs refuses arguments of a command that takes none, naming the commands.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "; see " + c.CommandPath() + " --help"
	if s := c.SuggestionsFor(args[0]); len(s) > 0 {
		hint = fmt.Sprintf("; did you mean %s %s?", c.CommandPath(), s[0])
	}
	return fmt.Errorf("%s: unknown command %q%s", c.CommandPath(), args[0], hint)
}
