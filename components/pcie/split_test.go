package pcie

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/model"
)

func completions(pa model.PA, n, rcb, mps uint32, every bool) (out []uint32) {
	for left := n; ; {
		piece := completionPiece(pa, left, rcb, mps, every)
		out = append(out, piece)
		pa, left = pa+model.PA(piece), left-piece
		if left == 0 {
			return out
		}
	}
}

// Vectors worked out by hand from the rules of [PG213] and [AN855].
func TestCompletionSplitVectors(t *testing.T) {
	for _, c := range []struct {
		pa          model.PA
		n, rcb, mps uint32
		fewest      []uint32
		most        []uint32
	}{
		{0x10060, 256, 128, 256, []uint32{256}, []uint32{32, 128, 96}},
		{0x10060, 512, 128, 256, []uint32{160, 256, 96}, []uint32{32, 128, 128, 128, 96}},
		{0x10000, 64, 64, 256, []uint32{64}, []uint32{64}},
		{0x1003c, 8, 64, 128, []uint32{8}, []uint32{4, 4}},
	} {
		if got := completions(c.pa, c.n, c.rcb, c.mps, false); !slices.Equal(got, c.fewest) {
			t.Errorf("%#x, %d B, fewest: %v, want %v", uint64(c.pa), c.n, got, c.fewest)
		}
		if got := completions(c.pa, c.n, c.rcb, c.mps, true); !slices.Equal(got, c.most) {
			t.Errorf("%#x, %d B, most: %v, want %v", uint64(c.pa), c.n, got, c.most)
		}
	}
}

// A read of at most split_short is answered for each boundary, a longer one by
// the policy; what counts is the request, which MRRS cuts.
func TestShortReadsAreSplit(t *testing.T) {
	for _, c := range []struct {
		n           uint32
		completions uint64
	}{{64, 1}, {256, 4}, {257, 2}, {512, 2}, {640, 4}} { // 640: 256 + 256, then 64 + 64
		r := newRig(t, func(s *rigSpec) { s.SplitShort = 256 })
		r.clients[0].todo = []msg.DMA{read1(0, c.n)}
		r.run(t)
		if got := r.Root.Stats().TLPs[msg.Completion]; got != c.completions {
			t.Errorf("%d B: %d completions, want %d", c.n, got, c.completions)
		}
	}
}

// The rules of [PG213] and [AN855] on random reads, and that "min" is the least
// number: no rule-abiding completion can be longer than the one taken.
func TestCompletionSplitRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rcb := uint32(rapid.SampledFrom([]int{64, 128}).Draw(t, "rcb"))
		mps := uint32(128) << rapid.IntRange(0, 5).Draw(t, "mps")
		pa := model.PA(rapid.Uint64Range(0, 1<<20).Draw(t, "pa"))
		n := rapid.Uint32Range(1, addressBlock-uint32(pa%addressBlock)).Draw(t, "n")
		every := rapid.Bool().Draw(t, "every")
		end, at := pa+model.PA(n), pa
		got := completions(pa, n, rcb, mps, every)
		for _, piece := range got {
			next := at + model.PA(piece)
			if piece == 0 || piece > mps || next > end || next != end && uint32(next)%rcb != 0 {
				t.Fatalf("piece %d at %#x of [%#x, %#x)", piece, uint64(at), uint64(pa), uint64(end))
			}
			longer := (next + model.PA(rcb)) &^ model.PA(rcb-1)
			if !every && next != end && uint32(min(longer, end)-at) <= mps {
				t.Fatalf("piece %d at %#x could reach %#x", piece, uint64(at), uint64(longer))
			}
			at = next
		}
		if at != end {
			t.Fatalf("pieces %v do not tile %d", got, n)
		}
		if crossings := int(uint32(end-1)/rcb - uint32(pa)/rcb); every && len(got) != crossings+1 || crossings == 0 && len(got) != 1 {
			t.Fatalf("%d pieces with %d boundaries inside", len(got), crossings)
		}
	})
}

