package tcp

import "testing"

// Segments of 10 bytes by number; the circle wraps at the third.
func arrive(r *Receiver, i uint32, room bool) Verdict { return r.Arrive(^uint32(0)-20+10*i, 10, room) }

func receiver() Receiver { return NewReceiver(^uint32(0)-20, 100) }

func TestArrive(t *testing.T) {
	r := receiver()
	for _, c := range []struct {
		segment uint32
		room    bool
		want    Verdict
	}{
		{0, true, InOrder}, {2, true, Kept}, {4, true, Kept}, {2, true, Duplicate}, {3, true, Kept}, {3, true, Duplicate},
		{9, true, Kept}, {11, true, Discarded}, // beyond the window
		{6, false, Discarded}, {6, true, Kept}, {1, true, InOrder},
	} {
		got := arrive(&r, c.segment, c.room)
		if got != c.want {
			t.Fatalf("segment %d: %d, want %d, early %v", c.segment, got, c.want, r.early)
		}
		if got == InOrder {
			r.Accept(10)
		}
	}
	// 0 and 1 are taken, 2 to 4 are next, then 6 and 9.
	for range 3 {
		r.Accept(10)
	}
	if len(r.early) != 2 || !r.Gap() || arrive(&r, 4, true) != Duplicate || arrive(&r, 5, true) != InOrder {
		t.Errorf("%v", r.early)
	}
	if r.Arrive(r.next-5, 10, true) != Discarded {
		t.Error("a segment cut otherwise is taken")
	}
	r.Forget()
	if r.Gap() {
		t.Error("still keeps something")
	}
}

// A refused segment counts as never received, also when it had been kept.
func TestRefuse(t *testing.T) {
	r := receiver()
	arrive(&r, 1, true)
	arrive(&r, 2, true)
	if arrive(&r, 0, true) != InOrder {
		t.Fatal()
	}
	r.Refuse(10)
	if r.Next() != ^uint32(0)-20 || arrive(&r, 1, true) != Duplicate {
		t.Fatal("refused, and yet something moved")
	}
	r.Accept(10)
	r.Refuse(10) // segment 1, kept
	if arrive(&r, 2, true) != Duplicate || arrive(&r, 1, true) != InOrder {
		t.Fatalf("%v", r.early)
	}
	r.Accept(10)
	r.Accept(10)
	if r.Gap() || r.Next() != 9 {
		t.Errorf("%v", r.early)
	}
}

// Every second segment is answered at once, a lone one after the delay; with
// something behind a gap each is.
func TestAcker(t *testing.T) {
	a := NewAcker(2, 40*ms)
	answers := 0
	for i := range int64(9) {
		if a.Took(i*ms, false) {
			answers++
			a.Sent()
		}
	}
	if answers != 4 || a.Deadline() != 8*ms+40*ms {
		t.Errorf("%d answers to 9 segments, the last by %d", answers, a.Deadline())
	}
	a.Sent() // by a segment with data
	if a.Deadline() != Never || a.Took(9*ms, false) {
		t.Error("an answer that went with data is owed still")
	}
	if a.Sent(); !a.Took(9*ms, true) {
		t.Error("a gap was filled without an answer")
	}
}
