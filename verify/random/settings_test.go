package random

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rnicmmu/configs"
)

// A seed is a configuration: the same in every process, and no two of a hundred
// are alike, nor are the runs that they give.
func TestSeedsDiffer(t *testing.T) {
	sets, hashes := map[string]uint32{}, map[string]uint32{}
	for seed := range uint32(100) {
		set := Settings(seed)
		if !slices.Equal(set, Settings(seed)) {
			t.Fatalf("seed %d gives two configurations", seed)
		}
		without := strings.Join(set[:len(set)-1], " ") // but for the seed itself
		if other, there := sets[without]; there {
			t.Errorf("seeds %d and %d give the same configuration", other, seed)
		}
		sets[without] = seed
		o := Run(context.Background(), configs.Sources{}, quick(set))
		if o.Hash == "" {
			continue // the run did not end
		}
		if other, there := hashes[o.Hash]; there {
			t.Errorf("seeds %d and %d give the same result", other, seed)
		}
		hashes[o.Hash] = seed
	}
	if len(hashes) < 95 {
		t.Errorf("%d of 100 seeds have a result", len(hashes))
	}
}

// quick is a configuration with few accesses.
func quick(set []string) []string { return append(slices.Clone(set), countKey+"20") }

// The bits of a seed above the 16th count, and so does the last.
func TestSeedsHave32Bits(t *testing.T) {
	seen := map[string]uint32{}
	for _, seed := range []uint32{0, 1, 1 << 16, 1 << 31, 1<<32 - 1, 1<<32 - 2} {
		set := Settings(seed)
		text := strings.Join(set[:len(set)-1], " ")
		if other, there := seen[text]; there {
			t.Errorf("seeds %d and %d are one", other, seed)
		}
		seen[text] = seed
	}
}

// Another process draws the same.
func TestSettingsInAnotherProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	out, err := exec.Command("go", "run", "./testdata/settings").Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(Settings(12345), "\n") + "\n"; string(out) != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

// What is fixed is not drawn, and decides about what goes with it.
func TestFixedIsNotDrawn(t *testing.T) {
	fixed := map[string]string{"scheme": "sva", "host.page": "2MiB", "workload.accesses": "7", "pcie.mps": "128B", "seed": "5"}
	for seed := range uint32(50) {
		set := SettingsBeside(fixed, seed)
		for _, s := range set {
			key, _, _ := strings.Cut(s, "=")
			if _, there := fixed[key]; there {
				t.Fatalf("seed %d draws %s", seed, s)
			}
		}
		if !slices.Contains(set, "tpt.mtt.line_entries=1") && slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, "tpt.mtt.line_entries=") }) {
			t.Errorf("seed %d: lines of several entries under sva: %v", seed, set)
		}
	}
}

// Every configuration that is drawn is legal.
func TestDrawnIsLegal(t *testing.T) {
	for seed := range uint32(300) {
		if err := legal(Settings(seed)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
