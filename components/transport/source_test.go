package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// source is the requester's memory: the version of each packet's buffer, which
// software changes, and the version that was last read for it.
type source struct {
	version, read map[model.PA]int
	reads         int
}

func sources(s *sandwich) *source {
	x := &source{version: map[model.PA]int{}, read: map[model.PA]int{}}
	complete := s.peer.seen
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && !d.Write {
			x.reads++
			x.read[d.PA] = x.version[d.PA]
		}
		complete(now, d)
	}
	return x
}

// FRW-5, D6: the second packet of three is lost, and software changes the
// message's buffers while it is sent. The first packet was read once, with the
// old bytes; the lost one and the one behind it are read again for the second
// sending, which therefore carries the new bytes. A buffer that is changed when
// its request is complete is not read any more.
func TestSourceIsReadAgain(t *testing.T) {
	for _, op := range []model.Op{model.OpSend, model.OpWrite} {
		spec := testSpec(t)
		spec.QP.AckTimeout = 4
		s := warm(t, spec)
		x := sources(s)
		const packets = 3
		va := model.VA(0x100000)
		if op == model.OpSend {
			va = 0
		}
		buffer := func(i int) model.PA { return 1<<30 + model.PA(uint64(va)%(1<<20)) + model.PA(i)<<12 }
		lost, second := false, uint32(firstPSN+2)%(1<<24)
		s.up.drop = func(p *msg.Packet) bool {
			if lost || p.PSN != second {
				return false
			}
			lost = true
			for i := range packets {
				x.version[buffer(i)] = 1
			}
			return true
		}
		carried := map[uint32][]int{} // versions by PSN, as the packet left
		s.up.seen = func(_ clocked.Time, p *msg.Packet) {
			i := int(p.Offset >> 12)
			carried[p.PSN] = append(carried[p.PSN], x.read[buffer(i)])
		}
		a := s.post(op, 0, va, packets<<12)
		s.run(t)
		if a.Status != measure.StatusOK || !lost || s.req.Stats.PacketsResent != 2 {
			t.Fatalf("%v: %v, %d packets sent again", op, a.Status, s.req.Stats.PacketsResent)
		}
		if x.reads != packets+2 {
			t.Errorf("%v: %d reads of the source, want 3 and 2 again", op, x.reads)
		}
		first, again := x.read[buffer(0)], carried[second]
		if first != 0 || len(again) != 1 || again[0] != 1 {
			t.Errorf("%v: first packet read at version %d, sent again with %v", op, first, again)
		}
		for i := range packets {
			x.version[buffer(i)] = 2
		}
		s.post(model.OpWrite, 0, 0x50000, 64)
		s.run(t)
		for i := range packets {
			if x.read[buffer(i)] == 2 {
				t.Errorf("%v: buffer %d read after its completion", op, i)
			}
		}
	}
}
