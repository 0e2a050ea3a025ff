package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	rules "rnicmmu/model/pcie"
	"rnicmmu/verify/rule"
)

const numClasses = 3

// unit is what stands at an end of a link.
type unit interface {
	// sent is a new TLP that the unit has put on a direction.
	sent(now clocked.Time, d *direction, p *pcie.Shown)
	// accepted is a TLP that came by a direction, and drained that the unit has
	// taken it out of the buffer.
	accepted(now clocked.Time, d *direction, p *pcie.Shown)
	drained(now clocked.Time, d *direction, p *pcie.Shown)
	// waiting is since when a TLP waits that nothing keeps from the direction.
	waiting(d *direction) (since clocked.Time, what msg.TLPType, ok bool)
	// mayAsk tells whether it has a tag and a place for what a request asks for.
	mayAsk(d *direction, a *asked) bool
}

// direction watches one direction of a link. Its Acks, Naks and UpdateFC go the
// other way.
type direction struct {
	log          *rule.Log
	name         string
	spec         *pcie.Spec
	line         pcie.Line
	back         *direction
	writer       unit
	reader       unit
	port         int // of the switch at one end, if there is one
	net          *network
	down         clocked.Time // when the link goes down
	sequence     sequence
	pools        [rules.NumPools]pool
	updates      [numClasses]deadline     // UpdateFC of what this direction brings
	left         [numClasses]clocked.Time // when a TLP last left the buffer
	inbox        inbox
	free         clocked.Time // the line, as far as packets keep it busy
	frozen       clocked.Time // it stands still until then
	heard        clocked.Time // the writer has learnt of credits or an Ack
	slack        clocked.Time // longest time for which the line is busy with others when a packet of the data link layer is due
	ackDelay     clocked.Time
	updateDelay  clocked.Time
	perNum, perN int64 // picoseconds a byte: perNum ÷ perN
	finite       [numClasses]bool
}

// pair watches both directions of a link.
func pair(log *rule.Log, net *network, up, down pcie.Line) (u, d *direction) {
	u, d = newDirection(log, net, up, true), newDirection(log, net, down, false)
	u.back, d.back = d, u
	return u, d
}

func newDirection(log *rule.Log, net *network, l pcie.Line, up bool) *direction {
	s := l.Spec
	d := &direction{log: log, name: l.Name, spec: s, line: l, down: clocked.Never, net: net}
	if s.Inject.Down > 0 {
		d.down = s.Inject.Down
	}
	d.timing()
	credits := &s.AdapterCredits
	if up {
		credits = &s.Credits
	}
	for p, n := range [rules.NumPools]int{credits.PH, credits.PD, credits.NPH, credits.NPD, credits.CPLH, credits.CPLD} {
		class := p / 2
		d.pools[p] = newPool(p%2 == 1, s.Scale, n)
		d.finite[class] = d.finite[class] || n > 0 && !withheld(s, class)
	}
	for c := range d.updates {
		d.updates[c] = deadline{at: clocked.Never, every: s.Update.Every}
	}
	d.sequence.init(s)
	return d
}

// withheld tells whether credits of a class never come back, on purpose.
func withheld(s *pcie.Spec, class int) bool {
	return s.Inject.Withhold == [numClasses]string{"posted", "nonposted", "completion"}[class]
}

// timing derives how long things may take.
func (d *direction) timing() {
	s := d.spec
	d.perNum, d.perN = rules.ByteTime(s.Gen, s.Lanes)
	flit := clocked.Time(0)
	if rules.Flits(s.Gen) {
		flit = clocked.Time(256*d.perNum/d.perN) + 1
		d.perNum, d.perN = 256*d.perNum, 236*d.perN
	}
	_, stop := rules.SKP(s.Gen)
	largest := d.span(int64(s.MPS) + 64)
	d.slack = 2*largest + 6*d.span(8) + 2*clocked.Time(rules.Symbols(s.Gen, stop)) + 3*flit + 10
	limit := clocked.Time(rules.Symbols(s.Gen, rules.AckLimit(s.Gen, s.Lanes, uint32(s.MPS))))
	d.ackDelay, d.updateDelay = limit, limit
	if s.Ack.Delay > 0 {
		d.ackDelay = s.Ack.Delay
	}
	if s.Update.Delay > 0 {
		d.updateDelay = s.Update.Delay
	}
}

