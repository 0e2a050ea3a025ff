package tpt

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/mtt"
)

// requestTranslation asks the IOMMU for the page of walk n, with the right to
// store if the request that began it needs that.
func (u *Unit) requestTranslation(now clocked.Time, n int) {
	w := &u.walks[n]
	w.stale = false
	u.Stats.TranslationRequests++
	d := msg.DMA{Kind: msg.KindATS, PA: model.PA(w.line << u.shift), Len: ats.EntryBytes, Cookie: cookie(cookieTranslation, n),
		Oracle: msg.Oracle{Page: msg.NoPage}, Address: msg.Address{PASID: u.config.PASID, Store: w.store}}
	if a := u.accessOf(w.list); a != nil {
		d.Counts = &a.Counts
	}
	*u.dma.Push() = d
}

// finishTranslation takes the answer: it is cached where it grants what was
// asked (ATS-3), and resolves the requests that wait. What was called back
// meanwhile is asked again.
func (u *Unit) finishTranslation(now clocked.Time, n int, m *msg.DMADone) {
	w := &u.walks[n]
	t := ats.Decode(m.Entry)
	failed := m.Status != msg.StatusSuccess || t.Read && (t.Untranslated || t.Shift < u.shift)
	if failed {
		u.Stats.TranslationErrors++
	}
	switch {
	case u.dropped(w, failed):
		return
	case failed: // the IOMMU does not serve this adapter, or nobody knows what it said
		u.failWalk(now, w, measure.CauseATS)
		return
	case w.stale:
		u.Stats.MTT.Stales++
		u.requestTranslation(now, n)
		return
	}
	// Of a larger page, the adapter's page that was asked for.
	offset := model.PA(w.line<<u.shift) & (1<<t.Shift - 1)
	word := mtt.Entry{PA: t.PA + offset, Read: t.Read, Write: t.Read && t.Write, Present: t.Read}.Encode()
	w.words[0] = word
	if word.Allows(w.store) {
		u.fill(w)
	} else {
		u.Stats.Walked.Absent++
	}
	u.serve(now, n, word)
}

// serve resolves the requests that wait for a translation. Stores that joined a
// request without the right to store may find it missing for that reason only,
// and ask again.
func (u *Unit) serve(now clocked.Time, n int, word mtt.Word) {
	w := &u.walks[n]
	list := w.list
	u.end(w)
	w.list = noWaiters
	again := !w.store && word.Allows(false) && !word.Allows(true)
	w.busy = again
	for list.head != none {
		i := u.dequeue(&list)
		s := &u.slots[i]
		if again && s.req.Write {
			u.enqueue(&w.list, i)
			continue
		}
		s.req.Ledger.Charge(now, measure.CauseATS)
		if u.still(now, i) {
			u.resolve(now, i, &s.req, word)
		}
	}
	if !again {
		return
	}
	if w.busy = w.list.head != none; w.busy {
		w.store = true
		u.Stats.Walked.Begun++
		u.requestTranslation(now, n)
	}
}

// dropRange executes an Invalidate Request: cached copies go, translation
// requests in flight are made to ask again, and what was given out is called
// back. Another process's is none of ours.
func (u *Unit) dropRange(now clocked.Time, m *msg.Invalidate) {
	u.Stats.DevTLBInvalidates++
	if u.config.Mode == ATC && (m.Global || m.PASID == u.config.PASID) {
		mask := model.VA(1)<<m.Range.Shift - 1 // all ones for the whole space
		r := pageRange{u.shift.Number(m.Range.VA &^ mask), u.shift.Number(m.Range.VA | mask)}
		u.forget(r)
		u.revokePages(now, r)
	}
}

// invalidated is the Invalidate Completion: a posted write behind every write
// that used the old translations (ATS-4).
func (u *Unit) invalidated(m *msg.Invalidate) {
	*u.dma.Push() = msg.DMA{Kind: msg.KindMessage, Write: true, Len: 1, Body: &u.completions[m.ITag%ats.MaxTags],
		Oracle: msg.Oracle{Page: msg.NoPage}}
}
