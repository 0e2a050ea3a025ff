package pcie

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// storm is random traffic through a switch in all directions, and what has to come
// of it. A cookie is the sender, adapter and client, and the number of the DMA.
type storm struct {
	*tree
	sent  map[string][]uint64 // posted: cookies in order, by sender and receiver
	reads map[string]int      // by sender
}

const (
	toMemory = "memory"
	software = 0xFF // as a sender
)

func senderOf(adapter, client int) uint64 { return uint64(adapter<<4 | client) }

func lane(sender uint64, receiver string) string { return fmt.Sprintf("%#x to %s", sender, receiver) }

func clientName(adapter, client int) string {
	return fmt.Sprintf("adapter %d client %d", adapter, client)
}

// tiny are credits so few that buffers are full all the time.
func tiny(t *rapid.T, name string, completions bool) Credits {
	few := func(pool string) int { return rapid.IntRange(1, 3).Draw(t, name+"."+pool) }
	c := Credits{PH: few("ph"), PD: 16 * few("pd"), NPH: few("nph"), NPD: 1}
	if completions {
		c.CPLH, c.CPLD = few("cplh"), 16*few("cpld")
	}
	return c
}

// tighten draws a link; up: that of the root port.
func tighten(t *rapid.T, name string, s *Spec, up bool) {
	s.Gen, s.Lanes = rapid.IntRange(3, 6).Draw(t, name+".gen"), rapid.SampledFrom([]int{1, 4, 16}).Draw(t, name+".lanes")
	s.Credits, s.AdapterCredits = tiny(t, name+".credits", !up), tiny(t, name+".adapter_credits", up)
	s.Pass = rapid.SampledFrom([]string{PassBlocked, PassAlways, PassRandom}).Draw(t, name+".pass")
	s.ReplayBuffer.TLPs = rapid.SampledFrom([]int{512, 1, 2}).Draw(t, name+".replay")
	s.Tags = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, name+".tags")
	s.CompletionTimeout, s.Seed = 0, 1
}

// drawStorm draws a switch, links, and who has what to send. It can be built again
// and again, in another order of ticks.
func drawStorm(t *rapid.T, change func(*treeSpec)) func(shuffle uint64) *storm {
	adapters, latency := rapid.IntRange(1, 4).Draw(t, "adapters"), rapid.SampledFrom([]clocked.Time{ns, 115 * ns}).Draw(t, "latency")
	seed := rapid.Uint64().Draw(t, "seed")
	up := defaultSpec(t)
	tighten(t, "up", &up, true)
	down := make([]Spec, adapters)
	for i := range down {
		down[i] = defaultSpec(t)
		tighten(t, fmt.Sprintf("adapter%d", i), &down[i], false)
		down[i].Adapter = uint16(i)
	}
	return func(shuffle uint64) *storm {
		b := newTree(t, adapters, func(s *treeSpec) {
			s.Latency, s.PCIe, s.shuffle = latency, up, shuffle
			for i := range s.devices {
				s.devices[i].Spec = down[i]
			}
			if change != nil {
				change(s)
			}
		})
		s := &storm{b, map[string][]uint64{}, map[string]int{}}
		s.load(rand.New(rand.NewPCG(seed, 1)))
		return s
	}
}

// load gives all something to send.
func (s *storm) load(g *rand.Rand) {
	const each = 30
	for a := range s.clients {
		for c, client := range s.clients[a] {
			for i := range each {
				client.todo = append(client.todo, s.dma(g, a, c, senderOf(a, c)<<16|uint64(i)))
			}
		}
	}
	for i := range each * len(s.clients) {
		a, c := g.IntN(len(s.clients)), g.IntN(treeClients)
		d := msg.Doorbell{Adapter: uint16(a), Client: uint8(c), Len: uint32(1 + g.IntN(200)), Cookie: software<<16 | uint64(i)}
		out := s.mmio
		if g.IntN(3) == 0 {
			d.Message, d.Len, d.Body, d.Cookie = true, 0, &msg.PageResponse{}, (software+1)<<16|uint64(i)
			out = s.iommu
		}
		out.todo = append(out.todo, d)
		s.promise(d.Cookie, clientName(a, c))
	}
}

// dma draws a transfer to memory or to a client of any other adapter.
func (s *storm) dma(g *rand.Rand, a, c int, cookie uint64) msg.DMA {
	d := msg.DMA{Write: g.IntN(2) == 0, Len: uint32(1 + g.IntN(600)), PA: 1<<33 + model.PA(g.IntN(4096)), Cookie: cookie}
	receiver := toMemory
	if peer := g.IntN(len(s.clients)); peer != a {
		client := g.IntN(treeClients)
		d.PA = Window(uint16(peer), uint8(client)) + model.PA(g.IntN(4096))
		receiver = clientName(peer, client)
	} else if d.Write && g.IntN(4) == 0 {
		d.Kind, d.PA, d.Len, d.Body = msg.KindMessage, 0, 8, &msg.InvalidateDone{}
	}
	if d.Write {
		s.promise(cookie, receiver)
	} else {
		s.reads[lane(senderOf(a, c), "")]++
	}
	return d
}

func (s *storm) promise(cookie uint64, receiver string) {
	l := lane(cookie>>16, receiver)
	s.sent[l] = append(s.sent[l], cookie)
}

// arrived are the posted cookies in the order of their arrival, each once.
func (s *storm) arrived() map[string][]uint64 {
	got := map[string][]uint64{}
	note := func(cookie uint64, receiver string) {
		l := lane(cookie>>16, receiver)
		if n := len(got[l]); n == 0 || got[l][n-1] != cookie { // pieces
			got[l] = append(got[l], cookie)
		}
	}
	for _, m := range s.memory.got {
		if m.msg.Write {
			note(m.msg.Cookie, toMemory)
		}
	}
	for a := range s.clients {
		for c, client := range s.clients[a] {
			for _, d := range client.bells {
				note(d.msg.Cookie, clientName(a, c))
			}
		}
	}
	return got
}

