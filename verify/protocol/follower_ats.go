package protocol

import "slices"

// cache is an adapter's translation cache as one page sees it. What it keeps is
// not seen: it may have any answer that left the IOMMU behind the last Invalidate
// Request that it has completed.
type cache struct {
	answers       []answer
	barred        uint32         // seq of the last Invalidate Request whose completion has left
	out           []invalidation // Invalidate Requests without their completions
	flushes       uint32         // IOTLB commands of the page that a devTLB command has used
	ordered, done uint32         // devTLB commands without their fence, and how many of them are complete
}

// answer is the last translation completion with a frame; seq is its event.
type answer struct{ frame, seq uint32 }

// invalidation is an Invalidate Request that is out.
type invalidation struct{ tag, seq uint32 }

// walker is a step of an adapter that asks the IOMMU.
func (f *Follower) walker(a *followed, e Event) Refusal {
	c := &a.cache
	switch e.Kind {
	case DevTLBOrdered:
		if c.flushes == f.flushes {
			return NotFlushed
		}
		c.flushes = f.flushes
		c.ordered++
	case DevTLBSent:
		if slices.ContainsFunc(c.out, func(i invalidation) bool { return i.tag == e.Token }) {
			return TagInUse
		}
		c.out = append(c.out, invalidation{e.Token, f.seq})
	case CompletionSent:
		return a.called(e.Token)
	case CompletionArrived:
		return a.forgets(e.Token)
	case TimedOut:
		c.ordered -= min(1, c.ordered)
		c.done = min(c.done, c.ordered)
	case FenceArrived:
		if c.done == 0 && c.ordered > 0 {
			return FenceEarly
		}
		c.ordered -= min(1, c.ordered)
		c.done -= min(1, c.done)
	case TranslationAnswered:
		if !f.has || e.Frame != f.frame {
			return StaleAnswer
		}
		i := slices.IndexFunc(c.answers, func(x answer) bool { return x.frame == e.Frame })
		if i < 0 {
			i, c.answers = len(c.answers), append(c.answers, answer{})
		}
		c.answers[i] = answer{e.Frame, f.seq}
	default:
		return NotSeen
	}
	return Legal
}

// called is an Invalidate Completion as it leaves: what was answered before its
// request is given out no more, and what was given has come back.
func (a *followed) called(tag uint32) Refusal {
	c := &a.cache
	n := slices.IndexFunc(c.out, func(i invalidation) bool { return i.tag == tag })
	if n < 0 {
		return Legal // of a time before the page was followed
	}
	sent := c.out[n].seq
	c.barred = max(c.barred, sent)
	if slices.ContainsFunc(a.given, func(g given) bool { return g.answer != 0 && g.answer < sent }) {
		return CompletedUndrained
	}
	return Legal
}

// forgets is an Invalidate Completion at the IOMMU: what was answered before its
// request is not kept.
func (a *followed) forgets(tag uint32) Refusal {
	if r := a.called(tag); r != Legal {
		return r
	}
	c := &a.cache
	if n := slices.IndexFunc(c.out, func(i invalidation) bool { return i.tag == tag }); n >= 0 {
		sent := c.out[n].seq
		c.out = slices.Delete(c.out, n, n+1)
		c.done = min(c.done+1, c.ordered) // another page's range may hold this one
		c.answers = slices.DeleteFunc(c.answers, func(x answer) bool { return x.seq < sent })
	}
	return Legal
}

// answered is the last answer that a translation may have been given by; 0: none.
func (a *followed) answered(frame uint32) uint32 {
	for _, x := range a.cache.answers {
		if x.frame == frame {
			return x.seq
		}
	}
	return 0
}

// cached tells whether an adapter's cache may lead to a frame, or an invalidation
// of the page has no fence yet.
func (f *Follower) cached(frame uint32) Refusal {
	for i := range f.adapters {
		a := &f.adapters[i]
		switch {
		case a.answered(frame) != 0, slices.ContainsFunc(a.given, func(g given) bool { return g.frame == frame && g.answer != 0 }):
			return CachedFrame
		case a.cache.ordered > 0:
			return BeforeFence
		}
	}
	return Legal
}
