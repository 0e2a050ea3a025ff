package pcie

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	rules "rnicmmu/model/pcie"
)

// A request that ends without success has one completion of 20 B without data,
// and takes a read's time less that data's.
func TestUnsuccessfulRead(t *testing.T) {
	for _, status := range []msg.Status{msg.StatusUnsupported, msg.StatusAbort, msg.StatusRetry} {
		for _, kind := range []msg.Kind{msg.KindData, msg.KindATS} {
			r := newRig(t, withIOMMU)
			r.memory.status = func(*msg.MemReq) msg.Status { return status }
			r.clients[0].start = 100 * cycle
			d := read1(0, 512)
			d.Kind, d.Counts, d.Ledger = kind, &measure.Counts{}, &measure.Ledger{}
			r.clients[0].todo = []msg.DMA{d}
			r.run(t)
			last := 101*cycle + roundTrip(&r.spec, 0, 0, hop+400*ns)
			checkOne(t, fmt.Sprint("status ", status), r, r.clock().Edge(last+cycle))
			got := r.clients[0].dones[0].msg
			if got.Status != status || got.Kind != kind {
				t.Errorf("status %d: %+v", status, got)
			}
			if *d.Counts != (measure.Counts{TLPs: 2, PCIeBytes: 40}) || d.Ledger.Last != last {
				t.Errorf("status %d: counts %+v, charged until %v, want 2 TLPs of 40 B until %v", status, d.Counts, d.Ledger.Last, last)
			}
			if s := r.Root.Stats(); s.WireBytes != 20 || s.PayloadBytes != 0 {
				t.Errorf("status %d: statistics %+v", status, s)
			}
			conserved(t, r)
		}
	}
}

// A read of several requests of which some fail: all are waited for, the worst
// status wins (a refusal before a retry), the data of the others came, and tags
// and space are free again.
func TestWorstStatusWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, withIOMMU, func(s *rigSpec) {
			s.Tags, s.CompletionBuffer = rapid.IntRange(1, 4).Draw(t, "tags"), 1024
			s.shuffle = rapid.Uint64Range(1, 1<<40).Draw(t, "shuffle")
		})
		var byPage [8]msg.Status
		for i := range byPage {
			byPage[i] = msg.Status(rapid.IntRange(0, 3).Draw(t, "status"))
		}
		r.memory.status = func(q *msg.MemReq) msg.Status { return byPage[q.PA>>12%8] }
		rank := map[msg.Status]int{msg.StatusRetry: 1, msg.StatusUnsupported: 2, msg.StatusAbort: 3}
		var want []msg.Status
		var bytes, requests uint64
		for i := range rapid.IntRange(1, 6).Draw(t, "reads") {
			first, pages := rapid.Uint64Range(0, 4).Draw(t, "first"), rapid.Uint64Range(1, 3).Draw(t, "pages")
			d := read1(model.PA(first<<12), uint32(pages<<12))
			d.Cookie, d.Counts = uint64(i), &measure.Counts{}
			r.clients[0].todo = append(r.clients[0].todo, d)
			worst := msg.StatusSuccess
			for _, s := range byPage[first : first+pages] {
				if rank[s] > rank[worst] {
					worst = s
				}
				requests += 4096 / 512
				if s == msg.StatusSuccess {
					bytes += 4096
				}
			}
			want = append(want, worst)
		}
		r.run(t)
		if len(r.clients[0].dones) != len(want) {
			t.Fatalf("%d of %d reads answered", len(r.clients[0].dones), len(want))
		}
		for _, d := range r.clients[0].dones {
			if d.msg.Status != want[d.msg.Cookie] {
				t.Fatalf("read %d ended with %d, want %d", d.msg.Cookie, d.msg.Status, want[d.msg.Cookie])
			}
		}
		s := r.Root.Stats()
		failed := requests - bytes/512
		if s.PayloadBytes != bytes || s.WireBytes != bytes+bytes/256*20+failed*20 {
			t.Fatalf("%d B of data, %d B on the wire for %d requests of which %d failed", s.PayloadBytes, s.WireBytes, requests, failed)
		}
		conserved(t, r)
	})
}

