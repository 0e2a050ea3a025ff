// Package transport watches the queue pairs between a peer and an adapter.
//
//	driver ──work requests──▶ requester ──packets──▶ responder ──DMA──▶
//	       ◀──completions────           ◀──packets──
//
// What the packets say is taken when they are sent; it counts for their reader
// when that takes them.
package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/verify/monitor/dense"
	"rnicmmu/verify/rule"
)

// Config says what is watched.
type Config struct {
	Adapter  int
	TCP      bool
	MTU      uint32
	Retry    int
	RNRRetry int
	First    uint32       // of TCP: first byte of both streams
	Window   uint32       // of TCP, at the start
	Pipeline clocked.Time // from a packet's taking by the responder to its first check
	Slack    clocked.Time // how late a timer may be acted on
	Damming  bool         // requests are lost, by design
	Flood    bool         // READs do not wait for the delay, by design
}

// Monitor watches the queue pairs of an adapter and its peer.
type Monitor struct {
	config  Config
	log     *rule.Log
	excused bool
	qps     []queuePair
	there   ring // packets on the way to the responder
	back    ring
	atomics [atomicSlots]atomic
	watched bool // an atomic was sent
}

// atomicSlots is how many atomics are followed at once, by number of access.
const atomicSlots = 1 << 12

type atomic struct {
	id     uint64 // of the access, + 1
	stores int
}

// queuePair is what is known of a queue pair.
type queuePair struct {
	posts  []post // not completed, the oldest first
	sent   int    // of posts, those whose first packet left
	failed bool   // a completion with an error
	rc     connection
	out    stream   // requests
	in     stream   // responses
	reads  []uint64 // iWARP: accesses whose response has not begun
}

// post is a work request.
type post struct {
	id    uint64
	op    model.Op
	fence bool
	begun bool
	end   uint32 // PSN behind it
	n     uint32 // bytes
}

// seen is what a packet said.
type seen struct {
	qp, psn, seq, bytes, ack, window, span uint32
	op                                     model.Op
	syndrome                               uint8
}

// ring holds what packets on a wire said.
type ring struct {
	slots []seen
	head  int
	n     int
}

func (r *ring) push(s seen) {
	if r.n == len(r.slots) {
		grown := make([]seen, max(16, 2*len(r.slots)))
		for i := range r.n {
			grown[i] = r.slots[(r.head+i)%len(r.slots)]
		}
		r.slots, r.head = grown, 0
	}
	r.slots[(r.head+r.n)%len(r.slots)] = s
	r.n++
}

func (r *ring) pop() (s seen, ok bool) {
	if r.n == 0 {
		return s, false
	}
	s = r.slots[r.head]
	r.head = (r.head + 1) % len(r.slots)
	r.n--
	return s, true
}

// New watches queue pairs that have not begun.
func New(c Config, log *rule.Log) *Monitor { return &Monitor{config: c, log: log} }

// CutOff tells that the kernel has given the adapter up.
func (m *Monitor) CutOff() { m.excused = true }

func (m *Monitor) qp(n uint32) *queuePair {
	known := len(m.qps)
	q := dense.Slot(&m.qps, uint64(n))
	for i := known; i < len(m.qps); i++ {
		first := stream{high: m.config.First, acked: m.config.First, come: m.config.First, said: m.config.First, limit: m.config.First + m.config.Window}
		m.qps[i].out, m.qps[i].in = first, first
	}
	return q
}

// span is the sequence numbers that n bytes of an operation take.
func (m *Monitor) span(op model.Op, n uint32) uint32 {
	if op.Atomic() || n == 0 {
		return 1
	}
	return (n + m.config.MTU - 1) / m.config.MTU
}

// Post sees a work request leave the driver.
func (m *Monitor) Post(_ clocked.Time, d *msg.Doorbell) {
	if w, ok := d.Body.(*msg.WQE); ok {
		q := m.qp(w.QP)
		q.posts = append(q.posts, post{id: w.Access.ID, op: w.Op, fence: w.Fence, n: w.Len})
	}
}

// Request sees a packet leave the requester.
func (m *Monitor) Request(now clocked.Time, pp **msg.Packet) {
	p := *pp
	q := m.qp(p.QP)
	s := seenOf(p)
	s.span = 1
	if p.Op == model.OpRead {
		s.span = m.span(p.Op, p.MsgLen)
	}
	if m.config.TCP {
		m.segment(now, q, &q.out, p, false)
	} else {
		m.request(now, q, p, s.span)
	}
	m.there.push(s)
}

