package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// path is the time of a TLP of so many bytes over links, each with its own rate,
// and the switch between each two: stored, then forwarded.
func path(latency clocked.Time, bytes int64, links ...*Spec) clocked.Time {
	t := latency * clocked.Time(len(links)-1)
	for _, s := range links {
		t += serial(s, bytes) + s.LinkLatency
	}
	return t
}

var switchShapes = []struct{ up, down [2]int }{
	{[2]int{4, 16}, [2]int{4, 16}}, {[2]int{5, 16}, [2]int{4, 4}}, {[2]int{3, 8}, [2]int{5, 16}},
}

func shaped(up, down [2]int) func(*treeSpec) {
	return func(s *treeSpec) {
		s.PCIe.Gen, s.PCIe.Lanes = up[0], up[1]
		for i := range s.devices {
			s.devices[i].Spec.Gen, s.devices[i].Spec.Lanes = down[0], down[1]
		}
	}
}

// An unloaded write, doorbell, message or read takes both links, each at its own
// rate, and the latency of the switch between, each way.
func TestSwitchUnloadedLatency(t *testing.T) {
	const issue = 101 * cycle // a hop after the client's push
	for _, x := range switchShapes {
		for _, n := range []uint32{4, 64, 256} {
			what := fmt.Sprintf("gen %d x%d over gen %d x%d, %d B", x.down[0], x.down[1], x.up[0], x.up[1], n)
			b := newTree(t, 2, shaped(x.up, x.down))
			up, down := &b.spec.PCIe, &b.devices[1].Spec
			b.at(1, 100*cycle).todo = []msg.DMA{write1(1<<33, n)}
			b.run(t)
			if got, want := b.memory.got[0].at, issue+path(115*ns, 24+int64(n), down, up)+hop; got != want {
				t.Errorf("%s: write at memory at %v, want %v", what, got, want)
			}

			b = newTree(t, 2, shaped(x.up, x.down))
			ledger := &measure.Ledger{}
			d := read1(1<<33, n)
			d.Ledger = ledger
			b.at(1, 100*cycle).todo = []msg.DMA{d}
			b.run(t)
			last := issue + path(115*ns, 24, down, up) + hop + 400*ns + path(115*ns, 20+int64(n), down, up)
			c := b.clients[1][0]
			if got, want := c.dones[0].at, c.clock.Edge(last+cycle); got != want {
				t.Errorf("%s: read answered at %v, want %v", what, got, want)
			}
			if got, want := ledger.Causes[measure.CausePCIe], last-issue-hop-400*ns; got != want || ledger.Last != last {
				t.Errorf("%s: %v charged to pcie until %v, want %v until %v", what, got, ledger.Last, want, last)
			}
			b.rest(t)

			b = newTree(t, 2, shaped(x.up, x.down))
			b.mmio.todo = []msg.Doorbell{{Adapter: 1, Client: 1, Len: min(n, 64), Cookie: 5}}
			b.iommu.todo = []msg.Doorbell{{Adapter: 0, Client: 1, Message: true, Body: &msg.PageResponse{}}}
			b.run(t)
			c = b.clients[1][1]
			if got, want := c.bells[0].at, c.clock.Edge(b.mmio.rung[0]+hop+path(115*ns, 24+int64(min(n, 64)), up, down)+cycle); got != want {
				t.Errorf("%s: doorbell at %v, want %v", what, got, want)
			}
			if m := b.clients[0][1].bells; len(m) != 1 || !m[0].msg.Message || len(c.bells) != 1 || c.bells[0].msg.Cookie != 5 || len(b.clients[0][0].bells)+len(b.clients[1][0].bells) > 0 {
				t.Errorf("%s: doorbell or message went to another: %+v %+v", what, m, c.bells)
			}
			b.rest(t)
		}
	}
}

// A write to another adapter's window comes to its client as a doorbell, after two
// links and the switch, and a read of it is answered after as much again. Neither
// goes near the root port.
func TestPeerToPeer(t *testing.T) {
	const issue = 101 * cycle
	for _, x := range switchShapes {
		for _, n := range []uint32{4, 64, 256} {
			what := fmt.Sprintf("gen %d x%d, %d B", x.down[0], x.down[1], n)
			b := newTree(t, 3, shaped(x.up, x.down))
			link := &b.devices[0].Spec
			d := write1(Window(2, 1)+64, n)
			d.Cookie = 7
			b.at(0, 100*cycle).todo = []msg.DMA{d}
			b.run(t)
			b.untouched(t, what)
			c := b.clients[2][1]
			if len(c.bells) != 1 || c.bells[0].msg != (msg.Doorbell{Client: 1, Len: n, Cookie: 7}) {
				t.Fatalf("%s: doorbells %+v, want one of %d B", what, c.bells, n)
			}
			if got, want := c.bells[0].at, c.clock.Edge(issue+path(115*ns, 24+int64(n), link, link)+cycle); got != want {
				t.Errorf("%s: write at the peer at %v, want %v", what, got, want)
			}
			b.rest(t)

			b = newTree(t, 3, shaped(x.up, x.down))
			b.at(0, 100*cycle).todo = []msg.DMA{read1(Window(2, 1)+64, n)}
			b.run(t)
			b.untouched(t, what)
			c = b.clients[0][0]
			want := c.clock.Edge(issue + path(115*ns, 24, link, link) + path(115*ns, 20+int64(n), link, link) + cycle)
			if len(c.dones) != 1 || c.dones[0].at != want || c.dones[0].msg.Status != msg.StatusSuccess {
				t.Errorf("%s: read of the peer answered %+v, want success at %v", what, c.dones, want)
			}
			b.rest(t)
		}
	}
}

