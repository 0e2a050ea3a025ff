package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/ddp"
)

// stream is one direction of a connection.
type stream struct {
	high, acked, limit uint32 // at the sender: never sent; not acknowledged; behind the window
	come               uint32 // at the receiver: behind what has come without gap
	early              []extent
	said               uint32 // acknowledged by the receiver
	words              []word // on their way through the sender's pipeline
	over               bool   // reset, or behind a Terminate message
}

// word is what the other end said, and when the sender looks at it.
type word struct {
	at  clocked.Time
	ack uint32
}

type extent struct{ from, to uint32 }

func before(a, b uint32) bool { return int32(a-b) < 0 }

// segment sees a segment leave, in the stream of its data.
func (m *Monitor) segment(now clocked.Time, q *queuePair, s *stream, p *msg.Packet, response bool) {
	other := &q.in
	if response {
		other = &q.out
	}
	g := &p.Segment
	s.over = s.over || g.Reset || g.Message == ddp.Terminate
	if before(other.come, g.Ack) || before(g.Ack, other.said) {
		m.log.Report(Received, now, "adapter %d, queue pair %d: byte %d is acknowledged, %d have come, %d were acknowledged (response %v)", m.config.Adapter, p.QP, g.Ack, other.come, other.said, response)
	}
	other.said = g.Ack
	if g.Bytes == 0 {
		return
	}
	s.look(now)
	end := g.Seq + g.Bytes
	switch {
	case g.Seq == s.high:
		if before(s.limit, end) {
			m.log.Report(Windowed, now, "adapter %d, queue pair %d: bytes to %d leave, the window ends at %d (response %v)", m.config.Adapter, p.QP, end, s.limit, response)
		}
		s.high = end
		m.message(now, q, p, response)
	case before(s.high, g.Seq) || before(g.Seq, s.acked) || before(s.high, end):
		m.log.Report(Contiguous, now, "adapter %d, queue pair %d: bytes %d to %d leave, %d are acknowledged and %d sent (response %v)", m.config.Adapter, p.QP, g.Seq, end, s.acked, s.high, response)
	}
}

// message sees the first segment of a message leave for the first time.
func (m *Monitor) message(now clocked.Time, q *queuePair, p *msg.Packet, response bool) {
	switch {
	case !p.First || p.Access == nil || p.Segment.Message == ddp.Terminate:
	case !response:
		m.begin(now, q, p)
		if p.Op.Responds() {
			q.reads = append(q.reads, p.Access.ID)
		}
	case len(q.reads) == 0 || q.reads[0] != p.Access.ID:
		m.log.Report(Sequenced, now, "adapter %d, queue pair %d: the response of access %d begins, and is not due", m.config.Adapter, p.QP, p.Access.ID)
	default:
		q.reads = q.reads[:copy(q.reads, q.reads[1:])]
	}
}

// acknowledge is the other end's word, as the sender takes it.
func (s *stream) acknowledge(ack, window uint32) {
	if before(ack, s.acked) || before(s.high, ack) {
		return
	}
	s.acked, s.limit = ack, ack+window
}

// heed is a word that the sender looks at at the given time. Until then it may
// send again what is acknowledged; a window it may use at once.
func (s *stream) heed(now, at clocked.Time, ack, window uint32) {
	s.look(now)
	if before(s.high, ack) {
		return
	}
	if before(s.limit, ack+window) {
		s.limit = ack + window
	}
	s.words = append(s.words, word{at, ack})
}

// look takes the words that the sender has looked at before now.
func (s *stream) look(now clocked.Time) {
	n := 0
	for n < len(s.words) && s.words[n].at < now {
		if before(s.acked, s.words[n].ack) {
			s.acked = s.words[n].ack
		}
		n++
	}
	s.words = s.words[:copy(s.words, s.words[n:])]
}

// arrive is a segment that the receiver takes.
func (s *stream) arrive(seq, n uint32) {
	end := seq + n
	if n == 0 || !before(s.come, end) {
		return
	}
	if before(s.come, seq) {
		s.early = append(s.early, extent{seq, end})
		return
	}
	s.come = end
	for again := true; again; {
		again = false
		for i := 0; i < len(s.early); i++ {
			e := s.early[i]
			if before(s.come, e.from) {
				continue
			}
			s.early[i] = s.early[len(s.early)-1]
			s.early = s.early[:len(s.early)-1]
			i--
			if before(s.come, e.to) {
				s.come, again = e.to, true
			}
		}
	}
}
