package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// request is a work request in its send queue.
type request struct {
	wqe    msg.WQE
	first  rc.PSN
	count  uint32 // PSNs that it takes: request packets, or response packets of a READ
	inline bool   // the data came with the doorbell
	ready  bool   // the work request is here
	done   bool   // iWARP: complete, but for what is before it
	lost   bool   // qp.damming: its packets do not leave before a go-back for a loss
	after  uint32 // with a fence: requests below must be complete
}

// sendQP is the state of a send queue. PSN order is request order, so a place
// in the queue is a PSN; rules says which are acknowledged and which is next.
type sendQP struct {
	rules    rc.Requester
	sq       clocked.FIFO[request]
	queued   bool   // in Requester.sending
	reading  bool   // in Requester.payload
	admitted uint32 // requests below have their PSNs
	current  uint32 // request that is sent next
	lastRead uint32 // request after the last READ or atomic admitted
	end      rc.PSN // PSN after those of admitted requests
	unasked  int    // packets sent since one that asked for an ACK
	vain     uint32 // requests below were sent in vain before the RNR wait

	payRequest uint32 // request whose payload is read next
	payNext    rc.PSN // PSN whose payload is read next
	payReady   uint64 // bit PSN mod 64: payload is here
	payHeld    int    // packets read or being read, not sent
	payEpoch   uint32 // raised when the queue goes back
}

// String says what the queue is doing.
func (q *sendQP) String() string {
	switch {
	case q.rules.Failed():
		return "is in error"
	case q.rules.Waiting():
		return "waits for its RNR timer"
	}
	return "runs"
}

// sendOp is what a DMA of the requester is for.
type sendOp struct {
	kind msg.Kind
	qp   int32
	seq  uint32 // of the request
	part uint32 // KindData: packet of the request
	tag  uint32 // KindData: the protocol's, to know it again
}

// ops are transfers in flight; a cookie is a place here. Places do not move.
type ops[T any] struct {
	slots []*T
	free  []int32
	used  int
}

func (o *ops[T]) get() (int32, *T) {
	o.used++
	if n := len(o.free); n > 0 {
		i := o.free[n-1]
		o.free = o.free[:n-1]
		return i, o.slots[i]
	}
	o.slots = append(o.slots, new(T))
	return int32(len(o.slots) - 1), o.slots[len(o.slots)-1]
}

func (o *ops[T]) put(i int32) {
	o.used--
	o.free = append(o.free, i)
}

// setFence notes which READs and atomics come before r, the request admitted last.
func (q *sendQP) setFence(r *request) {
	q.lastRead = later(q.lastRead, q.sq.Head())
	r.after = q.lastRead
	if r.wqe.Op.Responds() {
		q.lastRead = q.admitted
	}
}

// fenced tells whether a request must wait for READs and atomics before it.
// Those complete in order, so the last of them stands for all.
func (q *sendQP) fenced(r *request) bool {
	return r.wqe.Fence && int32(r.after-q.sq.Head()) > 0
}

// missing is how many responses to the current request, a READ or atomic, are
// to be asked for.
func (q *sendQP) missing(r *request) uint32 { return r.count - uint32(q.rules.Next.Sub(r.first)) }

// needsPayload tells whether the request's data must be read from memory.
func (r *request) needsPayload() bool {
	return !r.inline && r.wqe.Len > 0 && (r.wqe.Op == model.OpWrite || r.wqe.Op == model.OpSend)
}

// last is the PSN that completes the request.
func (r *request) last() rc.PSN { return r.first.Add(r.count - 1) }

// packets is how many request packets carry the request.
func (r *request) packets() uint32 {
	if r.wqe.Op.Responds() {
		return 1
	}
	return r.count
}
