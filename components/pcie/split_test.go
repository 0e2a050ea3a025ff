package pcie

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Bytes on the wire by hand: 8 of framing and LCRC outside flit mode, a header of
// 12 below 4 GiB and of completions, else 16, 4 for a PASID of a request, 4 for
// ECRC, and whole double words.
func TestWireBytes(t *testing.T) {
	none := func(*rigSpec) {}
	ecrc := func(s *rigSpec) { s.ECRC = true }
	flits := func(s *rigSpec) { s.Gen = 6 }
	for _, c := range []struct {
		what     string
		dma      msg.DMA
		pasid    uint32
		option   option
		up, down uint64
	}{
		{"256 B written", write1(high, 256), 0, none, 280, 0},
		{"256 B written low", write1(high-256, 256), 0, none, 276, 0},
		{"63 B written", write1(high, 63), 0, none, 88, 0},
		{"a byte written", write1(high+3, 1), 0, none, 28, 0},
		{"6 B of three double words written", write1(high+3, 6), 0, none, 36, 0},
		{"256 B written unaligned", write1(high+2, 256), 0, none, 24 + 256 + 24 + 4, 0},
		{"64 B written by a process", write1(high, 64), process, none, 92, 0},
		{"64 B written with ECRC", write1(high, 64), 0, ecrc, 92, 0},
		{"64 B written in flits", write1(high, 64), 0, flits, 80, 0},
		{"64 B read", read1(high, 64), 0, none, 24, 84},
		{"64 B read low", read1(64, 64), 0, none, 20, 84},
		{"2 B of two double words read", read1(high+3, 2), 0, none, 24, 28},
		{"64 B read by a process with ECRC", read1(high, 64), process, ecrc, 32, 88},
		{"64 B read in flits", read1(high, 64), 0, flits, 16, 76},
		// Requests of 510 and 2 bytes; completions of 254, 256 and 2.
		{"512 B read unaligned", read1(high+2, 512), 0, none, 2 * 24, 3*20 + 256 + 256 + 4},
	} {
		r := newRig(t, c.option)
		c.dma.Address.PASID = c.pasid
		r.clients[0].todo = []msg.DMA{c.dma}
		r.run(t)
		if up, down := r.Endpoint.Stats().WireBytes, r.Root.Stats().WireBytes; up != c.up || down != c.down {
			t.Errorf("%s: %d B up and %d B down, want %d and %d", c.what, up, down, c.up, c.down)
		}
	}
	r := newRig(t)
	r.mmio.todo = []msg.Doorbell{{Len: 8}}
	r.run(t)
	if down := r.Root.Stats().WireBytes; down != 32 {
		t.Errorf("a doorbell: %d B down, want 32", down)
	}
}

// The root port cuts answers as pcie.split_policy says, and those up to
// pcie.split_short at each boundary: counted by hand for 512 bytes from 0x10060 with
// a boundary each 128.
func TestSplitPolicy(t *testing.T) {
	count := func(policy string, short model.Bytes, seed uint64) uint64 {
		r := newRig(t, func(s *rigSpec) {
			s.RCB, s.SplitPolicy, s.SplitShort, s.Seed = 128, policy, short, seed
		})
		r.clients[0].todo = []msg.DMA{read1(0x10060, 512)}
		r.run(t)
		s := r.Root.Stats()
		if n := s.TLPs[msg.Completion]; s.WireBytes != 20*n+512 || s.PayloadBytes != 512 {
			t.Errorf("%s: %d completions of %d B with %d B of data", policy, n, s.WireBytes, s.PayloadBytes)
		}
		return s.TLPs[msg.Completion]
	}
	for _, c := range []struct {
		policy string
		short  model.Bytes
		want   uint64
	}{{"min", 0, 3}, {"min", 511, 3}, {"min", 512, 5}, {"rcb", 0, 5}, {"random", 512, 5}} {
		if got := count(c.policy, c.short, 1); got != c.want {
			t.Errorf("%s, short %v: %d completions, want %d", c.policy, c.short, got, c.want)
		}
	}
	var seen [6]bool
	for seed := range uint64(40) {
		n := count("random", 0, seed)
		if n < 3 || n > 5 {
			t.Fatalf("random: %d completions, want 3 to 5", n)
		}
		seen[n] = true
	}
	if !seen[3] || !seen[4] || !seen[5] {
		t.Errorf("random: numbers of completions %v, want each of 3, 4 and 5", seen)
	}
}
