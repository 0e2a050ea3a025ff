package iommu

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// An access counts each of its requests that missed in the IOTLB once, whether
// it walks or joins a walk, transfer or translation request; those without an
// access count nowhere but in the unit.
func TestAccessesCountTheirMisses(t *testing.T) {
	b := oneProcess(t, defaultSpec(t), 1)
	b.mapPages(0, 0, 1<<30, 4, 0)
	counts := make([]measure.Counts, 3)
	send := func(m msg.MemReq, access int) {
		if access >= 0 {
			m.Counts = &counts[access]
		}
		b.roots[0].send(1000*ns, m)
	}
	send(read(0, 1, 0), 0)      // walks
	send(read(0x40, 1, 1), 1)   // joins
	send(read(0x1000, 1, 2), 1) // walks
	send(translate(model.VA(0x2000), 1, 3, false), 2)
	send(read(0x3000, 1, 4), -1)
	b.run()
	b.roots[0].send(b.engine.Now()+1000*ns, func() msg.MemReq { m := read(0x80, 1, 5); m.Counts = &counts[0]; return m }()) // hits
	b.run()
	for i, want := range []uint32{1, 2, 1} {
		if counts[i] != (measure.Counts{IOTLBMisses: want}) {
			t.Errorf("access %d: %+v, want %d misses", i, counts[i], want)
		}
	}
	if s := b.unit.Stats(); s.Misses != 5 || s.Merged != 1 || s.Walks != 4 || s.Hits != 1 {
		t.Errorf("%+v", s)
	}
}
