package tpt

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

const rigPages = 12

func rigSpec(t *rapid.T) Spec {
	pick := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
	sp := spec()
	sp.LookupCycles = pick("lookup", 1, 4)
	sp.Tables = rapid.SampledFrom([]string{"host", "host", "onboard"}).Draw(t, "tables")
	sp.InFlight = pick("in_flight", 2, 5, 64)
	sp.MPT.MSHRs, sp.MPT.Entries = pick("key_walks", 1, 4), 1
	sp.MTT = MTTSpec{Entries: 8, Ways: pick("ways", 0, 1, 2), LineEntries: pick("line", 1, 2, 4), MSHRs: pick("walks", 1, 2, 8), Levels: pick("levels", 1, 3),
		Index:       rapid.SampledFrom([]string{"entry", "page"}).Draw(t, "index"),
		Replacement: rapid.SampledFrom([]string{"lru", "fifo", "random"}).Draw(t, "policy")}
	sp.Fault.QueueDepth, sp.Fault.MaxOutstanding = pick("event_queue", 1, 4), pick("max_faults", 1, 4)
	sp.Command = CommandSpec{Fill: clocked.Time(pick("fill", 0, 80)) * cycle, Invalidate: clocked.Time(pick("invalidate", 0, 160)) * cycle}
	sp.Invalidation.QueueDepth = pick("commands", 2, 8)
	return sp
}

// touches tells whether a command changes a page's entry.
func (c *issued) touches(page uint32) bool {
	return c.cmd.Op != msg.CmdResume && uint64(page) >= c.cmd.Entry && uint64(page) < c.cmd.Entry+uint64(c.cmd.Count)
}

// allows tells whether the entry that the command leaves serves the request.
func (c *issued) allows(m *msg.Translate) bool {
	return c.cmd.Op == msg.CmdFill && (!m.Write || c.cmd.Write)
}

// check holds an answer against the states that the page's entry can have had
// from the request on: those after each command sent by now, from the last one
// acknowledged before the request.
func (r *rig) check(now clocked.Time, x *tracked, m *msg.Translation) {
	l := &x.ledger
	if l.Last != m.At || l.Sum() != m.At-x.sent || m.At > now || slices.Min(l.Causes[:]) < 0 {
		r.fail(now, "request %d sent %v, answered %v: ledger %+v", m.Cookie, x.sent, m.At, *l)
	}
	if wrongKey := x.req.Key != uint32(r.key); wrongKey || m.Outcome == msg.OutcomeRemoteAccess {
		if !wrongKey || m.Outcome != msg.OutcomeRemoteAccess {
			r.fail(now, "request %d: outcome %d, wrong key %v", m.Cookie, m.Outcome, wrongKey)
		}
		return
	}
	canMiss := true // absent at the start
	given := -1
	for i, c := range r.history {
		if !c.touches(x.req.Page) {
			continue
		}
		if c.acked > 0 && c.acked <= x.sent {
			canMiss, given = false, -1
		}
		canMiss = canMiss || !c.allows(&x.req)
		if m.Outcome == msg.OutcomeOK && c.allows(&x.req) && c.cmd.PA[0] == m.PA {
			given = i
		}
	}
	switch m.Outcome {
	case msg.OutcomeOK:
		if x.state = given; given < 0 {
			r.fail(now, "request %d for page %d: frame %#x was never its, or no more when it asked", m.Cookie, x.req.Page, m.PA)
			x.state = len(r.history)
			return
		}
		r.checkRevoked(now, x, "given")
	case msg.OutcomeAbsent:
		if !canMiss {
			r.fail(now, "request %d for page %d: absent, but it was there all the time", m.Cookie, x.req.Page)
		}
	case msg.OutcomeRemoteOp:
		if !r.failed[x.req.QP] {
			r.fail(now, "request %d: failed, but no fault of QP %d did", m.Cookie, x.req.QP)
		}
	}
}

// checkRevoked is INV-1: no translation is out that an acknowledged
// invalidation has called back.
func (r *rig) checkRevoked(now clocked.Time, x *tracked, what string) {
	for i := x.state + 1; i < len(r.history); i++ {
		if c := r.history[i]; c.cmd.Op == msg.CmdInvalidate && c.acked > 0 && c.touches(x.req.Page) {
			r.fail(now, "page %d at %#x is %s after its invalidation was acknowledged at %v", x.req.Page, r.history[x.state].cmd.PA[0], what, c.acked)
		}
	}
}

// run simulates to the end and checks what must hold then.
func (r *rig) run(t *rapid.T, sp *Spec) (transcript string, stats Stats) {
	if err := r.engine.Run(); err != nil {
		t.Fatal(err)
	}
	now := r.engine.Now()
	u := r.unit
	if !u.Idle() || len(u.Waits()) > 0 || len(r.work)+len(r.bells)+len(r.held) > 0 {
		r.fail(now, "not at rest: %v; %d requests, %d commands, %d translations left", u.Waits(), len(r.work), len(r.bells), len(r.held))
	}
	for i, x := range r.requests {
		if x.answers != 1 {
			r.fail(now, "request %d answered %d times", i, x.answers)
		}
	}
	for _, c := range r.history {
		if c.acked == 0 {
			r.fail(now, "command %+v never acknowledged", *c.cmd)
		}
	}
	s := u.Stats
	for _, c := range []CacheStats{s.MPT, s.MTT} {
		if c.Lookups != c.Hits+c.Misses || c.Misses != c.Walks+c.Merged || c.Evictions > c.Fills {
			r.fail(now, "counters %+v", c)
		}
	}
	if s.FaultsRaised != s.FaultsResumed+s.FaultsFailed || s.FaultsRaised != r.events {
		r.fail(now, "%d events, counters %+v", r.events, s)
	}
	if r.most > 2*sp.InFlight+1 { // a translation and its revocation each, and one refusal
		r.fail(now, "%d results waited for the responder, %d are in flight at most", r.most, sp.InFlight)
	}
	if len(r.broken) > 0 {
		t.Fatal(strings.Join(r.broken, "\n"))
	}
	return r.logs[0].String() + r.logs[1].String(), s
}

// Random requests, commands and delays: every request is answered once, with a
// state that the page had; no translation outlives its invalidation; ledgers
// and counters are exact; everything comes to rest. And the same happens, to the
// picosecond, whatever the order of ticks and however often the unit ticks.
func TestRandomTraffic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := rigSpec(t)
		seed := rapid.Uint64().Draw(t, "seed")
		want, stats := newRig(t, sp, seed, 0, false).run(t, &sp)
		for i := range uint64(3) {
			got, s := newRig(t, sp, seed, i+1, i > 0).run(t, &sp)
			if got != want || s != stats {
				t.Fatalf("ticked in order %d: the transcript differs", i)
			}
		}
	})
}
