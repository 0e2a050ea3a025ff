package pcie

import (
	"strings"
	"testing"

	"rnicmmu/configs"
	rules "rnicmmu/model/pcie"
)

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
		{"gen", func(s *Spec) { s.Gen = 7 }, "pcie.gen: 7: 1 to 6 is due"},
		{"no gen", func(s *Spec) { s.Gen = 0 }, "pcie.gen: 0: 1 to 6 is due"},
		{"lanes", func(s *Spec) { s.Lanes = 12 }, "pcie.lanes: 12"},
		{"negative lanes", func(s *Spec) { s.Lanes = -8 }, "pcie.lanes: -8"},
		{"mps", func(s *Spec) { s.MPS = 64 }, "pcie.mps: 64 B"},
		{"mps not a power", func(s *Spec) { s.MPS = 384 }, "pcie.mps: 384 B"},
		{"mrrs", func(s *Spec) { s.MRRS = 8192 }, "pcie.mrrs: 8192 B"},
		{"rcb", func(s *Spec) { s.RCB = 256 }, "pcie.rcb: 256 B"},
		{"split", func(s *Spec) { s.SplitPolicy = "most" }, "pcie.split_policy: \"most\""},
		{"pass", func(s *Spec) { s.Pass = "never" }, "pcie.pass: \"never\""},
		{"scale", func(s *Spec) { s.Scale = 2 }, "pcie.scale: 2: 1, 4 or 16 is due"},
		{"tag bits", func(s *Spec) { s.TagBits = 6 }, "pcie.tag_bits: 6"},
		{"tag bits of flits", func(s *Spec) { s.TagBits = 14 }, "pcie.tag_bits: 14: at most 10 is due"},
		{"tags", func(s *Spec) { s.Tags = -1 }, "pcie.tags: -1"},
		{"buffer", func(s *Spec) { s.CompletionBuffer = 256 }, "could never be sent"},
		{"queue", func(s *Spec) { s.ReadQueue = 0 }, "read_queue 0"},
		{"latency", func(s *Spec) { s.LinkLatency = 0 }, "link_latency"},
		{"no replay buffer", func(s *Spec) { s.ReplayBuffer.TLPs = 0 }, "pcie.replay_buffer.tlps: 0: 1 to 2047 is due"},
		{"replay buffer", func(s *Spec) { s.ReplayBuffer.TLPs = 2048 }, "pcie.replay_buffer.tlps: 2048: 1 to 2047 is due"},
		// 256 B, 3 more of the words at their ends, a header of 16, a prefix, 8 of framing.
		{"replay bytes", func(s *Spec) { s.ReplayBuffer.Bytes = 287 }, "pcie.replay_buffer.bytes: 287 B: at least 288 is due"},
		{"pd", func(s *Spec) { s.Credits.PD = 15 }, "pcie.credits.pd: 15: 0 (infinite) or at least 16 is due"},
		{"cpld", func(s *Spec) { s.AdapterCredits.CPLD = 8 }, "pcie.adapter_credits.cpld: 8"},
		{"ph", func(s *Spec) { s.Credits.PH = -1 }, "pcie.credits.ph: -1"},
		{"too many", func(s *Spec) { s.Credits.NPH = 128 }, "pcie.credits.nph: 128: at most 127 is due with pcie.scale 1"},
		{"less than a step", func(s *Spec) { s.Scale, s.Credits.PH = 4, 3 }, "pcie.credits.ph: 3: 0 (infinite) or at least 4 is due"},
	} {
		s := spec
		c.change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// The least of everything that Check takes is enough: the largest TLPs of any
// address go through.
func TestLeastOfEverything(t *testing.T) {
	for _, gen := range []int{1, 4, 6} {
		for _, ecrc := range []bool{false, true} {
			r := newRig(t, func(s *rigSpec) {
				s.Gen, s.ECRC, s.TagBits, s.Tags, s.CompletionBuffer, s.ReadQueue, s.WriteQueue = gen, ecrc, 5, 1, 512, 1, 1
				s.Credits = Credits{PH: 1, PD: 16, NPH: 1, NPD: 1}
				s.AdapterCredits = Credits{PH: 1, PD: 16, NPH: 1, NPD: 1, CPLH: 1, CPLD: 16}
				most := rules.Shape{Header: rules.Header4DW, Prefixes: 1, Digest: ecrc, Payload: 260}
				s.ReplayBuffer.TLPs = 1
				for s.ReplayBuffer.Bytes = 1; s.Check() != nil; s.ReplayBuffer.Bytes++ {
				}
				if int64(s.ReplayBuffer.Bytes) != rules.TLPBytes(gen, most) {
					t.Errorf("gen %d: %v of replay buffer are enough, want %d", gen, s.ReplayBuffer.Bytes, rules.TLPBytes(gen, most))
				}
			})
			w, d := write1(high+1, 3000), read1(high+3, 3000)
			w.Address.PASID, d.Address.PASID = process, process
			for range 20 {
				r.clients[0].todo = append(r.clients[0].todo, w, d)
			}
			r.run(t)
			if n := len(r.clients[0].dones); n != 20 {
				t.Errorf("gen %d: %d of 20 reads answered; %q", gen, n, r.Endpoint.Waits())
			}
			conserved(t, r)
		}
	}
}

// Every parameter carries a text and a source.
func TestParametersAreDocumented(t *testing.T) {
	params, err := configs.Params(&Spec{})
	if err != nil || len(params) < 40 {
		t.Fatalf("%d parameters, %v", len(params), err)
	}
	for _, p := range params {
		if p.Doc == "" || p.Source == "" {
			t.Errorf("%s: doc %q, source %q", p.Key, p.Doc, p.Source)
		}
	}
}
