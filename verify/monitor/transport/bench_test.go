package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/verify/rule"
)

// bench feeds a monitor with packets of queue pair 0 by hand.
type bench struct {
	*Monitor
	log      *rule.Log
	now      clocked.Time
	accesses []*measure.Access
}

func newBench(c Config) *bench {
	log := &rule.Log{}
	return &bench{Monitor: New(c, log), log: log}
}

// post posts requests of 8 bytes.
func (b *bench) post(ops ...model.Op) {
	for _, op := range ops {
		a := &measure.Access{ID: uint64(len(b.accesses)), Op: op}
		b.accesses = append(b.accesses, a)
		b.Post(b.now, &msg.Doorbell{Body: &msg.WQE{Op: op, Len: 8, Access: a}})
	}
}

// fence posts a WRITE with a fence.
func (b *bench) fence() {
	b.post(model.OpWrite)
	p := &b.qps[0].posts[len(b.qps[0].posts)-1]
	p.fence = true
}

// send sends the packet of an access, and the responder takes it.
func (b *bench) send(access int, psn uint32) {
	a := b.accesses[access]
	p := &msg.Packet{PSN: psn, Op: a.Op, First: true, Last: true, MsgLen: 8, Access: a}
	b.now++
	b.Request(b.now, &p)
	b.Requested(b.now, &p)
}

// lost sends a packet that does not come.
func (b *bench) lost(access int, psn uint32) {
	a := b.accesses[access]
	p := &msg.Packet{PSN: psn, Op: a.Op, First: true, Last: true, MsgLen: 8, Access: a}
	b.now++
	b.Request(b.now, &p)
	b.there.pop()
}

// answer sends a response, and the requester takes it.
func (b *bench) answer(op model.Op, psn uint32, syndrome uint8) {
	p := &msg.Packet{PSN: psn, Op: op, Response: true, Syndrome: syndrome}
	b.now++
	b.Response(b.now, &p)
	b.Responded(b.now, &p)
}

func (b *bench) ack(psn uint32) { b.answer(model.OpWrite, psn, 0x1F) }

func (b *bench) complete(access int, s measure.Status) {
	a := b.accesses[access]
	a.Status = s
	b.Completion(b.now, &msg.DMA{Kind: msg.KindCQE, Body: a})
}

// segment sends a segment of n bytes at seq, and the other end takes it.
func (b *bench) segment(access int, seq, n uint32, response bool, change ...func(p *msg.Packet)) {
	p := &msg.Packet{Segment: msg.Segment{Seq: seq, Bytes: n, Window: 1000}}
	if access >= 0 {
		p.Access, p.Op, p.First, p.Last = b.accesses[access], b.accesses[access].Op, true, true
	}
	for _, f := range change {
		f(p)
	}
	b.now++
	if response {
		b.Response(b.now, &p)
		b.Responded(b.now, &p)
	} else {
		b.Request(b.now, &p)
		b.Requested(b.now, &p)
	}
}

func acks(n uint32) func(p *msg.Packet) { return func(p *msg.Packet) { p.Segment.Ack = n } }

const (
	write, read, add = model.OpWrite, model.OpRead, model.OpFetchAdd
	ok               = measure.StatusOK
)

// end completes the first n accesses.
func end(b *bench, n int) {
	for i := range n {
		b.complete(i, ok)
	}
}

// example breaks a rule, and keeps it.
type example struct {
	rule      *rule.Rule
	config    Config
	bad, good func(b *bench)
}

// check asserts that the one breaks the rule and no other, and the other none.
func (c *example) check(t *testing.T) {
	t.Run(c.rule.ID, func(t *testing.T) {
		b := newBench(c.config)
		c.bad(b)
		b.Finish(b.now, true)
		for _, v := range b.log.Violations() {
			if v.Rule != c.rule.ID {
				t.Errorf("broken too: %s: %s", v.Rule, v.What)
			}
		}
		if b.log.Count(c.rule.ID) == 0 {
			t.Error("not seen")
		}
		b = newBench(c.config)
		c.good(b)
		b.Finish(b.now, true)
		for _, v := range b.log.Violations() {
			t.Errorf("false alarm: %s: %s", v.Rule, v.What)
		}
	})
}