// A read of a peer of 470 B from 96 B behind a boundary of 128 B at MPS 256 has
// completions of 32 + 128, 256 and 54 B: the first ends at the last boundary within
// MPS. A write of 1000 B is four TLPs and one doorbell.
func TestPeerToPeerPieces(t *testing.T) {
	b := newTree(t, 2)
	b.clients[0][0].todo = []msg.DMA{read1(Window(1, 0)+96, 470), write1(Window(1, 0), 1000)}
	b.run(t)
	if s := b.links[1].Endpoint.Stats(); s.TLPs[msg.Completion] != 3 || s.PayloadBytes != 470 {
		t.Errorf("%d completions with %d B, want 3 with 470", s.TLPs[msg.Completion], s.PayloadBytes)
	}
	if bells := b.clients[1][0].bells; len(bells) != 1 || bells[0].msg.Len != 1000 {
		t.Errorf("doorbells %+v, want one of 1000 B", bells)
	}
	if s := b.links[1].Down(); s.TLPs[msg.Posted] != 4 || s.TLPs[msg.NonPosted] != 1 {
		t.Errorf("the peer was sent %v TLPs, want 4 writes and a read", s.TLPs)
	}
	b.rest(t)
}

// Nobody serves: a client that a peer does not have, an adapter's own window, and
// that of an adapter behind another root port. Reads end with UR, writes are
// dropped and counted.
func TestPeerToPeerUnsupported(t *testing.T) {
	for _, x := range []struct {
		what    string
		pa      model.PA
		refused func(*tree) (reads, writes uint64)
	}{
		{"no such client", Window(1, treeClients), func(b *tree) (uint64, uint64) {
			s := b.links[1].Endpoint.Stats()
			return s.Refused, s.Unclaimed
		}},
		{"its own window", Window(0, 0), refusedByRoot},
		{"no such adapter here", Window(9, 0), refusedByRoot},
	} {
		b := newTree(t, 2)
		b.clients[0][0].todo = []msg.DMA{read1(x.pa, 64), write1(x.pa, 64)}
		b.run(t)
		if d := b.clients[0][0].dones; len(d) != 1 || d[0].msg.Status != msg.StatusUnsupported {
			t.Errorf("%s: read answered %+v, want UR", x.what, d)
		}
		if reads, writes := x.refused(b); reads != 1 || writes != 1 {
			t.Errorf("%s: %d reads and %d writes were refused, want 1 and 1", x.what, reads, writes)
		}
		if len(b.memory.got) > 0 || len(b.clients[1][0].bells) > 0 {
			t.Errorf("%s: memory saw %+v, the peer %+v", x.what, b.memory.got, b.clients[1][0].bells)
		}
		b.rest(t)
	}
}

func refusedByRoot(b *tree) (reads, writes uint64) {
	n := b.root().Stats().Refused
	return n / 2, n - n/2
}

// The link of each port has credits of its own. Towards a switch completions are
// never without a bound, from it they are.
func TestSwitchAdvertisesFiniteCompletions(t *testing.T) {
	b := newTree(t, 2, func(s *treeSpec) { s.devices[1].Spec.Credits.CPLH, s.devices[1].Spec.Credits.CPLD = 3, 48 })
	for _, x := range []struct {
		what       string
		tx         *transmitter
		cplh, cpld uint32 // 0: infinite
	}{
		{"root port to switch", &b.root().tx, 64, 1024}, {"switch to root port", &b.hub().ports[0].tx, 0, 0},
		{"adapter 0 to switch", &b.links[0].Endpoint.tx, 64, 1024}, {"switch to adapter 0", &b.hub().ports[1].tx, 0, 0},
		{"adapter 1 to switch", &b.links[1].Endpoint.tx, 3, 48},
	} {
		h, d := &x.tx.credits[rules.CPLH], &x.tx.credits[rules.CPLD]
		if h.Infinite() != (x.cplh == 0) || d.Infinite() != (x.cpld == 0) || h.Free() != x.cplh || d.Free() != x.cpld {
			t.Errorf("%s: %d headers and %d data, want %d and %d", x.what, h.Free(), d.Free(), x.cplh, x.cpld)
		}
	}
}
