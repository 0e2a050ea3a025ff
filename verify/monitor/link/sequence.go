package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// numbers are those of TLPs on a direction.
const (
	numbers = 1 << 12
	numMask = numbers - 1
)

// sequence follows the numbers of one direction's TLPs, at the sender and at the
// receiver.
type sequence struct {
	// The sender: TLPs from oldest on, before next, are not acknowledged. cursor is
	// the one that goes next: next, but for a replay.
	next, oldest, cursor uint16
	nak                  bool // one has come, and nothing was sent since
	expired              bool // the replay timer ended, and nothing was sent since
	held                 int64
	timer                clocked.Time // when the replay timer began, not later: it stands still while the link retrains
	timeout              clocked.Time
	copies               []sent // by number, modulo a power of two

	// The receiver.
	due    uint16   // the number that is due
	named  uint16   // the number after the last that an Ack or Nak named
	ack    deadline // of an Ack
	nakDue deadline // of a Nak that was not sent
	asked  bool     // a Nak is due or was sent, and the TLP that is due has not come
}

// sent is what a TLP was when it left.
type sent struct {
	class msg.TLPType
	last  bool
	tag   uint16
	len   uint32
	bytes uint32
	pa    model.PA
	end   clocked.Time
}

func copyOf(p *pcie.Shown, end clocked.Time) sent {
	return sent{class: p.Type, last: p.Last, tag: p.Tag, len: p.Len, bytes: p.Bytes, pa: p.PA, end: end}
}

func (s *sequence) init(spec *pcie.Spec) {
	n := 1
	for n < spec.ReplayBuffer.TLPs+1 {
		n *= 2
	}
	s.copies = make([]sent, n)
	s.ack = deadline{at: clocked.Never, every: spec.Ack.Every}
	s.nakDue = deadline{at: clocked.Never}
	s.timeout = clocked.Time(rules.Symbols(spec.Gen, rules.ReplayLimit(spec.Gen, spec.Lanes, uint32(spec.MPS))))
}

func (s *sequence) copy(seq uint16) *sent { return &s.copies[int(seq)&(len(s.copies)-1)] }

func (s *sequence) outstanding() int { return int((s.next - s.oldest) & numMask) }

// fresh checks the number of a new TLP.
func (d *direction) fresh(now, end clocked.Time, p *pcie.Shown) {
	s := &d.sequence
	if p.Seq != s.next {
		d.log.Report(Numbers, now, "%s: a new TLP has number %d; %d is due", d.name, p.Seq, s.next)
		s.next, s.cursor = p.Seq, p.Seq
	}
	if s.cursor != s.next && s.outstanding() > 0 {
		d.log.Report(ReplayOrder, now, "%s: new TLP %d goes before %d was sent again", d.name, p.Seq, s.cursor)
	}
	if s.outstanding() == 0 {
		s.timer = end
	}
	s.next = (s.next + 1) & numMask
	s.cursor = s.next
	s.nak, s.expired = false, false
	s.held += int64(p.Bytes)
	*s.copy(p.Seq) = copyOf(p, end)
	b := &d.spec.ReplayBuffer
	if n := s.outstanding(); n > b.TLPs || n > numbers/2-1 || s.held > int64(b.Bytes) {
		d.log.Report(ReplayBuffer, now, "%s: with TLP %d, %d TLPs of %d bytes are not acknowledged; the replay buffer has %d of %d", d.name, p.Seq, n, s.held, b.TLPs, b.Bytes)
	}
}

// resent checks that a replay begins with the oldest that is not acknowledged,
// after a Nak or the replay timer, and leaves none out.
func (d *direction) resent(now clocked.Time, p *pcie.Shown) {
	s := &d.sequence
	begins := s.cursor == s.next || s.nak
	switch {
	case (p.Seq-s.oldest)&numMask >= uint16(s.outstanding()):
		d.log.Report(ReplayOrder, now, "%s: TLP %d is sent again; %d TLPs from %d on are not acknowledged", d.name, p.Seq, s.outstanding(), s.oldest)
	case begins && p.Seq != s.oldest || p.Seq != s.oldest && p.Seq != s.cursor:
		d.log.Report(ReplayOrder, now, "%s: TLP %d is sent again where %d is due", d.name, p.Seq, s.cursor)
	case begins && !s.nak && !s.expired && now < s.timer+s.timeout:
		d.log.Report(ReplayOrder, now, "%s: a replay without a Nak begins with %d, %v before its timer ends", d.name, p.Seq, s.timer+s.timeout-now)
	}
	if c := s.copy(p.Seq); c.pa != p.PA || c.tag != p.Tag || c.len != p.Len || c.class != p.Type || c.last != p.Last {
		d.log.Report(Once, now, "%s: TLP %d is another when it is sent again", d.name, p.Seq)
	}
	if begins && !s.nak && !s.expired {
		s.timer += s.timeout // it began anew when it ended, and the line was busy since
	}
	s.nak, s.expired = false, false
	s.cursor = (p.Seq + 1) & numMask
}

