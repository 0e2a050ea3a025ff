package coverage

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/rc"
	"rnicmmu/platform"
	"rnicmmu/verify/wires"
)

// watchPeers looks at packets, and at accesses as they complete.
func (c *Collector) watchPeers(s *platform.System) {
	for i, w := range wires.Of[*msg.Packet](s, "requester", "responder") {
		a, depth, tcp := &c.adapters[i], w.Wire.Depth(), s.Adapters()[i].Transport != "rc"
		w.Wire.OnSent(func(_ clocked.Time, m **msg.Packet) {
			c.filled(queueRequests, w.Wire.Len(), depth)
			if tcp {
				c.segment(0, *m)
			} else {
				c.requests(a, *m)
			}
		})
	}
	for i, w := range wires.Of[*msg.Packet](s, "responder", "requester") {
		a, depth, tcp := &c.adapters[i], w.Wire.Depth(), s.Adapters()[i].Transport != "rc"
		w.Wire.OnSent(func(_ clocked.Time, m **msg.Packet) {
			c.filled(queueResponses, w.Wire.Len(), depth)
			if tcp {
				c.segment(2, *m)
			} else {
				c.responses(a, *m)
			}
		})
	}
	for i, w := range wires.Of[msg.Inbox](s, "peer_memory", "driver") {
		a, mtu := &c.adapters[i], uint64(s.Adapters()[i].QP.MTU)
		w.Wire.OnSent(func(_ clocked.Time, m *msg.Inbox) {
			if x, ok := m.Body.(*measure.Access); ok {
				c.ended(a, x, mtu)
			}
		})
	}
}

func (a *adapter) qp(n uint32) *queuePair {
	for uint32(len(a.qps)) <= n {
		a.qps = append(a.qps, qpFresh)
	}
	return &a.qps[n]
}

// requests: a requester sends a packet of a reliable connection.
func (c *Collector) requests(a *adapter, p *msg.Packet) {
	q := a.qp(p.QP)
	c.hit(qpRequest, int(*q), int(p.Op))
	if *q = qpSent; p.Resend {
		*q = qpResent
	}
}

// responses: one is on its way to a requester.
func (c *Collector) responses(a *adapter, p *msg.Packet) {
	q, class := a.qp(p.QP), responseAck
	switch s := rc.Syndrome(p.Syndrome); {
	case s.RNR():
		class = responseRNR
	case s.NAK():
		class = responseSequence + int(s-rc.NAKSequence)
	case p.Op == model.OpRead:
		class = responseRead
	case p.Op.Atomic():
		class = responseAtomic
	}
	c.hit(qpResponse, int(*q), class)
	switch {
	case class == responseRNR:
		*q = qpWaiting
	case class > responseSequence:
		*q = qpBroken
	}
}

// segment: iWARP sends one; row is that of its sender.
func (c *Collector) segment(row int, p *msg.Packet) {
	if p.Resend {
		row++
	}
	column := segmentRequest
	switch {
	case p.Segment.Reason != (ddp.Reason{}):
		column = segmentTerminate
		for i, r := range terminates {
			if r == p.Segment.Reason {
				c.hit(terminateReason, 0, i)
			}
		}
	case p.Segment.Reset:
		column = segmentReset
	case p.Segment.Bytes == 0:
		column = segmentAck
	case p.Response:
		column = segmentResponse
	}
	c.hit(tcpSegment, row, column)
}

// ended: an access is complete.
func (c *Collector) ended(a *adapter, x *measure.Access, mtu uint64) {
	c.hit(opStatus, int(x.Op), int(x.Status))
	if x.Status != measure.StatusOK {
		return
	}
	row := operation(x.Op)
	c.hit(accessSize, row, size(uint64(x.Len), accessSizes))
	pages := uint64(0)
	if x.Len > 0 {
		pages = c.shift.Span(x.VA, uint64(x.Len))
		c.hit(accessStart, row, aligned(uint64(x.VA)))
	}
	c.hit(accessPages, row, size(pages, pageCounts))
	if packets := size(max(1, (uint64(x.Len)+mtu-1)/mtu), tlpCounts); !x.Op.Atomic() {
		c.hit(accessPackets, [...]int{model.OpWrite: 0, model.OpSend: 1, model.OpRead: 2}[x.Op], packets)
	}
}
