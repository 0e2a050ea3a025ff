package pcie

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// Where whatever may pass does, an offer that could go stays behind as often as
// patience says and no more: with younger ones without end, the oldest goes next.
func TestPatience(t *testing.T) {
	for _, policy := range []string{PassAlways, PassRandom} {
		r := newRig(t, func(s *rigSpec) { s.Pass = policy })
		tx := &r.Endpoint.tx
		submit := func(place int32) {
			o := tx.queue.submit(msg.NonPosted, place)
			o.packet = rules.Packet{Class: rules.NonPosted}
		}
		submit(0)
		for stayed := int32(0); ; stayed++ {
			submit(stayed + 1)
			c, lack := tx.pick(0)
			if lack != stallNone {
				t.Fatalf("%s: lacks %v", policy, lack)
			}
			place := tx.chosen(c).place
			tx.done(c)
			if place == 0 {
				if policy == PassAlways && stayed != patience {
					t.Errorf("%s: the oldest stayed behind %d times, want %d", policy, stayed, patience)
				}
				break
			}
			if stayed > patience {
				t.Fatalf("%s: the oldest has stayed behind %d times", policy, stayed)
			}
		}
	}
}

// Every TLP carries its digest, messages and doorbells too: 4 bytes more each.
func TestDigestOfMessages(t *testing.T) {
	bytes := func(ecrc bool) (wire, tlps uint64) {
		r := newRig(t, withIOMMU, func(s *rigSpec) { s.ECRC = ecrc })
		r.mmio.todo = []msg.Doorbell{{Len: 100}}
		r.iommu.todo = []msg.Doorbell{{Message: true}}
		r.run(t)
		s := r.Root.Stats()
		return s.WireBytes, s.TLPs[msg.Posted]
	}
	plain, tlps := bytes(false)
	if digest, _ := bytes(true); tlps != 3 || digest != plain+4*tlps {
		t.Errorf("%d TLPs of %d B with digests, %d without", tlps, digest, plain)
	}
}

// Each direction of a link, and each link, has bit errors of its own; the same
// direction the same ones.
func TestStreamsOfErrors(t *testing.T) {
	gaps := func(name string) (all [8]int64) {
		s := defaultSpec(t)
		s.Inject.BER = 1e-6
		f := newFaults(&s, name, true, 0)
		for i := range all {
			all[i] = f.gap
			f.draw()
		}
		return all
	}
	up0, again, down0, up1 := gaps("pcie0.up"), gaps("pcie0.up"), gaps("pcie0.down"), gaps("pcie1.up")
	if up0 == down0 || up0 == up1 {
		t.Error("two directions have the same errors")
	}
	if up0 != again {
		t.Error("a direction has other errors in another run")
	}
	r := newRig(t, func(s *rigSpec) { s.Inject.BER = 1e-6 })
	if r.Endpoint.tx.out.fault.gap == r.Root.tx.out.fault.gap {
		t.Error("both directions of a link draw from one stream")
	}
}

// An Ack is hurt as any packet is: at a high rate of errors some are lost, and
// the replay timer makes up for them.
func TestAcksAreHurt(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.Gen, s.Inject.BER, s.Ack.Every = 2, 1e-3, 1 })
	r.clients[0].todo = repeat(write1(1<<32, 1), 400)
	r.run(t)
	s := r.Endpoint.Stats()
	if len(r.memory.got) != 400 || s.ReplayTimeouts == 0 {
		t.Errorf("%d writes at memory, %d replay time-outs: 400 and some are due", len(r.memory.got), s.ReplayTimeouts)
	}
	if r.engine.Now() > clocked.Second {
		t.Errorf("it took %v", r.engine.Now())
	}
}
