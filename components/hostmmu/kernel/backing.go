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
	f := Fill{Adapter: r.Adapter, Write: r.Writable}
	if shift := k.adapters[r.Adapter].shift; shift <= k.shift {
		entry, _, skip := k.entriesOf(r, s.first)
		last, n, _ := k.entriesOf(r, s.first+count-1)
		f.Entry, f.Count, f.PA = entry, last+uint64(n)-entry, msg.FramePA(frame, k.shift)+skip
	} else {
		lead := s.va & model.VA(shift.Bytes()-1)
		f.Entry = r.FirstEntry + shift.Number(s.va) - shift.Number(r.VA)
		f.Count = shift.Span(s.va, uint64(count)<<k.shift)
		f.PA = msg.FramePA(frame, k.shift) - model.PA(lead)
	}
	setup.Fills = append(setup.Fills, f)
	bit := s.bit(region)
	for p := s.first; p < s.first+count; p++ {
		k.pages[p].mapped |= bit
		if r.Writable {
			k.pages[p].writable |= bit
		}
	}
}

// back states the initial backing of on-demand memory.
func (k *Kernel) back(setup *Setup) {
	next, mapped := uint32(0), uint32(0)
	for i := range k.segments {
		s := &k.segments[i]
		count := uint32(0)
		if len(s.regions) == 0 || k.spec.Pager.Initial == "zero" {
			continue
		}
		if k.spec.Pager.Initial == "resident" {
			count = min(s.end-s.first, uint32(len(k.frames))-next)
		}
		if count > 0 {
			k.occupy(setup, s, next, count, 0)
			next += count
			if k.spec.Pager.Snapshot && k.fixed(s) {
				mapped += count
				for _, r := range s.regions {
					k.program(setup, s, r, next-count, count)
				}
			}
		}
		if rest := s.end - s.first - count; rest > 0 {
			setup.Swapped = append(setup.Swapped, Run{First: s.first + count, Count: rest})
			for p := s.first + count; p < s.end; p++ {
				k.pages[p].flags |= slotValid
			}
		}
	}
	k.Stats.RegistrationTime = k.cost(mapped)
}
