package mtt

import "rnicmmu/model"

// EntryBytes is the size of an entry in table memory.
const EntryBytes = 8

// Word is an entry as it lies in table memory.
type Word uint64

const (
	bitRead Word = 1 << iota
	bitWrite
	bitPresent
	bitSuspended

	addressMask = ^Word(0xFFF)
)

// Entry is a translation entry. PA is aligned to 4 KiB at least.
type Entry struct {
	PA        model.PA
	Read      bool
	Write     bool
	Present   bool
	Suspended bool
}

// Encode packs the entry; bits of PA below 4 KiB are dropped.
func (e Entry) Encode() Word {
	w := Word(e.PA) & addressMask
	if e.Read {
		w |= bitRead
	}
	if e.Write {
		w |= bitWrite
	}
	if e.Present {
		w |= bitPresent
	}
	if e.Suspended {
		w |= bitSuspended
	}
	return w
}

// PA is the physical address of the page.
func (w Word) PA() model.PA { return model.PA(w & addressMask) }

// Present tells whether the entry translates.
func (w Word) Present() bool { return w&bitPresent != 0 }

// Suspended tells whether accesses must come back later.
func (w Word) Suspended() bool { return w&bitSuspended != 0 }

// Allows tells whether the entry serves an access of this direction now:
// present, not suspended, and with the right for it. An entry filled for read
// never serves a write (FLT-8).
func (w Word) Allows(write bool) bool {
	want := bitPresent | bitRead
	if write {
		want = bitPresent | bitWrite
	}
	return w&(want|bitSuspended) == want
}

// WithSuspended is the entry with its suspended bit set or cleared.
func (w Word) WithSuspended(on bool) Word {
	if on {
		return w | bitSuspended
	}
	return w &^ bitSuspended
}

// Zapped is the entry when its page has gone: absent. That of a page which moves
// keeps its suspended bit, and that alone.
func (w Word) Zapped(moving bool) Word {
	switch {
	case !moving:
		return 0
	case w.Present():
		return bitSuspended
	}
	return w
}

// Protected is the entry without the right to store.
func (w Word) Protected() Word { return w &^ bitWrite }

// Held is the entry at the start of a suspension. A present one forgets its
// frame, so that no end of a suspension can bring the old one back (SUS-3).
func (w Word) Held() Word {
	if w.Present() {
		return bitPresent | bitSuspended
	}
	return w
}

// Opened is the entry when the last suspension of it has ended: what was
// programmed meanwhile, or absent.
func (w Word) Opened() Word {
	switch {
	case !w.Suspended():
		return w
	case w&(bitRead|bitWrite) == 0:
		return 0
	}
	return w.WithSuspended(false)
}

// Meeting is what an access meets in an entry.
type Meeting uint8

// Meetings.
const (
	Granted Meeting = iota
	Absent          // the kernel has to be told
	Moving          // it has to be told, and the page moves
	Held            // suspended: come again, nobody is told
)

// Meets is what an access of a direction meets.
func (w Word) Meets(write bool) Meeting {
	switch {
	case w.Allows(write):
		return Granted
	case w.Present() && w.Suspended():
		return Held
	case w.Suspended():
		return Moving
	}
	return Absent
}
