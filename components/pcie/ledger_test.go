package pcie

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// ledgers runs DMAs of one client, one in each cycle, and returns their ledgers.
func ledgers(t tb, todo []msg.DMA, options ...option) (r *rig, out []measure.Ledger) {
	t.Helper()
	r = newRig(t, append(options, withoutSKP)...)
	r.clients[0].start = 100 * cycle
	for i := range todo {
		todo[i].Ledger = &measure.Ledger{}
	}
	r.clients[0].todo = todo
	r.run(t)
	for i := range todo {
		out = append(out, *todo[i].Ledger)
	}
	return r, out
}

// What the second of two DMAs waits for is what is left of the first one's way
// when it is accepted, a cycle later, or when the line is free: of the round trip,
// where it needs its tag or completion space; of the loop of an UpdateFC or Ack,
// where it needs its credit or place in the replay buffer.
func TestWaitHasItsCause(t *testing.T) {
	spec := defaultSpec(t)
	read := roundTrip(&spec, high, 64, hop+400*ns)
	loop := func(bytes int64) clocked.Time {
		return serial(&spec, bytes) + serial(&spec, rules.DLLPBytes) + 2*spec.LinkLatency
	}
	for _, c := range []struct {
		what   string
		dma    msg.DMA
		change option
		cause  measure.Cause
		whole  clocked.Time
	}{
		{"tag", read1(high, 64), func(s *rigSpec) { s.Tags = 1 }, measure.CauseTag, read},
		{"buffer", read1(high, 512), func(s *rigSpec) { s.CompletionBuffer = 512 }, measure.CauseBuffer,
			serial(&spec, 24) + hop + 400*ns + serial(&spec, 2*276) + 2*spec.LinkLatency},
		{"header of a read", read1(high, 64), func(s *rigSpec) { s.Credits.NPH, s.Update.Every = 1, 1 }, measure.CauseCredit, loop(24)},
		{"header of a write", write1(high, 64), func(s *rigSpec) { s.Credits.PH, s.Update.Every = 1, 1 }, measure.CauseCredit, loop(88)},
		{"data of a write", write1(high, 256), func(s *rigSpec) { s.Credits.PD, s.Update.Every = 16, 1 }, measure.CauseCredit, loop(280)},
		{"replay buffer", write1(high, 64), func(s *rigSpec) { s.ReplayBuffer.TLPs, s.Ack.Every = 1, 1 }, measure.CauseReplay, loop(88)},
		{"replay buffer, read", read1(high, 64), func(s *rigSpec) { s.ReplayBuffer.TLPs, s.Ack.Every = 1, 1 }, measure.CauseReplay, loop(24)},
	} {
		_, l := ledgers(t, []msg.DMA{c.dma, c.dma}, c.change)
		own := clocked.Time(0) // a write's sending is its own
		free := cycle          // when the second can go, from the first one's start
		if c.dma.Write {
			own = serial(&spec, writeBytes(&spec, high, c.dma.Len))
			free = own - 1 // the line is free within that picosecond
		}
		for i, waits := range []clocked.Time{0, c.whole - free} {
			x := &l[i]
			if got := x.Causes[c.cause]; got != waits {
				t.Errorf("%s, DMA %d: %v charged to %v, want %v", c.what, i, got, c.cause, waits)
			}
			queue := cycle + own // a hop from the client
			if i == 1 {
				queue += free - cycle
			}
			if got := x.Causes[measure.CauseDMAQueue]; got != queue {
				t.Errorf("%s, DMA %d: %v charged to dma_queue, want %v", c.what, i, got, queue)
			}
			if got := x.Last - x.Sum(); got != 100*cycle+clocked.Time(i)*cycle {
				t.Errorf("%s, DMA %d: causes add up to the time since %v", c.what, i, got)
			}
			for _, cause := range []measure.Cause{measure.CauseCredit, measure.CauseTag, measure.CauseBuffer, measure.CauseReplay} {
				if cause != c.cause && x.Causes[cause] != 0 {
					t.Errorf("%s, DMA %d: %v charged to %v", c.what, i, x.Causes[cause], cause)
				}
			}
		}
	}
}

