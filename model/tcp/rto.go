package tcp

// initialRTO is the time-out before any sample: 1 s ([RFC6298] 2.1).
const initialRTO int64 = 1e12

// timer is the retransmission time-out of a connection ([RFC6298]), with a
// clock of 1 ps.
type timer struct {
	srtt, rttvar, rto int64
	sampled           bool
	min, max          int64
}

func newTimer(low, high int64) timer {
	t := timer{min: low, max: high}
	t.set(initialRTO)
	return t
}

func (t *timer) set(rto int64) { t.rto = min(max(rto, t.min), t.max) }

// sample takes a round trip ([RFC6298] 2.2, 2.3).
func (t *timer) sample(r int64) {
	if !t.sampled {
		t.sampled = true
		t.srtt, t.rttvar = r, r/2
	} else {
		d := t.srtt - r
		if d < 0 {
			d = -d
		}
		t.rttvar = (3*t.rttvar + d) / 4
		t.srtt = (7*t.srtt + r) / 8
	}
	t.set(t.srtt + max(1, 4*t.rttvar))
}

// backOff doubles the time-out ([RFC6298] 5.5).
func (t *timer) backOff() { t.set(2 * t.rto) }
