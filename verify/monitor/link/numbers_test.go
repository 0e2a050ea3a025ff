package link

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/pcie"
)

// three has TLPs 0, 1 and 2 on the line.
func three(r *rig) (p []*pcie.Shown) {
	for i := range uint16(4) {
		r.write(0x1000, 64)
		p = append(p, r.mwr(i, 0x1000, 64, true))
	}
	r.send(r.up, p[:3]...)
	return p
}

// damaged is three, of which 0 is accepted and 1 damaged, and the Nak of that.
func damaged(r *rig) []*pcie.Shown {
	p := three(r)
	r.arrive(r.up, p[0])
	r.up.Arrived(r.now, &pcie.Arrival{Seq: 1, Damaged: true})
	r.up.Arrived(r.now, &pcie.Arrival{Seq: 2})
	r.dllp(r.down, pcie.DLLP{Kind: pcie.Nak, Seq: 0})
	return p
}

var numbering = []sequenceTest{
	{"a replay after a Nak", nil, nothing, func(r *rig) {
		p := damaged(r)
		r.again(r.up, p[1])
		r.again(r.up, p[2])
		r.send(r.up, p[3])
		r.arrive(r.up, p[1:]...)
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 3})
	}},
	{"a number is left out", Numbers, nothing, func(r *rig) {
		p := three(r)
		p[3].Seq = 4
		r.send(r.up, p[3])
	}},
	{"two TLPs in a replay buffer of one", ReplayBuffer, oneTLP, func(r *rig) { three(r) }},
	{"a replay leaves out the oldest", ReplayOrder, nothing, func(r *rig) {
		p := damaged(r)
		r.again(r.up, p[2])
	}},
	{"a replay sends what is acknowledged", ReplayOrder, nothing, func(r *rig) {
		p := damaged(r)
		r.again(r.up, p[0])
	}},
	{"a new TLP amid a replay", ReplayOrder, nothing, func(r *rig) {
		p := damaged(r)
		r.again(r.up, p[1])
		r.send(r.up, p[3])
	}},
	{"a replay without a Nak", ReplayOrder, nothing, func(r *rig) {
		p := three(r)
		r.again(r.up, p[0])
	}},
	{"a replay when the timer has ended", nil, nothing, func(r *rig) {
		p := three(r)
		r.now += 100 * clocked.Microsecond
		r.end.source = source{} // the fourth does not wait
		for _, x := range p[:3] {
			r.again(r.up, x)
		}
	}},
	{"a TLP is delivered twice", Once, nothing, func(r *rig) {
		p := three(r)
		r.arrive(r.up, p[0], p[0])
	}},
	{"a TLP is delivered and one before it is missing", Once, nothing, func(r *rig) {
		p := three(r)
		r.arrive(r.up, p[1])
	}},
	{"a damaged TLP is accepted", Once, nothing, func(r *rig) {
		p := three(r)
		r.now += r.spec.LinkLatency
		r.up.Arrived(r.now, &pcie.Arrival{Damaged: true, Accepted: p[0]})
	}},
	{"the TLP that is due is dropped", Once, nothing, func(r *rig) {
		three(r)
		r.now += r.spec.LinkLatency
		r.up.Arrived(r.now, &pcie.Arrival{})
	}},
	{"another TLP arrives than was sent", Once, nothing, func(r *rig) {
		p := three(r)
		p[0].PA++
		r.arrive(r.up, p[0])
	}},
	{"the second TLP of a class is taken first", Once, nothing, func(r *rig) {
		p := three(r)
		r.arrive(r.up, p[:2]...)
		r.take(r.up, p[1])
	}},
	{"an Ack names what was not received", Named, nothing, func(r *rig) {
		p := three(r)
		r.arrive(r.up, p[0])
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 1})
	}},
	{"an Ack names less than one before", Named, nothing, func(r *rig) {
		p := three(r)
		r.arrive(r.up, p[:2]...)
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 1})
		r.down.Departed(r.now, r.now, &pcie.DLLP{Kind: pcie.Ack, Seq: 0xfff - 1}, false)
	}},
	{"an Ack names what was not sent", Named, nothing, func(r *rig) {
		three(r)
		r.down.Collected(r.now, &pcie.DLLP{Kind: pcie.Ack, Seq: 3})
	}},
	{"an Ack is late", AckLate, nothing, func(r *rig) {
		r.arrive(r.up, three(r)[:3]...)
		r.end.source = source{} // the fourth does not wait
		r.now += 10 * clocked.Microsecond
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 2})
	}},
	{"an Ack does not come, the next TLP does", AckLate, nothing, func(r *rig) {
		p := three(r)
		r.arrive(r.up, p[0])
		r.end.source = source{} // the fourth does not wait
		r.now += 10 * clocked.Microsecond
		r.arrive(r.up, p[1])
	}},
	{"an Ack is late as the link retrains", nil, nothing, func(r *rig) {
		r.arrive(r.up, three(r)[:3]...)
		r.down.Held(r.now, r.now+10*clocked.Microsecond)
		r.end.source = source{} // the fourth does not wait
		r.now += 10 * clocked.Microsecond
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 2})
	}},
	{"no Nak for a damaged TLP", NakDue, nothing, func(r *rig) {
		r.write(0x1000, 64)
		r.write(0x1000, 64)
		p := []*pcie.Shown{r.mwr(0, 0x1000, 64, true), r.mwr(1, 0x1000, 64, true)}
		r.send(r.up, p...)
		r.arrive(r.up, p[0])
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 0})
		r.up.Arrived(r.now, &pcie.Arrival{Seq: 1, Damaged: true})
		r.finish(false)
	}},
	{"a Nak is late", NakDue, nothing, func(r *rig) {
		three(r)
		r.now += r.spec.LinkLatency
		r.up.Arrived(r.now, &pcie.Arrival{Seq: 1})
		r.end.source = source{} // the fourth does not wait
		r.now += 10 * clocked.Microsecond
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Nak, Seq: 0xfff})
	}},
	{"two TLPs at once", LineTime, nothing, func(r *rig) {
		p := three(r)
		r.now -= 100 * ns
		r.send(r.up, p[3])
	}},
	{"a TLP takes half its time", LineTime, nothing, func(r *rig) {
		p := three(r)
		r.up.Sent(r.now, r.now+160*ns, p[3], false)
	}},
	{"a TLP arrives before its last byte", LineTime, nothing, func(r *rig) {
		p := three(r)
		r.now = 100 * ns
		r.arrive(r.up, p[0])
	}},
	{"a TLP goes while the link retrains", LineTime, nothing, func(r *rig) {
		p := three(r)
		r.up.Held(r.now, r.now+100*ns)
		r.send(r.up, p[3])
	}},
}

// Each rule is broken by its shortest sequence, and by no other; what is right
// breaks none.
func TestSequences(t *testing.T) {
	for _, list := range [][]sequenceTest{transactions, numbering} {
		for _, x := range list {
			t.Run(x.name, func(t *testing.T) {
				r := newRig(t, x.spec)
				x.run(r)
				var want []string
				if x.broken != nil {
					want = []string{x.broken.ID}
				}
				if got := r.broken(); !slices.Equal(got, want) {
					t.Errorf("broken: %v, want %v\n%v", got, want, r.log.Violations())
				}
			})
		}
	}
}
