package transport

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// source is the requester's memory: the version of each packet's buffer, which
// software changes, and the reads of it.
type source struct {
	version map[model.PA]int
	reads   map[model.PA][]fetched
}

// fetched is a version of a buffer and when the requester has it.
type fetched struct {
	at      clocked.Time
	version int
}

func sources(s *sandwich) *source {
	x := &source{version: map[model.PA]int{}, reads: map[model.PA][]fetched{}}
	complete := s.peer.seen
	s.peer.seen = func(now clocked.Time, d *msg.DMA) {
		if d.Kind == msg.KindData && !d.Write {
			x.reads[d.PA] = append(x.reads[d.PA], fetched{now + s.peer.readDelay + ns, x.version[d.PA]})
		}
		complete(now, d)
	}
	return x
}

// carried is the version in a packet that left at the given time: the last that
// had been read by then, or -1.
func (x *source) carried(pa model.PA, left clocked.Time) int {
	v := -1
	for _, r := range x.reads[pa] {
		if r.at <= left {
			v = r.version
		}
	}
	return v
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
		got := make([][]int, packets) // versions that arrive, by packet
		s.up.seen = func(_ clocked.Time, p *msg.Packet) {
			left := p.Arrived - spec.Network.Latency - spec.Adapter.TxPipeline - clocked.Time(p.WireLen)*80
			i := int(p.Offset >> 12)
			got[i] = append(got[i], x.carried(buffer(i), left))
		}
		a := s.post(op, 0, va, packets<<12)
		s.run(t)
		if a.Status != measure.StatusOK || !lost || s.req.Stats.PacketsResent != 2 {
			t.Fatalf("%v: %v, %d packets sent again", op, a.Status, s.req.Stats.PacketsResent)
		}
		if want := [][]int{{0}, {1}, {0, 1}}; !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%v: versions %v arrive, want %v", op, got, want)
		}
		s.up.seen = nil
		s.post(model.OpWrite, 0, 0x50000, 64)
		s.run(t)
		for i, want := range []int{1, 2, 2} {
			if n := len(x.reads[buffer(i)]); n != want {
				t.Errorf("%v: packet %d read %d times, want %d", op, i, n, want)
			}
		}
	}
}
