package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

const psnMask = 1<<24 - 1

// diff is a − b on the circle of sequence numbers.
func diff(a, b uint32) int32 { return int32((a-b)<<8) >> 8 }

// delays are those of the timer codes of RNR NAKs ([Linux] rxe_comp.c; code 25
// as [IBA] has it).
var delays = [32]clocked.Time{655360 * clocked.Microsecond, 10 * clocked.Microsecond, 20 * clocked.Microsecond, 30 * clocked.Microsecond,
	40 * clocked.Microsecond, 60 * clocked.Microsecond, 80 * clocked.Microsecond, 120 * clocked.Microsecond, 160 * clocked.Microsecond,
	240 * clocked.Microsecond, 320 * clocked.Microsecond, 480 * clocked.Microsecond, 640 * clocked.Microsecond, 960 * clocked.Microsecond,
	1280 * clocked.Microsecond, 1920 * clocked.Microsecond, 2560 * clocked.Microsecond, 3840 * clocked.Microsecond, 5120 * clocked.Microsecond,
	7680 * clocked.Microsecond, 10240 * clocked.Microsecond, 15360 * clocked.Microsecond, 20480 * clocked.Microsecond, 30720 * clocked.Microsecond,
	40960 * clocked.Microsecond, 61440 * clocked.Microsecond, 81920 * clocked.Microsecond, 122880 * clocked.Microsecond,
	163840 * clocked.Microsecond, 245760 * clocked.Microsecond, 327680 * clocked.Microsecond, 491520 * clocked.Microsecond}

// Syndromes of responses ([Linux] rxe_hdr.h).
const (
	rnrClass    = 0x20
	reserved    = 0x40
	nakSequence = 0x60
	nakLast     = 0x64
)

// infinite is the budget that never ends.
const infinite = 7

// connection is a reliable connection.
type connection struct {
	started              bool
	high, oldest, next   uint32 // never sent; not acknowledged; expected in this pass
	reads                []reading
	since, until         clocked.Time // of the RNR delay
	forRNR, over, spent  bool         // the next go-back is the delay's; a final NAK; the RNR budget is used up
	rnrs, backs          int          // without progress
	named                uint32       // PSN of the last sequence NAK
	names, left          int          // how often it was named, and left since
	arrived, acknowledge uint32       // at the responder: PSN behind the highest; behind the last ACK
}

// reading is a READ or an atomic that is not answered in full.
type reading struct{ first, n uint32 }

// request sees a request packet leave.
func (m *Monitor) request(now clocked.Time, q *queuePair, p *msg.Packet, span uint32) {
	c := &q.rc
	if !c.started {
		c.started = true
		c.high, c.oldest, c.next, c.arrived, c.acknowledge, c.named = p.PSN, p.PSN, p.PSN, p.PSN, p.PSN, (p.PSN-1)&psnMask
	}
	if p.PSN == c.named {
		c.left++
	}
	switch {
	case c.over:
		m.log.Report(Flushed, now, "adapter %d, queue pair %d: PSN %d leaves behind a final NAK", m.config.Adapter, p.QP, p.PSN)
	case now > c.since && now < c.until && !m.config.Flood:
		m.log.Report(Quiet, now, "adapter %d, queue pair %d: PSN %d leaves %v before the RNR delay is over", m.config.Adapter, p.QP, p.PSN, c.until-now)
	case c.spent:
		m.log.Report(Bounded, now, "adapter %d, queue pair %d: PSN %d leaves behind RNR NAK %d in a row", m.config.Adapter, p.QP, p.PSN, c.rnrs)
	}
	d := diff(p.PSN, c.high)
	if (d > 0 && !m.config.Damming) || diff(p.PSN, c.oldest) < 0 {
		m.log.Report(Numbered, now, "adapter %d, queue pair %d: PSN %d leaves, %d is the oldest not acknowledged, %d the next new", m.config.Adapter, p.QP, p.PSN, c.oldest, c.high)
	}
	end := (p.PSN + span) & psnMask
	if d >= 0 {
		c.high = end
		if p.First {
			m.begin(now, q, p)
		}
		if p.Op.Responds() {
			c.reads = append(c.reads, reading{p.PSN, span})
		}
	}
	if diff(p.PSN, c.next) < 0 {
		m.goBack(now, c, p)
	}
	c.next = end
}

