package pcie

import (
	"fmt"
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Spec holds the parameters of a link. Its keys stand under "pcie".
type Spec struct {
	Gen              int          `key:"gen" default:"4" min:"1" max:"5" doc:"PCI Express generation: 2.5, 5, 8, 16, 32 GT/s a lane; 8b/10b up to 2, then 128b/130b" source:"[cocotbext-pcie] PCIE_GEN_RATE, [pcie-model]"`
	Lanes            int          `key:"lanes" default:"16" min:"1" max:"32" pow2:"true" doc:"lanes" source:"assumption: an x16 card"`
	MPS              model.Bytes  `key:"mps" default:"256B" min:"128B" max:"4KiB" pow2:"true" doc:"maximum payload of a TLP" source:"[pcie-bench]: MPS 256 on its hosts"`
	MRRS             model.Bytes  `key:"mrrs" default:"512B" min:"128B" max:"4KiB" pow2:"true" doc:"maximum read request" source:"range: [PCIe]; 512 as in [pcie-model] (also the power-on default: recalled)"`
	RCB              model.Bytes  `key:"rcb" default:"64B" oneof:"64B,128B" doc:"read completion boundary of the root complex" source:"[PCIe] by way of [PG213] and [AN855]: 64 or 128 B"`
	SplitPolicy      string       `key:"split_policy" default:"min" oneof:"min,rcb" doc:"completions of a read: the fewest, or one for each boundary" source:"rules: [PCIe] by way of [PG213] and [AN855]; min: assumption; rcb as split_on_all_rcb of [cocotbext-pcie]"`
	SplitShort       model.Bytes  `key:"split_short" default:"0B" min:"1B" max:"4KiB" zero:"none" doc:"longest read that gets a completion for each boundary whatever split_policy says" source:"off: assumption; 256 B in the profile nfp6000-broadwell: fitted to [pcie-bench], docs/calibration.md"`
	Tags             int          `key:"tags" default:"256" min:"1" max:"768" doc:"reads outstanding: 32 with 5-bit tags, 256 with 8, 768 with 10" source:"[R-Tile]: 768 of the 10-bit tags are usable; 256: assumption, 8-bit tags"`
	CompletionBuffer model.Bytes  `key:"completion_buffer" default:"64KiB" min:"128B" max:"16MiB" doc:"adapter's space for read data, reserved when a read is sent" source:"assumption: more than 63.0 GB/s × 700 ns × 256/276 = 41 KB, Gen5 x16 with 256 B completions (derived); [R-Tile] has 2016 data entries"`
	ReadQueue        int          `key:"read_queue" default:"64" min:"1" max:"4096" doc:"read DMAs accepted whose requests are not all sent" source:"assumption: more than a send pipeline holds"`
	WriteQueue       int          `key:"write_queue" default:"32" min:"1" max:"4096" doc:"write DMAs accepted and not yet sent" source:"assumption: covers the arbitration of two clients"`
	ReadLatency      clocked.Time `key:"read_latency" default:"400ns" min:"1ns" max:"100us" doc:"host's part of an unloaded read: root complex to data back at it; 400 to 900 ns is a sensible sweep" source:"[pcie-bench]: 64 B from DRAM, Broadwell, median 480 ns, less 14 ns of serialization at Gen3 x8 and twice link_latency (derived)"`
	LinkLatency      clocked.Time `key:"link_latency" default:"33ns" min:"1ps" max:"100us" doc:"one way: transmit and receive pipelines and flight, without serialization" source:"assumption: a receive and a transmit pipeline are less than a third of the 115 ns of a Gen5 switch, which has a core too ([HighPoint], weak)"`
	UpdateDelay      clocked.Time `key:"update_delay" default:"118ns" min:"1ps" max:"1ms" doc:"from a TLP drained by the receiver until the sender may use its credits" source:"[cocotbext-pcie] get_update_factor: UpdateFC limit 168 symbol times = 85 ns (Gen4 x16, MPS 256), + link_latency (derived)"`
	Credits          Credits      `key:"credits" doc:"advertised by the root port to the adapter"`
	AdapterCredits   Credits      `key:"adapter_credits" defaults:"ph=64" doc:"advertised by the adapter to the root port"`
}

// Credits are the initial flow-control advertisements of a receiver. Header
// credits count TLPs, data credits 16 bytes of payload; 0 is infinite.
type Credits struct {
	PH   int `key:"ph" default:"127" min:"0" max:"2032" doc:"posted headers; 0: infinite" source:"of the root port, 127: [PCIe], the most without scaling; 64 B writes at Gen4 x16 over a 300 ns loop need 31.5 GB/s × 300 ns / 88 B = 108 (derived); of the adapter, 64: [cocotbext-pcie]"`
	PD   int `key:"pd" default:"1024" min:"0" max:"32752" doc:"posted data, 16 B each; 0: infinite" source:"[cocotbext-pcie]: 1024; Gen4 x16, 300 ns and MPS 256 need 34 TLPs × 16 = 544 (derived)"`
	NPH  int `key:"nph" default:"127" min:"0" max:"2032" doc:"non-posted headers; 0: infinite" source:"[PCIe]: 127 is the most without scaling"`
	NPD  int `key:"npd" default:"64" min:"0" max:"32752" doc:"non-posted data, 16 B each; 0: infinite" source:"[cocotbext-pcie]: 64"`
	CPLH int `key:"cplh" default:"0" min:"0" max:"2032" doc:"completion headers; 0: infinite" source:"[R-Tile]: endpoints and root complexes without peer-to-peer must advertise infinite"`
	CPLD int `key:"cpld" default:"0" min:"0" max:"32752" doc:"completion data, 16 B each; 0: infinite" source:"[R-Tile]: endpoints and root complexes without peer-to-peer must advertise infinite"`
}

// creditBytes is the payload that one data credit stands for ([PCIe], 4 DW).
const creditBytes = 16

// Policies of completion splitting.
const (
	SplitMin = "min" // the fewest completions
	SplitRCB = "rcb" // one for each read completion boundary
)

// Check refuses what cannot be built or would hang. Errors name the key.
func (s *Spec) Check() error {
	switch {
	case s.Gen < 1 || s.Gen > 5:
		return fmt.Errorf("pcie.gen: %d: 1 to 5 is due", s.Gen)
	case s.Lanes > 32 || bits.OnesCount(uint(s.Lanes)) != 1:
		return fmt.Errorf("pcie.lanes: %d: 1, 2, 4, 8, 16 or 32 is due", s.Lanes)
	case !goodSize(s.MPS):
		return fmt.Errorf("pcie.mps: %d B: a power of two from 128 to 4096 is due", s.MPS)
	case !goodSize(s.MRRS):
		return fmt.Errorf("pcie.mrrs: %d B: a power of two from 128 to 4096 is due", s.MRRS)
	case s.RCB != 64 && s.RCB != 128:
		return fmt.Errorf("pcie.rcb: %d B: 64 or 128 is due", s.RCB)
	case s.SplitPolicy != SplitMin && s.SplitPolicy != SplitRCB:
		return fmt.Errorf("pcie.split_policy: %q: min or rcb is due", s.SplitPolicy)
	}
	if err := s.checkBuffers(); err != nil {
		return err
	}
	if err := s.Credits.check("pcie.credits", s.MPS); err != nil {
		return err
	}
	return s.AdapterCredits.check("pcie.adapter_credits", s.MPS)
}

func (s *Spec) checkBuffers() error {
	switch {
	case s.Tags < 1 || s.Tags > 768:
		return fmt.Errorf("pcie.tags: %d: 1 to 768 is due", s.Tags)
	case s.CompletionBuffer < s.MRRS || s.CompletionBuffer > 1<<30:
		return fmt.Errorf("pcie.completion_buffer: %d B: at least pcie.mrrs (%d B) and at most 1 GiB is due, or a read could never be sent", s.CompletionBuffer, s.MRRS)
	case s.ReadQueue < 1 || s.WriteQueue < 1 || s.ReadQueue > 4096 || s.WriteQueue > 4096:
		return fmt.Errorf("pcie: read_queue %d, write_queue %d: 1 to 4096 is due", s.ReadQueue, s.WriteQueue)
	case s.LinkLatency < 1 || s.UpdateDelay < 1:
		return fmt.Errorf("pcie: link_latency %v, update_delay %v: at least 1 ps is due", s.LinkLatency, s.UpdateDelay)
	}
	return nil
}

func goodSize(n model.Bytes) bool {
	return n >= 128 && n <= 4096 && bits.OnesCount64(uint64(n)) == 1
}

// check refuses credits with which a maximal TLP could never be sent.
func (c *Credits) check(group string, mps model.Bytes) error {
	data := int(mps / creditBytes)
	for _, p := range []struct {
		key         string
		value, need int
	}{
		{"ph", c.PH, 1}, {"pd", c.PD, data}, {"nph", c.NPH, 1},
		{"npd", c.NPD, 1}, {"cplh", c.CPLH, 1}, {"cpld", c.CPLD, data},
	} {
		if p.value < 0 || p.value > 0 && p.value < p.need {
			return fmt.Errorf("%s.%s: %d: 0 (infinite) or at least %d is due, or a TLP of pcie.mps (%d B) could never be sent",
				group, p.key, p.value, p.need, mps)
		}
	}
	return nil
}

// pools lists the credits in the order of the transmitter's pools.
func (c *Credits) pools() [numPools]int32 {
	return [numPools]int32{int32(c.PH), int32(c.PD), int32(c.NPH), int32(c.NPD), int32(c.CPLH), int32(c.CPLD)}
}
