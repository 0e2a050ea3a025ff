package transport

import (
	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// referee watches a sandwich's outside and holds it against the rules.
type referee struct {
	t        rapid.TB
	s        *sandwich
	spec     Spec
	access   map[*measure.Counts]*measure.Access
	written  map[*measure.Access]map[model.VA]int // times that each byte was written
	read     map[*measure.Access]map[model.VA]int
	atomics  map[*measure.Access]int
	writes   map[model.PA]write // the last write by the address of its proof
	last     map[place]uint64   // which access of a QP wrote there last
	receives map[uint64]int     // receive completions a QP
	quiet    []clocked.Time     // a QP may not send before
	told     []clocked.Time     // since
	order    map[uint32]uint64
}

// place is a byte of memory as a QP sees it.
type place struct {
	qp uint32
	va model.VA
}

// write is a transfer to user memory.
type write struct {
	access *measure.Access
	va     model.VA
	n      uint32
}

func watch(t rapid.TB, s *sandwich, spec Spec) *referee {
	r := &referee{t: t, s: s, spec: spec, access: map[*measure.Counts]*measure.Access{},
		written: map[*measure.Access]map[model.VA]int{}, read: map[*measure.Access]map[model.VA]int{},
		atomics: map[*measure.Access]int{}, writes: map[model.PA]write{}, last: map[place]uint64{}, receives: map[uint64]int{},
		quiet: make([]clocked.Time, spec.QPs), told: make([]clocked.Time, spec.QPs), order: map[uint32]uint64{}}
	s.host.seen = r.transfer
	s.down.seen = r.response
	s.up.seen = r.request
	complete := s.peer.seen
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindCQE {
			a := d.Body.(*measure.Access)
			if last, ok := r.order[a.QP]; ok && a.ID < last {
				t.Errorf("QP %d completes %d after %d", a.QP, a.ID, last)
			}
			r.order[a.QP] = a.ID
		}
		complete(now, d)
	}
	return r
}

func (r *referee) transfer(now clocked.Time, d *msg.DMA) {
	if d.Kind == msg.KindCQE {
		r.receive(uint32(d.Cookie))
	}
	va, _, ok := user(d.PA)
	if d.Kind != msg.KindData || !ok {
		return
	}
	a := r.access[d.Counts]
	if d.Write {
		a = r.s.driver.work[d.Oracle.Write>>24-1].Access
	}
	if model.Shift4K.Span(va, uint64(d.Len)) != 1 {
		r.t.Errorf("a transfer of %d bytes at %#x crosses a host page", d.Len, va)
	}
	if a.Op != model.OpSend && d.Oracle.Page != uint32(va>>12) {
		r.t.Errorf("transfer at %#x names page %#x", va, d.Oracle.Page)
	}
	into := r.read
	if d.Write {
		into = r.written
		r.writes[d.PA&^3] = write{a, va, d.Len}
		if a.Op.Atomic() {
			r.atomics[a]++
		}
	} else if a.Op == model.OpRead {
		r.behind(a, va, d.Len)
	}
	if into[a] == nil {
		into[a] = map[model.VA]int{}
	}
	for i := range d.Len {
		into[a][va+model.VA(i)]++
		if d.Write {
			r.last[place{a.QP, va + model.VA(i)}] = a.ID
		}
	}
}

// behind checks that what a READ reads of its QP's earlier WRITEs is written.
func (r *referee) behind(read *measure.Access, va model.VA, n uint32) {
	for _, w := range r.s.driver.work {
		if w.Op != model.OpWrite || w.QP != read.QP || w.Access.ID >= read.ID {
			continue
		}
		for b := max(va, w.VA); b < min(va+model.VA(n), w.VA+model.VA(w.Len)); b++ {
			if r.written[w.Access][b] == 0 {
				r.t.Errorf("READ %d reads %#x before WRITE %d has written it", read.ID, b, w.Access.ID)
				return
			}
		}
	}
}

// receive checks that the message of a receive completion is in memory.
func (r *referee) receive(qp uint32) {
	n := r.receives[uint64(qp)]
	r.receives[uint64(qp)]++
	for _, w := range r.s.driver.work {
		if w.Op != model.OpSend || w.QP != qp {
			continue
		}
		if n == 0 {
			r.covered(w.Access, r.written[w.Access], int(w.Len))
			return
		}
		n--
	}
}

