package pcie

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Non-posted credits never come back: posted TLPs and completions still move
// (PCIe ordering table, the entries that prevent deadlock).
func TestPostedAndCompletionsPassBlockedNonPosted(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.clients = 2; s.Credits.NPH = 4 })
	r.clients[0].todo = repeat(read1(0, 64), 4)
	r.run(t)
	r.Endpoint.tx.collect(clocked.Millisecond)
	r.Endpoint.tx.have[StallNPH] = 0 // withheld for ever
	r.clients[0].todo = append(repeat(read1(0, 64), 3), repeat(write1(1<<30, 256), 100)...)
	r.clients[1].todo = repeat(write1(1<<32, 256), 100)
	r.mmio.todo = []msg.Doorbell{{Client: 1, Len: 8}}
	r.run(t)
	writes := 0
	for _, m := range r.memory.got[4:] {
		if !m.msg.Write {
			t.Fatalf("a read without a credit: %+v", m)
		}
		writes++
	}
	if writes != 200 || len(r.clients[1].bells) != 1 || r.Endpoint.Idle() {
		t.Errorf("%d writes and %d doorbells went past three blocked reads, idle %v; want 200, 1, false",
			writes, len(r.clients[1].bells), r.Endpoint.Idle())
	}
	if s := r.Endpoint.Waits(); len(s) != 1 {
		t.Errorf("waits %q, want one line for the blocked reads", s)
	}
}

// A transmitter with all three classes on offer, against the rules said one by
// one: what goes lacks nothing and overtakes no posted TLP; nothing goes only
// if every class is missing, blocked, or behind a posted one that is blocked.
func TestPickFollowsTheOrderingTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := clocked.NewEngine()
		spec := Spec{Gen: 4, Lanes: 16, MPS: 256, LinkLatency: ns, UpdateDelay: ns}
		var tx transmitter
		var rx receiver
		id := e.Register(&mockMemory{})
		join(e, &spec, "d", Credits{1, 16, 1, 1, 1, 16}, id, id, &tx, &rx)
		since := rapid.Permutation([]uint64{1, 2, 3}).Draw(t, "order")
		var lacks [numClasses]bool
		for c := range numClasses {
			lacks[c] = rapid.Bool().Draw(t, "lacks")
			tx.offers[c] = offer{ready: rapid.Bool().Draw(t, "ready"), since: since[c]}
			if lacks[c] {
				tx.have[2*c] = 0
			}
		}
		var may [numClasses]bool
		posted := &tx.offers[msg.Posted]
		for c := range numClasses {
			o := &tx.offers[c]
			behindPosted := posted.ready && posted.since < o.since
			may[c] = o.ready && !lacks[c] && !behindPosted
		}
		class, lack := tx.pick(0)
		any := may[0] || may[1] || may[2]
		if any != (lack == stallNone && (tx.offers[0].ready || tx.offers[1].ready || tx.offers[2].ready)) {
			t.Fatalf("may %v, picked %d lacking %v", may, class, lack)
		}
		if any && !may[class] {
			t.Fatalf("picked %d of %v", class, may)
		}
		for c := range numClasses {
			if any && may[c] && since[c] < since[class] {
				t.Fatalf("picked %d although %d is older", class, c)
			}
		}
	})
}

// No read overtakes a write that its client issued before it, whatever blocks
// the writes; writes stay in order. Every read is answered once.
func TestNothingOvertakesAPostedTLP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, func(s *rigSpec) {
			s.Credits.PD = rapid.IntRange(16, 40).Draw(t, "pd")
			s.Credits.NPH = rapid.IntRange(1, 4).Draw(t, "nph")
			s.Tags = rapid.IntRange(1, 8).Draw(t, "tags")
			s.pace = clocked.Time(rapid.IntRange(0, 40).Draw(t, "pace")) * ns
			s.shuffle = rapid.Uint64Range(1, 1<<40).Draw(t, "shuffle")
		})
		n := rapid.IntRange(1, 60).Draw(t, "n")
		for i := range n {
			d := msg.DMA{Write: rapid.Bool().Draw(t, "write"), Cookie: uint64(i),
				PA: model.PA(rapid.Uint64Range(0, 1<<20).Draw(t, "pa")), Len: rapid.Uint32Range(1, 5000).Draw(t, "len")}
			r.clients[0].todo = append(r.clients[0].todo, d)
		}
		issued := r.clients[0].todo
		r.run(t)
		checkMemory(t, r, issued)
		conserved(t, r)
	})
}

// checkMemory checks that the requests at memory tile every DMA, respect the
// limits, and that no request comes before an earlier write has come whole.
func checkMemory(t tb, r *rig, issued []msg.DMA) {
	offset := make([]uint32, len(issued))
	written := 0 // all writes before this DMA are whole
	for _, m := range r.memory.got {
		q := &m.msg
		for written < len(issued) && (!issued[written].Write || offset[written] == issued[written].Len) {
			written++
		}
		d := &issued[q.Cookie]
		limit := uint32(512)
		if d.Write {
			limit = 256
		}
		if int(q.Cookie) > written && written < len(issued) {
			t.Fatalf("DMA %d at memory before write %d is whole", q.Cookie, written)
		}
		if q.Write != d.Write || q.PA != d.PA+model.PA(offset[q.Cookie]) || q.Len > limit || q.PA/4096 != (q.PA+model.PA(q.Len)-1)/4096 {
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

// A doorbell that its client does not take holds back the completions behind
// it, not those before it.
func TestCompletionsStayBehindADoorbell(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.clients = 2 })
	r.clients[1].deaf = true
	r.clients[0].todo = []msg.DMA{read1(0, 64)}
	r.run(t)
	r.mmio.todo = repeat2(msg.Doorbell{Client: 1, Len: 8}, 3) // its wire holds two
	r.run(t)
	r.clients[0].todo = []msg.DMA{read1(0, 64)}
	r.run(t)
	if n := len(r.clients[0].dones); n != 1 || r.Idle() || len(r.Endpoint.Waits()) == 0 {
		t.Fatalf("%d reads answered, want the first only; waits %q", n, r.Endpoint.Waits())
	}
	r.clients[1].deaf = false
	r.engine.Wake(r.clients[1].id, r.engine.Now()+1)
	r.run(t)
	if len(r.clients[0].dones) != 2 || len(r.clients[1].bells) != 3 {
		t.Errorf("%d reads, %d doorbells, want 2 and 3", len(r.clients[0].dones), len(r.clients[1].bells))
	}
	conserved(t, r)
}

func repeat2(d msg.Doorbell, n int) (out []msg.Doorbell) {
	for i := range n {
		d.Cookie = uint64(i)
		out = append(out, d)
	}
	return out
}
