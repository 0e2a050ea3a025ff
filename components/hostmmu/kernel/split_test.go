package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// ATS-1: when a split page goes, no walk finds the table of its leaves from
// before the fence on, and the table is another's only after the fence: until
// then an IOMMU may hold its address.
func TestTableOutlivesFence(t *testing.T) {
	const first, second = model.VA(0x400000), model.VA(0x600000)
	for _, why := range []measure.Trigger{measure.TriggerEvict, measure.TriggerUnmap, measure.TriggerCollapse} {
		s := quick(2)
		s.Page, s.Memory, s.Pager.Initial = "2MiB", 8<<20, "resident"
		regions := []Region{{VA: first, Length: 4 << 20, Writable: true}}
		w := newWorld(t, setting{spec: s, regions: regions, configs: []AdapterConfig{scheme(SVA)}})
		leaves := func(va model.VA) model.PA {
			if l := w.kernel.table.Lookup(va); l.Shift == model.Shift4K {
				return l.Reads[3] &^ 0xFFF
			}
			return 0
		}
		var table model.PA
		fences := 0
		w.at(10*us, func(now clocked.Time) { w.kernel.Split(now, 0) })
		w.at(50*us, func(now clocked.Time) {
			if table = leaves(first); table == 0 {
				t.Fatal("not split")
			}
			w.iommu.before = func(_ clocked.Time, c *msg.IOMMUCommand) {
				if c.Op != msg.Fence {
					return
				}
				if fences++; fences > 1 { // of the next split
					return
				}
				if l := w.kernel.table.Lookup(first); l.Present() || l.Shift != model.Shift2M {
					t.Errorf("%v: a walk before the fence finds %+v, want a hole of 2 MiB", why, l)
				}
				if err := w.kernel.table.Map(second+4<<20, 0, model.Shift4K, pagetable.User); err != nil || leaves(second+4<<20) == table {
					t.Errorf("%v: the table was given away before the fence, %v", why, err)
				}
			}
			switch why {
			case measure.TriggerEvict:
				w.kernel.invalidate(now, 0, 1, why)
				w.kernel.nudge(now)
			case measure.TriggerUnmap:
				w.kernel.Unmap(now, 0, 1)
			default:
				w.kernel.Collapse(now, 0)
			}
		})
		w.at(100*us, func(now clocked.Time) { w.kernel.Split(now, 1) })
		w.run()
		if fences == 0 || leaves(second) != table {
			t.Errorf("%v: %d fences; the next split's table is at %#x, want %#x again", why, fences, uint64(leaves(second)), uint64(table))
		}
	}
}
