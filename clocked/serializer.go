package clocked

// Serializer is a link that sends one message after another at an exact
// rational rate: Num/Den picoseconds a byte. The remainder of each division is
// carried, so that a busy link does not drift. The bytes of one message times
// Num must stay below 2^62.
type Serializer struct {
	Num, Den int64
	free     Time
	rest     int64 // of free, in 1/Den picoseconds
}

// NewSerializer makes a link on which a byte takes num/den picoseconds, both
// positive.
func NewSerializer(num, den int64) Serializer { return Serializer{Num: num, Den: den} }

// Send puts bytes on the link at now or when the link is free, whichever is
// later, and returns when the first byte starts and the last one has left
// (rounded up to a picosecond).
func (s *Serializer) Send(now Time, bytes int64) (start, end Time) {
	if now > s.free {
		s.free, s.rest = now, 0
	}
	start = s.free
	total := s.rest + bytes*s.Num
	s.free += Time(total / s.Den)
	s.rest = total % s.Den
	end = s.free
	if s.rest > 0 {
		end++
	}
	return start, end
}

// Hold keeps the link from sending before the given time.
func (s *Serializer) Hold(until Time) {
	if until > s.free {
		s.free, s.rest = until, 0
	}
}

// Free is when the link has sent everything given to it, rounded down.
func (s *Serializer) Free() Time { return s.free }