// checkPosted checks that all that was posted came to whom it was for, in order.
func (s *storm) checkPosted(t *rapid.T) {
	got := s.arrived()
	for l, want := range s.sent {
		if fmt.Sprint(got[l]) != fmt.Sprint(want) {
			t.Fatalf("%s: came %x, sent %x", l, got[l], want)
		}
		delete(got, l)
	}
	if len(got) > 0 {
		t.Fatalf("came to others than they were for: %v", got)
	}
}

// checkReads checks that each read is answered once, and that at memory none is
// before a write that its client issued earlier.
func (s *storm) checkReads(t *rapid.T) {
	for a := range s.clients {
		for c, client := range s.clients[a] {
			seen := map[uint64]bool{}
			for _, d := range client.dones {
				if seen[d.msg.Cookie] || d.msg.Status != msg.StatusSuccess || d.msg.Cookie>>16 != senderOf(a, c) {
					t.Fatalf("adapter %d client %d: answer %+v", a, c, d.msg)
				}
				seen[d.msg.Cookie] = true
			}
			if want := s.reads[lane(senderOf(a, c), "")]; len(seen) != want {
				t.Fatalf("adapter %d client %d: %d of %d reads answered", a, c, len(seen), want)
			}
		}
	}
	last := map[uint64]uint64{} // read, by sender
	for _, m := range s.memory.got {
		if by := m.msg.Cookie >> 16; !m.msg.Write {
			last[by] = max(last[by], m.msg.Cookie)
		} else if m.msg.Cookie < last[by] {
			t.Fatalf("read %#x passed write %#x", last[by], m.msg.Cookie)
		}
	}
}

// transcript is all that anybody saw, and when.
func (s *storm) transcript() string {
	out := fmt.Sprint(s.root().Stats())
	for _, m := range s.memory.got {
		out += fmt.Sprintln(m.at, m.msg.Write, m.msg.Kind, m.msg.Adapter, m.msg.Tag, m.msg.PA, m.msg.Len, m.msg.Cookie)
	}
	for i := range s.hub().ports {
		out += fmt.Sprint(s.hub().Stats(i))
	}
	for a := range s.clients {
		for _, c := range s.clients[a] {
			out += fmt.Sprintln(c.dones)
			for _, d := range c.bells {
				out += fmt.Sprintln(d.at, d.msg.Message, d.msg.Len, d.msg.Cookie)
			}
		}
	}
	return out
}

// Whatever goes through a switch from everywhere to everywhere, with buffers that
// are always full: nothing hangs, all comes once to whom it is for and in the order
// in which its sender posted it, every read is answered, all credits come back, and
// the order of ticks changes nothing.
func TestSwitchStorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build := drawStorm(t, nil)
		s := build(0)
		s.run(t)
		s.checkPosted(t)
		s.checkReads(t)
		s.rest(t)
		other := build(rapid.Uint64().Draw(t, "order") | 1)
		other.run(t)
		if s.transcript() != other.transcript() {
			t.Fatalf("the order of ticks shows:\n%s\n---\n%s", s.transcript(), other.transcript())
		}
	})
}

// Non-posted credits of one link never come back: what is posted still arrives
// everywhere, completions still go, and all that the switch and the ends keep is
// non-posted (PCIe ordering table, the entries that prevent deadlock).
func TestSwitchPassesBlockedNonPosted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		which := rapid.IntRange(0, 4).Draw(t, "link")
		s := drawStorm(t, func(s *treeSpec) {
			link := &s.PCIe
			if which > 0 {
				link = &s.devices[(which-1)%len(s.devices)].Spec
			}
			link.Inject.Withhold = "nonposted"
		})(0)
		s.run(t)
		s.checkPosted(t)
		u := s.hub()
		for i := range u.transits.at {
			if x := &u.transits.at[i].packet; slotTaken(&u.transits, i) && x.Type != msg.NonPosted {
				t.Fatalf("the switch keeps a %s TLP: %q", classNames[x.Type], u.Waits())
			}
		}
		if n := s.root().answers.used(); n > 0 {
			t.Fatalf("the root port keeps %d answers", n)
		}
		for _, l := range s.links {
			if n := l.Endpoint.answers.used() + l.Endpoint.writes.used(); n > 0 {
				t.Fatalf("%s keeps %d answers and writes", l.Endpoint.name, n)
			}
			if !l.Endpoint.rx.empty() {
				t.Fatalf("%s has not taken all that came: %q", l.Endpoint.name, l.Endpoint.Waits())
			}
		}
	})
}

func slotTaken[T any](s *slots[T], place int) bool {
	for _, i := range s.free {
		if int(i) == place {
			return false
		}
	}
	return true
}

// Links with bit errors replay until all is there.
func TestSwitchStormWithErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStorm(t, func(s *treeSpec) {
			s.PCIe.Inject.BER, s.PCIe.Pass = 1e-5, PassBlocked
			for i := range s.devices {
				s.devices[i].Spec.Inject.BER = 1e-5
			}
		})(0)
		s.run(t)
		s.checkPosted(t)
		s.checkReads(t)
		if u := s.hub(); !u.Idle() || u.transits.used() > 0 || len(u.Waits()) > 0 {
			t.Fatalf("switch: idle %v, %d TLPs kept, waits %q", u.Idle(), u.transits.used(), u.Waits())
		}
	})
}