// freed books an Ack or Nak at the sender.
func (d *direction) freed(now clocked.Time, p *pcie.DLLP) {
	s := &d.sequence
	n := int((p.Seq + 1 - s.oldest) & numMask)
	if n > s.outstanding() {
		d.log.Report(Named, now, "%s: %s names %d; %d TLPs from %d on are not acknowledged", d.name, kindNames[p.Kind], p.Seq, s.outstanding(), s.oldest)
		return
	}
	done := int((s.cursor - s.oldest) & numMask) // of a replay
	for range n {
		s.held -= int64(s.copy(s.oldest).bytes)
		s.oldest = (s.oldest + 1) & numMask
	}
	if n > 0 {
		s.expired = s.expired || now > s.timer+s.timeout
		s.timer = now
	}
	if done < n || p.Kind == pcie.Nak {
		s.cursor = s.oldest
	}
	s.nak = s.nak && s.outstanding() > 0 || p.Kind == pcie.Nak && s.outstanding() > 0
}

// arrived judges a TLP at the receiver: what is undamaged and due is accepted,
// all else is not.
func (d *direction) arrived(now clocked.Time, a *pcie.Arrival) {
	s := &d.sequence
	good := !a.Damaged && !a.Framing && a.Seq == s.due
	switch {
	case a.Accepted != nil && !good:
		d.log.Report(Once, now, "%s: TLP %d is accepted; %d is due (damaged: %v)", d.name, a.Seq, s.due, a.Damaged || a.Framing)
		s.due = a.Seq
	case a.Accepted == nil && good:
		d.log.Report(Once, now, "%s: TLP %d, which is due, is not accepted", d.name, a.Seq)
		return
	case good:
	case a.Framing:
		return
	case !a.Damaged && (s.due-a.Seq)&numMask <= numbers/2:
		s.ack.at = min(s.ack.at, now)
		return
	default:
		if !s.asked {
			s.asked, s.nakDue.at = true, now
		}
		return
	}
	d.overdue(now)
	s.due = (s.due + 1) & numMask
	s.asked = false
	s.nakDue.clear()
	s.ack.add(now, d.ackDelay)
	d.same(now, a.Accepted)
}

// same checks that a TLP is what was sent with its number, and took its time.
func (d *direction) same(now clocked.Time, p *pcie.Shown) {
	c := d.sequence.copy(p.Seq)
	if c.pa != p.PA || c.tag != p.Tag || c.len != p.Len || c.class != p.Type || c.last != p.Last || c.bytes != p.Bytes {
		d.log.Report(Once, now, "%s: TLP %d is not what was sent", d.name, p.Seq)
	}
	if now < c.end+d.spec.LinkLatency {
		d.log.Report(LineTime, now, "%s: TLP %d arrives %v after its last byte left; %v is due", d.name, p.Seq, now-c.end, d.spec.LinkLatency)
	}
}

// acknowledged books an Ack or Nak that leaves on the direction back.
func (d *direction) acknowledged(start clocked.Time, p *pcie.DLLP, back *direction) {
	s := &d.sequence
	if (s.due-p.Seq-1)&numMask > (s.due-s.named)&numMask {
		d.log.Report(Named, start, "%s: %s names %d; received is up to %d, acknowledged %d", d.name, kindNames[p.Kind], p.Seq, (s.due-1)&numMask, (s.named-1)&numMask)
		return
	}
	s.named = (p.Seq + 1) & numMask
	if p.Kind == pcie.Nak {
		if s.nakDue.missed(start, back.slack, back.frozen) {
			d.log.Report(NakDue, start, "%s: a Nak leaves %v after it was due", d.name, start-s.nakDue.at)
		}
		s.nakDue.clear()
		return
	}
	if s.ack.missed(start, back.slack, back.frozen) {
		d.log.Report(AckLate, start, "%s: an Ack leaves %v after it was due", d.name, start-s.ack.at)
	}
	s.ack.clear()
}

// overdue reports an Ack or Nak that has not left although its time is over.
func (d *direction) overdue(now clocked.Time) {
	s, back := &d.sequence, d.back
	if s.ack.missed(now, back.slack, back.frozen) {
		d.log.Report(AckLate, now, "%s: the Ack of TLP %d was due at %v and has not left", d.name, (s.due-1)&numMask, s.ack.at)
		s.ack.clear()
	}
	if s.nakDue.missed(now, back.slack, back.frozen) {
		d.log.Report(NakDue, now, "%s: the Nak that asks for TLP %d was due at %v and has not left", d.name, s.due, s.nakDue.at)
		s.nakDue.clear()
	}
}

var kindNames = [...]string{pcie.Nak: "a Nak", pcie.Ack: "an Ack", pcie.UpdateFC: "an UpdateFC"}
