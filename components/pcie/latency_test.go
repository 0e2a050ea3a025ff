package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	rules "rnicmmu/model/pcie"
)

// pieces lists the wire bytes of the TLPs with the data of an aligned transfer of
// n bytes that has headers of so many bytes.
func pieces(s *Spec, header uint8, n, limit uint32) (out []int64) {
	for ; n > 0; n -= min(n, limit) {
		out = append(out, rules.TLPBytes(s.Gen, rules.Shape{Header: header, Payload: min(n, limit)}))
	}
	return out
}

// total is the time of TLPs back to back: the sum of the exact times, rounded up.
func total(s *Spec, bytes []int64) clocked.Time {
	var sum int64
	for _, n := range bytes {
		sum += n
	}
	return serial(s, sum)
}

// answered is when the last byte of completions has left that are ready at a time,
// on a line on which packets of the data link layer of so many bytes go first from
// another time on.
func answered(s *Spec, ready clocked.Time, completions []int64, due clocked.Time, dllps int64) (end clocked.Time) {
	line := clocked.NewSerializer(rules.ByteTime(s.Gen, s.Lanes))
	if due <= ready {
		line.Send(due, dllps)
	}
	for i, n := range completions {
		if i > 0 && due > ready && due <= line.Free() {
			line.Send(due, dllps)
			due = 0
		}
		_, end = line.Send(ready, n)
	}
	return end
}

// An unloaded read takes: the request's serialization, the link, a hop to memory,
// memory, the serialization of all completions, the link, the next edge of the
// adapter's clock and a hop. With one request (n <= MRRS) nothing else, but that
// the request's Ack and UpdateFC share the line with the completions: their timer
// ends before the data come, or among them, or behind.
func TestUnloadedReadLatency(t *testing.T) {
	for gen := 1; gen <= 5; gen++ {
		for _, lanes := range []int{1, 4, 8, 16} {
			for _, n := range []uint32{4, 8, 64, 256, 512} {
				what := fmt.Sprintf("gen %d x%d read %d B", gen, lanes, n)
				r := newRig(t, withoutSKP, func(s *rigSpec) { s.Gen, s.Lanes = gen, lanes })
				spec := &r.spec
				r.clients[0].start = 100 * cycle
				ledger := &measure.Ledger{}
				d := read1(0x10000, n)
				d.Ledger = ledger
				r.clients[0].todo = []msg.DMA{d}
				r.run(t)
				issue := 101 * cycle // a hop after the client's push
				host := hop + 400*ns
				asked := issue + serial(spec, 20) + spec.LinkLatency
				timer := clocked.Time(rules.Symbols(gen, rules.AckLimit(gen, lanes, 256)))
				sent := answered(spec, asked+host, pieces(spec, rules.Header3DW, n, 256), asked+timer, 2*rules.DLLPBytes)
				last := sent + spec.LinkLatency
				checkOne(t, what, r, r.clock().Edge(last+cycle))
				if got := ledger.Causes[measure.CausePCIe]; got != last-issue-host || ledger.Last != last {
					t.Errorf("%s: %v charged to pcie until %v, want %v until %v", what, got, ledger.Last, last-issue-host, last)
				}
				if got := ledger.Causes[measure.CauseDMAQueue]; got != cycle {
					t.Errorf("%s: %v charged to dma_queue, want one hop", what, got)
				}
			}
		}
	}
}

func checkOne(t *testing.T, what string, r *rig, want clocked.Time) {
	t.Helper()
	if len(r.clients[0].dones) != 1 || r.clients[0].dones[0].at != want {
		t.Errorf("%s: answers %v, want one at %v", what, r.clients[0].dones, want)
	}
	if !r.Idle() {
		t.Errorf("%s: not idle after all is done", what)
	}
}

// An unloaded write is answered a cycle after its last byte has left, and each
// TLP reaches memory a link latency and a hop after its own last byte.
func TestUnloadedWriteLatency(t *testing.T) {
	for gen := 1; gen <= 5; gen++ {
		for _, lanes := range []int{1, 8, 32} {
			for _, n := range []uint32{4, 64, 256, 4096} {
				what := fmt.Sprintf("gen %d x%d write %d B", gen, lanes, n)
				r := newRig(t, withoutSKP, func(s *rigSpec) { s.Gen, s.Lanes = gen, lanes })
				spec := &r.spec
				r.clients[0].start = 100 * cycle
				d := write1(0x10000, n)
				d.Notify, d.Ledger, d.Counts = true, &measure.Ledger{}, &measure.Counts{}
				r.clients[0].todo = []msg.DMA{d}
				r.run(t)
				issue := 101 * cycle
				tlps := pieces(spec, rules.Header3DW, n, 256)
				end := issue + total(spec, tlps)
				checkOne(t, what, r, r.clock().Edge(end+cycle))
				if d.Ledger.Last != end || d.Ledger.Causes[measure.CauseDMAQueue] != end-100*cycle {
					t.Errorf("%s: ledger %v until %v, want dma_queue until %v", what, d.Ledger.Causes, d.Ledger.Last, end)
				}
				if len(r.memory.got) != len(tlps) {
					t.Fatalf("%s: %d requests at memory, want %d", what, len(r.memory.got), len(tlps))
				}
				for i := range tlps {
					want := issue + total(spec, tlps[:i+1]) + spec.LinkLatency + hop
					if got := r.memory.got[i].at; got != want {
						t.Errorf("%s: TLP %d at memory at %v, want %v", what, i, got, want)
					}
					if r.memory.got[i].msg.Counts != d.Counts {
						t.Errorf("%s: TLP %d came without its access's counts", what, i)
					}
				}
				var sum int64
				for _, b := range tlps {
					sum += b
				}
				if d.Counts.TLPs != uint32(len(tlps)) || d.Counts.PCIeBytes != uint64(sum) {
					t.Errorf("%s: counts %+v, want %d TLPs and %d bytes", what, d.Counts, len(tlps), sum)
				}
			}
		}
	}
}