// span is how long bytes take on the line, rounded down.
func (d *direction) span(bytes int64) clocked.Time { return clocked.Time(bytes * d.perNum / d.perN) }

// Sent is a TLP that goes onto the line.
func (d *direction) Sent(now, end clocked.Time, p *pcie.Shown, again bool) {
	d.idle(now)
	d.occupy(now, end, int64(p.Bytes), "a TLP")
	if again {
		d.resent(now, p)
		return
	}
	d.fresh(now, end, p)
	d.spend(now, p)
	d.measure(now, p)
	d.writer.sent(now, d, p)
}

// occupy checks that the line carries one packet at a time, at its rate.
func (d *direction) occupy(start, end clocked.Time, bytes int64, what string) {
	if start+1 < d.free && !rules.Flits(d.spec.Gen) {
		d.log.Report(LineTime, start, "%s: %s starts while the line is busy until %v", d.name, what, d.free)
	}
	if end+1 < start+d.span(bytes) {
		d.log.Report(LineTime, start, "%s: %s of %d bytes takes %v; %v is due", d.name, what, bytes, end-start, d.span(bytes))
	}
	if start < d.frozen && d.frozen != clocked.Never {
		d.log.Report(LineTime, start, "%s: %s starts while the link retrains until %v", d.name, what, d.frozen)
	}
	d.free = max(d.free, end)
}

// idle checks that the line did not stand still while something could go.
func (d *direction) idle(now clocked.Time) {
	from := max(d.free, d.frozen, d.heard)
	if now-from <= d.slack || d.line.Directed() {
		return
	}
	if since, what, ok := d.writer.waiting(d); ok && now-max(since, from) > d.slack {
		d.log.Report(HeldUp, now, "%s: a %s TLP that lacked nothing since %v did not leave although the line was free", d.name, classNames[what], max(since, from))
	}
}

// Arrived is a TLP that came off the line.
func (d *direction) Arrived(now clocked.Time, a *pcie.Arrival) {
	d.arrived(now, a)
	if p := a.Accepted; p != nil {
		d.hold(now, p)
		d.inbox.add(p)
		d.reader.accepted(now, d, p)
	}
}

// Drained is a TLP that the unit took.
func (d *direction) Drained(now clocked.Time, p *pcie.Shown) {
	d.deliver(now, p)
	d.reader.drained(now, d, p)
}

// Departed is a packet of the data link layer that goes this way: for the TLPs of
// the other direction.
func (d *direction) Departed(start, arrival clocked.Time, p *pcie.DLLP, lost bool) {
	if start >= d.down {
		return
	}
	if !rules.Flits(d.spec.Gen) {
		d.occupy(start, start+d.span(8)+1, 8, "a DLLP")
	}
	if p.Kind == pcie.UpdateFC {
		d.back.returned(start, p, lost)
	} else {
		d.back.acknowledged(start, p, d)
	}
}

// Collected is such a packet that the sender of the other direction's TLPs heeds.
func (d *direction) Collected(now clocked.Time, p *pcie.DLLP) {
	d.back.heard = now
	switch p.Kind {
	case pcie.UpdateFC:
		d.back.granted(p)
	default:
		d.back.freed(now, p)
	}
}

// Held is that the line stands still.
func (d *direction) Held(now, until clocked.Time) { d.frozen = max(d.frozen, until) }

var classNames = [numClasses]string{"posted", "non-posted", "completion"}
