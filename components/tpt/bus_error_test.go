package tpt

import (
	"slices"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/mtt"
)

// final are the statuses of a read that ends without data.
var final = []msg.Status{msg.StatusUnsupported, msg.StatusAbort, msg.StatusRetry, msg.StatusPoisoned, msg.StatusTimeout}

// failing ends the n-th read of a kind, counted from 0, with a status.
func (s *sandwich) failing(kind msg.Kind, n int, status msg.Status) {
	s.status = func(m *msg.DMA) msg.Status {
		if m.Kind == kind {
			if n--; n == -1 {
				return status
			}
		}
		return msg.StatusSuccess
	}
}

// wantFailed asserts that the requests with these cookies failed at one time, all
// others got their page, nothing faulted, and all that each waited for is charged.
func (s *sandwich) wantFailed(what any, at clocked.Time, cookies ...uint64) {
	s.t.Helper()
	for _, a := range s.answers {
		r := s.requests[a.msg.Cookie]
		failed := slices.Contains(cookies, a.msg.Cookie)
		switch {
		case failed && (a.msg.Outcome != msg.OutcomeRemoteOp || a.at != at):
			s.t.Errorf("%v: %v: outcome %d at %v, want it failed at %v", what, r, a.msg.Outcome, a.at/cycle, at/cycle)
		case !failed && (a.msg.Outcome != msg.OutcomeOK || a.msg.PA != frame(uint64(r.Page))+64):
			s.t.Errorf("%v: %v: outcome %d, %#x", what, r, a.msg.Outcome, a.msg.PA)
		}
		if r.Ledger.Last != a.msg.At {
			s.t.Errorf("%v: %v is charged until %v, answered %v", what, r, r.Ledger.Last/cycle, a.msg.At/cycle)
		}
	}
	st := &s.unit.Stats
	if len(s.answers) != len(s.requests) || !s.unit.Idle() || st.FaultsRaised+st.PageRequests+uint64(len(s.events)+len(s.asked)) > 0 {
		s.t.Errorf("%v: %d answers to %d requests, %d faults, %v", what, len(s.answers), len(s.requests), st.FaultsRaised, s.unit.Waits())
	}
	if w := &st.Walked; w.Begun != w.Ended() || !identities(st.MTT) || !identities(st.MPT) {
		s.t.Errorf("%v: walks %+v, %+v, %+v", what, *w, st.MPT, st.MTT)
	}
}

// A protection entry that cannot be read: all who wait for it fail, those too that
// would wait for an absent page, and none looks at the translation table. Nothing
// is cached: the next request reads it again.
//
//	read 2, back 403, + 4 = 407
func TestProtectionEntryUnreadable(t *testing.T) {
	for _, status := range final {
		s := newSandwich(t, spec()).mapAll()
		s.failing(msg.KindMPT, 0, status)
		s.read(0, 0, 3)
		s.read(10*cycle, 1, 4).Hold = true
		m := s.read(20*cycle, 2, 3)
		m.Op, m.Write = model.OpWrite, true
		s.read(2000*cycle, 3, 3)
		s.run()
		s.wantFailed(status, 407*cycle, 0, 1, 2)
		st := &s.unit.Stats
		if c := &s.requests[0].Ledger.Causes; c[measure.CauseMPTMiss] != 402*cycle {
			t.Errorf("%v: charged %v", status, c)
		}
		if st.TableErrors != 1 || st.TableReads != 3 || st.MPT.Fills != 1 || st.MPT.Walks != 2 || st.MPT.Merged != 2 || st.MTT.Lookups != 1 {
			t.Errorf("%v: %d errors of %d reads, %+v, %+v", status, st.TableErrors, st.TableReads, st.MPT, st.MTT)
		}
	}
}