// A doorbell is posted, a TLP for each 64 bytes, and reaches its client whole:
// MMIO hop, serialization of all pieces, the link, edge and hop.
func TestDoorbell(t *testing.T) {
	for _, n := range []uint32{8, 64, 65, 256} {
		r := newRig(t, func(s *rigSpec) { s.clients = 2 })
		spec := &r.spec
		ledger := &measure.Ledger{}
		ledger.Open(1)
		body := &msg.WQE{}
		r.mmio.todo = []msg.Doorbell{{Client: 1, Len: n, Cookie: 7, Body: body, Ledger: ledger}}
		r.run(t)
		tlps := pieces(spec, rules.Header4DW, n, 64)
		last := 1 + hop + total(spec, tlps) + spec.LinkLatency
		want := seen[msg.Doorbell]{r.clock().Edge(last + cycle), msg.Doorbell{Client: 1, Len: n, Cookie: 7, Body: body, Ledger: ledger}}
		if got := r.clients[1].bells; len(got) != 1 || got[0] != want {
			t.Errorf("doorbell of %d B: %v, want %v", n, got, want)
		}
		if ledger.Causes[measure.CausePost] != last-1 {
			t.Errorf("doorbell of %d B: %v charged to post, want %v", n, ledger.Causes[measure.CausePost], last-1)
		}
		if s := r.Root.Stats(); s.TLPs[msg.Posted] != uint64(len(tlps)) || s.Kinds[msg.KindDoorbell] != uint64(len(tlps)) {
			t.Errorf("doorbell of %d B: statistics %+v", n, s)
		}
	}
}

func TestDoorbellForNobodyIsCounted(t *testing.T) {
	r := newRig(t)
	r.mmio.todo = []msg.Doorbell{{Client: 9, Len: 8}, {Client: 0, Len: 8}}
	r.run(t)
	if got := r.Endpoint.Stats().Unclaimed; got != 1 || len(r.clients[0].bells) != 1 {
		t.Errorf("%d unclaimed, %d delivered, want 1 and 1", got, len(r.clients[0].bells))
	}
}

// A read of several requests is answered once, after its last byte, and is
// stale if one of its parts was.
func TestReadOfManyRequests(t *testing.T) {
	r := newRig(t)
	r.memory.stale = true
	d := read1(0x10f80, 4096) // MRRS 512: 128 to the 4 KiB boundary, 7 × 512, 384
	d.Cookie, d.Kind, d.Counts = 5, msg.KindWQE, &measure.Counts{}
	r.clients[0].todo = []msg.DMA{d}
	r.run(t)
	if got := r.clients[0].dones; len(got) != 1 || got[0].msg != (msg.DMADone{Kind: msg.KindWQE, Stale: true, Cookie: 5}) {
		t.Errorf("answers %v, want one, stale, cookie 5", got)
	}
	// Completions of at most 256 B: 1 + 7×2 + 2 for 9 requests.
	if want := (measure.Counts{TLPs: 9 + 17, PCIeBytes: 9*20 + 17*20 + 4096}); *d.Counts != want {
		t.Errorf("counts %+v, want %+v", *d.Counts, want)
	}
}

// A request that waits for memory waits at the host's expense: in the root port
// until it has one of the 8 places before memory, then for memory. The link's part
// of the ledger is what it is unloaded.
func TestWaitingForMemoryIsNotTheLink(t *testing.T) {
	const pace = 300 * ns
	r := newRig(t, func(s *rigSpec) { s.pace = pace })
	d := read1(0, 64)
	d.Ledger = &measure.Ledger{}
	r.clients[0].todo = append(repeat(write1(0, 64), 40), d)
	r.run(t)
	spent := &d.Ledger.Causes
	if got, want := spent[measure.CausePCIe], roundTrip(&r.spec, 0, 64, 0); got < want || got > want+1 {
		t.Errorf("%v charged to pcie, want %v and at most the 1 ps by which a start within a picosecond is early", got, want)
	}
	opened := d.Ledger.Last - d.Ledger.Sum()
	arrival := opened + spent[measure.CauseDMAQueue] + serial(&r.spec, 20) + r.spec.LinkLatency
	begun := r.memory.got[0].at // memory takes the read 40 paces later
	if got, want := spent[measure.CauseIIO], begun+(40-8)*pace+hop-arrival; got < want-1 || got > want+1 {
		t.Errorf("%v charged to iio, want %v", got, want)
	}
	if got, want := spent[measure.CauseHostMemory], 8*pace-hop+400*ns; got != want {
		t.Errorf("%v charged to host_memory, want %v", got, want)
	}
}
