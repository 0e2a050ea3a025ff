package tcp

import "fmt"

// dupThreshold is the duplicate ACKs that mean a loss ([RFC5681] 3.2).
const dupThreshold = 3

// maxWindow bounds windows, so that sums of them stay below 2^31.
const maxWindow = 1 << 29

// SenderConfig holds the parameters of a Sender.
type SenderConfig struct {
	MSS            uint32 // bytes of the longest segment
	InitialWindow  int    // segments
	MinRTO, MaxRTO int64  // picoseconds
	Retries        int    // time-outs in a row before it gives up
	FastRetransmit bool
	Timestamps     bool // acknowledgements echo when what they answer was sent ([RFC7323])
}

// Sender is the sending half of a connection.
type Sender struct {
	config SenderConfig
	timer  timer

	una   uint32 // oldest byte not acknowledged
	next  uint32 // to send next; after a time-out it has gone back to una
	high  uint32 // after the last byte ever sent
	limit uint32 // the receiver has room up to here

	cwnd, ssthresh uint32 // bytes
	counted        uint32 // bytes acknowledged towards the next growth in congestion avoidance

	dups       int    // duplicate ACKs of una
	lost       uint32 // bytes in flight at the first of them
	recover    uint32 // recovery ends when this is acknowledged
	recovering bool
	partial    bool // it has seen a partial ACK
	resend     bool // the segment at una is to be sent again, alone

	timing   bool // a round trip is being measured
	timedEnd uint32
	timedAt  int64

	deadline int64
	expired  int // time-outs since the last progress
}

// NewSender makes a sender whose first byte is first, to a receiver that offers
// the given window of bytes.
func NewSender(c SenderConfig, first, window uint32) (*Sender, error) {
	switch {
	case c.MSS == 0 || c.MSS > 1<<16 || c.InitialWindow < 1 || c.InitialWindow > 1<<12:
		return nil, fmt.Errorf("segments of %d bytes, %d of them at first: 1 to 65536 and 1 to 4096", c.MSS, c.InitialWindow)
	case window < c.MSS || window > maxWindow:
		return nil, fmt.Errorf("window of %d bytes: a segment, %d, to %d", window, c.MSS, maxWindow)
	case c.MinRTO < 1 || c.MaxRTO < c.MinRTO || c.MaxRTO > Never/4 || c.Retries < 0:
		return nil, fmt.Errorf("time-outs of %d to %d ps, %d retries: positive, in this order", c.MinRTO, c.MaxRTO, c.Retries)
	}
	return &Sender{config: c, timer: newTimer(c.MinRTO, c.MaxRTO), una: first, next: first, high: first, limit: first + window,
		cwnd: c.MSS * uint32(c.InitialWindow), ssthresh: maxWindow, recover: first - 1, deadline: Never}, nil
}

// Handshake takes the round trip of the connection's set-up, the first sample.
func (s *Sender) Handshake(rtt int64) { s.timer.sample(rtt) }

// Una is the oldest byte that is not acknowledged.
func (s *Sender) Una() uint32 { return s.una }

// Next is the first byte of the segment to send next.
func (s *Sender) Next() uint32 {
	if s.resend {
		return s.una
	}
	return s.next
}

// Resend tells whether that is the oldest segment alone, for a loss that was
// noticed without a time-out.
func (s *Sender) Resend() bool { return s.resend }

// InFlight is the bytes sent and not acknowledged.
func (s *Sender) InFlight() uint32 { return s.high - s.una }

// Window is the congestion window in bytes.
func (s *Sender) Window() uint32 { return s.cwnd }

// Deadline is when the timer expires.
func (s *Sender) Deadline() int64 { return s.deadline }

// MaySend tells whether the next segment, of n bytes, may leave. After a
// time-out only the oldest may, however short, until it is acknowledged
// ([RFC6298] 5.4).
func (s *Sender) MaySend(n uint32) bool {
	switch {
	case s.resend:
		return true
	case s.expired > 0:
		return s.next == s.una
	}
	window := s.cwnd
	if !s.recovering && s.config.FastRetransmit && s.next == s.high {
		window += uint32(min(s.dups, dupThreshold-1)) * s.config.MSS // limited transmit
	}
	return s.next-s.una+n <= min(window, s.limit-s.una)
}

// Sent records that the next segment, of n bytes, has left, and tells whether
// it had been sent before.
func (s *Sender) Sent(now int64, n uint32) (again bool) {
	if s.deadline == Never {
		s.deadline = now + s.timer.rto
	}
	if s.resend {
		s.resend = false
		return true
	}
	again = Before(s.next, s.high)
	if !again && !s.timing {
		s.timing, s.timedEnd, s.timedAt = true, s.next+n, now
	}
	s.next += n
	if Before(s.high, s.next) {
		s.high = s.next
	}
	return again
}

// Timeout acts on the deadline: everything from the oldest byte on is to be
// sent again. It returns false when the retries are used up.
func (s *Sender) Timeout(now int64) bool {
	if s.expired == s.config.Retries {
		s.deadline = Never
		return false
	}
	if s.expired == 0 {
		s.ssthresh = s.halved(s.InFlight())
	}
	s.expired++
	s.cwnd, s.counted = s.config.MSS, 0
	s.recover, s.recovering, s.resend, s.dups = s.high, false, false, 0
	s.next, s.timing = s.una, false
	s.timer.backOff()
	s.deadline = now + s.timer.rto
	return true
}

// halved is the slow-start threshold after a loss with n bytes in flight.
func (s *Sender) halved(n uint32) uint32 { return max(n/2, 2*s.config.MSS) }
