package frame

import (
	"errors"
	"fmt"
)

// ID is a frame number, Page a page of some process, Slot a place in swap.
// Each counts from 0.
type (
	ID   uint32
	Page uint32
	Slot uint32
)

// NoPage owns the frames and slots that nobody owns.
const NoPage Page = 1<<32 - 1

// Tag stands for the content of one page.
type Tag uint64

// Verdict is what the oracle says of an access or a comparison.
type Verdict uint8

// Verdicts.
const (
	Good     Verdict = iota
	Stale            // the frame is not the page's, or is no longer
	Corrupt          // the right place, but not the content that the process must see
	NoObject         // frame, page or slot does not exist
	numVerdicts
)

var verdictNames = [numVerdicts]string{"good", "stale", "corrupt", "no such object"}

func (v Verdict) String() string {
	if v < numVerdicts {
		return verdictNames[v]
	}
	return "invalid verdict"
}

// Errors of ownership changes. Nothing has changed when one is returned.
var (
	ErrNoObject = errors.New("frame, page or slot does not exist")
	ErrOwned    = errors.New("frame is owned already")
	ErrNotOwned = errors.New("frame is not owned")
	ErrEmpty    = errors.New("swap slot is empty")
)

type frameState struct {
	owner Page
	tag   Tag
}

type slotState struct {
	owner Page
	tag   Tag
}

// Oracle holds the state of all frames, pages and swap slots of a host.
type Oracle struct {
	frames []frameState
	pages  []Tag
	slots  []slotState
}

// New makes an oracle of free zeroed frames, unwritten pages and empty slots.
// Each number may be 0 … 2^32-2.
func New(frames, pages, slots int) (*Oracle, error) {
	for _, n := range []int{frames, pages, slots} {
		if n < 0 || n >= int(NoPage) {
			return nil, fmt.Errorf("%d frames, %d pages, %d swap slots: each must be 0 to 2^32-2", frames, pages, slots)
		}
	}
	o := &Oracle{
		frames: make([]frameState, frames),
		pages:  make([]Tag, pages),
		slots:  make([]slotState, slots),
	}
	for i := range o.frames {
		o.frames[i].owner = NoPage
	}
	for i := range o.slots {
		o.slots[i].owner = NoPage
	}
	return o, nil
}

func (o *Oracle) hasFrame(f ID) bool  { return uint64(f) < uint64(len(o.frames)) }
func (o *Oracle) hasPage(p Page) bool { return uint64(p) < uint64(len(o.pages)) }
func (o *Oracle) hasSlot(s Slot) bool { return uint64(s) < uint64(len(o.slots)) }

// Assign gives a free frame to a page. The frame keeps its content: Zero,
// CopyIn or CopyFrame follows.
func (o *Oracle) Assign(f ID, p Page) error {
	if !o.hasFrame(f) || !o.hasPage(p) {
		return ErrNoObject
	}
	s := &o.frames[f]
	if s.owner != NoPage {
		return ErrOwned
	}
	s.owner = p
	return nil
}

// Free takes a frame from its page. Its content stays until something
// overwrites it, as in real memory.
func (o *Oracle) Free(f ID) error {
	if !o.hasFrame(f) {
		return ErrNoObject
	}
	if o.frames[f].owner == NoPage {
		return ErrNotOwned
	}
	o.frames[f].owner = NoPage
	return nil
}

// Forget makes a page unwritten again: the process has given its content up.
func (o *Oracle) Forget(p Page) error {
	if !o.hasPage(p) {
		return ErrNoObject
	}
	o.pages[p] = 0
	return nil
}

// Owner is the page that owns a frame, or NoPage.
func (o *Oracle) Owner(f ID) Page {
	if !o.hasFrame(f) {
		return NoPage
	}
	return o.frames[f].owner
}

// Zero clears a frame's content.
func (o *Oracle) Zero(f ID) error {
	if !o.hasFrame(f) {
		return ErrNoObject
	}
	o.frames[f].tag = 0
	return nil
}

// CopyOut writes the content of an owned frame to a swap slot, which then
// belongs to the frame's page.
func (o *Oracle) CopyOut(f ID, s Slot) error {
	if !o.hasFrame(f) || !o.hasSlot(s) {
		return ErrNoObject
	}
	if o.frames[f].owner == NoPage {
		return ErrNotOwned
	}
	o.slots[s] = slotState{owner: o.frames[f].owner, tag: o.frames[f].tag}
	return nil
}

// CopyIn reads a swap slot into a frame. Whether it is the slot of the frame's
// page shows when the page is checked.
func (o *Oracle) CopyIn(s Slot, f ID) error {
	if !o.hasFrame(f) || !o.hasSlot(s) {
		return ErrNoObject
	}
	if o.slots[s].owner == NoPage {
		return ErrEmpty
	}
	o.frames[f].tag = o.slots[s].tag
	return nil
}

// FreeSlot empties a swap slot.
func (o *Oracle) FreeSlot(s Slot) error {
	if !o.hasSlot(s) {
		return ErrNoObject
	}
	o.slots[s].owner = NoPage
	return nil
}

// CopyFrame copies the content of one frame to another: migration.
func (o *Oracle) CopyFrame(from, to ID) error {
	if !o.hasFrame(from) || !o.hasFrame(to) {
		return ErrNoObject
	}
	o.frames[to].tag = o.frames[from].tag
	return nil
}
