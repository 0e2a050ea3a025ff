package pcie

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// Credits of one class never come back. What the ordering table says must pass
// still moves; what it says may not pass waits for ever.
func TestWithheldCredits(t *testing.T) {
	const n = 60 // less than the read queue holds
	for _, c := range []struct {
		withhold              string
		relaxed               bool
		writes, reads, answer uint64 // of 60 each, by turns, that arrive
		bells                 uint64 // of 60
	}{
		// Reads wait from the third on, and hold up neither writes nor completions.
		{"nonposted", false, n, 2, 2, n},
		// The third write waits, and so do the reads behind it. Of those before it
		// the completions wait behind the third doorbell.
		{"posted", false, 2, 2, 0, 2},
		// A relaxed completion passes a doorbell, a relaxed read no write.
		{"posted", true, 2, 2, 2, 2},
		// Completions wait, and hold up no doorbell.
		{"completion", false, n, n, 2, n},
	} {
		for _, policy := range []string{PassBlocked, PassAlways, PassRandom} {
			if policy != PassBlocked && c.relaxed {
				continue // relaxed writes pass each other: other reads are before those that wait
			}
			l := newCourse(t, func(s *rigSpec) {
				s.Inject.Withhold, s.Relaxed, s.Pass, s.CompletionTimeout = c.withhold, c.relaxed, policy, 0
				s.Credits = Credits{PH: 2, NPH: 2}
				s.AdapterCredits = Credits{PH: 2, CPLH: 2}
			})
			l.host.bells, l.host.loose, l.adapter.loose = n, true, true
			l.adapter.dma, l.adapter.end = func(i uint64) msg.DMA { return block(i%2 == 0, i) }, 2*n
			l.play(t)
			if l.host.written != c.writes || l.host.read != c.reads || l.adapter.answered != c.answer || l.adapter.heard != c.bells {
				t.Errorf("%s withheld, relaxed %v, %s: %d writes and %d reads came, %d answers, %d doorbells; want %d, %d, %d and %d",
					c.withhold, c.relaxed, policy, l.host.written, l.host.read, l.adapter.answered, l.adapter.heard, c.writes, c.reads, c.answer, c.bells)
			}
			if l.Idle() || len(l.Endpoint.Waits())+len(l.Root.Waits()) == 0 {
				t.Errorf("%s withheld: idle %v, and nobody says that he waits", c.withhold, l.Idle())
			}
		}
	}
}

// Attributes are those of payload: with pcie.relaxed a data write passes one that
// lacks credits, with pcie.ido it does if it is for another process, and so does a
// read. Completion entries, interrupts and messages never pass.
func TestAttributesAreOfPayload(t *testing.T) {
	for _, c := range []struct {
		what                string
		dma                 msg.DMA
		plain, relaxed, ido bool // whether it passes
	}{
		{"data", msg.DMA{Write: true, Len: 16}, false, true, false},
		{"data of the same process", msg.DMA{Write: true, Len: 16, Address: msg.Address{PASID: 1}}, false, true, false},
		{"data of another process", msg.DMA{Write: true, Len: 16, Address: msg.Address{PASID: 2}}, false, true, true},
		{"completion entry", msg.DMA{Kind: msg.KindCQE, Write: true, Len: 16, Address: msg.Address{PASID: 2}}, false, false, false},
		{"event", msg.DMA{Kind: msg.KindEQE, Write: true, Len: 16, Address: msg.Address{PASID: 2}}, false, false, false},
		{"interrupt", msg.DMA{Kind: msg.KindMSI, Write: true, Len: 4, Address: msg.Address{PASID: 2}}, false, false, false},
		{"message", msg.DMA{Kind: msg.KindMessage, Write: true, Address: msg.Address{PASID: 2}}, false, false, false},
		{"read", msg.DMA{Len: 16, Address: msg.Address{PASID: 1}}, false, false, false},
		{"read of another process", msg.DMA{Len: 16, Address: msg.Address{PASID: 2}}, false, false, true},
		{"table read of another process", msg.DMA{Kind: msg.KindMTT, Len: 16, Address: msg.Address{PASID: 2}}, false, false, false},
	} {
		for _, policy := range []string{PassBlocked, PassAlways, PassRandom} {
			for attribute, passes := range []bool{c.plain, c.relaxed, c.ido} {
				r := newRig(t, func(s *rigSpec) {
					s.Pass, s.Relaxed, s.IDOrdered = policy, attribute == 1, attribute == 2
					s.Inject.Withhold, s.Credits.PD = "posted", 17
				})
				// The first takes 16 of 17 credits, and the second lacks them.
				first := msg.DMA{Write: true, Len: 256, PA: 1 << 32, Address: msg.Address{PASID: 1}}
				c.dma.PA, c.dma.Cookie = 1<<33, 2
				r.clients[0].todo = append(repeat(first, 2), c.dma)
				r.run(t)
				came := len(r.memory.got)
				if got := came == 2 && r.memory.got[1].msg.Cookie == 2; got != passes || came > 2 || came == 2 && !got {
					t.Errorf("%s, %s, relaxed %v, ido %v: passes %v, want %v (%d requests came)",
						c.what, policy, attribute == 1, attribute == 2, got, passes, came)
				}
			}
		}
	}
}

