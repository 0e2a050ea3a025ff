package clocked

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"pgregory.net/rapid"
)

// node passes messages on: the message chooses the output. It starts some of
// its own by timer, and its digest depends on all it saw and when.
type node struct {
	e      *Engine
	id     UnitID
	rank   int
	in     []*Wire[uint64]
	out    []*Wire[uint64]
	starts []Time
	digest uint64
	seen   int
}

func (n *node) Name() string { return fmt.Sprintf("node%d", n.rank) }

func (n *node) Tick(now Time) {
	for len(n.out) > 0 && len(n.starts) > 0 {
		if n.starts[0] > now {
			n.e.Wake(n.id, n.starts[0])
			break
		}
		w := n.out[0]
		if !w.Ready(now) {
			break
		}
		*w.Push(now) = uint64(n.rank)<<32 | 12
		n.starts = n.starts[1:]
	}
	for i, w := range n.in {
		n.drain(now, i, w)
	}
}

// drain consumes until nothing is visible or an output is full. The low byte
// of a message counts the hops that are left.
func (n *node) drain(now Time, rank int, w *Wire[uint64]) {
	for m := w.Peek(now); m != nil; m = w.Peek(now) {
		v := *m
		if v&0xff > 0 && len(n.out) > 0 {
			out := n.out[mix(v)%uint64(len(n.out))]
			if !out.Ready(now) {
				return
			}
			*out.Push(now) = mix(v)&^0xff | v&0xff - 1
		}
		w.Pop(now)
		n.digest = mix(n.digest ^ v ^ uint64(now)<<8 ^ uint64(rank))
		n.seen++
	}
	w.Await(now)
}

type edge struct {
	from, to int
	spec     WireSpec
}

// plan is a random network.
type plan struct {
	nodes  int
	starts [][]Time
	edges  []edge
	order  []int // of registration
}

func drawPlan(t *rapid.T) plan {
	p := plan{nodes: rapid.IntRange(2, 6).Draw(t, "nodes")}
	for i := range p.nodes {
		p.order = append(p.order, i)
		var starts []Time
		for range rapid.IntRange(0, 6).Draw(t, "starts") {
			starts = append(starts, Time(rapid.IntRange(1, 40).Draw(t, "start")))
		}
		slices.Sort(starts)
		p.starts = append(p.starts, starts)
	}
	for range rapid.IntRange(2, 12).Draw(t, "edges") {
		spec := drawWire(t)
		spec.Quiet = rapid.Bool().Draw(t, "quiet")
		p.edges = append(p.edges, edge{from: rapid.IntRange(0, p.nodes-1).Draw(t, "from"),
			to: rapid.IntRange(0, p.nodes-1).Draw(t, "to"), spec: spec})
	}
	return p
}

// build puts the network on an engine, its units registered and woken in the
// given order.
func (p plan) build(e *Engine, order []int) []*node {
	nodes := make([]*node, p.nodes)
	for _, i := range order {
		nodes[i] = &node{e: e, rank: i, starts: slices.Clone(p.starts[i])}
		nodes[i].id = e.Register(nodes[i])
		e.Wake(nodes[i].id, 0)
	}
	for _, x := range p.edges {
		x.spec.Writer, x.spec.Reader = nodes[x.from].id, nodes[x.to].id
		w := NewWire[uint64](e, x.spec)
		nodes[x.from].out = append(nodes[x.from].out, w)
		nodes[x.to].in = append(nodes[x.to].in, w)
	}
	return nodes
}

func digests(nodes []*node) (all []uint64) {
	for _, n := range nodes {
		all = append(all, n.digest, uint64(n.seen))
	}
	return all
}

// A network of units gives the same result in any tick order, and on Akita's
// engine.
func TestNetworkHasNoTickOrder(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		run := func(setup func(e *Engine) sim.Engine, order []int) []uint64 {
			e := NewEngine()
			runner := setup(e)
			nodes := p.build(e, order)
			if err := runner.Run(); err != nil {
				t.Fatal(err)
			}
			return digests(nodes)
		}
		native := func(e *Engine) sim.Engine { return e }
		want := run(native, p.order)
		seen += int(want[1])
		compare := func(how string, got []uint64) {
			if !slices.Equal(want, got) {
				t.Fatalf("%s: %x, in order %x", how, got, want)
			}
		}
		backwards := slices.Clone(p.order)
		slices.Reverse(backwards)
		compare("registered backwards", run(native, backwards))
		seed := rapid.Uint64().Draw(t, "seed")
		compare("shuffled", run(func(e *Engine) sim.Engine { e.Shuffle(seed); return e }, p.order))
		compare("on Akita's engine", run(onAkita, p.order))
		compare("on another engine of ours", run(func(e *Engine) sim.Engine {
			host := NewEngine()
			e.Guest(host)
			return host
		}, p.order))
	})
	if seen == 0 {
		t.Error("no network passed a message")
	}
}

func onAkita(e *Engine) sim.Engine {
	host := sim.NewSerialEngine()
	e.Guest(host)
	return host
}

// Ticks with nothing to do change nothing.
func TestSpuriousWakesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		e := NewEngine()
		nodes := p.build(e, p.order)
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
		noisy := NewEngine()
		again := p.build(noisy, p.order)
		for _, n := range again {
			for range 10 {
				noisy.Wake(n.id, Time(rapid.IntRange(1, 200).Draw(t, "spurious")))
			}
		}
		if err := noisy.Run(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(digests(nodes), digests(again)) {
			t.Fatalf("with spurious wakes %x, without %x", digests(again), digests(nodes))
		}
	})
}
