package frame

// Mix is the content after a write: old is the content before, id names the
// write, offset where in the page it starts. For given id and offset it is a
// bijection of old, so pages that differ before a write differ after it. The
// mixer is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
func Mix(old Tag, id uint64, offset uint32) Tag {
	write := scramble(scramble(id) + uint64(offset))
	return Tag(scramble(uint64(old) ^ write))
}

func scramble(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Store is the effect of a write on memory: on whatever frame it lands in.
func (o *Oracle) Store(f ID, id uint64, offset uint32) Verdict {
	if !o.hasFrame(f) {
		return NoObject
	}
	o.frames[f].tag = Mix(o.frames[f].tag, id, offset)
	return Good
}

// Expect is the effect of a write on what the process must see in a page.
func (o *Oracle) Expect(p Page, id uint64, offset uint32) Verdict {
	if !o.hasPage(p) {
		return NoObject
	}
	o.pages[p] = Mix(o.pages[p], id, offset)
	return Good
}

// Content is the tag of what a frame holds, or where there is no such frame, a slot.
func (o *Oracle) Content(f ID, s Slot) (t Tag, known bool) {
	switch {
	case o.hasFrame(f):
		return o.frames[f].tag, true
	case o.hasSlot(s):
		return o.slots[s].tag, true
	}
	return 0, false
}

// Check compares a page with the frame that holds it.
func (o *Oracle) Check(f ID, p Page) Verdict {
	if !o.hasFrame(f) || !o.hasPage(p) {
		return NoObject
	}
	return judge(o.frames[f].owner, o.frames[f].tag, p, o.pages[p])
}

// CheckSlot compares a page with the swap slot that holds it.
func (o *Oracle) CheckSlot(s Slot, p Page) Verdict {
	if !o.hasSlot(s) || !o.hasPage(p) {
		return NoObject
	}
	return judge(o.slots[s].owner, o.slots[s].tag, p, o.pages[p])
}

func judge(owner Page, held Tag, p Page, expected Tag) Verdict {
	switch {
	case owner != p:
		return Stale
	case held != expected:
		return Corrupt
	}
	return Good
}

// CheckUnwritten tells whether a page that is nowhere may be served by zeros:
// Good if it was never written, else Corrupt, for its content is lost.
func (o *Oracle) CheckUnwritten(p Page) Verdict {
	if !o.hasPage(p) {
		return NoObject
	}
	if o.pages[p] != 0 {
		return Corrupt
	}
	return Good
}
