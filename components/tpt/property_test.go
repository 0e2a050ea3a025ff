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

func rigSpec(t *rapid.T, mode Mode) Spec {
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
	sp.Command = CommandSpec{Fill: clocked.Time(pick("fill", 0, 80)) * cycle, Invalidate: clocked.Time(pick("invalidate", 0, 160)) * cycle,
		FastRegister: clocked.Time(pick("fast_register", 0, 20)) * cycle, LocalInvalidate: clocked.Time(pick("local_invalidate", 0, 40)) * cycle}
	sp.Invalidation.QueueDepth = pick("commands", 2, 8)
	if mode == ATC {
		sp.MTT.LineEntries = 1
		sp.PageRequests = pick("page_requests", 1, 3, 8)
		sp.Command.ATSInvalidate = clocked.Time(pick("ats_invalidate", 0, 40)) * cycle
		sp.PRI = PRISpec{Trigger: clocked.Time(pick("pri_trigger", 0, 40)) * cycle, Resume: clocked.Time(pick("pri_resume", 0, 20)) * cycle}
	}
	deepen(t, &sp)
	return sp
}

// check holds an answer against the states that the tables can have been in
// since the request was sent: from the one after the commands acknowledged by
// then to the one after all commands sent by now.
func (r *rig) check(now clocked.Time, x *tracked, m *msg.Translation) {
	l := &x.ledger
	if l.Last != m.At || l.Sum() != m.At-x.sent || m.At > now || slices.Min(l.Causes[:]) < 0 {
		r.fail(now, "request %d sent %v, answered %v: ledger %+v", m.Cookie, x.sent, m.At, *l)
	}
	if m.Outcome == msg.OutcomeRemoteOp {
		if !r.failed[x.req.QP] && r.erred == 0 {
			r.fail(now, "request %d: failed, but no read did, nor a fault of QP %d", m.Cookie, x.req.QP)
		}
		return
	}
	if m.Outcome == msg.OutcomeAbsent && r.unit.config.Mode == ATC {
		return // also of a page that came meanwhile: the answer to the request before it holds
	}
	for x.key = len(r.history); x.key >= x.after; x.key-- {
		switch permitted := r.oracle.permits(x.key, &x.req); {
		case permitted != msg.OutcomeOK && permitted == m.Outcome:
			return
		case permitted == msg.OutcomeOK && r.checkPage(now, x, m):
			return
		}
	}
	r.fail(now, "request %d for page %d: outcome %d, %#x, was never right since it was sent", m.Cookie, x.req.Page, m.Outcome, m.PA)
}

// checkPage does so for the page: in the state in which the key was checked, or,
// as a page table changes when the kernel changes it and a key when the adapter
// executes the command, in any one.
func (r *rig) checkPage(now clocked.Time, x *tracked, m *msg.Translation) bool {
	first, last := x.key, x.key
	if r.unit.config.Mode == ATC {
		first, last = x.after, len(r.history)
	}
	for x.state = last; x.state >= first; x.state-- {
		outcome, frame := r.oracle.translates(x.state, &x.req)
		if outcome == m.Outcome && frame == m.PA {
			if outcome == msg.OutcomeOK {
				r.checkRevoked(now, x, "given")
			}
			return true
		}
	}
	return false
}

// checkRevoked is INV-1, KEY-3 and FRW-1: no translation is out that an
// acknowledged command has called back.
func (r *rig) checkRevoked(now clocked.Time, x *tracked, what string) {
	for i, c := range r.history {
		since := x.state
		if c.cmd.Op == msg.CmdKey {
			since = x.key
		}
		if i >= since && c.acked && !c.refused && drains(c.cmd, &x.req) {
			r.fail(now, "page %d is %s after %+v was acknowledged", x.req.Page, what, *c.cmd)
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
	if r.acked != len(r.history) {
		r.fail(now, "command %+v never acknowledged", *r.history[r.acked].cmd)
	}
	s := u.Stats
	r.checkLevels(now)
	if s.FaultsRaised != s.FaultsResumed+s.FaultsFailed || s.FaultsRaised != r.events {
		r.fail(now, "%d events, counters %+v", r.events, s)
	}
	if got := s.TableErrors + s.TranslationErrors; got != uint64(r.erred) {
		r.fail(now, "%d reads failed, %d are counted", r.erred, got)
	}
	if r.most > 2*sp.InFlight+1 { // a translation and its revocation each, and one refusal
		r.fail(now, "%d results waited for the responder, %d are in flight at most", r.most, sp.InFlight)
	}
	if len(r.broken) > 0 {
		t.Fatal(strings.Join(r.broken, "\n"))
	}
	return r.logs[0].String() + r.logs[1].String(), s
}

// INV-1, INV-3, INV-5, FLT-1, FLT-5, FLT-8, KEY-3, FRW-1, FRW-6, SUS-2, SUS-3:
// random requests, commands and delays. Every request is answered once, by a
// state that the tables had while it was under way; no translation outlives the
// command that takes it back; ledgers and counters are exact; everything comes
// to rest. And the same happens, to the picosecond, whatever the order of ticks
// and however often the unit ticks.
func TestRandomTraffic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkTraffic(t, Table, false) })
}

// INV-1, INV-3, FLT-1, FLT-5, FLT-8, ATS-3, ATS-5, ATS-6, KEY-3: the same between
// an IOMMU and a kernel that changes its page table at random.
func TestRandomTranslationRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkTraffic(t, ATC, false) })
}

// INV-1, INV-3, FLT-1, ATS-3: the same where reads of the tables and translation
// requests end without data now and then: who waits for one is answered once,
// and what came with it serves nobody.
func TestRandomErrors(t *testing.T) {
	for _, mode := range []Mode{Table, ATC} {
		rapid.Check(t, func(t *rapid.T) { checkTraffic(t, mode, true) })
	}
}

func checkTraffic(t *rapid.T, mode Mode, errors bool) {
	sp := rigSpec(t, mode)
	seed := rapid.Uint64().Draw(t, "seed")
	run := func(shuffle uint64, spurious bool) (string, Stats) {
		r := newRig(t, sp, mode, seed, shuffle, spurious)
		r.errors = errors
		return r.run(t, &sp)
	}
	want, stats := run(0, false)
	for i := range uint64(3) {
		got, s := run(i+1, i > 0)
		if got != want || s != stats {
			t.Fatalf("ticked in order %d: the transcript differs", i)
		}
	}
}
