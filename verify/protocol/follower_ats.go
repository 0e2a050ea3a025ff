package protocol

import "slices"

// cache is an adapter's translation cache as one page sees it. What it keeps is
// not seen: it may have any answer that left the IOMMU behind the last Invalidate
// Request that it has completed.
type cache struct {
	answers       []answer
	out           []invalidation // Invalidate Requests without their completions
	flushes       uint32         // IOTLB commands of the page that a devTLB command has used
	ordered, done uint32         // devTLB commands before the next fence, and Invalidate Requests completed since the first of them
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
	case CompletionArrived:
		return a.forgets(e.Token)
	case TimedOut:
		c.ordered, c.done = 0, 0
	case FenceArrived:
		if c.done < c.ordered {
			return FenceEarly
		}
		c.ordered, c.done = 0, 0
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

// forgets is an Invalidate Completion: what was answered before its request is
// neither kept nor given out.
func (a *followed) forgets(tag uint32) Refusal {
	c := &a.cache
	n := slices.IndexFunc(c.out, func(i invalidation) bool { return i.tag == tag })
	if n < 0 {
		return Legal // of a time before the page was followed
	}
	sent := c.out[n].seq
	c.out = slices.Delete(c.out, n, n+1)
	c.done++
	c.answers = slices.DeleteFunc(c.answers, func(x answer) bool { return x.seq < sent })
	if slices.ContainsFunc(a.given, func(g given) bool { return g.answer != 0 && g.answer < sent }) {
		return CompletedUndrained
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
