package kernel

import "rnicmmu/clocked"

// cost is the closed form of registration: every region, every page that is
// pinned or mapped, and every DMA mapping.
func (k *Kernel) cost() clocked.Time {
	touched := clocked.Time(0)
	for i := range k.pages {
		if pg := &k.pages[i]; pg.mapped != 0 || pg.flags&pagePinned != 0 {
			touched++
		}
	}
	return clocked.Time(len(k.regions))*k.spec.Registration.Base + touched*k.spec.Registration.Page +
		clocked.Time(k.Stats.DMAMaps)*k.spec.DMA.Map
}

// Advertised is what peers were promised: the registered pages, in bytes.
func (k *Kernel) Advertised() uint64 { return uint64(k.registered()) << k.shift }

// Reserved is the memory that backs the promise, in bytes.
func (k *Kernel) Reserved() uint64 { return uint64(len(k.frames)) << k.shift }

// Resident is the memory that user pages occupy now, in bytes.
func (k *Kernel) Resident() uint64 { return uint64(k.resident) << k.shift }

// OverAdvertised tells whether more is advertised than reserved, so that an
// absent page counts as over-advertised rather than as paging.
func (k *Kernel) OverAdvertised() bool { return k.Advertised() > k.Reserved() }

// Frames counts the frames: free, resident, and in transit between the two.
// Together they are all there are, at every tick.
func (k *Kernel) Frames() (free, resident, transit int) {
	return len(k.free), k.resident, k.transit
}

// ResidentPages is the number of pages that have a frame now.
func (k *Kernel) ResidentPages() int { return k.resident }

// PageTableBytes is the memory that the process's page tables occupy.
func (k *Kernel) PageTableBytes() uint64 { return k.store.Bytes() }
