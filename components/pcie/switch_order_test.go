package pcie

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// The ordering table holds within an ingress and not between two: a read of one
// adapter does not wait for the blocked write of another, its own does.
func TestSwitchOrdersWithinAnIngress(t *testing.T) {
	b := newTree(t, 3)
	b.clients[2][0].deaf = true
	u := b.hub()
	blocked := &u.ports[3].tx
	blocked.credits[rules.PH].Take(blocked.credits[rules.PH].Free())
	b.clients[0][0].todo = []msg.DMA{write1(Window(2, 0), 64), read1(Window(2, 1), 64), read1(Window(1, 1), 64)}
	b.clients[1][0].todo = []msg.DMA{read1(Window(2, 1), 64)}
	b.runUntil(t, clocked.Millisecond) // before any time-out
	if n := len(b.clients[1][0].dones); n != 1 {
		t.Errorf("%d of 1 reads of another adapter passed the blocked write", n)
	}
	if n := len(b.clients[0][0].dones); n != 1 {
		t.Errorf("%d reads of the writer came back, want 1: that of another peer", n)
	}
}

// A read of a peer pushes the writes before it, as far as the client that takes
// them.
func TestPeersReadPushesWrites(t *testing.T) {
	b := newTree(t, 2)
	deaf := b.clients[1][0]
	deaf.deaf = true
	b.clients[0][0].todo = append(repeatAt(write1(Window(1, 0), 8), 3), read1(Window(1, 1), 8)) // the wire holds two
	b.runUntil(t, clocked.Millisecond)
	if n := len(b.clients[0][0].dones); n > 0 {
		t.Error("the read was answered before a write that came before it was taken")
	}
	deaf.deaf = false
	b.engine.Wake(deaf.id, b.engine.Now()+1)
	b.run(t)
	if len(b.clients[0][0].dones) != 1 || len(deaf.bells) != 3 {
		t.Errorf("%d answers and %d writes, want 1 and 3", len(b.clients[0][0].dones), len(deaf.bells))
	}
	b.rest(t)
}

// Completions of two adapters are of two transactions although their tags are the
// same: one may pass the other.
func TestCompletionsOfTwoAdaptersPass(t *testing.T) {
	b := newTree(t, 3, func(s *treeSpec) { s.PCIe.Lanes, s.PCIe.Pass = 1, PassAlways })
	for i, n := range []uint32{256, 64, 64} { // the first keeps the line busy for 140 ns
		b.at(i, 100*cycle+clocked.Time(i)*16*cycle).todo = []msg.DMA{read1(1<<33, n)}
	}
	b.run(t)
	if first, second := b.clients[2][0].dones[0].at, b.clients[1][0].dones[0].at; first >= second {
		t.Errorf("the younger completion came at %v, the older one at %v; the younger one was to go first", first, second)
	}
	if tags := b.memory.got; tags[1].msg.Tag != tags[2].msg.Tag || tags[1].msg.Adapter == tags[2].msg.Adapter {
		t.Errorf("requests %+v and %+v: the same tag of two adapters is due", tags[1].msg, tags[2].msg)
	}
}

// A relaxed write passes one that lacks credits in the switch too, whichever link
// has the attribute; without it the order is kept.
func TestRelaxedWritePassesInTheSwitch(t *testing.T) {
	for _, relaxed := range []bool{false, true} {
		b := newTree(t, 2, func(s *treeSpec) {
			s.devices[1].Spec.Relaxed = relaxed
			s.PCIe.Credits.PD, s.PCIe.Inject.Withhold = 17, "posted"
		})
		b.clients[1][0].todo = []msg.DMA{write1(1<<33, 256), write1(1<<33, 256), write1(1<<33, 16)}
		b.run(t)
		want := map[bool]int{false: 1, true: 2}[relaxed]
		if len(b.memory.got) != want {
			t.Errorf("relaxed %v: %d writes went up, want %d", relaxed, len(b.memory.got), want)
		}
	}
}

// Completion credits of a peer's port that never come back: the port and the peer
// are not idle, and say what they wait for.
func TestSwitchSaysWhoWaits(t *testing.T) {
	b := newTree(t, 2, func(s *treeSpec) {
		s.devices[1].Spec.Credits.CPLH, s.devices[1].Spec.Inject.Withhold = 1, "completion"
	})
	b.clients[0][0].todo = repeatAt(read1(Window(1, 0), 8), 3)
	b.runUntil(t, clocked.Millisecond)
	peer := b.links[1].Endpoint
	waits := strings.Join(peer.Waits(), "\n")
	if peer.Idle() || peer.answers.used() != 2 || !strings.Contains(waits, "2 completion TLPs wait; the oldest TLP lacks credit cplh of switch0.port2") {
		t.Errorf("peer: idle %v, %d answers, waits %q", peer.Idle(), peer.answers.used(), waits)
	}
	if len(b.clients[0][0].dones) != 1 || b.hub().ports[2].rx.empty() != true {
		t.Errorf("%d answers came, want 1", len(b.clients[0][0].dones))
	}

	b = newTree(t, 2, func(s *treeSpec) { s.PCIe.Credits.NPH, s.PCIe.Inject.Withhold = 1, "nonposted" })
	b.clients[1][0].todo = repeat(read1(1<<33, 8), 3)
	b.runUntil(t, clocked.Millisecond)
	waits = strings.Join(b.hub().Waits(), "\n")
	if b.hub().Idle() || !strings.Contains(waits, "switch0.port0: 2 non-posted TLPs wait; the oldest TLP lacks credit nph of switch0.root") {
		t.Errorf("switch: idle %v, waits %q", b.hub().Idle(), waits)
	}
}

// An MMIO write for another adapter is for nobody here.
func TestDoorbellForAnotherAdapter(t *testing.T) {
	r := newRig(t)
	r.mmio.todo = []msg.Doorbell{{Adapter: 5, Len: 8}, {Len: 8}}
	r.run(t)
	if n := r.Endpoint.Stats().Unclaimed; n != 1 || len(r.clients[0].bells) != 1 {
		t.Errorf("%d doorbells were for nobody and %d came, want 1 and 1", n, len(r.clients[0].bells))
	}
}