// A level of the translation table that cannot be read, inside or at the leaf,
// ends the walk there: all who joined it fail, those without a register go on when
// it is free, and nothing is cached. Page 9 brings the key in.
//
//	request 3000: level 0 back 3403, level 1 3805; + 4
func TestTableLevelUnreadable(t *testing.T) {
	for _, status := range final {
		for level, at := range []clocked.Time{3407, 3809} {
			sp := spec()
			sp.MTT.Levels, sp.MTT.MSHRs = 2, 1
			s := newSandwich(t, sp).mapAll()
			s.failing(msg.KindMTT, 2+level, status)
			s.read(0, 0, 9)
			s.read(3000*cycle, 1, 3)
			m := s.read(3010*cycle, 2, 3)
			m.Op, m.Write, m.Hold = model.OpWrite, true, true
			s.read(3020*cycle, 3, 4) // finds no register
			s.read(9000*cycle, 1, 3)
			s.run()
			s.wantFailed(status, at*cycle, 1, 2)
			st := &s.unit.Stats
			if c := &s.requests[1].Ledger.Causes; c[measure.CauseMTTMiss] != clocked.Time(402*(level+1))*cycle {
				t.Errorf("%v, level %d: charged %v", status, level, c)
			}
			if st.TableErrors != 1 || st.Walked.Failed != 1 || st.Walked.Filled != 3 || st.MTT.Fills != 3 || st.MTT.Merged != 1 {
				t.Errorf("%v, level %d: %d errors, walks %+v, %+v", status, level, st.TableErrors, st.Walked, st.MTT)
			}
		}
	}
}

// With a second level neither of the two keeps what could not be read.
func TestSecondLevelKeepsNoError(t *testing.T) {
	for _, kind := range []msg.Kind{msg.KindMPT, msg.KindMTT} {
		sp := spec()
		sp.MPT.L2Entries, sp.MTT.L2Entries = 32, 32
		sp.MPT.L2Latency, sp.MTT.L2Latency = 10, 10
		s := newSandwich(t, sp).mapAll()
		s.failing(kind, 0, msg.StatusPoisoned)
		s.read(0, 0, 3)
		s.read(5000*cycle, 1, 3)
		s.run()
		at := s.answers[0].at
		s.wantFailed(kind, at, 0)
		if st := &s.unit.Stats; st.TableErrors != 1 || st.MPT2.Fills != 1 || st.MTT2.Fills != 1 {
			t.Errorf("%v: %+v, %+v", kind, st.MPT2, st.MTT2)
		}
	}
}

// A command that touches what is being read makes no error good: the read is not
// repeated for who has waited.
func TestErrorOfAStaleRead(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	s.failing(msg.KindMTT, 1, msg.StatusTimeout)
	s.read(0, 0, 9)
	s.command(2850*cycle, &msg.Command{Op: msg.CmdFill, Entry: 3, Count: 1, Posts: 1, Write: true, PA: []model.PA{frame(3)}})
	s.read(3300*cycle, 1, 3) // read 3302, table changed about 3334, back 3703
	s.run()
	s.wantFailed("stale", 3707*cycle, 1)
	if st := &s.unit.Stats; st.MTT.Stales != 0 || st.TableErrors != 1 || st.Fills != 1 || s.acks[0].at > 3700*cycle {
		t.Errorf("%+v, acknowledged %v", st.MTT, s.acks[0].at/cycle)
	}
}

// A prefetch that cannot be read is dropped; a request that has joined it fails.
func TestPrefetchUnreadable(t *testing.T) {
	for _, joins := range []bool{false, true} {
		s := reading(t, "next_line", 1, 0)
		s.failing(msg.KindMTT, 1, msg.StatusPoisoned) // of page 1
		want := PrefetchStats{Issued: 1, Dropped: 1}
		if joins {
			s.read(500*cycle, 1, 1) // the walks begin 404, the prefetch is back 806
			s.read(9000*cycle, 1, 1)
			want = PrefetchStats{Issued: 2, Late: 1}
		}
		s.run()
		if joins {
			s.wantFailed("joined", s.answers[1].at, 1)
		} else {
			s.wantFailed("alone", 0)
		}
		if st := &s.unit.Stats; st.Prefetch != want || st.TableErrors != 1 {
			t.Errorf("joined %v: %+v, %d errors", joins, st.Prefetch, st.TableErrors)
		}
	}
}

