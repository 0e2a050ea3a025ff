package memory

import "rnicmmu/model/frame"

// Audit counts the process pages that are not where the pager believes them to
// be, or not with the content that the process must see. locate gives a page's
// frame when it is resident, and whether its swap slot, of the same number,
// holds it. It is meant for a host at rest.
func (m *Memory) Audit(locate func(page uint32) (frame uint32, resident, swapped bool)) (lost uint64) {
	if m.content == nil {
		return 0
	}
	for p := range uint32(m.config.Pages) {
		f, resident, swapped := locate(p)
		var verdict frame.Verdict
		switch {
		case resident:
			verdict = m.content.Check(frame.ID(f), frame.Page(p))
		case swapped:
			verdict = m.content.CheckSlot(frame.Slot(p), frame.Page(p))
		default:
			verdict = m.content.CheckUnwritten(frame.Page(p))
		}
		if verdict != frame.Good {
			lost++
		}
	}
	return lost
}

// Tag is the content of a page where the pager believes it to be, as locate of
// Audit has it; of a page that is nowhere, 0.
func (m *Memory) Tag(page, f uint32, resident, swapped bool) frame.Tag {
	if !resident {
		f = ^uint32(0)
	}
	if m.content == nil || !resident && !swapped {
		return 0
	}
	tag, _ := m.content.Content(frame.ID(f), frame.Slot(page))
	return tag
}