// The third of three reads with one tag waits for the rest of the first, then for
// all of the second but its sending, in which the link does not stand still.
func TestWaitBehindOthersThatWait(t *testing.T) {
	d := read1(high, 64)
	r, l := ledgers(t, []msg.DMA{d, d, d}, func(s *rigSpec) { s.Tags = 1 })
	read, request := roundTrip(&r.spec, high, 64, hop+400*ns), serial(&r.spec, 24)
	// A link that is free within a picosecond is taken at its beginning.
	tags, queue := l[2].Causes[measure.CauseTag], l[2].Causes[measure.CauseDMAQueue]
	if want := 2*read - 2*cycle - request; tags < want || tags > want+1 || tags+queue != 2*read-cycle {
		t.Errorf("%v charged to tag and %v to dma_queue, want %v and %v", tags, queue, want, cycle+request)
	}
	if s := r.Endpoint.Stats().Stalls; s[StallTag] != tags+cycle {
		t.Errorf("the link stood still for %v, want %v", s[StallTag], tags+cycle)
	}
}

// The time between a request's arrival at the root port and its place at the host is
// charged to iio: with one place in 100 ns, read number n waits for n of them but
// for those that the wire holds.
func TestWaitInTheRootPort(t *testing.T) {
	const pace, places, n = 100 * ns, 8, 20
	todo := make([]msg.DMA, n)
	for i := range todo {
		todo[i] = read1(high, 64)
	}
	r, l := ledgers(t, todo, func(s *rigSpec) { s.pace = pace })
	first := r.memory.got[0].at
	for i := range l {
		want := clocked.Time(0)
		if i > places {
			arrival := 101*cycle + clocked.Time(i)*cycle + serial(&r.spec, 24) + r.spec.LinkLatency
			want = first + clocked.Time(i-places)*pace + hop - arrival
		}
		if got := l[i].Causes[measure.CauseIIO]; i != places && got != want {
			t.Errorf("read %d: %v charged to iio, want %v", i, got, want)
		}
	}
}

// Whatever a DMA waits for, the causes of a read are the time until its data are
// there, two edges before its client sees that, and those of a write the time until
// its last byte is on the link; no cause has less than nothing.
func TestCausesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var todo []msg.DMA
		for i := range rapid.IntRange(1, 60).Draw(t, "n") {
			todo = append(todo, msg.DMA{Write: rapid.Bool().Draw(t, "write"), Cookie: uint64(i),
				PA: model.PA(rapid.Uint64Range(0, 1<<33).Draw(t, "pa")), Len: rapid.Uint32Range(1, 2000).Draw(t, "len")})
		}
		policy := rapid.SampledFrom([]string{PassBlocked, PassAlways, PassRandom}).Draw(t, "pass")
		r, l := ledgers(t, todo, tight, passes(policy), func(s *rigSpec) { s.doneLen = 64 })
		earliest, latest := make([]clocked.Time, len(l)), make([]clocked.Time, len(l)) // of the last charge
		for _, m := range r.memory.got {
			latest[m.msg.Cookie] = m.at - hop - r.spec.LinkLatency
		}
		for _, d := range r.clients[0].dones {
			earliest[d.msg.Cookie], latest[d.msg.Cookie] = d.at-2*cycle+1, d.at-cycle
		}
		for i := range l {
			for cause, spent := range l[i].Causes {
				if spent < 0 {
					t.Fatalf("DMA %d: %v charged to %v", i, spent, measure.Cause(cause))
				}
			}
			if opened := l[i].Last - l[i].Sum(); opened < 100*cycle || opened%cycle != 0 || l[i].Last > latest[i] || l[i].Last < earliest[i] {
				t.Fatalf("DMA %d: charged from %v to %v, want to %v to %v", i, opened, l[i].Last, earliest[i], latest[i])
			}
		}
		conserved(t, r)
	})
}
