package pcie

// Sequence numbers have 12 bits, and fewer than half of them are outstanding
// ([PCIe]).
const (
	sequences = 1 << 12
	sequence  = sequences - 1 // mask

	// MaxOutstanding is the most TLPs that are not acknowledged.
	MaxOutstanding = sequences/2 - 1
)

// Action is what a sender has to do.
type Action uint8

// Actions.
const (
	Nothing Action = iota
	Replay         // send all that is outstanding again, oldest first, before new TLPs
	Retrain        // retrain the link, then Replay
)

var actionNames = [...]string{"nothing", "replay", "retrain"}

// String is the action for people.
func (a Action) String() string {
	if int(a) < len(actionNames) {
		return actionNames[a]
	}
	return "invalid action"
}

// Sender numbers the TLPs of one direction and knows which are acknowledged.
// The zero value is that of a link that has come up. The replay timer is the
// caller's: it runs while something is outstanding, and starts anew with
// progress and with a replay.
type Sender struct {
	next    uint16 // number of the next new TLP
	oldest  uint16 // number of the oldest outstanding one
	replays uint8  // since there was progress: REPLAY_NUM, 2 bits
}

// Full tells whether no new TLP may be sent before one is acknowledged.
func (s *Sender) Full() bool { return s.Outstanding() >= MaxOutstanding }

// Outstanding is the number of TLPs sent and not acknowledged.
func (s *Sender) Outstanding() int { return int((s.next - s.oldest) & sequence) }

// Oldest is the number of the oldest outstanding TLP, with which a replay begins;
// that of the next new one where none is.
func (s *Sender) Oldest() uint16 { return s.oldest }

// Next takes the number of a new TLP. The caller has seen that the sender is not
// Full.
func (s *Sender) Next() (seq uint16) {
	seq = s.next
	s.next = (s.next + 1) & sequence
	return seq
}

// Ack books an acknowledgement of all TLPs up to seq: the freed oldest ones leave
// the replay buffer. Not ok when seq is neither outstanding nor the last one
// acknowledged; it is then ignored, as an error of the protocol.
func (s *Sender) Ack(seq uint16) (freed int, ok bool) {
	freed = int((seq + 1 - s.oldest) & sequence)
	if freed > s.Outstanding() {
		return 0, false
	}
	if freed > 0 {
		s.oldest = (seq + 1) & sequence
		s.replays = 0
	}
	return freed, true
}

// Nak books a Nak: an Ack of all up to seq, and what is still outstanding has to
// be sent again. One that Ack would not accept asks for nothing.
func (s *Sender) Nak(seq uint16) (freed int, do Action) {
	freed, ok := s.Ack(seq)
	if !ok {
		return 0, Nothing
	}
	return freed, s.replay()
}

// Timeout books the end of the replay timer.
func (s *Sender) Timeout() Action { return s.replay() }

// replay counts a replay; REPLAY_NUM rolls over with the fourth without progress.
func (s *Sender) replay() Action {
	if s.Outstanding() == 0 {
		return Nothing
	}
	s.replays = (s.replays + 1) & 3
	if s.replays == 0 {
		return Retrain
	}
	return Replay
}

// Judgement is what a receiver does about a TLP.
type Judgement uint8

// Judgements.
const (
	Accept    Judgement = iota // in sequence: hand it on, and Ack when due
	Duplicate                  // had already: drop it, Ack at once
	Bad                        // damaged, or one before it is missing: drop it, Nak at once
	Discard                    // as Bad, but a Nak is already under way: drop it
)

var judgementNames = [...]string{"accept", "duplicate", "bad", "discard"}

// String is the judgement for people.
func (j Judgement) String() string {
	if int(j) < len(judgementNames) {
		return judgementNames[j]
	}
	return "invalid judgement"
}

// Receiver checks the TLPs of one direction. The zero value is that of a link
// that has come up.
type Receiver struct {
	next uint16 // the number that is due
	nak  bool   // NAK_SCHEDULED: a Nak was sent and the TLP that is due has not come
}

// Take judges a TLP. seq of a damaged one means nothing.
func (r *Receiver) Take(seq uint16, damaged bool) Judgement {
	switch {
	case damaged:
	case seq == r.next:
		r.next, r.nak = (r.next+1)&sequence, false
		return Accept
	case (r.next-seq)&sequence <= sequences/2:
		return Duplicate
	}
	if r.nak {
		return Discard
	}
	r.nak = true
	return Bad
}

// Last is the number of the last TLP accepted, which Ack and Nak carry.
func (r *Receiver) Last() uint16 { return (r.next - 1) & sequence }