// goBack counts a go-back.
func (m *Monitor) goBack(now clocked.Time, c *connection, p *msg.Packet) {
	if c.forRNR {
		c.forRNR = false
		return
	}
	if c.backs++; m.config.Retry != infinite && c.backs > m.config.Retry {
		m.log.Report(Bounded, now, "adapter %d, queue pair %d: goes back to PSN %d for time %d without progress", m.config.Adapter, p.QP, p.PSN, c.backs)
	}
}

// response sees a response leave.
func (m *Monitor) response(now clocked.Time, q *queuePair, p *msg.Packet) {
	c := &q.rc
	if !c.started || diff(p.PSN, c.arrived) >= 0 && p.Syndrome != nakSequence || diff(p.PSN, c.arrived) > 0 {
		m.log.Report(Moderate, now, "adapter %d, queue pair %d: a response for PSN %d, and %d has not come", m.config.Adapter, p.QP, p.PSN, p.PSN)
		return
	}
	switch {
	case p.Syndrome < rnrClass && !p.Op.Responds():
		if diff(p.PSN+1, c.acknowledge) < 0 {
			m.log.Report(Moderate, now, "adapter %d, queue pair %d: PSN %d is acknowledged behind %d", m.config.Adapter, p.QP, p.PSN, (c.acknowledge-1)&psnMask)
		}
		c.acknowledge = (p.PSN + 1) & psnMask
	case p.Syndrome == nakSequence && p.PSN == c.named:
		if c.names++; c.names > c.left+2 {
			m.log.Report(OneNAK, now, "adapter %d, queue pair %d: PSN %d is missed for time %d, and left %d times since", m.config.Adapter, p.QP, p.PSN, c.names, c.left)
		}
	case p.Syndrome == nakSequence:
		c.named, c.names, c.left = p.PSN, 1, 0
	}
}

// take acts on a response as a requester has to.
func (m *Monitor) take(now clocked.Time, c *connection, s *seen) {
	if c.over || diff(s.psn, c.oldest) < 0 || diff(s.psn, c.high) >= 0 {
		return // of the past, or of what was never sent
	}
	switch {
	case s.syndrome < rnrClass && s.op.Responds():
		if len(c.reads) == 0 {
			return
		}
		next := c.reads[0].first
		if diff(next, c.oldest) < 0 {
			next = c.oldest
		}
		switch d := diff(s.psn, next); {
		case d == 0:
			c.progress((s.psn + 1) & psnMask)
		case d > 0:
			c.progress(next)
		}
	case s.syndrome < rnrClass:
		c.moveTo((s.psn + 1) & psnMask)
	case s.syndrome < reserved:
		m.notReady(now, c, s)
	case s.syndrome >= nakSequence && s.syndrome <= nakLast:
		c.moveTo(s.psn)
		c.over = s.syndrome != nakSequence
	}
}

// notReady acts on an RNR NAK; one more for the same packet while a delay runs
// is an echo.
func (m *Monitor) notReady(now clocked.Time, c *connection, s *seen) {
	if moved := c.moveTo(s.psn); !moved && c.until > 0 && now <= c.until+m.config.Slack {
		return
	}
	c.rnrs++
	c.spent = m.config.RNRRetry != infinite && c.rnrs > m.config.RNRRetry
	c.since, c.until, c.forRNR = now, now+delays[s.syndrome&31], true
}

// moveTo acknowledges what is before p, but no READ or atomic without answer.
func (c *connection) moveTo(p uint32) bool {
	if len(c.reads) > 0 {
		next := c.reads[0].first
		if diff(next, c.oldest) < 0 {
			next = c.oldest
		}
		if diff(next, p) < 0 {
			p = next
		}
	}
	return c.progress(p)
}

func (c *connection) progress(p uint32) bool {
	if diff(p, c.oldest) <= 0 {
		return false
	}
	c.oldest = p
	if diff(c.next, p) < 0 {
		c.next = p
	}
	for len(c.reads) > 0 && diff(p, (c.reads[0].first+c.reads[0].n)&psnMask) >= 0 {
		c.reads = c.reads[:copy(c.reads, c.reads[1:])]
	}
	c.rnrs, c.backs, c.spent = 0, 0, false
	return true
}
