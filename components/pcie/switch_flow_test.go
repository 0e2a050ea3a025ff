package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// roomy lifts every limit but those of the links.
func roomy(s *treeSpec) {
	credits := Credits{PH: 127, PD: 2047, NPH: 127, NPD: 64, CPLH: 127, CPLD: 2047}
	links := []*Spec{&s.PCIe}
	for i := range s.devices {
		links = append(links, &s.devices[i].Spec)
	}
	for _, l := range links {
		l.Credits, l.TagBits, l.CompletionBuffer = credits, 10, 16<<20
		l.AdapterCredits.PH, l.AdapterCredits.PD, l.AdapterCredits.NPH = 127, 2047, 127
	}
	s.PCIe.Credits.CPLH, s.PCIe.Credits.CPLD = 0, 0
	s.PCIe.AdapterCredits = credits
}

// closed is the closed form of a link.
func closed(s *Spec) *rules.Link {
	return &rules.Link{Gen: s.Gen, Lanes: s.Lanes, MPS: uint32(s.MPS), MRRS: uint32(s.MRRS), RCB: uint32(s.RCB), Split: rules.SplitMin,
		Header: rules.Header4DW, SKP: s.SKP, DLLPs: true}
}

// shares are the bytes a second that each adapter had over the middle half of the
// arrivals.
func shares(arrivals []seen[msg.MemReq], adapters int) []float64 {
	middle := arrivals[len(arrivals)/4 : 3*len(arrivals)/4]
	out := make([]float64, adapters)
	for _, m := range middle[1:] {
		out[m.msg.Adapter] += float64(m.msg.Len)
	}
	for i := range out {
		out[i] /= float64(middle[len(middle)-1].at-middle[0].at) / 1e12
	}
	return out
}

// Four adapters that write all the time share the upstream link: each gets a
// quarter of it, or what its own link carries where that is less.
func TestSwitchSharesWriteBandwidth(t *testing.T) {
	for _, x := range []struct{ lanes, n int }{{16, 256}, {16, 64}, {16, 512}, {4, 256}, {2, 256}} {
		what := fmt.Sprintf("four x%d behind x16, %d B", x.lanes, x.n)
		b := newTree(t, 4, roomy, func(s *treeSpec) {
			for i := range s.devices {
				s.devices[i].Spec.Lanes = x.lanes
			}
		})
		for i := range b.clients {
			b.clients[i][0].todo = repeat(write1(1<<33, uint32(x.n)), 2000)
		}
		b.run(t)
		want := min(closed(&b.spec.PCIe).WriteBandwidth(uint32(x.n))/4, closed(&b.devices[0].Spec).WriteBandwidth(uint32(x.n)))
		for i, got := range shares(b.memory.got, 4) {
			within(t, fmt.Sprintf("%s, adapter %d", what, i), got, want, 3e-3)
		}
		b.rest(t)
	}
}

// Reads share the way down.
func TestSwitchSharesReadBandwidth(t *testing.T) {
	for _, n := range []uint32{64, 512} {
		b := newTree(t, 4, roomy)
		for i := range b.clients {
			b.clients[i][0].todo = repeat(read1(1<<33, n), 3000)
		}
		b.run(t)
		want := closed(&b.spec.PCIe).ReadBandwidth(n) / 4
		for i := range b.clients {
			d := b.clients[i][0].dones
			first, last := d[len(d)/4], d[3*len(d)/4]
			got := float64(n) * float64(len(d)/2) / float64(last.at-first.at) * 1e12
			within(t, fmt.Sprintf("reads of %d B, adapter %d", n, i), got, want, 1e-2)
		}
		b.rest(t)
	}
}

// An egress takes from its ingress ports in rotation: no adapter is ever more than
// one write ahead of another that has some waiting.
func TestSwitchRotates(t *testing.T) {
	b := newTree(t, 3, roomy)
	for i := range b.clients {
		b.clients[i][0].todo = repeat(write1(1<<33, 256), 300)
	}
	b.run(t)
	var count [3]int
	for i, m := range b.memory.got[:3*250] {
		count[m.msg.Adapter]++
		if most, least := max(count[0], count[1], count[2]), min(count[0], count[1], count[2]); most-least > 2 {
			t.Fatalf("after %d writes: %v", i+1, count)
		}
	}
}