// Behind an implicit region the root's key, its list's entry, or the child's key
// cannot be read.
func TestImplicitUnreadable(t *testing.T) {
	for n := range 3 {
		s := newSandwich(t, spec())
		s.openRoot()
		s.openChild(0)
		s.unit.Table().Set(3, mtt.Entry{PA: frame(3), Read: true, Present: true}.Encode())
		s.failing(msg.KindMPT, n, msg.StatusAbort)
		s.read(0, 0, 3)
		s.read(9000*cycle, 1, 3)
		s.run()
		s.wantFailed(n, clocked.Time(402*(n+1)+1)*cycle+s.unit.latency(&slot{via: via{root: uint32(n)}}), 0)
		if st := &s.unit.Stats; st.TableErrors != 1 || st.MPT.Fills != 3 {
			t.Errorf("entry %d: %d errors, %+v", n, st.TableErrors, st.MPT)
		}
	}
}

// ATS-3: a translation request that ends without a good completion grants nothing,
// whatever came with it: who waits for it fails, nothing is cached, and no page is
// asked for. The next request asks again.
func TestTranslationRequestFails(t *testing.T) {
	for _, status := range final {
		s := newSandwichIn(t, spec(), ATC).mapAll()
		good := s.space[3]
		bad := good
		bad.status = status
		s.space[3] = bad
		s.read(0, 0, 3).Hold = true
		m := s.read(500*cycle, 1, 3)
		m.Op, m.Write, m.Hold = model.OpWrite, true, true
		s.script = append(s.script, step{at: 1500 * cycle, act: func() { s.space[3] = good }})
		s.read(2000*cycle, 2, 3)
		s.run()
		s.wantFailed(status, 809*cycle, 0, 1)
		if c := &s.requests[0].Ledger.Causes; c[measure.CauseATS] != 402*cycle {
			t.Errorf("%v: charged %v", status, c)
		}
		if st := &s.unit.Stats; st.TranslationErrors != 1 || st.TranslationRequests != 2 || st.TableErrors != 0 || st.MTT.Fills != 1 || st.Walked.Failed != 1 {
			t.Errorf("%v: %d errors of %d, %+v", status, st.TranslationErrors, st.TranslationRequests, st.MTT)
		}
	}
}

// A fault is served, and the translation request behind it fails: what was held
// fails, once, and no page is asked for again.
func TestTranslationFailsAfterAFault(t *testing.T) {
	s := newSandwichIn(t, spec(), ATC)
	s.failing(msg.KindATS, 1, msg.StatusTimeout)
	s.read(0, 0, 3).Hold = true
	s.ring(2000*cycle, &msg.PageResponse{PageResponse: ats.PageResponse{PASID: process}})
	s.run()
	st := &s.unit.Stats
	if a := s.answers; len(a) != 1 || a[0].msg.Outcome != msg.OutcomeRemoteOp || st.PageRequests != 1 || st.FaultsResumed != 1 || !s.unit.Idle() {
		t.Errorf("%+v, %d page requests, %d faults resumed", a, st.PageRequests, st.FaultsResumed)
	}
}

// INV-9, ATS-8: a command that cannot be read is not executed, nor is any behind
// it, and none is acknowledged: to the kernel the adapter has hung, and the dump
// says why. What is cached goes on being served, and responses of the IOMMU are.
func TestCommandUnreadable(t *testing.T) {
	for _, status := range final {
		s := newSandwich(t, spec()).mapAll()
		s.failing(msg.KindCommand, 1, status)
		zap := func(page uint64) *msg.Command {
			return &msg.Command{Op: msg.CmdInvalidate, Entry: page, Count: 1, Posts: 1, Record: new(measure.Invalidation)}
		}
		s.read(0, 0, 3)
		s.command(1000*cycle, zap(9))
		s.command(2000*cycle, zap(3))
		s.command(3000*cycle, zap(5))
		s.read(8000*cycle, 1, 3)
		s.run()
		if len(s.acks) != 1 || s.acks[0].cmd.Entry != 9 || !s.unit.Table().Get(3).Present() || !s.unit.Table().Get(5).Present() {
			t.Errorf("%v: %d commands acknowledged", status, len(s.acks))
		}
		if a := s.answers; len(a) != 2 || a[1].msg.Outcome != msg.OutcomeOK || a[1].at != 8005*cycle {
			t.Errorf("%v: %+v", status, a)
		}
		waits := strings.Join(s.unit.Waits(), "\n")
		if s.unit.Idle() || !strings.Contains(waits, "command on entries 3+1 waits for nothing more, as it could not be read; 1 more are queued") {
			t.Errorf("%v: idle %v, %s", status, s.unit.Idle(), waits)
		}
	}
}
