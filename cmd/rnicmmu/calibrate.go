package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/spf13/cobra"

	"rnicmmu/calibrate"
	"rnicmmu/plots"
	"rnicmmu/sweep"
)

// calibrateFlags are the flags of calibrate as written.
type calibrateFlags struct {
	gens, lanes []int
	brief       bool
	out         string
	formats     []string
}

// pcieTarget is what can be calibrated.
const pcieTarget = "pcie"

func calibrateCommand() *cobra.Command {
	var f calibrateFlags
	c := &cobra.Command{
		Use:   "calibrate [TARGET]",
		Short: "the model beside closed forms and published measurements",
		Long: "Simulate what is known otherwise and print both side by side. TARGET is pcie, which has three parts:\n" +
			"payload bandwidth by transfer size of every link beside its closed form; the rules of sizing credits and\n" +
			"tags; latency and bandwidth by size of two measured machines. The status is 1 where a closed form is\n" +
			"missed by more than 1 %, a rule is not met, or a measurement is missed (5 % of a latency, 10 % of a\n" +
			"bandwidth) that is not named as an outlier with its reason. Nothing is written before all is compared.",
		Example: "  rnicmmu calibrate pcie\n" +
			"  rnicmmu calibrate pcie --gen 4,5 --lanes 16 --brief\n" +
			"  rnicmmu calibrate pcie --out out/calibration",
		Args: atMost("TARGET"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != pcieTarget {
				return fmt.Errorf("calibrate: unknown target %q; there is %s", args[0], pcieTarget)
			}
			if f.out == "" && c.Flags().Changed("out") {
				return errors.New("--out: is empty; name a folder, or leave it out")
			}
			return calibratePCIe(c.Context(), c.OutOrStdout(), &f)
		},
	}
	c.Flags().IntSliceVar(&f.gens, "gen", nil, "closed forms of these generations only, e.g. 4,5")
	c.Flags().IntSliceVar(&f.lanes, "lanes", nil, "closed forms of these widths only, e.g. 8,16")
	c.Flags().BoolVar(&f.brief, "brief", false, "print what is summed up and what is missed, not every row")
	c.Flags().StringVar(&f.out, "out", "", "folder for the tables as CSV, the machines as configurations, and figures")
	c.Flags().StringSliceVar(&f.formats, "format", []string{"png", "svg"}, "of the figures: svg, png or pdf; several with commas")
	return c
}

// calibration is everything that was compared.
type calibration struct {
	closed   []calibrate.ClosedRow
	checks   []calibrate.Check
	machines []*calibrate.Machine
	rows     [][]calibrate.Row // of each machine
}

func calibratePCIe(ctx context.Context, w io.Writer, f *calibrateFlags) error {
	widths, err := f.widths()
	if err != nil {
		return err
	}
	if err := plots.CheckFormats(f.formats); err != nil {
		return err
	}
	simulating.Store(true)
	c, err := compare(ctx, widths)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: calibrate keeps nothing of what had finished", sweep.ErrInterrupted)
	}
	if err != nil {
		return err
	}
	good := c.print(w, f.brief)
	if f.out != "" {
		if err := c.write(w, f); err != nil {
			return err
		}
	}
	if !good {
		fmt.Fprintln(w, "FAIL")
		return errViolation
	}
	return nil
}

// compare runs all simulations.
func compare(ctx context.Context, widths []calibrate.Width) (c calibration, err error) {
	c.machines = calibrate.Machines()
	closed := len(widths) * len(calibrate.Sizes()) * int(calibrate.NumTraffics)
	total, before := closed, closed
	for _, m := range c.machines {
		points, err := calibrate.Points(m.System)
		if err != nil {
			return c, err
		}
		total += len(points)
	}
	p := newProgress("simulations")
	defer p.stop()
	if c.closed, err = calibrate.CompareClosed(ctx, widths, calibrate.Sizes(), func(over int) { p.set(uint64(over), uint64(total)) }); err != nil {
		return c, err
	}
	if c.checks, err = calibrate.Checks(); err != nil {
		return c, err
	}
	for _, m := range c.machines {
		rows, err := m.Compare(ctx, nil, func(over int) { p.set(uint64(before+over), uint64(total)) })
		if err != nil {
			return c, fmt.Errorf("%s: %w", m.Profile, err)
		}
		before += len(rows)
		c.rows = append(c.rows, rows)
	}
	return c, nil
}

// widths are the links that the flags leave.
func (f *calibrateFlags) widths() ([]calibrate.Width, error) {
	all := calibrate.Widths()
	last := all[len(all)-1]
	for _, g := range f.gens {
		if g < 1 || g > last.Gen {
			return nil, fmt.Errorf("--gen %d: 1 to %d is due", g, last.Gen)
		}
	}
	for _, l := range f.lanes {
		if l < 1 || l > last.Lanes || bits.OnesCount(uint(l)) != 1 {
			return nil, fmt.Errorf("--lanes %d: 1, 2, 4, 8, 16 or 32 is due", l)
		}
	}
	return slices.DeleteFunc(all, func(w calibrate.Width) bool {
		return len(f.gens) > 0 && !slices.Contains(f.gens, w.Gen) || len(f.lanes) > 0 && !slices.Contains(f.lanes, w.Lanes)
	}), nil
}