// begin sees the first packet of a request leave for the first time.
func (m *Monitor) begin(now clocked.Time, q *queuePair, p *msg.Packet) {
	if q.sent >= len(q.posts) || q.posts[q.sent].id != p.Access.ID {
		if !m.config.Damming {
			m.log.Report(Ordered, now, "adapter %d, queue pair %d: access %d begins, and is not the next", m.config.Adapter, p.QP, p.Access.ID)
		}
		return
	}
	w := &q.posts[q.sent]
	q.sent++
	w.begun, w.end = true, (p.PSN+m.span(w.op, w.n))&psnMask
	if w.fence && !m.config.TCP && len(q.rc.reads) > 0 {
		m.log.Report(Waited, now, "adapter %d, queue pair %d: access %d begins in front of %d READs and atomics", m.config.Adapter, p.QP, w.id, len(q.rc.reads))
	}
	if p.Op.Atomic() {
		m.watched = true
		m.atomics[p.Access.ID%atomicSlots] = atomic{id: p.Access.ID + 1}
	}
}

func seenOf(p *msg.Packet) seen {
	return seen{qp: p.QP, psn: p.PSN, op: p.Op, syndrome: p.Syndrome, seq: p.Segment.Seq, bytes: p.Segment.Bytes, ack: p.Segment.Ack, window: p.Segment.Window}
}

// Requested sees the responder take a packet.
func (m *Monitor) Requested(now clocked.Time, p **msg.Packet) {
	s, ok := m.there.pop()
	if !ok || (*p).Lost {
		return
	}
	q := m.qp(s.qp)
	if m.config.TCP {
		q.out.arrive(s.seq, s.bytes)
		q.in.heed(now, now+m.config.Pipeline, s.ack, s.window)
		return
	}
	if end := (s.psn + s.span) & psnMask; diff(end, q.rc.arrived) > 0 {
		q.rc.arrived = end
	}
}

// Response sees a packet leave the responder.
func (m *Monitor) Response(now clocked.Time, pp **msg.Packet) {
	p := *pp
	q := m.qp(p.QP)
	if m.config.TCP {
		m.segment(now, q, &q.in, p, true)
	} else {
		m.response(now, q, p)
	}
	m.back.push(seenOf(p))
}

// Responded sees the requester take a packet.
func (m *Monitor) Responded(now clocked.Time, p **msg.Packet) {
	s, ok := m.back.pop()
	if !ok || (*p).Lost {
		return
	}
	q := m.qp(s.qp)
	if m.config.TCP {
		q.in.arrive(s.seq, s.bytes)
		q.out.acknowledge(s.ack, s.window)
		return
	}
	m.take(now, &q.rc, &s)
}

// Completion sees a completion entry leave the requester.
func (m *Monitor) Completion(now clocked.Time, d *msg.DMA) {
	a, ok := d.Body.(*measure.Access)
	if d.Kind != msg.KindCQE || !ok {
		return
	}
	q := m.qp(a.QP)
	if len(q.posts) == 0 || q.posts[0].id != a.ID {
		m.log.Report(Completed, now, "adapter %d, queue pair %d: access %d completes, and is not the oldest", m.config.Adapter, a.QP, a.ID)
		return
	}
	w := q.posts[0]
	q.posts = q.posts[:copy(q.posts, q.posts[1:])]
	if q.sent > 0 {
		q.sent--
	}
	switch {
	case q.failed && a.Status != measure.StatusFlushed:
		m.log.Report(Flushed, now, "adapter %d, queue pair %d: access %d ends as %v behind a failure", m.config.Adapter, a.QP, a.ID, a.Status)
	case a.Status != measure.StatusOK:
		q.failed = true
	case !m.config.TCP && (!w.begun || diff(w.end, q.rc.oldest) > 0) && !m.config.Damming:
		m.log.Report(Acknowledged, now, "adapter %d, queue pair %d: access %d ends well, and is not acknowledged", m.config.Adapter, a.QP, a.ID)
	}
}

// Data sees a transfer of the responder's.
func (m *Monitor) Data(now clocked.Time, d *msg.DMA) {
	if !m.watched || !d.Write || d.Kind != msg.KindData || d.Oracle.Page == msg.NoPage || d.Oracle.Write>>24 == 0 {
		return
	}
	id := d.Oracle.Write>>24 - 1
	if t := &m.atomics[id%atomicSlots]; t.id == id+1 {
		if t.stores++; t.stores > 1 {
			m.log.Report(Single, now, "adapter %d: the atomic of access %d stores for time %d", m.config.Adapter, id, t.stores)
		}
	}
}

// Finish reports what is due at rest.
func (m *Monitor) Finish(now clocked.Time, rest bool) {
	if !rest {
		return
	}
	for i := range m.qps {
		q := &m.qps[i]
		for _, w := range q.posts {
			m.log.Report(Completed, now, "adapter %d, queue pair %d: access %d does not complete", m.config.Adapter, i, w.id)
		}
		q.in.look(clocked.Never)
		if m.config.TCP && !q.failed && !m.excused && !q.out.over && !q.in.over && (q.out.acked != q.out.high || q.in.acked != q.in.high) {
			m.log.Report(Returned, now, "adapter %d, queue pair %d: %d B of requests and %d B of responses are not acknowledged", m.config.Adapter, i,
				q.out.high-q.out.acked, q.in.high-q.in.acked)
		}
	}
}