// An adapter that takes nothing stops those that write to it, when the buffers
// between are full, and nobody else: neither others' writes to memory nor to other
// peers. When it goes on, all arrives.
func TestSwitchIsolatesABlockedPeer(t *testing.T) {
	const n = 400
	b := newTree(t, 4)
	deaf := b.clients[3][0]
	deaf.deaf = true
	b.clients[0][0].todo = repeatAt(write1(Window(3, 0), 64), n)
	b.clients[1][0].todo = repeat(write1(1<<33, 256), n)
	b.clients[2][0].todo = append(repeatAt(write1(Window(1, 1), 64), n), repeat(read1(1<<33, 64), n)...)
	b.run(t)
	if len(b.memory.got) != 2*n || len(b.clients[1][1].bells) != n || len(b.clients[2][0].dones) != n {
		t.Errorf("memory saw %d requests, a peer %d writes, %d reads were answered; want %d, %d, %d",
			len(b.memory.got), len(b.clients[1][1].bells), len(b.clients[2][0].dones), 2*n, n, n)
	}
	if left := len(b.clients[0][0].todo); left == 0 || left == n {
		t.Errorf("%d of %d writes to the blocked peer wait in their client, want some", left, n)
	}
	if len(b.hub().Waits()) == 0 {
		t.Error("the switch does not say that it waits")
	}
	deaf.deaf = false
	b.engine.Wake(deaf.id, b.engine.Now()+1)
	b.run(t)
	if len(deaf.bells) != n {
		t.Errorf("%d of %d writes arrived", len(deaf.bells), n)
	}
	b.rest(t)
}

// repeatAt is a DMA again and again at one address.
func repeatAt(d msg.DMA, n int) []msg.DMA {
	out := make([]msg.DMA, n)
	for i := range out {
		out[i] = d
		out[i].Cookie = uint64(i)
	}
	return out
}

// The link of one adapter goes down: what is on it is lost, its own requests and
// those to it time out, and everybody else goes on with all credits.
func TestSwitchIsolatesALinkThatIsDown(t *testing.T) {
	const n = 200 // fewer than tags, which rest when they have timed out
	b := newTree(t, 3, func(s *treeSpec) {
		for i := range s.devices {
			s.devices[i].Spec.CompletionTimeout = 100 * clocked.Microsecond
		}
		s.devices[2].Spec.Inject.Down = 700 * ns
	})
	b.clients[0][0].todo = append(repeatAt(read1(Window(2, 0), 64), n), repeat(write1(1<<33, 256), n)...)
	b.clients[1][0].todo = repeat(read1(1<<33, 512), n)
	b.clients[2][0].todo = repeat(read1(1<<34, 512), n)
	for range n {
		b.mmio.todo = append(b.mmio.todo, msg.Doorbell{Adapter: 2, Len: 8}, msg.Doorbell{Adapter: 1, Len: 8})
	}
	b.run(t)
	if s := b.links[0].Endpoint.Stats().TimedOut; s == 0 || s == n || len(b.clients[0][0].dones) != n {
		t.Errorf("%d of %d reads of the peer timed out, %d were answered; some and all are due", s, n, len(b.clients[0][0].dones))
	}
	if s := b.links[2].Endpoint.Stats().TimedOut; s == 0 || len(b.clients[2][0].dones) != n {
		t.Errorf("%d reads of the lost adapter timed out, %d ended of %d", s, len(b.clients[2][0].dones), n)
	}
	writes := 0
	for _, m := range b.memory.got {
		if m.msg.Write {
			writes++
		}
	}
	if writes != n || len(b.clients[1][0].bells) != n || len(b.clients[1][0].dones) != n || b.links[1].Endpoint.Stats().TimedOut > 0 {
		t.Errorf("%d writes, %d doorbells and %d answers of others, want %d of each", writes, len(b.clients[1][0].bells), len(b.clients[1][0].dones), n)
	}
	u := b.hub()
	if !u.Idle() || u.transits.used() > 0 {
		t.Errorf("the switch keeps %d TLPs, waits %q", u.transits.used(), u.Waits())
	}
	upper, lower := b.spec.PCIe.Credits, b.spec.PCIe.AdapterCredits.finite()
	b.full(t, "upstream", &u.ports[0].tx, &upper)
	b.full(t, "root port", &b.root().tx, &lower)
	for i := range 2 {
		own := b.devices[i].Spec.Credits.finite()
		b.full(t, b.links[i].Endpoint.name, &b.links[i].Endpoint.tx, &own)
		b.full(t, u.ports[i+1].name, &u.ports[i+1].tx, &b.devices[i].Spec.AdapterCredits)
	}
}

// Bit errors on one adapter's link are repaired there: the others' links replay
// nothing, and all arrives.
func TestSwitchIsolatesBitErrors(t *testing.T) {
	b := newTree(t, 2, func(s *treeSpec) { s.devices[1].Spec.Inject.BER, s.devices[1].Spec.Seed = 1e-5, 3 })
	for i := range b.clients {
		b.clients[i][0].todo = append(repeat(write1(1<<33, 256), 500), repeat(read1(1<<33, 256), 500)...)
	}
	b.run(t)
	u := b.hub()
	if s := b.links[1].Endpoint.Stats(); s.Replayed == 0 {
		t.Error("nothing was replayed where errors are")
	}
	for _, s := range []Stats{b.links[0].Endpoint.Stats(), b.links[0].Down(), u.Upstream(), b.root().Stats()} {
		if s.Replayed+s.Naks+s.ReplayTimeouts+s.Recoveries > 0 {
			t.Errorf("replay where no errors are: %+v", s)
		}
	}
	if len(b.memory.got) != 2000 || len(b.clients[0][0].dones)+len(b.clients[1][0].dones) != 1000 {
		t.Errorf("memory saw %d requests, %d answers came; want 2000, 1000", len(b.memory.got), len(b.clients[0][0].dones)+len(b.clients[1][0].dones))
	}
}

