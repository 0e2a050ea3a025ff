package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
)

// pool is one kind of credit of a direction, in totals since the link came up
// that do not wrap. The sender has spent; the receiver has taken, freed and told
// of the limit, of which the sender has heard.
type pool struct {
	infinite           bool
	initial            uint64
	spent, heard       uint64 // the sender's: credits taken, and their limit
	taken, freed, told uint64 // the receiver's: in TLPs accepted, in those that left the buffer, and its limit as sent
	step, mask         uint64 // credits of a step of the fields; of the counters
}

// newPool is a pool of which n credits are advertised, 0 for infinite: fields have
// 8 bits of headers and 12 of data, counted in steps, and no more than half of
// what the counters can tell, less a step, may be out.
func newPool(data bool, scale, n int) pool {
	bits := uint64(8)
	if data {
		bits = 12
	}
	step := uint64(scale)
	most := (1<<(bits-1) - 1) * step
	initial := min(uint64(n), most) / step * step
	return pool{infinite: n == 0, initial: initial, heard: initial, told: initial, step: step, mask: step<<bits - 1}
}

// extend is the total that a field means, at or after one that is known.
func (c *pool) extend(known uint64, field uint16) uint64 {
	return known + (uint64(field)*c.step-known)&c.mask&^(c.step-1)
}

// need is the data credits of a TLP: one for each 16 bytes of the double words
// that its payload touches.
func need(p *pcie.Shown) uint64 { return (touched(p) + 15) / 16 }

// spend checks at the sender that a TLP has the credits that it takes.
func (d *direction) spend(now clocked.Time, p *pcie.Shown) {
	n := need(p)
	if uint64(p.Credits) != n {
		d.log.Report(CreditSize, now, "%s: TLP %d with %d bytes at %#x takes %d data credits; %d are due", d.name, p.Seq, p.Len, uint64(p.PA), p.Credits, n)
	}
	h := &d.pools[2*p.Type]
	h.spend(d, now, p, 1, "header")
	h = &d.pools[2*p.Type+1]
	h.spend(d, now, p, n, "data")
}

func (c *pool) spend(d *direction, now clocked.Time, p *pcie.Shown, n uint64, what string) {
	c.spent += n
	if !c.infinite && c.spent > c.heard {
		d.log.Report(NoCredit, now, "%s: TLP %d takes %d %s %s credits; the sender has %d", d.name, p.Seq, n, classNames[p.Type], what, int64(c.heard-c.spent+n))
	}
}

// hold checks at the receiver that a TLP finds the room that was advertised.
func (d *direction) hold(now clocked.Time, p *pcie.Shown) {
	for k, n := range [2]uint64{1, need(p)} {
		c := &d.pools[2*int(p.Type)+k]
		c.taken += n
		if !c.infinite && c.taken-c.freed > c.initial {
			d.log.Report(Overflow, now, "%s: with TLP %d the buffer holds %d %s credits; %d were advertised", d.name, p.Seq, c.taken-c.freed, classNames[p.Type], c.initial)
		}
	}
}

// release books at the receiver that a TLP has left the buffer: its credits are
// to be returned.
func (d *direction) release(now clocked.Time, class msg.TLPType, n uint64) {
	h, c := &d.pools[2*class], &d.pools[2*class+1]
	h.freed++
	c.freed += n
	d.left[class] = now
	if d.finite[class] && (!h.infinite || n > 0) {
		d.updates[class].add(now, d.updateDelay)
	}
}

// returned checks an UpdateFC as it leaves: it gives back no more than was freed,
// and in time.
func (d *direction) returned(start clocked.Time, p *pcie.DLLP, lost bool) {
	for k, field := range [2]uint16{p.Header, p.Data} {
		c := &d.pools[2*int(p.Class)+k]
		if c.infinite {
			continue
		}
		c.told = c.extend(c.told, field)
		if c.told > c.initial+c.freed {
			d.log.Report(OverReturn, start, "%s: an UpdateFC brings the %s credits to %d; %d were advertised and %d freed", d.name, classNames[p.Class], c.told, c.initial, c.freed)
			c.told = (c.initial + c.freed) &^ (c.step - 1)
		}
	}
	u := &d.updates[p.Class]
	if u.missed(start, d.back.slack, d.back.frozen) {
		d.log.Report(Unreturned, start, "%s: an UpdateFC of %s credits leaves %v after it was due", d.name, classNames[p.Class], start-u.at)
	}
	u.clear()
	if d.owing(p.Class) {
		u.add(max(start, d.left[p.Class]), d.updateDelay)
	} else if lost {
		u.at, u.count = start+updatePeriod+d.back.slack, 0
	}
}

// updatePeriod is when an UpdateFC that was lost comes again.
const updatePeriod = 30 * clocked.Microsecond

// owing tells whether whole steps of credits were freed and not returned.
func (d *direction) owing(class msg.TLPType) bool {
	for k := range msg.TLPType(2) {
		if c := &d.pools[2*class+k]; !c.infinite && c.told+c.step <= c.initial+c.freed {
			return true
		}
	}
	return false
}

// granted is an UpdateFC at the sender.
func (d *direction) granted(p *pcie.DLLP) {
	for k, field := range [2]uint16{p.Header, p.Data} {
		if c := &d.pools[2*int(p.Class)+k]; !c.infinite {
			c.heard = c.extend(c.heard, field)
		}
	}
}

// unreturned reports, at the end of a run, credits whose UpdateFC is overdue.
func (d *direction) unreturned(now clocked.Time) {
	for class := range msg.TLPType(numClasses) {
		u := &d.updates[class]
		if u.missed(now, d.back.slack, d.back.frozen) {
			h, c := &d.pools[2*class], &d.pools[2*class+1]
			d.log.Report(Unreturned, now, "%s: %s credits freed before %v have not been returned: headers %d of %d, data %d of %d",
				d.name, classNames[class], u.at, h.told-h.initial, h.freed, c.told-c.initial, c.freed)
		}
	}
}
