package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
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
	for _, c := range []example{
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
	} {
		c.check(t)
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
