package random

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rnicmmu/configs"
	"rnicmmu/platform"
	"rnicmmu/sweep"
)

// legal tells whether a configuration can be built.
func legal(set []string) error {
	var job sweep.Job
	if _, err := configs.Load(&job.Spec, configs.Sources{Set: set}); err != nil {
		return err
	}
	return job.Check()
}

// Numbers, times and addresses do not split a bucket.
func TestBuckets(t *testing.T) {
	for _, c := range [][2]string{
		{"watchdog: no access completed in 5s of simulated time", "watchdog: no access completed in N of simulated time"},
		{"internal error at 12.5us: page 17 at 0x3fa0, 64B", "internal error at N: page N at N, N"},
		{"pcie0: 3 TLPs", "pcieN: N TLPs"},
	} {
		if got := normalise(c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
	stuck := &platform.Stuck{Reason: "deadlock: nothing\nis left"}
	if o := (&meter{}).judge(nil, stuck); o.Status != Stuck || o.What != "deadlock: nothing" {
		t.Errorf("%+v", o)
	}
	if o := (&meter{}).judge(nil, &platform.Stuck{Reason: "internal error at 3ns: x"}); o.Status != Internal {
		t.Errorf("%+v", o)
	}
	if o := (&meter{}).judge(nil, errors.New("tpt.mtt.ways: 3 is odd")); o.Status != Refused {
		t.Errorf("%+v", o)
	}
}

// The culprits of a failure, and the fewest accesses that show it, are found
// among much that does not matter.
func TestShrinkFindsTheCulprits(t *testing.T) {
	set := []string{countKey + "117"}
	for i := range 60 {
		set = append(set, fmt.Sprintf("key%d=1", i))
	}
	tries := 0
	same := func(s []string) bool {
		tries++
		i := slices.IndexFunc(s, func(x string) bool { return strings.HasPrefix(x, countKey) })
		var n int
		if i < 0 {
			n = 1_000_000
		} else if _, err := fmt.Sscanf(s[i], countKey+"%d", &n); err != nil {
			t.Fatal(err)
		}
		return n >= 13 && slices.Contains(s, "key7=1") && slices.Contains(s, "key48=1")
	}
	got := Shrink(set, 300, same)
	if want := []string{countKey + "13", "key7=1", "key48=1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if tries > 120 {
		t.Errorf("%d tries", tries)
	}
	tries = 0
	if got := Shrink(set, 5, same); tries > 5 || !same(got) {
		t.Errorf("%d tries where 5 are allowed", tries)
	}
}

// fake is a campaign whose runs fail where a seed says so.
func fake(dir string, fails func(seed string) Outcome) (c *Campaign, ran func() []string) {
	var mu sync.Mutex
	var seeds []string
	c = &Campaign{First: 10, Seeds: 20, Jobs: 2, Dir: dir, run: func(_ context.Context, set []string) Outcome {
		mu.Lock()
		defer mu.Unlock()
		seed := set[len(set)-1]
		seeds = append(seeds, seed)
		return fails(seed)
	}}
	return c, func() []string { return seeds }
}

func someFail(seed string) Outcome {
	switch seed {
	case "seed=12", "seed=17", "seed=20":
		return Outcome{Status: Violation, Bucket: "X-1", What: "X-1 in " + seed}
	case "seed=13":
		return failure(Stuck, "watchdog: 5s, \"quoted\"")
	}
	return Outcome{Status: OK, Hash: seed}
}

// Failures are counted by bucket, and the first seed stands for each.
func TestCampaignSortsFailures(t *testing.T) {
	c, _ := fake("", someFail)
	sum, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if sum.Done != 20 || sum.Statuses[OK] != 16 || len(sum.Buckets) != 2 || sum.failures() != 4 {
		t.Fatalf("%+v", sum)
	}
	if b := sum.Buckets[0]; b.Bucket != "X-1" || b.Count != 3 || b.Seed != 12 || b.What != "X-1 in seed=12" || b.Repro != "rnicmmu verify random --seed 12" {
		t.Errorf("%+v", b)
	}
}

// A killed campaign goes on: a cut row is dropped, what is there is not run
// again, and the summary is that of a campaign that was never interrupted.
func TestCampaignResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaign")
	c, _ := fake(dir, someFail)
	whole, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, SeedsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:8], "")+lines[8][:5]), 0o666); err != nil {
		t.Fatal(err)
	}
	again, ran := fake(dir, someFail)
	if _, err := again.Run(context.Background()); err == nil {
		t.Error("a folder that holds a campaign is taken without --resume")
	}
	again.Resume = true
	sum, err := again.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(ran()) != 13 {
		t.Errorf("%d seeds ran again, want the 13 that are missing", len(ran()))
	}
	a, _ := whole.JSON()
	if b, _ := sum.JSON(); string(a) != string(b) {
		t.Errorf("resumed:\n%s\nwhole:\n%s", b, a)
	}
	other, _ := fake(dir, someFail)
	other.Resume, other.Base = true, configs.Sources{Set: []string{"scheme=sva"}}
	if _, err := other.Run(context.Background()); err == nil {
		t.Error("a campaign of another configuration is gone on with")
	}
}

// A cancelled campaign keeps what it has.
func TestCampaignStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c, _ := fake(t.TempDir(), someFail)
	c.Jobs = 1
	c.Finished = func(done, _, _ int) {
		if done == 5 {
			cancel()
		}
	}
	sum, err := c.Run(ctx)
	if err != nil || !sum.Interrupted || sum.Done < 5 || sum.Done > 7 {
		t.Errorf("%v: %+v", err, sum)
	}
}

// A panic in a check is an outcome, and the campaign goes on.
func TestRunNeverPanics(t *testing.T) {
	o := Run(context.Background(), configs.Sources{}, []string{"workload.accesses=1000000000", "workload.working_set=1B", "scheme=nonsense"})
	if o.Status != Refused || o.Bucket == "" {
		t.Errorf("%+v", o)
	}
}