// The root port takes no more requests of a disabled adapter, and all of others;
// its peers' requests and software's doorbells still reach it.
func TestRootPortDisablesOneAdapter(t *testing.T) {
	b := newTree(t, 2, func(s *treeSpec) { s.devices[1].Spec.CompletionTimeout = 50 * clocked.Microsecond })
	b.mmio.todo = []msg.Doorbell{{Adapter: 1, Disable: true}, {Adapter: 1, Len: 8}}
	for i := range b.clients {
		b.at(i, 1000*cycle).todo = append(repeat(write1(1<<33, 64), 20), repeat(read1(1<<33, 64), 20)...)
	}
	b.clients[0][0].todo = append(b.clients[0][0].todo, write1(Window(1, 1), 8))
	b.run(t)
	for _, m := range b.memory.got {
		if m.msg.Adapter != 0 {
			t.Fatalf("memory saw %+v of the disabled adapter", m.msg)
		}
	}
	if s := b.root().Stats().Dropped; s != 40 || len(b.memory.got) != 40 {
		t.Errorf("%d requests were dropped and %d reached memory, want 40 and 40", s, len(b.memory.got))
	}
	for _, d := range b.clients[1][0].dones {
		if d.msg.Status != msg.StatusTimeout {
			t.Errorf("the disabled adapter's read ended with %v", d.msg.Status)
		}
	}
	if len(b.clients[1][0].bells) != 1 || len(b.clients[1][1].bells) != 1 {
		t.Errorf("doorbells %+v %+v, want one of software and one of the peer", b.clients[1][0].bells, b.clients[1][1].bells)
	}
}

// A switch refuses links that it cannot join, by the key.
func TestSwitchSpecCheck(t *testing.T) {
	for _, x := range []struct {
		change func(*treeSpec)
		want   string
	}{
		{func(s *treeSpec) { s.PCIe.MPS = 512 }, "host.switch.pcie.mps: 512 B: 256 B is due, as pcie.mps of the adapters: a switch cuts no TLPs"},
		{func(s *treeSpec) { s.devices[1].Spec.MPS = 128 }, "host.switch.pcie.mps: 256 B: 128 B is due, as pcie.mps of the adapters: a switch cuts no TLPs"},
		{func(s *treeSpec) { s.devices[0].Spec.Gen, s.devices[0].Spec.TagBits = 6, 14 }, "pcie.tag_bits: 14: at most 10 is due below host.switch.pcie.gen 6"},
		{func(s *treeSpec) { s.PCIe.Lanes = 3 }, "host.switch.pcie.lanes: 3: 1, 2, 4, 8, 16 or 32 is due"},
		{func(s *treeSpec) { s.PCIe.AdapterCredits.CPLD = 8 }, "host.switch.pcie.adapter_credits.cpld: 8: 0 (infinite) or at least 16 is due, or a TLP of pcie.mps (256 B) could never be sent"},
		{func(s *treeSpec) { s.devices[1].Spec.Credits.CPLD = 8 }, "pcie.credits.cpld: 8: 0 (infinite) or at least 16 is due, or a TLP of pcie.mps (256 B) could never be sent"},
		{func(s *treeSpec) { // 4 DW, prefix, 256 B and a digest of another's
			s.MPSAll(1024)
			s.PCIe.ReplayBuffer.Bytes, s.devices[0].Spec.ECRC = 1024+32, true
		}, "host.switch.pcie.replay_buffer.bytes: 1056 B: at least 1060 is due, or a TLP of pcie.mps (1024 B) could never be sent"},
		{func(s *treeSpec) { s.devices[0].Spec.Adapter = 1024 }, "pcie: adapter 1024: below 1024 is due"},
	} {
		s := treeSpec{SwitchSpec: SwitchSpec{Latency: ns, PCIe: defaultSpec(t)}}
		for range 2 {
			s.devices = append(s.devices, Device{Spec: defaultSpec(t), Clock: clocked.NewDomain(800_000_000)})
		}
		x.change(&s)
		_, err := NewSwitched(clocked.NewEngine(), "switch0", s.SwitchSpec, s.devices)
		if fmt.Sprint(err) != x.want {
			t.Errorf("got  %v\nwant %s", err, x.want)
		}
	}
}

// MPSAll sets the MPS of all links.
func (s *treeSpec) MPSAll(n model.Bytes) {
	s.PCIe.MPS = n
	for i := range s.devices {
		s.devices[i].Spec.MPS = n
	}
}
