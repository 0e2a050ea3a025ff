package transport

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// RC-3: each of four pages of a WRITE costs an RNR NAK, and the budget is for
// one in a row: it comes back whenever a page is done.
func TestBudgetsComeBack(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRRetry, spec.QP.RNRTimer = 1, 1
	s := warm(t, spec)
	refused := map[model.VA]bool{}
	s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if refused[q.VA] {
			return msg.OutcomeOK
		}
		refused[q.VA] = true
		return msg.OutcomeAbsent
	}
	a := s.post(model.OpWrite, 0, 0x100000, 4*4096)
	s.run(t)
	if a.Status != measure.StatusOK || a.Counts.RNRNaks != 4 {
		t.Errorf("%v after %d NAKs", a.Status, a.Counts.RNRNaks)
	}
}

// FLT-6: each page of a WRITE of 7 pages, of a READ and of a SEND is absent
// when it is first looked up. Look-ups never go back, no page is absent twice,
// and every byte is moved once.
func TestCommittedBytes(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead, model.OpSend} {
		spec := testSpec(t)
		spec.QP.RNRTimer = 1
		s := warm(t, spec)
		r := watch(t, s, spec)
		n, va := uint32(6*4096), model.VA(0x100000)
		if op == model.OpSend {
			n, va = 16384, 1<<32
		}
		a := s.post(op, 0, va, n)
		r.access[&a.Counts] = a
		absent := map[uint64]int{}
		highest := uint64(0)
		s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
			page := model.Shift4K.Number(q.VA)
			if page < highest {
				t.Errorf("%v: page %#x looked up after %#x", op, page, highest)
			}
			highest = page
			if absent[page]++; absent[page] == 1 {
				return msg.OutcomeAbsent
			}
			return msg.OutcomeOK
		}
		s.run(t)
		pages := int(model.Shift4K.Span(va, uint64(n)))
		moved := r.written[a]
		if op == model.OpRead {
			moved = r.read[a]
		}
		if int(a.Counts.RNRNaks) != pages || len(absent) != pages || len(moved) != int(n) {
			t.Errorf("%v: %d NAKs for %d pages, %d of %d bytes moved", op, a.Counts.RNRNaks, pages, len(moved), n)
		}
		for b, times := range moved {
			if times != 1 {
				t.Errorf("%v: byte %#x moved %d times", op, b, times)
				break
			}
		}
	}
}

// RC-6, C7: while QP 0 waits 5.12 ms for its RNR timer (code 18), a WRITE of
// QP 1 takes as long as on an idle adapter. Where the page stays away QP 0 fails
// once, at the second NAK of a budget of one, and QP 1 lives on.
func TestRNRWaitHoldsNothing(t *testing.T) {
	for _, ready := range []clocked.Time{clocked.Millisecond, clocked.Second} {
		spec := testSpec(t)
		spec.QP.RNRTimer, spec.QP.RNRRetry, spec.QP.AckPoint = 18, 1, "receipt"
		s := warm(t, spec)
		s.post(model.OpWrite, 1, 0x10000, 8) // brings its context in
		s.run(t)
		s.tpt.decide = absentFor(0x20, ready)
		waits := s.post(model.OpWrite, 0, 0x20000, 64)
		var other *measure.Access
		s.down.seen = func(now clocked.Time, p *msg.Packet) {
			if rc.Syndrome(p.Syndrome).RNR() && other == nil {
				other = s.post(model.OpWrite, 1, 0x30000, 64)
				s.driver.outstanding = 2
				s.engine.Wake(s.driver.id, now+clocked.Millisecond)
			}
		}
		s.run(t)
		if got, want := other.Complete-other.Issue, untilNak(&spec)+ns; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		naks, status, dead := uint32(1), measure.StatusOK, uint64(0)
		if ready == clocked.Second {
			naks, status, dead = 2, measure.StatusRNRExceeded, 1
		}
		late := s.post(model.OpWrite, 1, 0x30000, 64)
		s.run(t)
		if waits.Counts.RNRNaks != naks || waits.Status != status || s.req.Stats.DeadQPs != dead || late.Status != measure.StatusOK {
			t.Errorf("%v after %d NAKs, %d dead QPs, the other's %v", waits.Status, waits.Counts.RNRNaks, s.req.Stats.DeadQPs, late.Status)
		}
	}
}

// RC-8: a READ of 40 packets and 40 WRITEs cross the end of the PSN space, which
// is 5 packets away, without a gap or a second sending.
func TestWrap(t *testing.T) {
	s := build(t, testSpec(t), 0)
	s.driver.outstanding = 41
	want := rc.PSN(firstPSN)
	s.up.seen = func(_ clocked.Time, p *msg.Packet) {
		if rc.PSN(p.PSN) != want || p.Resend {
			t.Errorf("%v has PSN %d, want %d", p.Op, p.PSN, want)
		}
		want = want.Add(rc.Span(p.Op, uint64(p.MsgLen), 4096))
	}
	s.post(model.OpRead, 0, 0x100000, 40*4096)
	for i := range 40 {
		s.post(model.OpWrite, 0, model.VA(0x200000+i*4096), 64)
	}
	s.run(t)
	if want != 75 || s.req.Stats.GoBacks+s.resp.Stats.Dropped != 0 {
		t.Errorf("last PSN %d, %+v", want, s.req.Stats)
	}
}