// ATS-4: an Invalidate Completion comes to the host behind every write that was
// issued before it, also while the writes wait for data credits, of which it
// needs none.
func TestInvalidateCompletionStaysBehindWrites(t *testing.T) {
	r := newRig(t, withIOMMU, func(s *rigSpec) { s.Credits.PD, s.pace = 16, 50*ns })
	for i := range uint64(50) {
		r.clients[0].todo = append(r.clients[0].todo, write1(model.PA(i<<12), 1000), toHost(&msg.InvalidateDone{}, 0))
	}
	r.run(t)
	var written uint32
	completions := uint32(0)
	for _, m := range r.memory.got {
		if m.msg.Kind != msg.KindMessage {
			written += m.msg.Len
			continue
		}
		completions++
		if written != completions*1000 {
			t.Fatalf("completion %d after %d B, want %d", completions, written, completions*1000)
		}
	}
	if completions != 50 {
		t.Errorf("%d completions, want 50", completions)
	}
	conserved(t, r)
}

// Messages to the adapter pass translation completions that wait for credits,
// as posted TLPs must, and translation requests do not hold page requests up:
// so an invalidation can overtake the translation that it is about.
func TestMessagesPassBlockedTranslations(t *testing.T) {
	r := newRig(t, withIOMMU, func(s *rigSpec) { s.AdapterCredits.CPLH, s.CompletionTimeout = 1, 0 })
	r.clients[0].todo = []msg.DMA{translate(1), translate(2), translate(3)}
	r.runUntil(t, 400*ns)
	withhold(r, &r.Root.tx, rules.CPLH)
	r.run(t)
	if r.Root.answers.used() != 3 {
		t.Fatalf("%d translations wait, want 3", r.Root.answers.used())
	}
	r.iommu.todo = []msg.Doorbell{toAdapter(&msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{PASID: process}})}
	r.clients[0].todo = []msg.DMA{toHost(&msg.PageRequest{}, process)}
	r.run(t)
	if len(r.clients[0].dones) != 0 || len(r.clients[0].bells) != 1 || !r.clients[0].bells[0].msg.Message {
		t.Errorf("%d translations, %d messages, want none and one", len(r.clients[0].dones), len(r.clients[0].bells))
	}
	if last := r.memory.got[len(r.memory.got)-1].msg; last.Kind != msg.KindMessage {
		t.Errorf("the host's last request is %+v, want the page request", last)
	}
}

// Software's doorbells and the IOMMU's messages take turns and keep their own
// order.
func TestTwoSourcesTakeTurns(t *testing.T) {
	r := newRig(t, withIOMMU, func(s *rigSpec) { s.AdapterCredits.PH = 1 })
	r.mmio.todo = repeat2(msg.Doorbell{Len: 8}, 100)
	r.iommu.todo = repeat2(toAdapter(&msg.PageResponse{}), 100)
	r.run(t)
	if len(r.clients[0].bells) != 200 {
		t.Fatalf("%d of 200 arrived", len(r.clients[0].bells))
	}
	var next [2]uint64
	for i, b := range r.clients[0].bells {
		from := 0
		if b.msg.Message {
			from = 1
		}
		if from != i%2 || b.msg.Cookie != next[from] {
			t.Fatalf("number %d is number %d of source %d", i, b.msg.Cookie, from)
		}
		next[from]++
	}
	conserved(t, r)
}

// disable makes software disable the adapter so that its root port is told at
// the given time, and runs until nothing is left to do.
func (r *rig) disable(t tb, at clocked.Time) {
	r.mmio.todo = []msg.Doorbell{{Disable: true}}
	r.engine.Wake(r.mmio.id, at-hop)
	if err := r.engine.Run(); err != nil {
		t.Fatal(err)
	}
}

