package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// request is a work request in its send queue.
type request struct {
	wqe    msg.WQE
	first  rc.PSN         // of the reliable connection
	count  uint32         // packets; of a READ of the reliable connection, PSNs: response packets
	inline bool           // the data came with the doorbell
	ready  bool           // the work request is here
	done   bool           // iWARP: complete, but for what is before it
	lost   bool           // qp.damming: its packets do not leave before a go-back for a loss
	broken measure.Status // the work request or its data could not be read; OK: they could
	after  uint32         // with a fence: requests below must be complete
}

// sendQP is the state of a send queue that both protocols have.
type sendQP struct {
	sq       clocked.FIFO[request]
	queued   bool   // in Requester.sending
	reading  bool   // in Requester.payload
	admitted uint32 // requests below are taken in
	current  uint32 // request that is sent next
	lastRead uint32 // request after the last READ or atomic admitted
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

// needsPayload tells whether the request's data must be read from memory.
func (r *request) needsPayload() bool {
	return !r.inline && r.wqe.Len > 0 && (r.wqe.Op == model.OpWrite || r.wqe.Op == model.OpSend)
}

// packets is how many request packets carry the request.
func (r *request) packets() uint32 {
	if r.wqe.Op.Responds() {
		return 1
	}
	return r.count
}