// C6: two SENDs find no receive buffer until one is posted after 25 us: each
// completes once and takes one receive.
func TestReceiveLate(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRTimer = 1
	s := warm(t, spec)
	s.driver.outstanding = 2
	for i := range s.resp.qps[0].repost {
		s.resp.qps[0].repost[i] = s.engine.Now() + 25*clocked.Microsecond
	}
	first := s.post(model.OpSend, 0, 0, 64)
	second := s.post(model.OpSend, 0, 0, 64)
	s.run(t)
	// Attempts 11.5 us apart, the first after 1 us: that after 24 is the third.
	if first.Counts.RNRNaks != 3 || second.Counts.RNRNaks != 0 || s.resp.Stats.RNRNoReceive != 3 {
		t.Errorf("%d and %d NAKs", first.Counts.RNRNaks, second.Counts.RNRNaks)
	}
	if n := s.host.count[msg.KindCQE]; n != 2 || s.resp.qps[0].buffer != 2 || s.driver.completions != 3 {
		t.Errorf("%d receives, next buffer %d, %d completions", n, s.resp.qps[0].buffer, s.driver.completions)
	}
}

// C10: of a READ of 4 packets the third response is lost. The replay asks for
// what is missing; where the key has died meanwhile it is refused, and nothing
// more is read.
func TestReplayedRead(t *testing.T) {
	for _, dead := range []bool{false, true} {
		spec := testSpec(t)
		spec.QP.AckTimeout = 4
		s := warm(t, spec)
		lost := false
		s.down.drop = func(p *msg.Packet) bool {
			third := !lost && p.Op == model.OpRead && rc.PSN(p.PSN) == rc.PSN(firstPSN).Add(3)
			lost = lost || third
			return third
		}
		s.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
			if dead && lost && q.CheckKey {
				return msg.OutcomeRemoteAccess
			}
			return msg.OutcomeOK
		}
		var asked []msg.Packet
		s.up.seen = func(_ clocked.Time, p *msg.Packet) { asked = append(asked, *p) }
		a := s.post(model.OpRead, 0, 0x100000, 4*4096)
		s.run(t)
		if again := asked[1]; len(asked) != 2 || again.VA != 0x102000 || again.MsgLen != 2*4096 {
			t.Errorf("asked again by %+v", again)
		}
		status, read, placed := measure.StatusOK, 6, 4
		if dead {
			status, read, placed = measure.StatusRemoteAccess, 4, 2
		}
		if a.Status != status || s.host.count[msg.KindData] != 1+read || s.peer.count[msg.KindData] != placed {
			t.Errorf("%v, %d transfers at the host, %d at the peer", a.Status, s.host.count[msg.KindData], s.peer.count[msg.KindData])
		}
	}
}

// D12: the third packet of a WRITE of 4 arrives first, and its page is absent.
// Placement out of order is not modelled: nothing of it is looked up or written
// before its turn, and nothing is lost.
func TestOutOfOrder(t *testing.T) {
	spec := testSpec(t)
	spec.QP.RNRTimer = 1
	s := warm(t, spec)
	drops := 0
	s.up.drop = func(p *msg.Packet) bool { drops++; return drops <= 2 }
	s.tpt.decide, s.tpt.record = absentFor(0x102, ns), true
	a := s.post(model.OpWrite, 0, 0x100000, 4*4096)
	s.run(t)
	var pages []uint64
	for _, q := range s.tpt.asked {
		pages = append(pages, model.Shift4K.Number(q.VA))
	}
	if want := []uint64{0x100, 0x101, 0x102, 0x102, 0x103}; !slices.Equal(pages, want) {
		t.Errorf("pages %x, want %x", pages, want)
	}
	if a.Status != measure.StatusOK || a.Counts.RNRNaks != 1 || s.resp.Stats.SequenceNaks != 1 || s.host.count[msg.KindData] != 1+4 {
		t.Errorf("%v, %d NAKs, %d transfers, %+v", a.Status, a.Counts.RNRNaks, s.host.count[msg.KindData], s.resp.Stats)
	}
}

// F22: every byte of an unaligned WRITE is written once, where it belongs, by
// the packet that carries it: what a transfer writes is known by its packet's
// number and its place in the page.
func TestBytesArrive(t *testing.T) {
	for _, n := range []uint32{256, 1000, 9000} {
		spec := testSpec(t)
		spec.QP.MTU, spec.TranslatePer = 256, "tlp"
		s := warm(t, spec)
		const base = model.VA(0x100f81)
		next := base
		a := s.post(model.OpWrite, 0, base, n)
		s.host.seen = func(_ clocked.Time, d *msg.DMA) {
			va, _, _ := user(d.PA)
			if va != next || d.Oracle.Page != uint32(va>>12) {
				t.Fatalf("%d B: transfer to %#x of page %#x, want %#x", n, va, d.Oracle.Page, next)
			}
			for i := range d.Len {
				if want := (a.ID+1)<<24 | uint64(uint32(va-base)+i)/256; d.Oracle.Write != want {
					t.Fatalf("%d B: byte %d written as %#x, want %#x", n, uint32(va-base)+i, d.Oracle.Write, want)
				}
			}
			next += model.VA(d.Len)
		}
		s.run(t)
		if next != base+model.VA(n) {
			t.Errorf("%d of %d bytes", next-base, n)
		}
	}
}
