package iommu

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
)

func rigSpec(t *rapid.T) Spec {
	pick := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
	s := defaultSpec(t)
	s.IOTLBEntries = pick("iotlb_entries", 1, 4, 8)
	s.IOTLBWays = pick("iotlb_ways", 0, 1)
	s.IOTLBReplacement = rapid.SampledFrom([]string{"lru", "fifo", "random"}).Draw(t, "policy")
	s.PSCEntries = pick("psc_entries", 1, 2, 32)
	s.ContextEntries = pick("context_entries", 1, 4)
	s.Slots = pick("slots", 2, 5, 64)
	s.Walkers = pick("walkers", 1, 2, 5)
	s.WalkOverhead = clocked.Time(pick("overhead", 0, 20, 208)) * ns
	s.HitLatency = clocked.Time(pick("hit", 1, 7)) * ns
	s.CommandTime = clocked.Time(pick("command", 0, 50, 686)) * ns
	s.ATSDepth = pick("ats_depth", 1, 2, 32)
	s.SetAccessed = rapid.Bool().Draw(t, "set_accessed")
	return s
}

// INV-1, INV-3, ATS-1: whatever the parameters, latencies and the order of
// ticks, a transfer ends with a translation that the kernel has not fenced, in
// the page that it meant and with its rights; translations given out are not
// older than the IOTLB invalidation before; posted requests leave in order and
// no read passes them; absent is answered only where a page was absent; every
// read is answered once and every store placed or counted as dropped. Adapters have
// a root port each or share one.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, seed := rigSpec(t), rapid.Uint64Max(1<<20).Draw(t, "seed")
		shared := rapid.Bool().Draw(t, "shared")
		first := newRig(t, spec, seed, 0, false, shared)
		first.finish()
		if len(first.broken) > 0 {
			t.Fatalf("%s", strings.Join(first.broken, "\n"))
		}
		other := newRig(t, spec, seed, seed+1, true, shared)
		other.finish()
		if a, b := first.transcript(), other.transcript(); a != b {
			t.Fatalf("the order of ticks shows:\n%s\n---\n%s", a, b)
		}
	})
}