// retry tells whether a read is answered with a retry: not the proof of an
// atomic's write, which would end the QP. Such a read, and the write before
// such a proof, has met no page.
func (r *referee) retry(d *msg.DMA, chance func() bool) bool {
	va, _, ok := user(d.PA)
	if !ok || d.Kind == msg.KindFlush && r.writes[d.PA&^3].access.Op.Atomic() || !chance() {
		return false
	}
	if d.Kind == msg.KindData {
		a := r.access[d.Counts]
		for i := range d.Len {
			unmark(r.read[a], va+model.VA(i))
		}
		return true
	}
	w := r.writes[d.PA&^3]
	for i := range w.n {
		unmark(r.written[w.access], w.va+model.VA(i))
	}
	return true
}

func unmark(bytes map[model.VA]int, va model.VA) {
	if bytes[va]--; bytes[va] == 0 {
		delete(bytes, va)
	}
}

// reads is how many READs and atomics a QP has outstanding.
func (r *referee) reads(qp uint32) int {
	if t, ok := r.s.req.protocol.(*iwarpRequester); ok {
		return t.streams[qp].reads
	}
	return r.s.req.protocol.(*rcRequester).sends[qp].rules.Reads()
}

// response notes RNR NAKs as the requester is about to see them.
func (r *referee) response(now clocked.Time, p *msg.Packet) {
	s := rc.Syndrome(p.Syndrome)
	if !s.RNR() {
		return
	}
	if rules := &r.s.req.protocol.(*rcRequester).sends[p.QP].rules; !rules.Waiting() && !rules.Failed() && rc.PSN(p.PSN) == rules.Oldest {
		r.told[p.QP] = now + ns
		r.quiet[p.QP] = now + ns + clocked.Time(rc.RNRDelay(s.Value()))
	}
}

// request checks that nothing left during an RNR wait, and the slots of READs.
func (r *referee) request(now clocked.Time, p *msg.Packet) {
	left := p.Arrived - r.spec.Network.Latency - r.spec.Adapter.TxPipeline - clocked.Time(p.WireLen)*80
	if left > r.told[p.QP] && left < r.quiet[p.QP] {
		r.t.Errorf("QP %d PSN %d left at %v, before its RNR wait ended at %v", p.QP, p.PSN, left, r.quiet[p.QP])
	}
	if n := r.reads(p.QP); n > r.spec.QP.MaxRdAtomic {
		r.t.Errorf("QP %d has %d READs outstanding", p.QP, n)
	}
}

// finish checks what was delivered.
func (r *referee) finish() {
	sends := map[uint64]int{}
	for _, a := range r.s.driver.finished {
		if a.Status != measure.StatusOK {
			continue
		}
		switch {
		case a.Op == model.OpSend:
			sends[uint64(a.QP)]++
			r.covered(a, r.written[a], int(a.Len))
		case a.Op.Atomic():
			if n := r.atomics[a]; n != 1 {
				r.t.Errorf("atomic %d executed %d times", a.ID, n)
			}
		case a.Op == model.OpRead:
			r.covered(a, r.read[a], int(a.Len))
		default:
			r.covered(a, r.written[a], int(a.Len))
			r.inOrder(a)
		}
	}
	for qp, n := range sends {
		if r.receives[qp] < n {
			r.t.Errorf("QP %d: %d SENDs, %d receives", qp, n, r.receives[qp])
		}
	}
	if !r.s.req.Idle() || !r.s.resp.Idle() || r.s.tpt.granted != 0 {
		r.t.Errorf("not idle: requester %v, responder %v, translations %d", r.s.req.Idle(), r.s.resp.Idle(), r.s.tpt.granted)
	}
}

// inOrder checks that no earlier write of the QP lies over a WRITE's bytes.
func (r *referee) inOrder(a *measure.Access) {
	for i := range a.Len {
		if id := r.last[place{a.QP, a.VA + model.VA(i)}]; id < a.ID {
			r.t.Errorf("WRITE %d, byte %d: overwritten by %d", a.ID, i, id)
			return
		}
	}
}

func (r *referee) covered(a *measure.Access, bytes map[model.VA]int, want int) {
	if len(bytes) != want {
		r.t.Errorf("%v %d: %d of %d bytes moved", a.Op, a.ID, len(bytes), want)
	}
	for va := range bytes {
		if a.Op != model.OpSend && (va < a.VA || va >= a.VA+model.VA(a.Len)) {
			r.t.Errorf("%v %d: byte %#x is outside", a.Op, a.ID, va)
			return
		}
	}
}
