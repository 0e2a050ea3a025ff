package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"rnicmmu/sweep"
	"rnicmmu/verify/random"
)

type randomFlags struct {
	campaign random.Campaign
	asJSON   bool
}

func verifyRandomCommand() *cobra.Command {
	var f randomFlags
	c := &cobra.Command{
		Use:   "random [CONFIG]",
		Short: "run systems drawn from seeds with every check beside them",
		Long: "Draw a legal configuration from each seed, run it with the scoreboard and all\n" +
			"monitors beside it, and sort what fails by rule or message. What CONFIG, a YAML\n" +
			"file or the name of an embedded profile, sets is not drawn. Each bucket comes with\n" +
			"the command that runs its first seed, and with the smallest one that shows the same.",
		Example: "  rnicmmu verify random --seeds 1000\n" +
			"  rnicmmu verify random --seed 17\n" +
			"  rnicmmu verify random mine.yaml --seeds 100000 --out campaign --resume",
		Args: atMost("CONFIG"),
		RunE: f.run,
	}
	c.Flags().IntVar(&f.campaign.Seeds, "seeds", 100, "number of seeds; 1 where --seed is given alone")
	c.Flags().Uint32Var(&f.campaign.First, "seed", 1, "first seed, 32 bits")
	c.Flags().IntVar(&f.campaign.Jobs, "jobs", 0, "seeds at a time; 0: one a CPU")
	c.Flags().StringVar(&f.campaign.Dir, "out", "", "folder for seeds.csv and summary.json")
	c.Flags().BoolVar(&f.campaign.Resume, "resume", false, "go on with the campaign in --out, or begin it")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print summary.json on standard output")
	return c
}

func (f *randomFlags) run(c *cobra.Command, args []string) error {
	if err := f.check(c, args); err != nil {
		return err
	}
	sum, err := f.search(c.Context())
	if sum == nil {
		return err
	}
	if e := sum.Write(); e != nil {
		err = errors.Join(err, e)
	}
	if e := f.show(c.OutOrStdout(), sum); e != nil || err != nil {
		return errors.Join(err, e)
	}
	switch {
	case sum.Interrupted:
		return sweep.ErrInterrupted
	case len(sum.Buckets) > 0:
		return errViolation
	}
	return nil
}

func (f *randomFlags) check(c *cobra.Command, args []string) (err error) {
	k := &f.campaign
	given := c.Flags().Changed
	switch {
	case given("seed") && !given("seeds"):
		k.Seeds = 1
	case k.Seeds < 1:
		return fmt.Errorf("--seeds %d: 1 or more is due", k.Seeds)
	}
	switch {
	case k.Jobs < 0:
		return fmt.Errorf("--jobs %d: 0 (one a CPU) or more is due", k.Jobs)
	case k.Dir == "" && given("out"):
		return errors.New("--out: is empty; name a folder, or leave it out")
	case k.Resume && k.Dir == "":
		return errors.New("--resume: goes on with the campaign in a folder; name it by --out")
	}
	k.Name = strings.Join(args, "")
	if k.Base, err = sources(args); err != nil {
		return err
	}
	k.Base.Env, k.Base.IgnoreEnv = os.Environ(), []string{"RNICMMU_SHARED"}
	return nil
}

// search runs the seeds, then looks for the smallest command of each bucket.
func (f *randomFlags) search(ctx context.Context) (*random.Summary, error) {
	bar := newProgress("seeds")
	f.campaign.Finished = func(done, total, failures int) {
		bar.note(fmt.Sprintf("%d failures", failures))
		bar.set(uint64(done), uint64(total))
	}
	simulating.Store(true)
	sum, err := f.campaign.Run(ctx)
	bar.stop()
	if sum == nil || err != nil {
		return sum, err
	}
	if n := len(sum.Buckets); n > 0 && !sum.Interrupted {
		bar = newProgress("buckets shrunk")
		for i, b := range sum.Buckets {
			f.campaign.Shrink(ctx, b)
			bar.set(uint64(i+1), uint64(n))
		}
		bar.stop()
	}
	return sum, nil
}

func (f *randomFlags) show(w io.Writer, sum *random.Summary) error {
	if f.asJSON {
		text, err := sum.JSON()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	fmt.Fprintf(w, "%d of %d seeds from %d on: %d ok", sum.Done, sum.Seeds, sum.First, sum.Statuses[random.OK])
	for _, status := range []string{random.Violation, random.Failed, random.Stuck, random.Internal, random.Refused, random.Slow} {
		if n := sum.Statuses[status]; n > 0 {
			fmt.Fprintf(w, ", %d %s", n, status)
		}
	}
	fmt.Fprintln(w)
	for _, b := range sum.Buckets {
		fmt.Fprintf(w, "\n%s: %s (%d)\n  %s\n  %s\n", b.Status, b.Bucket, b.Count, b.What, b.Repro)
		if b.Minimal != "" {
			fmt.Fprintf(w, "  %s\n", b.Minimal)
		}
	}
	if f.campaign.Dir != "" {
		fmt.Fprintf(w, "\nresults in %s\n", f.campaign.Dir)
	}
	return nil
}