// singles is traffic up: DMAs of one TLP each, numbered in order.
func singles(t *rapid.T) (todo []msg.DMA) {
	for i := range rapid.IntRange(2, 40).Draw(t, "n") {
		d := msg.DMA{Write: rapid.Bool().Draw(t, "write"), Len: rapid.SampledFrom([]uint32{4, 64, 256}).Draw(t, "len"),
			PA: 1<<32 + model.PA(i)<<12, Cookie: uint64(i)}
		d.Address.PASID = rapid.Uint32Range(0, 2).Draw(t, "pasid")
		switch k := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case k == 0 && d.Write:
			d.Kind = msg.KindMessage
		case k == 1 && d.Write:
			d.Kind = msg.KindCQE
		case k == 0:
			d.Kind, d.Len = msg.KindATS, 8
		}
		todo = append(todo, d)
	}
	return todo
}

// Whatever passes what, the ordering table lets it; with pass=always and random
// something does, and with blocked nothing as long as nothing lacks anything.
func TestPassingFollowsTheTable(t *testing.T) {
	for _, policy := range []string{PassBlocked, PassAlways, PassRandom} {
		for _, plenty := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s plenty %v", policy, plenty), func(t *testing.T) {
				passed := 0
				rapid.Check(t, func(t *rapid.T) {
					passed += overtaken(t, policy, plenty)
				})
				if never := policy == PassBlocked && plenty; never != (passed == 0) {
					t.Errorf("%d TLPs passed others", passed)
				}
			})
		}
	}
}

// overtaken runs random traffic up, checks all that arrives earlier than something
// older against the table, and counts it.
func overtaken(t *rapid.T, policy string, plenty bool) (passed int) {
	todo := singles(t)
	r := newRig(t, func(s *rigSpec) {
		s.Pass, s.Relaxed, s.IDOrdered = policy, rapid.Bool().Draw(t, "relaxed"), rapid.Bool().Draw(t, "ido")
		s.Lanes = 1 // so that offers meet at the link
		s.Seed = rapid.Uint64().Draw(t, "seed")
		if !plenty {
			s.Credits = Credits{PH: rapid.IntRange(1, 3).Draw(t, "ph"), PD: rapid.IntRange(16, 20).Draw(t, "pd"), NPH: 1, NPD: 1}
			s.Tags = rapid.IntRange(1, 3).Draw(t, "tags")
		}
	})
	r.clients[0].todo = todo
	r.run(t)
	row := func(d *msg.DMA) rules.Packet {
		p := rules.Packet{Class: rules.NonPosted, PASID: d.Address.PASID}
		if d.Write {
			p.Class = rules.Posted
		}
		if d.Kind == msg.KindData {
			p.Relaxed, p.IDOrdered = r.spec.Relaxed, r.spec.IDOrdered
		}
		return p
	}
	if len(r.memory.got) != len(todo) {
		t.Fatalf("%d of %d requests came", len(r.memory.got), len(todo))
	}
	for i, m := range r.memory.got {
		later := row(&todo[m.msg.Cookie])
		for _, behind := range r.memory.got[i+1:] {
			if behind.msg.Cookie < m.msg.Cookie {
				passed++
				earlier := row(&todo[behind.msg.Cookie])
				if rules.MayPass(&later, &earlier) == rules.No {
					t.Fatalf("%+v came before %+v", m.msg, behind.msg)
				}
			}
		}
	}
	return passed
}
