package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model/rc"
)

// rcRequester is the reliable connection at a requester: model/rc in time.
type rcRequester struct {
	*Requester
	sends   []rcSend
	timeout clocked.Time // 0: none
}

// rcSend is the reliable connection of a send queue. PSN order is request
// order, so a place in the queue is a PSN; rules says which are acknowledged and
// which is next.
type rcSend struct {
	rules   rc.Requester
	end     rc.PSN // PSN after those of admitted requests
	unasked int    // packets sent since one that asked for an ACK
	vain    uint32 // requests below were sent in vain before the RNR wait

	payRequest uint32 // request whose payload is read next
	payNext    rc.PSN // PSN whose payload is read next
	payReady   uint64 // bit PSN mod 64: payload is here
	payHeld    int    // packets read or being read, not sent
	payEpoch   uint32 // raised when the queue goes back
}

func newRCRequester(r *Requester, psn uint32) (*rcRequester, error) {
	s := &r.spec
	rules, err := rc.NewRequester(rc.RequesterConfig{Retry: uint8(s.QP.Retry), RNRRetry: uint8(s.QP.RNRRetry)}, rc.PSN(psn))
	if err != nil {
		return nil, err
	}
	t := &rcRequester{Requester: r, sends: make([]rcSend, s.QPs)}
	for i := range t.sends {
		t.sends[i] = rcSend{rules: *rules, end: rules.Next, payNext: rules.Next}
	}
	if at, on := rc.AckTimeout(uint8(s.QP.AckTimeout)); on {
		t.timeout = clocked.Time(at)
	}
	return t, nil
}

// admit gives PSNs, in order, to the requests that are here.
func (r *rcRequester) admit(now clocked.Time, qp int32) {
	q, c := &r.qps[qp], &r.sends[qp]
	for q.admitted != q.sq.Tail() {
		req := q.sq.At(q.admitted)
		if !req.ready {
			break
		}
		req.wqe.Access.Ledger.Charge(now, measure.CausePost)
		req.first = c.end
		req.count = rc.Span(req.wqe.Op, uint64(req.wqe.Len), r.mtu)
		c.end = c.end.Add(req.count)
		q.admitted++
		q.setFence(req)
		if r.spec.QP.Damming && c.rules.Waiting() {
			req.lost = true
			r.Stats.Dammed++
		}
	}
	if c.rules.Failed() {
		r.flush(now, qp)
		return
	}
	r.wantPayload(qp)
	r.wantSend(qp)
}

// payloadRead takes data to send, unless the QP has gone back meanwhile.
func (r *rcRequester) payloadRead(now clocked.Time, op sendOp) {
	c := &r.sends[op.qp]
	if op.tag == c.payEpoch {
		req := r.qps[op.qp].sq.At(op.seq)
		req.wqe.Access.Ledger.Charge(now, measure.CausePayload)
		c.payReady |= 1 << (req.first.Add(op.part) & 63)
		r.wantSend(op.qp)
	}
}

// nextPayload moves on to the next packet that needs its payload read, and
// tells whether it may be read now.
func (r *rcRequester) nextPayload(qp int32) bool {
	q, c := &r.qps[qp], &r.sends[qp]
	for c.payRequest = later(c.payRequest, q.sq.Head()); c.payRequest != q.admitted; {
		req := q.sq.At(c.payRequest)
		if c.payNext.Before(req.first) { // requests before it were completed, and never looked at again after a go-back
			c.payNext = req.first
		}
		if req.needsPayload() {
			return !c.rules.Failed() && c.payHeld < r.spec.QP.PayloadAhead && c.payNext.Sub(c.rules.Next) < 64 && !q.fenced(req)
		}
		c.payRequest++
		c.payNext = req.first.Add(req.count)
	}
	return false
}

func (r *rcRequester) takePayload(qp int32) sendOp {
	q, c := &r.qps[qp], &r.sends[qp]
	req := q.sq.At(c.payRequest)
	op := sendOp{kind: msg.KindData, qp: qp, seq: c.payRequest, part: uint32(c.payNext.Sub(req.first)), tag: c.payEpoch}
	c.payHeld++
	c.payNext = c.payNext.Add(1)
	if op.part+1 == req.count {
		c.payRequest++
	}
	return op
}

// where says what a send queue is doing.
func (r *rcRequester) where(qp int32) string {
	q, c := &r.qps[qp], &r.sends[qp]
	return fmt.Sprintf("%s: %d requests, unacknowledged PSN %d, next PSN %d, %s", c, q.sq.Len(), c.rules.Oldest, c.rules.Next, timerAt(r.timers.at[qp]))
}

// String says what the queue is doing.
func (c *rcSend) String() string {
	switch {
	case c.rules.Failed():
		return "is in error"
	case c.rules.Waiting():
		return "waits for its RNR timer"
	}
	return "runs"
}