// ATS-8: from the instant at which its root port is told to disable it, no
// request of the adapter reaches memory; reads stay without an answer until they
// time out, credits come back so that the adapter's own queues drain, and every TLP
// is counted. What memory had before is answered.
func TestDisable(t *testing.T) {
	for seed := range uint64(4) {
		r := newRig(t, withIOMMU, func(s *rigSpec) {
			s.clients, s.shuffle, s.pace = 2, seed, 20*ns
			s.Credits = Credits{PH: 8, PD: 64, NPH: 8, NPD: 1}
		})
		r.clients[0].todo = append(repeat(write1(0, 256), 400), toHost(&msg.InvalidateDone{}, 0))
		r.clients[1].todo = append(repeat(read1(0, 64), 100), translate(1))
		const at = 2 * clocked.Microsecond
		r.runUntil(t, at)
		off := at + 100*ns
		r.disable(t, off)
		reads, taken := 0, 0
		for _, m := range r.memory.got {
			// Up to 8 on the wire to memory, which takes one in 20 ns.
			if m.at > off+hop+8*20*ns {
				t.Fatalf("a request at memory at %v, long after %v", m.at, off)
			}
			if taken++; !m.msg.Write {
				reads++
			}
		}
		sent := r.Endpoint.Stats().TLPs
		if len(r.clients[0].todo) != 0 || sent != [3]uint64{401, 101, 0} {
			t.Errorf("%d DMAs left, %v TLPs sent, want all 401 and 101", len(r.clients[0].todo)+len(r.clients[1].todo), sent)
		}
		if got := r.Root.Stats().Dropped; got != 502-uint64(taken) || reads == 0 || reads == 101 || taken == reads+401 {
			t.Errorf("%d dropped of 502, %d at memory, %d of them reads", got, taken, reads)
		}
		good := 0
		for _, d := range r.clients[1].dones {
			switch late := d.at > r.spec.CompletionTimeout; {
			case !late && d.msg.Status == msg.StatusSuccess:
				good++
			case !late || d.msg.Status != msg.StatusTimeout:
				t.Errorf("an answer %+v at %v", d.msg, d.at)
			}
		}
		if good != reads || len(r.clients[1].dones) != 101 {
			t.Errorf("%d of %d reads answered, %d good ones to %d reads that reached memory", len(r.clients[1].dones), 101, good, reads)
		}
		if len(r.clients[0].bells) != 0 || len(r.Root.Waits()) != 1 {
			t.Errorf("%d doorbells at the adapter; waits %q", len(r.clients[0].bells), r.Root.Waits())
		}
		returned(t, r, &r.Endpoint.tx, &r.spec.Credits)
	}
}

// Without anything in its way a request that arrives at the very instant of the
// disabling is dropped, and one a picosecond before is taken.
func TestDisableIsSharp(t *testing.T) {
	spec := defaultSpec(t)
	arrival := 101*cycle + serial(&spec, 20+64) + spec.LinkLatency
	for _, c := range []struct {
		off   clocked.Time
		taken int
	}{{arrival, 0}, {arrival + 1, 1}} {
		r := newRig(t)
		r.clients[0].start = 100 * cycle
		r.clients[0].todo = []msg.DMA{write1(0, 64)}
		r.runUntil(t, c.off-hop-1)
		r.disable(t, c.off)
		if len(r.memory.got) != c.taken || r.Root.Stats().Dropped != uint64(1-c.taken) {
			t.Errorf("disabled at %v, arrival at %v: %d taken, want %d", c.off, arrival, len(r.memory.got), c.taken)
		}
	}
}

// The disabling needs no place before the link: it works while an adapter that
// takes no doorbells has left none.
func TestDisableBehindABlockedLink(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.AdapterCredits.PH = 1 })
	r.clients[0].deaf = true
	r.mmio.todo = repeat2(msg.Doorbell{Len: 8}, 2+1+rootQueue) // the client's wire, the receive buffer, the queue
	r.run(t)
	if r.Root.bells.used() != rootQueue {
		t.Fatalf("%d doorbells before the link, want %d", r.Root.bells.used(), rootQueue)
	}
	r.disable(t, r.engine.Now()+10*ns)
	if len(r.Root.disabled) == 0 {
		t.Error("not disabled")
	}
}
