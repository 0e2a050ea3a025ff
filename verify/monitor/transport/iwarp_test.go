package transport

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model/ddp"
)

// TestStreamRulesFire is TestRulesFire for iWARP.
func TestStreamRulesFire(t *testing.T) {
	tcp := Config{MTU: 4096, TCP: true, Window: 1000}
	for _, c := range []example{
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
		c.check(t)
	}
}
