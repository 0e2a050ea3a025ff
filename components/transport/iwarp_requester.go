package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/ddp"
	"rnicmmu/model/rc"
)

// iwarpRequester is the peer's end of iWARP connections. It stands on a
// Requester, which has the send queues and their completions.
type iwarpRequester struct {
	*Requester
	early   earlies
	streams []sendStream
	writes  clocked.FIFO[msg.DMA] // data of responses on their way to memory
}

// sendStream is the TCP connection of a send queue.
type sendStream struct {
	stream
	segments clocked.FIFO[segment] // cut and not acknowledged
	end      uint32                // byte after the last segment
	cursor   uint32                // segment that begins at the next byte to send; the tail: none
	pay      uint32                // segment that needs its payload next
	held     int                   // segments whose payload is here or being read
	part     uint32                // of the request that is being cut, cut
	tried    uint32                // request after the last that has sent something
	reads    int                   // READs and atomics sent and not complete
	reply    uint32                // request that the next response may belong to
	placed   uint32                // bytes of it placed
	dead     bool
}

// payload says where the data of a segment are.
type payload uint8

const (
	payloadNone    payload = iota // in memory, to be read
	payloadReading                // on their way
	payloadHere
	payloadFree // it needs none, or it came with the doorbell
)

// segment is a DDP segment that travels in a TCP segment of its own.
type segment struct {
	request uint32 // in its send queue
	part    uint32 // of the request
	seq     uint32
	bytes   uint32
	payload payload
	reads   bool // it takes a place of qp.max_rd_atomic
	sent    bool
}

func newIWARPRequester(r *Requester, first uint32) (*iwarpRequester, error) {
	t := &iwarpRequester{Requester: r, streams: make([]sendStream, r.spec.QPs)}
	for i := range t.streams {
		s, err := r.spec.stream(first)
		if err != nil {
			return nil, err
		}
		t.streams[i] = sendStream{stream: s, end: first}
	}
	return t, nil
}

// admit takes the work requests that are here to be cut into segments.
func (r *iwarpRequester) admit(now clocked.Time, qp int32) {
	q, s := &r.qps[qp], &r.streams[qp]
	for q.admitted != q.sq.Tail() && q.sq.At(q.admitted).ready {
		req := q.sq.At(q.admitted)
		req.wqe.Access.Ledger.Charge(now, measure.CausePost)
		req.count = rc.RequestPackets(req.wqe.Op, uint64(req.wqe.Len), r.mtu)
		q.admitted++
		q.setFence(req)
	}
	if s.dead {
		r.flush(now, qp)
		return
	}
	r.goOn(qp)
}

// goOn does what a change of the stream may have made possible.
func (r *iwarpRequester) goOn(qp int32) {
	q, s := &r.qps[qp], &r.streams[qp]
	if s.dead {
		r.timers.set(qp, clocked.Never)
	} else {
		r.cut(q, s)
		r.timers.set(qp, s.deadline())
	}
	r.wantPayload(qp)
	r.wantSend(qp)
}

// cut makes segments, as many ahead of sending as payload is read ahead.
func (r *iwarpRequester) cut(q *sendQP, s *sendStream) {
	for q.current != q.admitted && int(s.segments.Tail()-s.cursor) < r.spec.QP.PayloadAhead {
		req := q.sq.At(q.current)
		g := s.segments.Push()
		*g = segment{request: q.current, part: s.part, seq: s.end, bytes: ddp.FPDU(ddp.Request(req.wqe.Op), r.carries(req, s.part))}
		g.reads = req.wqe.Op.Responds()
		if !req.needsPayload() {
			g.payload = payloadFree
		}
		s.end += g.bytes
		if s.part++; s.part == req.count {
			s.part = 0
			q.current++
		}
	}
}

// carries is the data of the request in one of its segments.
func (r *iwarpRequester) carries(req *request, part uint32) uint32 {
	if req.wqe.Op.Responds() {
		return 0
	}
	return rc.Payload(part, uint64(req.wqe.Len), r.mtu)
}

// nextPayload tells whether a segment's data may be read.
func (r *iwarpRequester) nextPayload(qp int32) bool {
	_, ok := r.unread(&r.qps[qp], &r.streams[qp])
	return ok
}

// unread is the segment whose data are to be read next, if any may be. What is
// due is read whatever is held.
func (r *iwarpRequester) unread(q *sendQP, s *sendStream) (number uint32, ok bool) {
	if s.dead {
		return 0, false
	}
	if head := s.segments.Head(); s.out.Resend() && s.segments.At(head).payload == payloadNone {
		return head, true
	}
	s.pay = later(s.pay, s.cursor)
	for s.pay != s.segments.Tail() && s.segments.At(s.pay).payload != payloadNone {
		s.pay++
	}
	if s.pay == s.segments.Tail() || s.pay != s.cursor && s.held >= r.spec.QP.PayloadAhead {
		return 0, false
	}
	g := s.segments.At(s.pay)
	return s.pay, g.sent || !q.fenced(q.sq.At(g.request))
}

func (r *iwarpRequester) takePayload(qp int32) sendOp {
	s := &r.streams[qp]
	number, _ := r.unread(&r.qps[qp], s)
	g := s.segments.At(number)
	g.payload = payloadReading
	s.held++
	return sendOp{kind: msg.KindData, qp: qp, seq: g.request, part: g.part, tag: number}
}

// payloadRead takes data to send.
func (r *iwarpRequester) payloadRead(now clocked.Time, op sendOp) {
	s := &r.streams[op.qp]
	if !s.segments.Holds(op.tag) {
		return // acknowledged meanwhile
	}
	r.qps[op.qp].sq.At(op.seq).wqe.Access.Ledger.Charge(now, measure.CausePayload)
	s.segments.At(op.tag).payload = payloadHere
	r.goOn(op.qp)
}

func (r *iwarpRequester) where(qp int32) string {
	q, s := &r.qps[qp], &r.streams[qp]
	state := "runs"
	if s.dead {
		state = "is in error"
	}
	return fmt.Sprintf("%s: %d requests, unacknowledged byte %d of the stream, %d in flight, window %d, %s",
		state, q.sq.Len(), s.out.Una(), s.out.InFlight(), s.out.Window(), timerAt(s.deadline()))
}
