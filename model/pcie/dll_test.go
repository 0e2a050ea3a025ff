package pcie

import "testing"

// senderAt is a sender that has numbered and seen acknowledged n TLPs.
func senderAt(n int) (s Sender) {
	for range n {
		s.Ack(s.Next())
	}
	return s
}

func send(s *Sender, n int) {
	for range n {
		s.Next()
	}
}

// Numbers run to 4095 and on from 0; 2047 may be outstanding.
func TestSequenceNumbers(t *testing.T) {
	s := senderAt(4094)
	for _, want := range []uint16{4094, 4095, 0, 1} {
		if got := s.Next(); got != want {
			t.Errorf("number %d, want %d", got, want)
		}
	}
	if s.Oldest() != 4094 || s.Outstanding() != 4 {
		t.Errorf("%d outstanding from %d", s.Outstanding(), s.Oldest())
	}
	send(&s, 2042)
	if s.Full() {
		t.Error("full with 2046")
	}
	if send(&s, 1); !s.Full() || s.Outstanding() != 2047 {
		t.Errorf("not full with %d", s.Outstanding())
	}
	if freed, ok := s.Ack(4094); freed != 1 || !ok || s.Full() {
		t.Errorf("freed %d, %t; full %t", freed, ok, s.Full())
	}
}

// An Ack frees all up to its number; the last one again is harmless; a number
// that is not outstanding is ignored.
func TestAck(t *testing.T) {
	for _, c := range []struct {
		seq   uint16
		freed int
		ok    bool
	}{{4093, 0, true}, {4094, 1, true}, {4095, 2, true}, {2, 5, true}, {3, 0, false}, {4092, 0, false}, {2000, 0, false}} {
		s := senderAt(4094)
		send(&s, 5) // 4094, 4095, 0, 1, 2
		freed, ok := s.Ack(c.seq)
		if freed != c.freed || ok != c.ok || s.Outstanding() != 5-c.freed {
			t.Errorf("Ack %d: freed %d, %t, %d left", c.seq, freed, ok, s.Outstanding())
		}
	}
}

// A Nak acknowledges what came before and has the rest sent again, where there is
// any.
func TestNak(t *testing.T) {
	for _, c := range []struct {
		seq   uint16
		freed int
		do    Action
	}{{9, 0, Replay}, {11, 2, Replay}, {12, 3, Nothing}, {13, 0, Nothing}, {8, 0, Nothing}} {
		s := senderAt(10)
		send(&s, 3) // 10, 11, 12
		freed, do := s.Nak(c.seq)
		if freed != c.freed || do != c.do || s.Outstanding() != 3-c.freed {
			t.Errorf("Nak %d: freed %d, %v, %d left", c.seq, freed, do, s.Outstanding())
		}
	}
	var idle Sender
	if do := idle.Timeout(); do != Nothing {
		t.Errorf("time-out of nothing: %v", do)
	}
}

// Every fourth replay without progress retrains, whoever asks for it; progress
// starts the count anew, an Ack without progress does not.
func TestReplayNumber(t *testing.T) {
	s := senderAt(10)
	send(&s, 3)
	nak := func() Action { _, do := s.Nak(s.Oldest() - 1); return do }
	for round := range 2 {
		for i, do := range []Action{s.Timeout(), nak(), s.Timeout(), nak()} {
			if want := [...]Action{Replay, Replay, Replay, Retrain}[i]; do != want {
				t.Errorf("round %d, replay %d: %v", round, i+1, do)
			}
			s.Ack(9)
		}
	}
	s.Timeout()
	s.Timeout()
	s.Timeout()
	if _, do := s.Nak(10); do != Replay {
		t.Errorf("Nak with progress: %v", do)
	}
	if a, b, c := s.Timeout(), nak(), s.Timeout(); a != Replay || b != Replay || c != Retrain {
		t.Errorf("%v, %v, %v: a Nak with progress counts as the first replay", a, b, c)
	}
}

// What a receiver does about each TLP, step by step.
func TestReceiver(t *testing.T) {
	r := Receiver{next: 4094}
	for i, c := range []struct {
		seq     uint16
		damaged bool
		want    Judgement
		last    uint16
	}{
		{4094, false, Accept, 4094},
		{4095, false, Accept, 4095},
		{4095, false, Duplicate, 4095},
		{0, true, Bad, 4095},
		{1, false, Discard, 4095},
		{2, true, Discard, 4095},
		{4094, false, Duplicate, 4095}, // does not end the wait for 0
		{3, false, Discard, 4095},
		{0, false, Accept, 0},
		{2, false, Bad, 0}, // 1 was lost
		{1, false, Accept, 1},
		{2049, false, Bad, 1},                  // the furthest that can come
		{2 + 4096 - 2048, false, Duplicate, 1}, // as far back
	} {
		if got := r.Take(c.seq, c.damaged); got != c.want || r.Last() != c.last {
			t.Errorf("step %d, %d: %v, last %d; want %v, %d", i, c.seq, got, r.Last(), c.want, c.last)
		}
	}
	var fresh Receiver
	if fresh.Last() != 4095 || fresh.Take(0, false) != Accept {
		t.Errorf("a link begins with 0, and 4095 is acknowledged")
	}
}
