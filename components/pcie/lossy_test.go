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

// Whatever is lost on a link, TLPs, Acks, Naks and UpdateFC of either direction,
// it recovers: every piece of every DMA reaches memory once and in order, every
// read is answered, every doorbell and message is heard in order, all credits,
// tags and places come back, and nothing is left to happen. The order of ticks
// within an instant and needless ticks change none of it.
func TestLossyLinkRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := lossySpec(t)
		todo := lossyTraffic(t)
		bells := rapid.IntRange(0, 20).Draw(t, "bells")
		run := func(shuffle uint64) string {
			r := newRig(t, func(s *rigSpec) {
				s.Spec, s.clients, s.iommu, s.doneLen, s.shuffle = spec, len(todo), true, 2, shuffle
			})
			for i, c := range r.clients {
				c.todo = todo[i]
			}
			for i := range bells {
				r.mmio.todo = append(r.mmio.todo, msg.Doorbell{Client: uint8(i % len(todo)), Len: 8, Cookie: uint64(i)})
				r.iommu.todo = append(r.iommu.todo, msg.Doorbell{Message: true, Client: uint8(i % len(todo)), Cookie: uint64(i)})
			}
			if shuffle > 0 {
				r.nag(rand.New(rand.NewPCG(shuffle, 0)), 20*clocked.Microsecond)
			}
			r.run(t)
			tiled(t, r, todo)
			heard(t, r, bells)
			conserved(t, r)
			return fmt.Sprint(r.memory.got, r.mmio.rung, r.Endpoint.Stats(), r.Root.Stats())
		}
		if a, b := run(0), run(rapid.Uint64Range(1, 1<<40).Draw(t, "shuffle")); a != b {
			t.Fatalf("the order of ticks changes the run:\n%s\n%s", a, b)
		}
	})
}

// lossySpec is a link that loses things and has little of everything.
func lossySpec(t *rapid.T) Spec {
	s := defaultSpec(t)
	s.Seed = rapid.Uint64().Draw(t, "seed")
	s.Gen = rapid.IntRange(1, 6).Draw(t, "gen")
	s.Lanes = 1 << rapid.IntRange(0, 5).Draw(t, "lanes")
	s.Inject.BER = rapid.SampledFrom([]float64{1e-6, 1e-5, 1e-4}).Draw(t, "ber")
	s.Inject.Recovery = rapid.SampledFrom([]clocked.Time{1 * ns, 50 * ns, 1000 * ns}).Draw(t, "recovery")
	s.ReplayBuffer = ReplayBuffer{TLPs: rapid.IntRange(1, 9).Draw(t, "replay"), Bytes: model.Bytes(rapid.IntRange(300, 2000).Draw(t, "replay bytes"))}
	s.Ack.Every = rapid.IntRange(0, 3).Draw(t, "ack every")
	s.Update.Every = rapid.IntRange(0, 3).Draw(t, "update every")
	s.Update.Delay = rapid.SampledFrom([]clocked.Time{0, 1, 20 * ns}).Draw(t, "update delay")
	s.Scale = rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "scale")
	few := func(name string, least int) int { return s.Scale * rapid.IntRange(least, least+3).Draw(t, name) }
	s.Credits = Credits{PH: few("ph", 1), PD: few("pd", 16), NPH: few("nph", 1), NPD: few("npd", 1)}
	s.AdapterCredits = Credits{PH: few("aph", 1), PD: few("apd", 16), CPLH: few("cplh", 1), CPLD: few("cpld", 16)}
	s.Tags = rapid.IntRange(1, 8).Draw(t, "tags")
	s.CompletionBuffer = 1024
	s.SplitPolicy = rapid.SampledFrom([]string{"min", "rcb", "random"}).Draw(t, "split")
	s.Pass = rapid.SampledFrom([]string{PassBlocked, PassAlways, PassRandom}).Draw(t, "pass")
	s.Relaxed = rapid.Bool().Draw(t, "relaxed")
	s.IDOrdered = rapid.Bool().Draw(t, "ido")
	s.LinkLatency = clocked.Time(rapid.IntRange(1, 200_000).Draw(t, "latency"))
	return s
}

// lossyTraffic is what two clients ask for.
func lossyTraffic(t *rapid.T) (todo [2][]msg.DMA) {
	for c := range todo {
		for i := range rapid.IntRange(0, 30).Draw(t, "dmas") {
			d := msg.DMA{Write: rapid.Bool().Draw(t, "write"), Notify: rapid.Bool().Draw(t, "notify"),
				PA: model.PA(rapid.Uint64Range(0, 1<<33).Draw(t, "pa")), Len: rapid.Uint32Range(1, 1500).Draw(t, "len"),
				Cookie: uint64(c)<<32 | uint64(i)}
			d.Address.PASID = rapid.Uint32Range(0, 2).Draw(t, "pasid")
			if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
				d.Kind = msg.KindATS
				if d.Write {
					d.Kind = msg.KindMessage
				}
				d.Len = 8
			}
			todo[c] = append(todo[c], d)
		}
	}
	return todo
}

// tiled checks that the requests at memory are the DMAs, each once and its pieces
// in order, and that each that asks for an answer has one.
func tiled(t tb, r *rig, todo [2][]msg.DMA) {
	t.Helper()
	var offset [2][]uint32
	for c := range todo {
		offset[c] = make([]uint32, len(todo[c]))
	}
	for _, m := range r.memory.got {
		c, i := m.msg.Cookie>>32, m.msg.Cookie&0xffffffff
		d, at := &todo[c][i], &offset[c][i]
		if d.Kind != msg.KindData {
			*at += d.Len
			continue
		}
		if m.msg.Write != d.Write || m.msg.PA != d.PA+model.PA(*at) || m.msg.Len == 0 {
			t.Fatalf("request %+v of %+v, of which %d bytes had come", m.msg, d, *at)
		}
		*at += m.msg.Len
	}
	for c := range todo {
		answers := make([]int, len(todo[c]))
		for _, d := range r.clients[c].dones {
			if d.msg.Status != msg.StatusSuccess {
				t.Fatalf("answer %+v", d)
			}
			answers[d.msg.Cookie&0xffffffff]++
		}
		for i, d := range todo[c] {
			want := 0
			if !d.Write || d.Notify {
				want = 1
			}
			if offset[c][i] != d.Len || answers[i] != want {
				t.Fatalf("%d bytes and %d answers of %+v, want %d", offset[c][i], answers[i], d, want)
			}
		}
	}
}

// heard checks that doorbells and messages came in order, each once.
func heard(t tb, r *rig, bells int) {
	t.Helper()
	n := 0
	for i, c := range r.clients {
		next := map[bool]uint64{false: uint64(i), true: uint64(i)}
		for _, b := range c.bells {
			if b.msg.Cookie != next[b.msg.Message] {
				t.Fatalf("%+v where number %d was due", b.msg, next[b.msg.Message])
			}
			next[b.msg.Message] += uint64(len(r.clients))
			n++
		}
	}
	if n != 2*bells {
		t.Fatalf("%d of %d doorbells and messages came", n, 2*bells)
	}
}
