package pcie

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// Non-posted credits never come back: posted TLPs and completions still move
// (PCIe ordering table, the entries that prevent deadlock).
func TestPostedAndCompletionsPassBlockedNonPosted(t *testing.T) {
	for _, policy := range []string{PassBlocked, PassAlways, PassRandom} {
		r := newRig(t, func(s *rigSpec) { s.clients = 2; s.Credits.NPH = 4; s.Pass = policy })
		r.clients[0].todo = repeat(read1(0, 64), 4)
		r.run(t)
		withhold(r, &r.Endpoint.tx, rules.NPH)
		r.clients[0].todo = append(repeat(read1(0, 64), 3), repeat(write1(1<<30, 256), 100)...)
		r.clients[1].todo = repeat(write1(high, 256), 100)
		r.mmio.todo = []msg.Doorbell{{Client: 1, Len: 8}}
		r.run(t)
		writes := 0
		for _, m := range r.memory.got[4:] {
			if !m.msg.Write {
				t.Fatalf("%s: a read without a credit: %+v", policy, m)
			}
			writes++
		}
		if writes != 200 || len(r.clients[1].bells) != 1 || r.Endpoint.Idle() {
			t.Errorf("%s: %d writes and %d doorbells went past three blocked reads, idle %v; want 200, 1, false",
				policy, writes, len(r.clients[1].bells), r.Endpoint.Idle())
		}
		if s := r.Endpoint.Waits(); len(s) != 1 {
			t.Errorf("%s: waits %q, want one line for the blocked reads", policy, s)
		}
	}
}

// Whatever blocks them and whatever the policy, nothing overtakes a write that its
// client issued before it but what the ordering table lets pass by attributes: no
// read passes without IDO, no completion entry in any case. Pieces of a DMA stay in
// order; every read is answered once.
func TestNothingOvertakesAPostedTLP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, func(s *rigSpec) {
			s.Credits.PD = rapid.IntRange(17, 40).Draw(t, "pd")
			s.Credits.NPH = rapid.IntRange(1, 4).Draw(t, "nph")
			s.Tags = rapid.IntRange(1, 8).Draw(t, "tags")
			s.pace = clocked.Time(rapid.IntRange(0, 40).Draw(t, "pace")) * ns
			s.shuffle = rapid.Uint64Range(1, 1<<40).Draw(t, "shuffle")
			s.Pass = rapid.SampledFrom([]string{PassBlocked, PassAlways, PassRandom}).Draw(t, "pass")
			s.Relaxed, s.IDOrdered = rapid.Bool().Draw(t, "ro"), rapid.Bool().Draw(t, "ido")
			s.Seed = rapid.Uint64().Draw(t, "seed")
			s.Gen, s.Lanes = rapid.IntRange(1, 6).Draw(t, "gen"), 1<<rapid.IntRange(0, 5).Draw(t, "lanes")
			s.LinkLatency = clocked.Time(rapid.IntRange(1, 100_000).Draw(t, "latency"))
		})
		n := rapid.IntRange(1, 60).Draw(t, "n")
		for i := range n {
			d := msg.DMA{Write: rapid.Bool().Draw(t, "write"), Cookie: uint64(i),
				PA: model.PA(rapid.Uint64Range(0, 1<<20).Draw(t, "pa")), Len: rapid.Uint32Range(1, 5000).Draw(t, "len"),
				Kind: rapid.SampledFrom([]msg.Kind{msg.KindData, msg.KindCQE}).Draw(t, "kind")}
			d.Address.PASID = rapid.Uint32Range(0, 2).Draw(t, "pasid")
			r.clients[0].todo = append(r.clients[0].todo, d)
		}
		issued := r.clients[0].todo
		r.run(t)
		checkMemory(t, r, issued)
		conserved(t, r)
	})
}

// asPacket is what the ordering table sees of a DMA on a link.
func asPacket(s *Spec, d *msg.DMA) *rules.Packet {
	p := &rules.Packet{Class: rules.NonPosted, PASID: d.Address.PASID}
	if d.Write {
		p.Class = rules.Posted
	}
	if d.Kind == msg.KindData {
		p.Relaxed, p.IDOrdered = s.Relaxed, s.IDOrdered
	}
	return p
}

