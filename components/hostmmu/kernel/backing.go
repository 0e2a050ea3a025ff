package kernel

import (
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/pagetable"
)

// occupy makes the first count pages of a segment resident in consecutive
// frames before time 0.
func (k *Kernel) occupy(setup *Setup, s *segment, frame, count uint32, flags uint8) {
	entry := pagetable.Accessed
	for _, r := range s.regions {
		if k.regions[r].Writable {
			entry |= pagetable.Write
		}
	}
	for i := range count {
		k.pages[s.first+i].flags |= flags
		k.install(s.first+i, frame+i, entry)
	}
	setup.Resident = append(setup.Resident, Run{First: s.first, Frame: frame, Count: count})
	k.Stats.Initial += uint64(count)
}

// listFree lists the frames that registration left free, the lowest used next.
func (k *Kernel) listFree() {
	for f := len(k.frames) - 1; f >= 0; f-- {
		if k.frames[f].page == msg.NoPage {
			k.free = append(k.free, uint32(f))
		}
	}
}

// program adds the fill of the first count pages of a segment to a region's
// table.
func (k *Kernel) program(setup *Setup, s *segment, region int, frame, count uint32) {
	if count == 0 || k.regions[region].Dynamic {
		return
	}
	r := &k.regions[region]
	a := &k.adapters[r.Adapter]
	f := Fill{Adapter: r.Adapter, Write: r.Writable}
	start := k.busAddress(a, s.first, frame)
	if a.shift <= k.shift {
		entry, _, skip := k.entriesOf(r, s.first)
		last, n, _ := k.entriesOf(r, s.first+count-1)
		f.Entry, f.Count, f.PA = entry, last+uint64(n)-entry, start+skip
	} else {
		lead := s.va & model.VA(a.shift.Bytes()-1)
		f.Entry = r.FirstEntry + a.shift.Number(s.va) - a.shift.Number(r.VA)
		f.Count = a.shift.Span(s.va, uint64(count)<<k.shift)
		f.PA = start - model.PA(lead)
	}
	setup.Fills = append(setup.Fills, f)
	bit := s.bit(region)
	for p := s.first; p < s.first+count; p++ {
		pg := &k.pages[p]
		pg.mapped |= bit
		if r.Writable {
			pg.writable |= bit
		}
		if a.domain() && pg.flags&pageDMA == 0 {
			k.mapDMA(p)
		}
	}
}

// programAll adds the fills of the first count pages of a segment to the tables
// of all adapters that registration fills.
func (k *Kernel) programAll(setup *Setup, s *segment, frame, count uint32) {
	for _, r := range s.regions {
		a := &k.adapters[k.regions[r].Adapter]
		if a.pins() || k.snapshots(a) {
			k.program(setup, s, r, frame, count)
		}
	}
}

// back states the initial backing of memory that pages, in frames from next on.
func (k *Kernel) back(setup *Setup, next uint32) {
	for i := range k.segments {
		s := &k.segments[i]
		count := uint32(0)
		if len(s.regions) == 0 || k.spec.Pager.Initial == "zero" || k.pinned(s) {
			continue
		}
		if k.spec.Pager.Initial == "resident" {
			count = min(s.end-s.first, uint32(len(k.frames))-next)
		}
		if count > 0 {
			k.occupy(setup, s, next, count, 0)
			k.programAll(setup, s, next, count)
			next += count
		}
		if rest := s.end - s.first - count; rest > 0 {
			setup.Swapped = append(setup.Swapped, Run{First: s.first + count, Count: rest})
			for p := s.first + count; p < s.end; p++ {
				k.pages[p].flags |= slotValid
			}
		}
	}
}
