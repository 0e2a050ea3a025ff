package protocol

import (
	"math/rand/v2"
	"testing"

	"rnicmmu/verify/protocol/explore"
)

// sent is what the kernel is seen to post.
var sent = map[uint8]Kind{cmdFill: FillSent, cmdRefill: FillSent, cmdZap: ZapSent, cmdMoveZap: MoveZapSent, cmdProtect: ProtectSent,
	cmdSuspend: SuspendSent, cmdUnsuspend: UnsuspendSent, cmdResume: ResumeSent}

// ports is what is seen of page 0 of a step of Tables. Commands that give complete
// when they are executed: their completions are in order.
func ports(was, is *tableState, e Event) (events []Event) {
	add := func(kind Kind, a int, frame uint8, token int, write bool) {
		events = append(events, Event{Kind: kind, Adapter: uint16(a), Frame: uint32(frame), Token: uint32(token), Write: write})
	}
	switch e.Kind {
	case FillExecuted, UnsuspendExecuted, AckArrived:
		if e.Page == 0 {
			add(CommandCompleted, int(e.Adapter), 0, 0, false)
		}
	case FaultArrived:
		if e.Page == 0 {
			add(FaultSeen, int(e.Adapter), 0, int(e.Token), false)
		}
	case DMAArrived:
		if e.Page == 0 {
			add(DMASeen, int(e.Adapter), uint8(e.Frame), 0, e.Write)
			if !e.Write {
				add(TranslationReturned, int(e.Adapter), 0, int(e.Token), false)
			}
		}
	case Returned:
		if e.Page == 0 {
			add(TranslationReturned, int(e.Adapter), 0, int(e.Token), false)
		}
	case DMAIssued:
		if e.Page == 0 && e.Write {
			add(TranslationReturned, int(e.Adapter), 0, int(e.Token), false)
		}
	}
	switch old, now := was.pages[0].frame, is.pages[0].frame; {
	case old == 0 && now != 0:
		add(FrameAssigned, 0, now, 0, false)
	case old != 0 && now == 0:
		if was.pages[0].dirty || was.pages[0].writable != 0 {
			add(PagedOut, 0, old, 0, false)
		}
		add(FrameFreed, 0, old, 0, false)
	case old != now:
		add(FrameCopied, 0, now, 0, false)
		add(FrameFreed, 0, old, 0, false)
	}
	for a := range was.adapters {
		d := &is.adapters[a]
		for i := was.adapters[a].queued; i < d.queued; i++ {
			c := &d.queue[i]
			switch {
			case c.op == cmdResume && is.accesses[c.which].page == 0:
				add(ResumeSent, a, 0, int(c.which), false)
			case c.op != cmdResume && c.which == 0:
				add(sent[c.op], a, c.frame, 0, c.write)
			}
		}
	}
	for i := range is.accesses {
		if x := &is.accesses[i]; x.phase == accessGiven && x.page == 0 && (was.accesses[i].phase != accessGiven || e.Kind == Returned && int(e.Token) == i) {
			add(TranslationGiven, int(x.adapter), x.frame, i, x.write)
		}
	}
	return events
}

// Every path of the explorer's, as it is seen at the ports, is one of the
// follower's.
func TestFollowerFollowsTheExplorer(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	count := map[Kind]int{}
	for n := range 400 {
		s := &Tables{Bounds: Bounds{Adapters: 2, Pages: 2, Frames: 3, Accesses: 3}, Suspend: n%2 == 1, each: true}
		f := NewFollower(0)
		at := s.Initial()
		for range 150 {
			var next []explore.Step[[]Event]
			s.Expand(at, false, func(step *explore.Step[[]Event]) {
				if !step.Environment || draw.IntN(4) == 0 {
					next = append(next, *step)
				}
			})
			if len(next) == 0 {
				continue
			}
			step := next[draw.IntN(len(next))]
			was, is := s.unpack(at), s.unpack(step.To)
			for _, e := range ports(&was, &is, step.Event[0]) {
				count[e.Kind]++
				if err := f.Observe(e); err != nil {
					t.Fatalf("walk %d, at %s: %v", n, step.Event[0], err)
				}
			}
			at = step.To
		}
	}
	for kind := FrameAssigned; kind <= DMASeen; kind++ {
		if count[kind] == 0 {
			t.Errorf("%s: never seen", kind)
		}
	}
}