// Requests tile the range, respect the limit and never cross 4 KiB.
func TestRequestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := uint32(128) << rapid.IntRange(0, 5).Draw(t, "limit")
		pa := model.PA(rapid.Uint64Range(0, 1<<40).Draw(t, "pa"))
		n := rapid.Uint32Range(1, 1<<16).Draw(t, "n")
		for at, left := pa, n; left > 0; {
			piece := requestPiece(at, left, limit)
			if piece == 0 || piece > limit || piece > left || at/addressBlock != (at+model.PA(piece)-1)/addressBlock {
				t.Fatalf("piece %d of %d at %#x with limit %d", piece, left, uint64(at), limit)
			}
			if piece < left && piece < limit && (at+model.PA(piece))%addressBlock != 0 {
				t.Fatalf("piece %d at %#x is short without reason", piece, uint64(at))
			}
			at, left = at+model.PA(piece), left-piece
		}
	})
}

// Bytes of a TLP by [pcie-model]: 24 + n of a request, 20 + n of a completion.
func TestWireBytes(t *testing.T) {
	for _, c := range []struct {
		class   msg.TLPType
		payload uint32
		want    int64
	}{{msg.Posted, 8, 32}, {msg.Posted, 256, 280}, {msg.NonPosted, 0, 24}, {msg.Completion, 64, 84}, {msg.Completion, 256, 276}} {
		if got := WireBytes(c.class, c.payload); got != c.want {
			t.Errorf("class %d, %d B: %d, want %d", c.class, c.payload, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	spec := defaultSpec(t)
	if err := spec.Check(); err != nil {
		t.Fatalf("defaults: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(*Spec)
		want   string
	}{
		{"gen", func(s *Spec) { s.Gen = 6 }, "pcie.gen: 6: 1 to 5 is due"},
		{"lanes", func(s *Spec) { s.Lanes = 12 }, "pcie.lanes: 12"},
		{"negative lanes", func(s *Spec) { s.Lanes = -8 }, "pcie.lanes: -8"},
		{"mps", func(s *Spec) { s.MPS = 64 }, "pcie.mps: 64 B"},
		{"mps not a power", func(s *Spec) { s.MPS = 384 }, "pcie.mps: 384 B"},
		{"mrrs", func(s *Spec) { s.MRRS = 8192 }, "pcie.mrrs: 8192 B"},
		{"rcb", func(s *Spec) { s.RCB = 256 }, "pcie.rcb: 256 B"},
		{"policy", func(s *Spec) { s.SplitPolicy = "random" }, "pcie.split_policy: \"random\""},
		{"tags", func(s *Spec) { s.Tags = 0 }, "pcie.tags: 0"},
		{"buffer", func(s *Spec) { s.CompletionBuffer = 256 }, "could never be sent"},
		{"queue", func(s *Spec) { s.ReadQueue = 0 }, "read_queue 0"},
		{"latency", func(s *Spec) { s.LinkLatency = 0 }, "link_latency"},
		{"pd", func(s *Spec) { s.Credits.PD = 15 }, "pcie.credits.pd: 15: 0 (infinite) or at least 16 is due"},
		{"cpld", func(s *Spec) { s.AdapterCredits.CPLD = 8 }, "pcie.adapter_credits.cpld: 8"},
		{"ph", func(s *Spec) { s.Credits.PH = -1 }, "pcie.credits.ph: -1"},
	} {
		s := spec
		c.change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// Every parameter carries a text and a source.
func TestParametersAreDocumented(t *testing.T) {
	params, err := configs.Params(&Spec{})
	if err != nil || len(params) < 20 {
		t.Fatalf("%d parameters, %v", len(params), err)
	}
	for _, p := range params {
		if p.Doc == "" || p.Source == "" {
			t.Errorf("%s: doc %q, source %q", p.Key, p.Doc, p.Source)
		}
	}
}
