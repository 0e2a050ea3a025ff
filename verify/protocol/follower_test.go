package protocol

import (
	"strings"
	"testing"
)

// seen reads events: a verb, then numbers. Adapter is 0 unless "on N" follows.
func seen(t *testing.T, line string) Event {
	t.Helper()
	verbs := map[string]Kind{"assign": FrameAssigned, "copy": FrameCopied, "out": PagedOut, "free": FrameFreed, "fill": FillSent, "zap": ZapSent,
		"movezap": MoveZapSent, "protect": ProtectSent, "suspend": SuspendSent, "unsuspend": UnsuspendSent, "resume": ResumeSent,
		"done": CommandCompleted, "fault": FaultSeen, "give": TranslationGiven, "return": TranslationReturned, "dma": DMASeen, "cut": CutOff, "drop": GivenUp, "left": Drained,
		"iotlb": IOTLBOrdered, "devtlb": DevTLBOrdered, "inval": DevTLBSent, "sent": CompletionSent, "complete": CompletionArrived, "fence": FenceArrived,
		"late": TimedOut, "answer": TranslationAnswered, "request": PageRequestArrived, "respond": Answered}
	var e Event
	words := strings.Fields(line)
	for i, w := range words {
		switch {
		case i == 0:
			e.Kind = verbs[w]
		case w == "w":
			e.Write = true
		case w[0] == 'f':
			e.Frame = uint32(w[1] - '0')
		case w[0] == 'a':
			e.Adapter = uint16(w[1] - '0')
		case w[0] == 't':
			e.Token = uint32(w[1] - '0')
		}
	}
	if e.Kind == Nothing {
		t.Fatalf("%q", line)
	}
	return e
}

// observe follows events up to the last, which is refused for a rule or, if that is
// empty, is legal as all others are.
func observe(t *testing.T, name, events, refused string) {
	t.Helper()
	f := NewFollower(0)
	lines := strings.Split(events, ", ")
	for i, line := range lines {
		err := f.Observe(seen(t, line))
		switch last := i == len(lines)-1; {
		case err != nil && (!last || refused == ""):
			t.Errorf("%s: event %d: %v", name, i, err)
			return
		case err == nil && last && refused != "":
			t.Errorf("%s: event %d is legal; %q is due", name, i, refused)
		case err != nil && !strings.Contains(err.Error(), refused):
			t.Errorf("%s: %v; %q is due", name, err, refused)
		}
	}
	if err := f.Rest(); refused == "" && err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

const brought = "fault t1, assign f1, fill f1 w, done, resume t1"

// What runs of the protocol look like at the ports is followed to the end.
func TestFollowerFollows(t *testing.T) {
	for name, events := range map[string]string{
		"fault":                       brought,
		"fault and store":             brought + ", give f1 w t9, dma f1 w, return t9",
		"given before completion":     "fault t1, assign f1, fill f1, give f1 t9, done, return t9, resume t1",
		"eviction":                    brought + ", give f1 w t9, return t9, dma f1 w, zap, done, out f1, free f1",
		"given after the zap is sent": brought + ", zap, give f1 t9, return t9, done, free f1",
		"two adapters":                brought + ", fault a1 t1, fill a1 f1, done a1, resume a1 t1, zap, zap a1, done a1, done, free f1",
		"move":                        brought + ", movezap, done, copy f2, free f1, fault t2, fill f2 w, done, resume t2, dma f2 w",
		"move under suspension":       brought + ", suspend, done, copy f2, free f1, fill f2 w, unsuspend, done, done, give f2 w t1, return t1, dma f2 w",
		"protect":                     brought + ", protect, done, give f1 t3, return t3",
		"nested":                      brought + ", suspend, suspend, done, unsuspend, done, done, unsuspend, done",
		"cut off":                     brought + ", give f1 w t9, zap, cut, out f1, free f1, done",
		"given up":                    brought + ", dma f1 w, zap, done, drop, free f1",
		"fill behind another's zap":   brought + ", zap a1, fill f1 w, done a1, done, zap, done, free f1",
		"acknowledged":                brought + ", zap, give f1 t9, return t9, left, done, free f1",
		"come back":                   brought + ", zap, done, free f1, fault t1, assign f2, fill f2, done, resume t1, give f2 t1, return t1",
	} {
		observe(t, name, events, "")
	}
}

// The first event that is no step is told, with the rule.
func TestFollowerRefuses(t *testing.T) {
	for _, c := range [][3]string{
		{"answered twice", brought + ", resume t1", "FLT-11"},
		{"stale fill", brought + ", movezap, done, copy f2, fill f1", "FLT-4"},
		{"fill during an invalidation", brought + ", zap, fill f1", "FLT-4"},
		{"free before the acknowledgement", brought + ", zap, free f1", "INV-2"},
		{"free after the first acknowledgement", brought + ", fault a1 t1, fill a1 f1, done a1, resume a1 t1, zap, zap a1, done, free f1", "INV-2"},
		{"copied before the acknowledgement", brought + ", movezap, copy f2", "INV-2"},
		{"paged out before the acknowledgement", brought + ", zap, out f1", "INV-2"},
		{"acknowledged before drain", brought + ", give f1 t9, zap, done", "INV-2"},
		{"translation after the acknowledgement", brought + ", zap, done, give f1 t1", "INV-1"},
		{"translation of a suspended entry", brought + ", suspend, done, give f1 t1", "INV-1"},
		{"store by a read entry", "fault t1, assign f1, fill f1, done, resume t1, give f1 w t2", "INV-1"},
		{"store after protection", brought + ", protect, done, give f1 w t3", "INV-1"},
		{"old frame after a suspension", brought + ", suspend, done, copy f2, unsuspend, done, give f1 t3", "INV-1"},
		{"opened too early", brought + ", suspend, suspend, done, done, fill f1, done, unsuspend, done, give f1 t1", "INV-1"},
		{"DMA to the old frame", brought + ", give f1 w t1, return t1, movezap, done, copy f2, dma f1 w", "INV-1"},
		{"DMA after it was freed", brought + ", zap, done, free f1, dma f1", "INV-1"},
		{"lost write", brought + ", give f1 w t1, return t1, dma f1 w, zap, done, free f1", "INV-8"},
		{"end of no suspension", brought + ", unsuspend, done", "SUS-2"},
		{"acknowledgement leaves before drain", brought + ", give f1 t9, zap, left", "INV-2"},
		{"translation behind the acknowledgement", brought + ", zap, left, give f1 t9", "INV-1"},
		{"free before the acknowledgement arrives", brought + ", zap, left, free f1", "INV-2"},
		{"acknowledgement of nothing", brought + ", zap, left, left", "is open"},
		{"second frame", "assign f1, assign f2", "has a frame"},
		{"return of nothing", "return t4", "is out"},
		{"completion of nothing", "done", "is open"},
		{"waits already", "fault t1, fault t1", "waiting already"},
	} {
		observe(t, c[0], c[1], c[2])
	}
}

// What is open at the end is told.
func TestFollowerRest(t *testing.T) {
	for events, want := range map[string]string{
		"fault t1":                           "FLT-1",
		"assign f1, fill f1":                 "not completed",
		brought + ", give f1 t2":             "not returned",
		brought + ", suspend, done, copy f2": "not free",
	} {
		f := NewFollower(3)
		for _, line := range strings.Split(events, ", ") {
			if err := f.Observe(seen(t, line)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Rest(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; %q is due", events, err, want)
		}
	}
	if err := NewFollower(0).Observe(Event{Kind: DMASeen, Adapter: mostAdapters}); err == nil {
		t.Error("adapter 16 is followed")
	}
}
