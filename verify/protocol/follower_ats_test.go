package protocol

import (
	"math/rand/v2"
	"testing"

	"rnicmmu/verify/protocol/explore"
)

const answered = "assign f1, answer f1, "

// Refused and followed are what runs of an adapter that asks the IOMMU look like.
func TestFollowerOfCaches(t *testing.T) {
	const gone = "iotlb, devtlb, inval t0, "
	for _, c := range [][3]string{
		{"eviction", answered + "give f1 w t9, return t9, dma f1 w, " + gone + "sent t0, complete t0, fence, out f1, free f1", ""},
		{"given before the completion leaves", answered + gone + "give f1 t9, return t9, sent t0, complete t0, fence, free f1", ""},
		{"answered again behind the request", answered + gone + "answer f1, sent t0, complete t0, fence, give f1 t9, return t9", ""},
		{"page request", "request t3, assign f1, respond t3, answer f1, give f1 t1, return t1", ""},
		{"two at a time", answered + gone + "iotlb, devtlb, complete t0, fence, inval t1, complete t1, fence, free f1", ""},
		{"gave up", answered + gone + "late, cut, free f1", ""},
		{"serial", answered + "answer a1 f1, iotlb, devtlb, inval t0, complete t0, fence, devtlb a1, inval a1 t0, complete a1 t0, fence a1, free f1", ""},
		{"moved", answered + gone + "complete t0, fence, copy f2, free f1, answer f2, give f2 t1, return t1, dma f2", ""},
		{"no flush", answered + "devtlb", "ATS-1"},
		{"flush used already", answered + "iotlb, devtlb, devtlb", "ATS-1"},
		{"fence before the completion", answered + gone + "fence", "ATS-1"},
		{"second fence before its completion", answered + gone + "iotlb, devtlb, complete t0, fence, fence", "ATS-1"},
		{"tag out already", answered + gone + "inval t0", "ATS-2"},
		{"old frame answered", answered + gone + "complete t0, fence, copy f2, answer f1", "INV-1"},
		{"answered by no frame", "answer f1", "INV-1"},
		{"freed under the cache", answered + "free f1", "ATS-3"},
		{"answered late", answered + gone + "answer f1, complete t0, fence, free f1", "ATS-3"},
		{"copied under the other cache", answered + "answer a1 f1, " + gone + "complete t0, fence, copy f2", "ATS-3"},
		{"freed before the fence", answered + gone + "complete t0, free f1", "INV-2"},
		{"given behind the completion", answered + gone + "sent t0, give f1 t9", "INV-1"},
		{"given without an answer", "assign f1, give f1 t9", "INV-1"},
		{"completion before drain", answered + "give f1 t9, " + gone + "sent t0", "ATS-4"},
		{"completion arrives before drain", answered + "give f1 t9, " + gone + "complete t0", "ATS-4"},
		{"response to nobody", "respond t3", "ATS-5"},
		{"response again", "request t3, respond t3, respond t3", "ATS-5"},
	} {
		observe(t, c[0], c[1], c[2])
	}
}

// cachePorts is what is seen of page 0 of a step of ATS.
func cachePorts(t *ATS, was, is *atsState, e Event) (events []Event) {
	add := func(kind Kind, frame uint8, token int, write bool) {
		events = append(events, Event{Kind: kind, Frame: uint32(frame), Token: uint32(token), Write: write})
	}
	if e.Page == 0 {
		switch e.Kind {
		case Evict, Move, Protect:
			add(IOTLBOrdered, 0, 0, false)
			add(DevTLBOrdered, 0, 0, false)
		case TranslationAsked:
			if v := is.requests[0].value; v != 0 {
				add(TranslationAnswered, v.frame(), 0, v.word().Allows(true))
			}
		case Drained:
			n, _ := untagged(was.invs.list[0].which)
			add(CompletionSent, 0, int(n), false)
		case CompletionArrived:
			if n := e.Token; was.tags[n].state != tagFree && is.tags[n].state == tagFree {
				add(CompletionArrived, 0, int(n), false)
			}
		case TimedOut:
			add(TimedOut, 0, 0, false)
		case FenceArrived:
			add(FenceArrived, 0, 0, false)
		case PageRequestArrived:
			add(PageRequestArrived, 0, int(e.Token), e.Write)
			if is.accesses[e.Token].fault == groupAnswered {
				add(Answered, 0, int(e.Token), e.Write)
			}
		case Answered:
			add(Answered, 0, int(e.Token), e.Write)
		case DMAArrived:
			add(DMASeen, uint8(e.Frame), 0, e.Write)
		}
		if e.Kind == Returned || e.Kind == DMAArrived && !e.Write || e.Kind == DMAIssued && e.Write {
			add(TranslationReturned, 0, int(e.Token), false)
		}
	}
	if is.dead && !was.dead {
		add(CutOff, 0, 0, false)
	}
	for n := range is.tags {
		if was.tags[n] != is.tags[n] && is.tags[n] == (itag{state: tagBusy}) {
			add(DevTLBSent, 0, n, false)
		}
	}
	switch old, now := was.pages[0].frame, is.pages[0].frame; {
	case old == 0 && now != 0:
		add(FrameAssigned, now, 0, false)
	case old != 0 && now == 0:
		if was.pages[0].dirty {
			add(PagedOut, old, 0, false)
		}
		add(FrameFreed, old, 0, false)
	case old != now:
		add(FrameCopied, now, 0, false)
		add(FrameFreed, old, 0, false)
	}
	for i := range is.accesses {
		if x := &is.accesses[i]; x.phase == accessGiven && x.page == 0 && (was.accesses[i].phase != accessGiven || e.Kind == Returned && int(e.Token) == i) {
			add(TranslationGiven, x.frame, i, x.write)
		}
	}
	return events
}

// Every path of the explorer's protocol of translation caches, as it is seen at the
// ports, is one of the follower's.
func TestFollowerFollowsCaches(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 6))
	count := map[Kind]int{}
	for n := range 400 {
		s := &ATS{Bounds: Bounds{Adapters: 1, Pages: 2, Frames: 3, Accesses: 2, ITags: 2, Completions: 1 + n%2, Credits: 2, Ring: 1}, each: true}
		f := NewFollower(0)
		at := s.Initial()
		for range 200 {
			var next []explore.Step[[]Event]
			s.Expand(at, false, func(step *explore.Step[[]Event]) {
				if step.Event[0].Kind == TimedOut && draw.IntN(40) > 0 {
					return
				}
				if !step.Environment || draw.IntN(4) == 0 {
					next = append(next, *step)
				}
			})
			if len(next) == 0 {
				continue
			}
			step := next[draw.IntN(len(next))]
			was, is := s.unpack(at), s.unpack(step.To)
			for _, e := range cachePorts(s, &was, &is, step.Event[0]) {
				count[e.Kind]++
				if err := f.Observe(e); err != nil {
					t.Fatalf("walk %d, at %s: %v", n, step.Event[0], err)
				}
			}
			at = step.To
		}
	}
	for _, kind := range []Kind{FrameAssigned, FrameCopied, PagedOut, FrameFreed, IOTLBOrdered, DevTLBOrdered, DevTLBSent, CompletionSent, CompletionArrived,
		FenceArrived, TimedOut, CutOff, TranslationAnswered, TranslationGiven, TranslationReturned, PageRequestArrived, Answered, DMASeen} {
		if count[kind] == 0 {
			t.Errorf("%s: never seen", kind)
		}
	}
}
