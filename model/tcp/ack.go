package tcp

// Event is what an acknowledgement brought.
type Event struct {
	Acked  uint32 // bytes acknowledged by it first
	Resend bool   // the oldest segment is to be sent again at once: it is lost
	Fast   bool   // for three duplicate ACKs; else for a partial ACK
}

// Ack takes an acknowledgement of all bytes before ack and a window from there
// on. A bare one came without data: only it can be a duplicate ([RFC5681] 2).
// With time stamps echo is when the segment that it answers was sent: then
// segments sent again are timed too.
func (s *Sender) Ack(now int64, ack, window uint32, bare bool, echo int64) Event {
	if Before(ack, s.una) || Before(s.high, ack) {
		return Event{} // of the past, or of what was never sent
	}
	limit := ack + window
	if ack == s.una {
		duplicate := bare && limit == s.limit && s.una != s.high
		s.limit = limit
		if duplicate && s.config.FastRetransmit {
			return s.duplicate()
		}
		return Event{}
	}
	e := Event{Acked: ack - s.una}
	s.una, s.limit, s.expired, s.resend = ack, limit, 0, false
	if Before(s.next, ack) {
		s.next = ack
	}
	switch {
	case s.config.Timestamps:
		s.timer.sample(now - echo)
	case s.timing && !Before(ack, s.timedEnd):
		s.timing = false
		s.timer.sample(now - s.timedAt)
	}
	switch {
	case s.recovering && Before(ack, s.recover):
		e.Resend = true
		s.partialAck(now, e.Acked)
		return e
	case s.recovering:
		s.recovering = false
		s.cwnd = min(s.ssthresh, max(s.InFlight(), s.config.MSS)+s.config.MSS)
	default:
		s.grow(e.Acked)
	}
	s.dups = 0
	s.restart(now)
	return e
}

// restart times the oldest byte ([RFC6298] 5.2, 5.3).
func (s *Sender) restart(now int64) {
	s.deadline = Never
	if s.una != s.high {
		s.deadline = now + s.timer.rto
	}
}

// grow opens the congestion window ([RFC5681] 3.1).
func (s *Sender) grow(acked uint32) {
	if s.cwnd < s.ssthresh {
		s.cwnd = min(s.cwnd+min(acked, s.config.MSS), maxWindow)
		return
	}
	s.counted += acked
	if s.counted >= s.cwnd {
		s.counted -= s.cwnd
		s.cwnd = min(s.cwnd+s.config.MSS, maxWindow)
	}
}

// duplicate takes an ACK that says that something left the network behind a gap
// ([RFC5681] 3.2, [RFC6582] 3.2).
func (s *Sender) duplicate() Event {
	s.dups++
	switch {
	case s.recovering:
		s.cwnd = min(s.cwnd+s.config.MSS, maxWindow)
		return Event{}
	case s.dups == 1:
		s.lost = s.InFlight() // without what limited transmit adds
	}
	if s.dups != dupThreshold || !Before(s.recover, s.una) {
		return Event{}
	}
	s.ssthresh = s.halved(s.lost)
	s.cwnd = s.ssthresh + dupThreshold*s.config.MSS
	s.recover, s.recovering, s.partial = s.high, true, false
	s.lose()
	return Event{Resend: true, Fast: true}
}

// partialAck ends one loss of several in the same window.
func (s *Sender) partialAck(now int64, acked uint32) {
	s.cwnd -= min(acked, s.cwnd)
	if acked >= s.config.MSS {
		s.cwnd += s.config.MSS
	}
	s.cwnd = max(s.cwnd, s.config.MSS)
	if !s.partial { // later ones leave the timer: many losses end in a time-out
		s.partial = true
		s.restart(now)
	}
	s.lose()
}

// lose makes the oldest segment due again. No round trip is measured across it.
func (s *Sender) lose() { s.resend, s.timing = true, false }
