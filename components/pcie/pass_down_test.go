package pcie

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// race is a run in which the root port holds, behind completions that keep the
// line busy, a translation completion and then gets an Invalidate Request. It
// returns when the adapter has each.
func race(t *testing.T, policy string, seed uint64) (fill, invalidate clocked.Time) {
	t.Helper()
	r := newRig(t, func(s *rigSpec) { s.Pass, s.Seed, s.iommu, s.Lanes = policy, seed, true, 4 })
	translation := msg.DMA{Kind: msg.KindATS, PA: 1 << 33, Len: 8, Cookie: 1}
	r.clients[0].todo = []msg.DMA{read1(1<<32, 4096), translation}
	// Until memory's answers, 8 requests of 512 bytes and the translation, are all at
	// the root port.
	for at := ns; len(r.memory.got) < 9 || r.memory.done.Len() > 0; at += ns {
		r.runUntil(t, at)
	}
	if r.Root.answers.used() < 2 || len(r.clients[0].dones) > 0 {
		t.Fatalf("%d answers are at the root port, want some before the translation", r.Root.answers.used())
	}
	r.iommu.todo = []msg.Doorbell{{Message: true, Body: &msg.Invalidate{}}}
	r.run(t)
	for _, d := range r.clients[0].dones {
		if d.msg.Kind == msg.KindATS {
			fill = d.at
		}
	}
	if len(r.clients[0].bells) != 1 || fill == 0 {
		t.Fatalf("%+v, %+v, want a translation and an invalidation", r.clients[0].dones, r.clients[0].bells)
	}
	return fill, r.clients[0].bells[0].at
}

// The race of a fill with an invalidation can be forced both ways: a posted TLP
// may pass a completion (PCIe table 2-40, A5), and does under pass=always, so that
// the translation comes after the Invalidate Request that it is older than. Under
// pass=blocked it comes before. By lot it is either.
func TestFillAgainstInvalidate(t *testing.T) {
	if fill, invalidate := race(t, PassBlocked, 1); fill >= invalidate {
		t.Errorf("blocked: the translation comes at %v and the Invalidate Request at %v, want the older one first", fill, invalidate)
	}
	if fill, invalidate := race(t, PassAlways, 1); fill <= invalidate {
		t.Errorf("always: the translation comes at %v and the Invalidate Request at %v, want the younger one first", fill, invalidate)
	}
	var ways [2]int
	for seed := range uint64(20) {
		fill, invalidate := race(t, PassRandom, seed)
		if fill < invalidate {
			ways[0]++
		} else {
			ways[1]++
		}
	}
	if ways[0] == 0 || ways[1] == 0 {
		t.Errorf("random: the translation comes first %d times and last %d times, want both", ways[0], ways[1])
	}
}

// down is a TLP on its way to the adapter: when the root port had it and when
// the adapter has.
type down struct {
	accepted, seen clocked.Time
	packet         rules.Packet
}

// What passes what on the way down is what the table lets pass; under always and
// random something does, under blocked nothing.
func TestPassingDownFollowsTheTable(t *testing.T) {
	for _, policy := range []string{PassBlocked, PassAlways, PassRandom} {
		passed := 0
		rapid.Check(t, func(t *rapid.T) {
			tlps := downward(t, policy)
			for i := range tlps {
				for j := range i {
					later, earlier := &tlps[i], &tlps[j]
					if later.seen >= earlier.seen {
						continue
					}
					passed++
					if rules.MayPass(&later.packet, &earlier.packet) == rules.No {
						t.Fatalf("%+v came before %+v", *later, *earlier)
					}
				}
			}
		})
		if (policy == PassBlocked) != (passed == 0) {
			t.Errorf("%s: %d TLPs passed others", policy, passed)
		}
	}
}

// downward runs doorbells, messages and completions of one TLP each, on a line so
// slow that they meet, and lists them in the order of their acceptance: no more
// than the root port has places for, so that it takes them when they come.
func downward(t *rapid.T, policy string) (tlps []down) {
	r := newRig(t, func(s *rigSpec) {
		s.Pass, s.iommu, s.Lanes, s.Seed = policy, true, 1, rapid.Uint64().Draw(t, "seed")
		s.latency = clocked.Time(rapid.IntRange(1, 300).Draw(t, "latency")) * ns
	})
	for i := range rapid.IntRange(1, rootQueue).Draw(t, "reads") {
		r.clients[0].todo = append(r.clients[0].todo, msg.DMA{PA: 1<<32 + model.PA(i)<<12, Len: 64, Cookie: uint64(i)})
	}
	// Requests take 12 ns each to the root port; rings and messages come meanwhile.
	r.runUntil(t, clocked.Time(rapid.IntRange(1, 600).Draw(t, "start"))*ns)
	for i := range rapid.IntRange(0, rootQueue/2).Draw(t, "bells") {
		r.mmio.todo = append(r.mmio.todo, msg.Doorbell{Len: 8, Cookie: uint64(i)})
	}
	for i := range rapid.IntRange(0, rootQueue/2).Draw(t, "messages") {
		r.iommu.todo = append(r.iommu.todo, msg.Doorbell{Message: true, Cookie: uint64(i)})
	}
	r.run(t)
	c := r.clients[0]
	for i, m := range r.memory.got {
		k := slices.IndexFunc(c.dones, func(d seen[msg.DMADone]) bool { return d.msg.Cookie == m.msg.Cookie })
		tlps = append(tlps, down{m.at + r.memory.latency, c.dones[k].at, rules.Packet{Class: rules.Completion, Tag: uint16(i)}})
	}
	for _, b := range c.bells {
		at := r.mmio.rung
		if b.msg.Message {
			at = r.iommu.rung
		}
		// What is posted is taken before answers of its instant.
		tlps = append(tlps, down{at[b.msg.Cookie] + hop - 1, b.at, rules.Packet{Class: rules.Posted}})
	}
	slices.SortStableFunc(tlps, func(a, b down) int { return int(a.accepted - b.accepted) })
	return tlps
}
