package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
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

// TestRulesFire: each rule is broken by a sequence of packets, by that rule only,
// and holds for the same sequence without the fault. Restates: RC-1 to RC-5, RC-7,
// RC-8, KEY-5, KEY-6.
func TestRulesFire(t *testing.T) {
	store := func(access uint64) *msg.DMA {
		return &msg.DMA{Kind: msg.KindData, Write: true, Len: 8, Oracle: msg.Oracle{Write: (access + 1) << 24}}
	}
	rc := Config{MTU: 4096, Retry: 7, RNRRetry: 7}
	few := Config{MTU: 4096, Retry: 1, RNRRetry: 1}
	tcp := Config{MTU: 4096, TCP: true, Window: 1000}
	end := func(b *bench, n int) {
		for i := range n {
			b.complete(i, ok)
		}
	}
	for _, c := range []struct {
		rule      *rule.Rule
		config    Config
		bad, good func(b *bench)
	}{
		{Numbered, rc, func(b *bench) { b.post(write, write); b.send(0, 0); b.send(1, 2); b.ack(2); end(b, 2) },
			func(b *bench) { b.post(write, write); b.send(0, 0); b.send(1, 1); b.ack(1); end(b, 2) }},
		{Numbered, rc, func(b *bench) { b.post(write); b.send(0, 0); b.ack(0); b.send(0, 0); end(b, 1) },
			func(b *bench) { b.post(write); b.send(0, 0); b.send(0, 0); b.ack(0); end(b, 1) }},
		{Numbered, rc, func(b *bench) { // a number from the other side of the circle
			b.post(write, write, write)
			b.send(0, 1<<24-1)
			b.send(1, 0)
			b.ack(0)
			b.send(2, 1<<24-1)
			b.ack(0)
			b.qps[0].posts = nil
		}, func(b *bench) {
			b.post(write, write, write)
			b.send(0, 1<<24-1)
			b.send(1, 0)
			b.ack(0)
			b.send(2, 1)
			b.ack(1)
			end(b, 3)
		}},
		{Moderate, rc, func(b *bench) { b.post(write); b.send(0, 0); b.ack(1); b.ack(0); end(b, 1) },
			func(b *bench) { b.post(write); b.send(0, 0); b.ack(0); end(b, 1) }},
		{Moderate, rc, func(b *bench) {
			b.post(write, write)
			b.send(0, 0)
			b.send(1, 1)
			b.ack(1)
			b.ack(0)
			end(b, 2)
		},
			func(b *bench) {
				b.post(write, write)
				b.send(0, 0)
				b.send(1, 1)
				b.ack(0)
				b.ack(1)
				end(b, 2)
			}},
		{Quiet, rc, func(b *bench) {
			b.post(write)
			b.send(0, 0)
			b.answer(write, 0, 0x21) // 10 µs
			b.now += 9 * clocked.Microsecond
			b.send(0, 0)
			b.ack(0)
			end(b, 1)
		}, func(b *bench) {
			b.post(write)
			b.send(0, 0)
			b.answer(write, 0, 0x21)
			b.now += 10 * clocked.Microsecond
			b.send(0, 0)
			b.ack(0)
			end(b, 1)
		}},
		{Quiet, rc, func(b *bench) { // code 0 is the longest
			b.post(write)
			b.send(0, 0)
			b.answer(write, 0, 0x20)
			b.now += 655 * clocked.Millisecond
			b.send(0, 0)
			b.ack(0)
			end(b, 1)
		}, func(b *bench) {
			b.post(write)
			b.send(0, 0)
			b.answer(write, 0, 0x20)
			b.now += 656 * clocked.Millisecond
			b.send(0, 0)
			b.ack(0)
			end(b, 1)
		}},
		{OneNAK, rc, func(b *bench) {
			b.post(write, write)
			b.lost(0, 0)
			b.send(1, 1)
			for range 4 {
				b.answer(write, 0, 0x60)
			}
			b.send(0, 0)
			b.send(1, 1)
			b.ack(1)
			end(b, 2)
		}, func(b *bench) {
			b.post(write, write)
			b.lost(0, 0)
			b.send(1, 1)
			for range 4 {
				b.answer(write, 0, 0x60)
				b.lost(0, 0)
				b.send(1, 1)
			}
			b.send(0, 0)
			b.send(1, 1)
			b.ack(1)
			end(b, 2)
		}},
		{Bounded, few, func(b *bench) {
			b.post(write)
			b.send(0, 0)
			for range 2 {
				b.answer(write, 0, 0x21)
				b.now += clocked.Millisecond
				b.send(0, 0)
			}
			b.ack(0)
			end(b, 1)
		}, func(b *bench) {
			b.post(write)
			b.send(0, 0)
			b.answer(write, 0, 0x21)
			b.now += clocked.Millisecond
			b.send(0, 0)
			b.ack(0)
			end(b, 1)
		}},
		{Bounded, few, func(b *bench) {
			b.post(write)
			b.send(0, 0)
			b.send(0, 0)
			b.send(0, 0)
			b.ack(0)
			end(b, 1)
		},
			func(b *bench) { b.post(write); b.send(0, 0); b.send(0, 0); b.ack(0); end(b, 1) }},
		{Waited, rc, func(b *bench) {
			b.post(read)
			b.fence()
			b.send(0, 0)
			b.send(1, 1)
			b.answer(read, 0, 0x1F)
			b.ack(1)
			end(b, 2)
		}, func(b *bench) {
			b.post(read)
			b.fence()
			b.send(0, 0)
			b.answer(read, 0, 0x1F)
			b.send(1, 1)
			b.ack(1)
			end(b, 2)
		}},
		{Ordered, rc, func(b *bench) { b.post(write, write); b.send(1, 0); b.send(0, 1); b.ack(1); b.qps[0].posts = nil },
			func(b *bench) { b.post(write, write); b.send(0, 0); b.send(1, 1); b.ack(1); end(b, 2) }},
		{Completed, rc, func(b *bench) { b.post(write); b.send(0, 0); b.ack(0); end(b, 1); b.complete(0, ok) },
			func(b *bench) { b.post(write); b.send(0, 0); b.ack(0); end(b, 1) }},
		{Completed, rc, func(b *bench) { b.post(write); b.send(0, 0); b.ack(0) }, func(b *bench) { b.post(write); b.send(0, 0); b.ack(0); end(b, 1) }},
		{Completed, rc, func(b *bench) {
			b.post(write, write)
			b.send(0, 0)
			b.send(1, 1)
			b.ack(1)
			b.complete(1, ok)
			end(b, 1)
			b.qps[0].posts = nil
		}, func(b *bench) { b.post(write, write); b.send(0, 0); b.send(1, 1); b.ack(1); end(b, 2) }},
		{Acknowledged, rc, func(b *bench) { b.post(write); b.send(0, 0); end(b, 1) }, func(b *bench) { b.post(write); b.send(0, 0); b.ack(0); end(b, 1) }},
		{Acknowledged, rc, func(b *bench) { // an ACK behind a READ says nothing of its data
			b.post(read, write)
			b.send(0, 0)
			b.send(1, 1)
			b.ack(1)
			end(b, 2)
		}, func(b *bench) {
			b.post(read, write)
			b.send(0, 0)
			b.send(1, 1)
			b.answer(read, 0, 0x1F)
			b.ack(1)
			end(b, 2)
		}},
		{Flushed, rc, func(b *bench) {
			b.post(write, write)
			b.send(0, 0)
			b.answer(write, 0, 0x62)
			b.send(1, 1)
			b.complete(0, measure.StatusRemoteAccess)
			b.complete(1, measure.StatusFlushed)
		}, func(b *bench) {
			b.post(write, write)
			b.send(0, 0)
			b.send(1, 1)
			b.answer(write, 0, 0x62)
			b.complete(0, measure.StatusRemoteAccess)
			b.complete(1, measure.StatusFlushed)
		}},
		{Flushed, rc, func(b *bench) {
			b.post(write, write)
			b.complete(0, measure.StatusRemoteAccess)
			b.complete(1, measure.StatusRemoteAccess)
		}, func(b *bench) {
			b.post(write, write)
			b.complete(0, measure.StatusRemoteAccess)
			b.complete(1, measure.StatusFlushed)
		}},
		{Single, rc, func(b *bench) {
			b.post(add)
			b.send(0, 0)
			b.Data(1, store(0))
			b.send(0, 0)
			b.Data(2, store(0))
			b.answer(add, 0, 0x1F)
			end(b, 1)
		}, func(b *bench) {
			b.post(add, write)
			b.send(0, 0)
			b.Data(1, store(0))
			b.answer(add, 0, 0x1F)
			b.send(1, 1)
			b.Data(2, store(1))
			b.Data(3, store(1))
			b.ack(1)
			end(b, 2)
		}},
		{Contiguous, tcp, func(b *bench) {
			b.post(write)
			b.segment(0, 0, 100, false)
			b.segment(-1, 200, 100, false)
			b.segment(-1, 0, 0, true, acks(100))
			end(b, 1)
		}, func(b *bench) {
			b.post(write)
			b.segment(0, 0, 100, false)
			b.segment(-1, 100, 100, false)
			b.segment(-1, 0, 0, true, acks(200))
			end(b, 1)
		}},
		{Received, tcp, func(b *bench) {
			b.post(write)
			b.segment(0, 0, 100, false)
			b.segment(-1, 0, 0, true, acks(104))
			b.segment(-1, 0, 0, true, acks(104))
			b.segment(-1, 100, 100, false)
			b.segment(-1, 0, 0, true, acks(200))
			end(b, 1)
		}, func(b *bench) {
			b.post(write)
			b.segment(0, 0, 100, false)
			b.segment(-1, 0, 0, true, acks(100))
			b.segment(-1, 100, 100, false)
			b.segment(-1, 0, 0, true, acks(200))
			end(b, 1)
		}},
		{Windowed, tcp, func(b *bench) {
			b.post(write)
			b.segment(0, 0, 1001, false)
			b.segment(-1, 0, 0, true, acks(1001))
			end(b, 1)
		}, func(b *bench) {
			b.post(write)
			b.segment(0, 0, 1000, false)
			b.segment(-1, 0, 0, true, acks(1000))
			b.segment(-1, 1000, 1000, false)
			b.segment(-1, 0, 0, true, acks(2000))
			end(b, 1)
		}},
		{Returned, tcp, func(b *bench) { b.post(write); b.segment(0, 0, 100, false); end(b, 1) },
			func(b *bench) {
				b.post(write)
				b.segment(0, 0, 100, false)
				b.segment(0, 0, 100, false)
				b.segment(-1, 0, 0, true, acks(100))
				end(b, 1)
			}},
		{Returned, tcp, func(b *bench) { b.post(write); b.segment(0, 0, 100, false); end(b, 1) },
			func(b *bench) {
				b.post(write)
				b.segment(0, 0, 100, false)
				b.segment(0, 0, 100, true, func(p *msg.Packet) { p.Segment.Message = ddp.Terminate })
				end(b, 1)
			}},
		{Sequenced, tcp, func(b *bench) {
			b.post(read, read)
			b.segment(0, 0, 100, false)
			b.segment(1, 100, 100, false)
			b.segment(1, 0, 50, true, acks(200))
			b.segment(-1, 200, 0, false, acks(50))
			b.qps[0].posts = nil
		}, func(b *bench) {
			b.post(read, read)
			b.segment(0, 0, 100, false)
			b.segment(1, 100, 100, false)
			b.segment(0, 0, 50, true, acks(200))
			b.segment(-1, 200, 0, false, acks(50))
			b.qps[0].posts = nil
		}},
	} {
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
}

// TestDelays: the table of RNR timer codes is the specification's, in steps of
// 10 µs.
func TestDelays(t *testing.T) {
	want := []clocked.Time{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072,
		4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}
	for code, n := range want {
		if delays[code] != n*10*clocked.Microsecond {
			t.Errorf("code %d: %v", code, delays[code])
		}
	}
}
