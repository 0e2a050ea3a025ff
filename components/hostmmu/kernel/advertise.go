package kernel

import (
	"slices"

	"rnicmmu/clocked"
)

// cost is the closed form of registration before time 0: every region, or
// implicit one, that is registered then, every page that is pinned or mapped, and every DMA mapping.
func (k *Kernel) cost() clocked.Time {
	regions, touched := clocked.Time(k.roots), clocked.Time(0)
	for i := range k.regions {
		if k.static(i) && k.adapterOf(i).implicit == nil {
			regions++
		}
	}
	for i := range k.pages {
		if pg := &k.pages[i]; pg.mapped != 0 || pg.flags&pagePinned != 0 {
			touched++
		}
	}
	return regions*k.spec.Registration.Base + touched*k.spec.Registration.Page + clocked.Time(k.Stats.DMAMaps)*k.spec.DMA.Map
}

// static tells whether a region is registered before time 0, for good.
func (k *Kernel) static(region int) bool { return !k.regions[region].Dynamic }

// offered tells whether peers may use a region now.
func (k *Kernel) offered(region int) bool {
	return k.static(region) || k.registrar.regions[region].state == regionValid
}

// offeredBy tells the same of the regions of one adapter.
func (k *Kernel) offeredBy(adapter int) func(region int) bool {
	return func(region int) bool { return k.regions[region].Adapter == adapter && k.offered(region) }
}

// Advertised is what peers are promised: the registered pages, in bytes.
func (k *Kernel) Advertised() uint64 { return uint64(k.under(k.offered)) << k.shift }

// Reserved is the memory that backs the promise, in bytes.
func (k *Kernel) Reserved() uint64 { return uint64(len(k.frames)) << k.shift }

// Resident is the memory that user pages occupy now, in bytes.
func (k *Kernel) Resident() uint64 { return uint64(k.resident) << k.shift }

// OverAdvertised tells whether more is advertised than reserved, so that an
// absent page counts as over-advertised rather than as paging.
func (k *Kernel) OverAdvertised() bool { return k.Advertised() > k.Reserved() }

// AdvertisedTo is what the peer of an adapter is promised, in bytes.
func (k *Kernel) AdvertisedTo(adapter int) uint64 {
	return uint64(k.under(k.offeredBy(adapter))) << k.shift
}

// ReservedFor is the memory that can back what the peer of an adapter is
// promised, in bytes: every frame but those that are pinned for others, kept by
// a child, or by registrations whose memory was unmapped.
func (k *Kernel) ReservedFor(adapter int) uint64 {
	frames, offered := len(k.frames)-k.held, k.offeredBy(adapter)
	k.eachPage(func(int) bool { return true }, func(s *segment, p uint32) {
		if k.pages[p].flags&pagePinned != 0 && !slices.ContainsFunc(s.regions, offered) {
			frames--
		}
	})
	return uint64(frames) << k.shift
}

// ResidentFor is the memory that pages promised to the peer of an adapter
// occupy now, in bytes.
func (k *Kernel) ResidentFor(adapter int) uint64 {
	frames := uint64(0)
	k.eachPage(k.offeredBy(adapter), func(_ *segment, p uint32) {
		if k.pages[p].frame != noFrame {
			frames++
		}
	})
	return frames << k.shift
}

// eachPage calls do with the pages under at least one of the regions asked for.
func (k *Kernel) eachPage(want func(region int) bool, do func(s *segment, p uint32)) {
	for i := range k.segments {
		s := &k.segments[i]
		for p := s.first; p < s.end && slices.ContainsFunc(s.regions, want); p++ {
			do(s, p)
		}
	}
}

// Frames counts the frames: free, resident, and in transit between the two.
// Together with Held they are all there are, at every tick.
func (k *Kernel) Frames() (free, resident, transit int) {
	return len(k.free), k.resident, k.transit
}

// Held counts the frames that hold no page of the process: a child has them, or
// a registration whose memory was unmapped.
func (k *Kernel) Held() int { return k.held }

// PinnedFrames counts the frames that registrations pin or were promised.
func (k *Kernel) PinnedFrames() int { return k.registrar.pinned }

// ResidentPages is the number of pages that have a frame now.
func (k *Kernel) ResidentPages() int { return k.resident }

// PageTableBytes is the memory that the process's page tables occupy.
func (k *Kernel) PageTableBytes() uint64 { return k.store.Bytes() }
