package tcp

// Verdict is what a receiver does with a segment.
type Verdict uint8

// Verdicts.
const (
	InOrder   Verdict = iota // Accept or Refuse it
	Kept                     // early: the caller keeps it until it is in order; answer at once
	Duplicate                // here already: answer at once
	Discarded                // early, and not kept: answer at once
)

// span is bytes received behind a gap.
type span struct{ from, to uint32 }

// Receiver is the receiving half of a connection.
type Receiver struct {
	next   uint32 // expected
	window uint32 // bytes offered from next on
	early  []span // in order, with gaps before each
}

// NewReceiver makes a receiver whose first byte is first.
func NewReceiver(first, window uint32) Receiver { return Receiver{next: first, window: window} }

// Next is the byte expected next.
func (r *Receiver) Next() uint32 { return r.next }

// Gap tells whether something is kept behind the byte expected next.
func (r *Receiver) Gap() bool { return len(r.early) > 0 }

// Arrive judges a segment of n bytes at seq. An early one is kept when the
// caller has room and it lies in the window.
func (r *Receiver) Arrive(seq, n uint32, room bool) Verdict {
	end := seq + n
	switch {
	case seq == r.next:
		return InOrder
	case !Before(r.next, end):
		return Duplicate
	case Before(seq, r.next):
		return Discarded // cut otherwise than it was
	}
	i := 0
	for i < len(r.early) && Before(r.early[i].to, end) {
		i++
	}
	if i < len(r.early) && Before(r.early[i].from, end) {
		if Before(seq, r.early[i].from) {
			return Discarded
		}
		return Duplicate
	}
	overlaps := i > 0 && Before(seq, r.early[i-1].to)
	if !room || overlaps || Before(r.next+r.window, end) {
		return Discarded
	}
	r.insert(i, span{seq, end})
	return Kept
}

// insert puts s before early[i], joined with what it touches.
func (r *Receiver) insert(i int, s span) {
	if i < len(r.early) && r.early[i].from == s.to {
		r.early[i].from = s.from
	} else {
		r.early = append(r.early, span{})
		copy(r.early[i+1:], r.early[i:])
		r.early[i] = s
	}
	if i > 0 && r.early[i-1].to == s.from {
		r.early[i-1].to = r.early[i].to
		r.early = append(r.early[:i], r.early[i+1:]...)
	}
}

// Accept takes the segment of n bytes that is in order.
func (r *Receiver) Accept(n uint32) {
	r.forget(n)
	r.next += n
}

// Refuse drops it as if it had not come, also when it had been kept.
func (r *Receiver) Refuse(n uint32) { r.forget(n) }

// forget takes the n bytes that are expected next out of what is kept.
func (r *Receiver) forget(n uint32) {
	if len(r.early) == 0 || r.early[0].from != r.next {
		return
	}
	r.early[0].from += n
	if r.early[0].from == r.early[0].to {
		r.early = r.early[:copy(r.early, r.early[1:])]
	}
}

// Forget drops everything that is kept.
func (r *Receiver) Forget() { r.early = r.early[:0] }

// Acker decides when a receiver acknowledges what it took.
type Acker struct {
	every    int   // segments
	delay    int64 // picoseconds
	taken    int   // segments since the last acknowledgement
	deadline int64
}

// NewAcker makes an Acker that answers every n-th segment, and any segment at
// most delay later.
func NewAcker(every int, delay int64) Acker {
	return Acker{every: every, delay: delay, deadline: Never}
}

// Took counts a segment that was taken in order and tells whether to answer at
// once; gap says that something was kept behind it ([RFC5681] 4.2).
func (a *Acker) Took(now int64, gap bool) bool {
	a.taken++
	if a.deadline == Never {
		a.deadline = now + a.delay
	}
	return gap || a.taken >= a.every
}

// Sent records that a segment of any kind has carried the acknowledgement.
func (a *Acker) Sent() { a.taken, a.deadline = 0, Never }

// Deadline is when an answer is due; Never when none is owed.
func (a *Acker) Deadline() int64 { return a.deadline }
