package tcp

import "testing"

const (
	mss = 1000
	ms  = int64(1e9)
	sec = 1000 * ms
)

func config() SenderConfig {
	return SenderConfig{MSS: mss, InitialWindow: 10, MinRTO: 200 * ms, MaxRTO: 120 * sec, Retries: 15, FastRetransmit: true}
}

// start is near the end of the circle, so that every test wraps.
var start = ^uint32(0) - 4500

func open(t *testing.T, c SenderConfig) *Sender {
	t.Helper()
	s, err := NewSender(c, start, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill sends full segments until the window is full and returns how many.
func fill(s *Sender, now int64) int {
	n := 0
	for ; s.MaySend(mss); n++ {
		s.Sent(now, mss)
	}
	return n
}

// ackAt acknowledges the first n segments.
func ackAt(s *Sender, now int64, n uint32) Event { return s.Ack(now, start+n*mss, 1<<20, true, 0) }

// Slow start: with each of a round's segments acknowledged on its own the
// window doubles: 10, 20, 40, 80 segments.
func TestSlowStart(t *testing.T) {
	s := open(t, config())
	acked := uint32(0)
	for round, want := range []int{10, 20, 40, 80} {
		sent := fill(s, int64(round)*ms)
		if sent != want {
			t.Fatalf("round %d: %d segments, want %d", round, sent, want)
		}
		for range sent {
			acked++
			ackAt(s, int64(round+1)*ms, acked)
			if !s.resend && s.InFlight() > 0 && s.Deadline() == Never {
				t.Fatal("no timer with bytes in flight")
			}
		}
	}
}

// With an ACK for every second segment it grows by half a round: 10, 15, 22, 33.
func TestSlowStartDelayed(t *testing.T) {
	s := open(t, config())
	acked, sent := uint32(0), uint32(0)
	for round, want := range []uint32{10, 15, 22, 33} { // 15: 5 ACKs of 10; 22: 7 ACKs of 15, one left for the next
		sent += uint32(fill(s, int64(round)*ms))
		if got := s.Window() / mss; got != want {
			t.Fatalf("round %d: %d segments, want %d", round, got, want)
		}
		for acked+2 <= sent {
			acked += 2
			ackAt(s, int64(round+1)*ms, acked)
		}
	}
}

// Congestion avoidance: a segment more for each window of bytes acknowledged.
func TestCongestionAvoidance(t *testing.T) {
	s := open(t, config())
	s.ssthresh = 10 * mss
	acked := uint32(0)
	for round := range uint32(5) {
		if n := uint32(fill(s, 0)); s.Window() != (10+round)*mss || s.InFlight() != s.Window() {
			t.Fatalf("round %d: window %d, sent %d", round, s.Window(), n)
		}
		for in := s.InFlight() / mss; in > 0; in-- {
			acked++
			ackAt(s, 1, acked)
		}
	}
}

// The time-out after k samples, by hand: R = 100 ms: SRTT 100, RTTVAR 50, RTO
// 300. R = 200: RTTVAR (150+100)/4 = 62.5, SRTT 112.5, RTO 362.5. R = 112.5:
// RTTVAR 46.875, SRTT unchanged, RTO 300. Samples of 1 ms: at the floor.
func TestRTO(t *testing.T) {
	tm := newTimer(200*ms, 120*sec)
	if tm.rto != sec {
		t.Errorf("before any sample %d", tm.rto)
	}
	for _, c := range []struct{ r, srtt, rttvar, rto int64 }{
		{100 * ms, 100 * ms, 50 * ms, 300 * ms},
		{200 * ms, 112*ms + ms/2, 62*ms + ms/2, 362*ms + ms/2},
		{112*ms + ms/2, 112*ms + ms/2, 46875 * ms / 1000, 300 * ms},
	} {
		tm.sample(c.r)
		if tm.srtt != c.srtt || tm.rttvar != c.rttvar || tm.rto != c.rto {
			t.Errorf("after %d: %d ± %d, %d; want %+v", c.r, tm.srtt, tm.rttvar, tm.rto, c)
		}
	}
	for range 100 {
		tm.sample(ms)
	}
	if tm.rto != 200*ms {
		t.Errorf("%d is not the floor", tm.rto)
	}
}

// Without acknowledgements segments leave at 0 and the timer expires after 1,
// 2, 4, … s more, at most 120, until the retries are used up.
func TestBackOff(t *testing.T) {
	c := config()
	c.Retries = 9
	s := open(t, c)
	s.Sent(0, mss)
	now := int64(0)
	for i, wait := range []int64{1, 2, 4, 8, 16, 32, 64, 120, 120} {
		if s.Deadline() != now+wait*sec {
			t.Fatalf("time-out %d at %d, want %d", i, s.Deadline(), now+wait*sec)
		}
		now = s.Deadline()
		if !s.Timeout(now) {
			t.Fatalf("gave up at time-out %d", i)
		}
		if s.Next() != start || s.Window() != mss || !s.MaySend(mss) || !s.Sent(now, mss) {
			t.Fatalf("time-out %d: next %d, window %d", i, s.Next(), s.Window())
		}
	}
	if now = s.Deadline(); s.Timeout(now) || s.Deadline() != Never {
		t.Error("does not give up")
	}
}

// Karn: an acknowledgement of what was sent twice is no sample, and the backed
// off time-out stays until there is one. Retries come back with progress.
func TestKarn(t *testing.T) {
	s := open(t, config())
	s.Handshake(ms)
	s.Sent(0, mss)
	if s.Deadline() != 200*ms {
		t.Fatal(s.Deadline())
	}
	s.Timeout(200 * ms)
	s.Sent(200*ms, mss)
	ackAt(s, 201*ms, 1)
	if s.timer.rto != 400*ms || s.Deadline() != Never || s.expired != 0 {
		t.Errorf("time-out %d, deadline %d after %d", s.timer.rto, s.Deadline(), s.expired)
	}
	s.Sent(300*ms, mss)
	ackAt(s, 301*ms, 2)
	if s.timer.rto != 200*ms {
		t.Errorf("time-out %d after a sample", s.timer.rto)
	}
}

// With time stamps what was sent twice is timed, and the time-out is short again.
func TestTimestamps(t *testing.T) {
	c := config()
	c.Timestamps = true
	s := open(t, c)
	s.Handshake(ms)
	s.Sent(0, mss)
	s.Timeout(200 * ms)
	s.Sent(200*ms, mss)
	if s.Ack(201*ms, start+mss, 1<<20, true, 200*ms); s.timer.rto != 200*ms {
		t.Errorf("time-out %d", s.timer.rto)
	}
	// 700 ms to the answer, by hand: RTTVAR (3 × 0.375 + 699) / 4, SRTT (7 + 700) / 8.
	s.Sent(300*ms, mss)
	s.Ack(1000*ms, start+2*mss, 1<<20, true, 300*ms)
	if want := 788500 * ms / 1000; s.timer.rto != want {
		t.Errorf("time-out %d, want %d", s.timer.rto, want)
	}
}

// After a time-out a segment leaves, what is acknowledged beyond it is not sent
// again, and slow start goes up to half of what was in flight.
func TestAfterTimeout(t *testing.T) {
	s := open(t, config())
	fill(s, 0)
	s.Timeout(sec)
	if s.Sent(sec, 10); s.MaySend(10) || s.ssthresh != 5*mss {
		t.Fatalf("more than the oldest leaves, threshold %d", s.ssthresh)
	}
	if e := ackAt(s, sec+ms, 7); e.Acked != 7*mss || s.Next() != start+7*mss {
		t.Fatalf("%+v, next %d", e, s.Next()-start)
	}
	if n := fill(s, sec+ms); n != 2 { // the window has grown by one
		t.Errorf("%d segments", n)
	}
}

// The third duplicate, not the second, sends the lost segment again, once; each
// further one lets a new segment out when the window allows; the ACK of all
// ends it at half the window.
func TestFastRetransmit(t *testing.T) {
	s := open(t, config())
	fill(s, 0)
	for i := range 2 {
		if e := ackAt(s, ms, 0); e.Resend || !s.MaySend(mss) {
			t.Fatalf("duplicate %d: %+v, or limited transmit does not work", i+1, e)
		}
		s.Sent(ms, mss) // limited transmit: segments 10 and 11
		if s.MaySend(mss) {
			t.Fatal("more than one new segment for a duplicate")
		}
	}
	if e := ackAt(s, ms, 0); !e.Resend || !e.Fast || s.Next() != start || s.ssthresh != 5*mss || s.Window() != 8*mss {
		t.Fatalf("third: %+v, next %d, threshold %d, window %d", e, s.Next()-start, s.ssthresh, s.Window())
	}
	if !s.MaySend(mss) || !s.Sent(ms, mss) || s.MaySend(mss) || s.Resend() {
		t.Fatal("the lost segment alone may leave")
	}
	for range 8 { // 9 segments were behind the lost one, 2 came by limited transmit
		ackAt(s, ms, 0)
	}
	if s.Window() != 16*mss || fill(s, ms) != 4 {
		t.Fatalf("window %d", s.Window())
	}
	if e := ackAt(s, 2*ms, 12); e.Resend || s.recovering || s.Window() != 5*mss {
		t.Errorf("%+v, window %d", e, s.Window())
	}
}

// Two losses in a window: the partial ACK sends the second again without more
// duplicates, and only the first partial ACK restarts the timer.
func TestPartialAck(t *testing.T) {
	s := open(t, config())
	fill(s, 0)
	for range 3 {
		ackAt(s, ms, 0)
	}
	s.Sent(ms, mss)
	if e := ackAt(s, 2*ms, 4); !e.Resend || e.Fast || s.Next() != start+4*mss || s.Deadline() != 2*ms+s.timer.rto {
		t.Fatalf("%+v, next %d, deadline %d", e, s.Next()-start, s.Deadline())
	}
	s.Sent(2*ms, mss)
	at := s.Deadline()
	if e := ackAt(s, 3*ms, 6); !e.Resend || s.Deadline() != at {
		t.Fatalf("%+v, deadline moved by %d", e, s.Deadline()-at)
	}
	s.Sent(3*ms, mss)
	if ackAt(s, 4*ms, 10); s.recovering || s.Deadline() != Never {
		t.Error("recovery does not end")
	}
}

// What is not a duplicate: with data, with another window, with nothing in
// flight, of the past. And none counts when fast retransmit is off.
func TestNotDuplicates(t *testing.T) {
	s := open(t, config())
	ackAt(s, 0, 0)
	fill(s, 0)
	ackAt(s, ms, 1)
	s.Ack(ms, start+mss, 1<<20, false, 0)
	s.Ack(ms, start+mss, 1<<19, true, 0)
	s.Ack(ms, start, 1<<20, true, 0)
	s.Ack(ms, start+100*mss, 1<<20, true, 0)
	if s.dups != 0 {
		t.Errorf("%d", s.dups)
	}
	c := config()
	c.FastRetransmit = false
	s = open(t, c)
	fill(s, 0)
	for range 5 {
		if e := ackAt(s, ms, 0); e != (Event{}) || s.MaySend(mss) {
			t.Errorf("%+v", e)
		}
	}
}

// After a time-out duplicates of what was sent before it mean nothing.
func TestNoFalseFastRetransmit(t *testing.T) {
	s := open(t, config())
	fill(s, 0)
	s.Timeout(sec)
	s.Sent(sec, mss)
	ackAt(s, sec+ms, 10)
	fill(s, sec+ms)
	for range 5 {
		if e := ackAt(s, sec+2*ms, 10); e.Resend {
			t.Fatal("fast retransmit before anything beyond is acknowledged")
		}
	}
	ackAt(s, sec+3*ms, 11)
	fill(s, sec+3*ms)
	for i := range 3 {
		if e := ackAt(s, sec+4*ms, 11); e.Resend != (i == 2) {
			t.Fatalf("duplicate %d: %+v", i+1, e)
		}
	}
}

// The receiver's window bounds what is in flight.
func TestOfferedWindow(t *testing.T) {
	s, err := NewSender(config(), start, 3500)
	if err != nil {
		t.Fatal(err)
	}
	if n := fill(s, 0); n != 3 || !s.MaySend(500) {
		t.Errorf("%d segments into 3500 bytes", n)
	}
}

func TestConfigErrors(t *testing.T) {
	for name, spoil := range map[string]func(*SenderConfig){
		"segment": func(c *SenderConfig) { c.MSS = 0 },
		"initial": func(c *SenderConfig) { c.InitialWindow = 0 },
		"floor":   func(c *SenderConfig) { c.MinRTO = 0 },
		"order":   func(c *SenderConfig) { c.MaxRTO = c.MinRTO - 1 },
		"retries": func(c *SenderConfig) { c.Retries = -1 },
	} {
		c := config()
		spoil(&c)
		if _, err := NewSender(c, 0, 1<<20); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewSender(config(), 0, mss-1); err == nil {
		t.Error("a window of less than a segment")
	}
}