// checkMemory checks that the requests at memory tile every DMA, respect the
// limits, and that no request comes before an earlier DMA has come whole that it
// may not pass.
func checkMemory(t tb, r *rig, issued []msg.DMA) {
	offset := make([]uint32, len(issued))
	whole := 0 // all before this DMA are
	for _, m := range r.memory.got {
		q := &m.msg
		d := &issued[q.Cookie]
		for whole < len(issued) && offset[whole] == issued[whole].Len {
			whole++
		}
		for i := whole; i < int(q.Cookie); i++ {
			if offset[i] < issued[i].Len && rules.MayPass(asPacket(&r.spec, d), asPacket(&r.spec, &issued[i])) == rules.No {
				t.Fatalf("DMA %d at memory before DMA %d is whole", q.Cookie, i)
			}
		}
		limit := uint32(512)
		if d.Write {
			limit = 256
		}
		if q.Write != d.Write || q.PA != d.PA+model.PA(offset[q.Cookie]) || rules.Carried(q.PA, q.Len) > limit || q.PA/4096 != (q.PA+model.PA(q.Len)-1)/4096 {
			t.Fatalf("request %+v of %+v at offset %d", q, d, offset[q.Cookie])
		}
		offset[q.Cookie] += q.Len
	}
	answered := make([]int, len(issued))
	for _, d := range r.clients[0].dones {
		answered[d.msg.Cookie]++
	}
	for i, d := range issued {
		want := 1
		if d.Write {
			want = 0
		}
		if offset[i] != d.Len || answered[i] != want {
			t.Fatalf("DMA %d: %d of %d bytes at memory, answered %d times", i, offset[i], d.Len, answered[i])
		}
	}
}

// What may pass does: payload that is relaxed, or of another process with IDO, goes
// before a longer write that waits for data credits, and always where that is the
// policy; a completion entry does not.
func TestAttributesLetPayloadPass(t *testing.T) {
	for _, c := range []struct {
		what       string
		ro, ido    bool
		policy     string
		kind       msg.Kind
		pasid      uint32
		credits    Credits
		first, two uint64 // cookies of what comes first and second
	}{
		{"plain", false, false, PassAlways, msg.KindData, 2, Credits{}, 0, 1},
		{"relaxed, nothing lacks", true, false, PassBlocked, msg.KindData, 1, Credits{}, 0, 1},
		{"relaxed, data credits lack", true, false, PassBlocked, msg.KindData, 1, Credits{PD: 20}, 0, 2},
		{"relaxed, always", true, false, PassAlways, msg.KindData, 1, Credits{}, 0, 2},
		{"relaxed completion entry", true, false, PassAlways, msg.KindCQE, 1, Credits{PD: 20}, 0, 1},
		{"IDO, same process", false, true, PassAlways, msg.KindData, 1, Credits{}, 0, 1},
		{"IDO, another process", false, true, PassAlways, msg.KindData, 2, Credits{}, 0, 2},
		{"IDO, another process, data credits lack", false, true, PassBlocked, msg.KindData, 2, Credits{PD: 20}, 0, 2},
	} {
		r := newRig(t, func(s *rigSpec) {
			s.Gen, s.Lanes = 1, 1 // number 0 takes the line while the others come
			s.Relaxed, s.IDOrdered, s.Pass, s.Credits = c.ro, c.ido, c.policy, c.credits
		})
		a, b := write1(high, 256), write1(high, 64)
		a.Address.PASID, b.Address.PASID, b.Kind = 1, c.pasid, c.kind
		r.clients[0].todo = []msg.DMA{a, a, b}
		for i := range r.clients[0].todo {
			r.clients[0].todo[i].Cookie = uint64(i)
		}
		r.run(t)
		if got := r.memory.got; got[0].msg.Cookie != c.first || got[1].msg.Cookie != c.two {
			t.Errorf("%s: %d and %d come first, want %d and %d", c.what, got[0].msg.Cookie, got[1].msg.Cookie, c.first, c.two)
		}
		conserved(t, r)
	}
}

// A doorbell that its client does not take holds back the completions behind it,
// not those before it, and not relaxed ones.
func TestCompletionsStayBehindADoorbell(t *testing.T) {
	for _, relaxed := range []bool{false, true} {
		r := newRig(t, func(s *rigSpec) { s.clients, s.Relaxed, s.CompletionTimeout = 2, relaxed, 0 })
		r.clients[1].deaf = true
		r.clients[0].todo = []msg.DMA{read1(0, 64)}
		r.run(t)
		r.mmio.todo = repeat2(msg.Doorbell{Client: 1, Len: 8}, 3) // its wire holds two
		r.run(t)
		r.clients[0].todo = []msg.DMA{read1(0, 64)}
		r.run(t)
		want := 1
		if relaxed {
			want = 2
		}
		if n := len(r.clients[0].dones); n != want || r.Idle() || len(r.Endpoint.Waits()) == 0 {
			t.Fatalf("%d reads answered, want %d; waits %q", n, want, r.Endpoint.Waits())
		}
		r.clients[1].deaf = false
		r.engine.Wake(r.clients[1].id, r.engine.Now()+1)
		r.run(t)
		if len(r.clients[0].dones) != 2 || len(r.clients[1].bells) != 3 {
			t.Errorf("%d reads, %d doorbells, want 2 and 3", len(r.clients[0].dones), len(r.clients[1].bells))
		}
		conserved(t, r)
	}
}

func repeat2(d msg.Doorbell, n int) (out []msg.Doorbell) {
	for i := range n {
		d.Cookie = uint64(i)
		out = append(out, d)
	}
	return out
}
