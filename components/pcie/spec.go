package pcie

import (
	"fmt"
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// Spec holds the parameters of a link. Its keys stand under "pcie".
type Spec struct {
	Gen               int          `key:"gen" default:"4" min:"1" max:"6" doc:"PCI Express generation: 2.5, 5, 8, 16, 32, 64 GT/s a lane; 8b/10b up to 2, then 128b/130b, from 6 flits" source:"[cocotbext-pcie] PCIE_GEN_RATE, [pcie-model]"`
	Lanes             int          `key:"lanes" default:"16" min:"1" max:"32" pow2:"true" doc:"lanes" source:"assumption: an x16 card"`
	MPS               model.Bytes  `key:"mps" default:"256B" min:"128B" max:"4KiB" pow2:"true" doc:"maximum payload of a TLP" source:"[pcie-bench]: MPS 256 on its hosts"`
	MRRS              model.Bytes  `key:"mrrs" default:"512B" min:"128B" max:"4KiB" pow2:"true" doc:"maximum read request" source:"range: [PCIe]; 512 as in [pcie-model] (also the power-on default: recalled)"`
	RCB               model.Bytes  `key:"rcb" default:"64B" oneof:"64B,128B" doc:"read completion boundary of the root complex" source:"[PCIe] by way of [PG213] and [AN855]: 64 or 128 B"`
	SplitPolicy       string       `key:"split_policy" default:"min" oneof:"min,rcb,random" doc:"completions of a read: the fewest, one for each boundary, or any that are legal" source:"rules: [PCIe] by way of [PG213] and [AN855]; min: assumption; rcb as split_on_all_rcb of [cocotbext-pcie]"`
	SplitShort        model.Bytes  `key:"split_short" default:"0B" min:"1B" max:"4KiB" zero:"none" doc:"longest read that gets a completion for each boundary whatever split_policy says" source:"off: assumption; 256 B in the profile nfp6000-broadwell: fitted to [pcie-bench], docs/calibration.md"`
	ECRC              bool         `key:"ecrc" default:"false" doc:"TLPs carry a digest of 4 bytes" source:"[PCIe]"`
	SKP               bool         `key:"skp" default:"true" doc:"the line stops for SKP ordered sets" source:"[pcie-model]: 4 symbols in 1538; intervals of 128b/130b and flits: recalled"`
	TagBits           int          `key:"tag_bits" default:"8" oneof:"5,8,10,14" doc:"width of tags: 32, 256, 768 or, in flit mode, 15360 reads outstanding" source:"[R-Tile]: 768 of the 10-bit tags are usable; 14 bits: recalled; 8: assumption"`
	Tags              int          `key:"tags" default:"0" min:"1" max:"15360" zero:"all of tag_bits" doc:"reads outstanding, if less than the width of tags gives" source:"assumption: all"`
	CompletionBuffer  model.Bytes  `key:"completion_buffer" default:"64KiB" min:"128B" max:"16MiB" doc:"adapter's space for read data, reserved when a read is sent" source:"assumption: more than 63.0 GB/s × 700 ns × 256/276 = 41 KB, Gen5 x16 with 256 B completions (derived); [R-Tile] has 2016 data entries"`
	CompletionTimeout clocked.Time `key:"completion_timeout" default:"50ms" min:"50us" max:"64s" zero:"never" doc:"time without completion after which a request has failed" source:"[PCIe]: 50 µs to 50 ms is the default range (recalled)"`
	ReadQueue         int          `key:"read_queue" default:"64" min:"1" max:"4096" doc:"read DMAs accepted whose requests are not all sent" source:"assumption: more than a send pipeline holds"`
	WriteQueue        int          `key:"write_queue" default:"32" min:"1" max:"4096" doc:"write DMAs accepted and not yet sent" source:"assumption: covers the arbitration of two clients"`
	ReadLatency       clocked.Time `key:"read_latency" default:"400ns" min:"1ns" max:"100us" doc:"host's part of an unloaded read: root complex to data back at it; 400 to 900 ns is a sensible sweep" source:"[pcie-bench]: 64 B from DRAM, Broadwell, median 480 ns, less 14 ns of serialization at Gen3 x8 and twice link_latency (derived)"`
	LinkLatency       clocked.Time `key:"link_latency" default:"33ns" min:"1ps" max:"100us" doc:"one way: transmit and receive pipelines and flight, without serialization" source:"assumption: a receive and a transmit pipeline are less than a third of the 115 ns of a Gen5 switch, which has a core too ([HighPoint], weak)"`
	Ack               Timer        `key:"ack" doc:"when TLPs are acknowledged"`
	Update            Timer        `key:"update" doc:"when credits are returned (UpdateFC)"`
	UpdateAll         bool         `key:"update_all" default:"false" doc:"an UpdateFC takes those of the other types along, infinite ones too" source:"off: assumption; on in the profiles nfp6000-*: fitted to [pcie-bench], docs/calibration.md"`
	ReplayBuffer      ReplayBuffer `key:"replay_buffer" doc:"of each end: TLPs sent and not acknowledged"`
	Scale             int          `key:"scale" default:"1" oneof:"1,4,16" doc:"scaled flow control: at most 127 headers and 2047 × 16 B of data outstanding, times this; credits count in whole multiples of it" source:"[PCIe]"`
	Credits           Credits      `key:"credits" doc:"advertised to the adapter by its root port or the switch's port"`
	AdapterCredits    Credits      `key:"adapter_credits" defaults:"ph=64" doc:"advertised by the adapter"`
	Pass              string       `key:"pass" default:"blocked" oneof:"blocked,always,random" doc:"where the ordering table leaves open whether a TLP passes an older one: only one that cannot go, whenever it may (16 times at most), or by lot (likewise)" source:"[PCIe] table 2-40; blocked: assumption"`
	Relaxed           bool         `key:"relaxed" default:"false" doc:"DMA of payload carries the attribute RO: it may pass posted writes" source:"[PCIe] table 2-40"`
	IDOrdered         bool         `key:"ido" default:"false" doc:"DMA of payload carries the attribute IDO: it may pass posted writes of another PASID" source:"[PCIe] table 2-40"`
	Inject            Inject       `key:"inject" doc:"what goes wrong on purpose"`

	Seed    uint64 // of the link's random streams
	Adapter uint16 // Requester ID of the endpoint, below 1024
}

// Timer is when a packet of the data link layer leaves: a time after the first
// TLP that it is for, or with the every-th one.
type Timer struct {
	Delay clocked.Time `key:"delay" default:"0ns" min:"1ps" max:"30us" zero:"the limit of the formula" doc:"time after the first TLP that it is for" source:"[cocotbext-pcie] get_update_factor: ((MPS + 28) × factor ÷ lanes + internal delay) symbol times; Gen4 x16, MPS 256: 168 = 85 ns"`
	Every int          `key:"every" default:"0" min:"1" max:"1024" zero:"by time only" doc:"TLPs after which it leaves at once" source:"assumption: none; real parts have both knobs, as TL_FC_UPDATE_MIN_INTERVAL of AMD Versal"`
}

// pace is the timer of a link.
func (t *Timer) pace(s *Spec) pace {
	p := pace{delay: t.Delay, every: t.Every}
	if p.delay == 0 {
		p.delay = clocked.Time(rules.Symbols(s.Gen, rules.AckLimit(s.Gen, s.Lanes, uint32(s.MPS))))
	}
	return p
}

// ReplayBuffer is what a transmitter keeps.
type ReplayBuffer struct {
	TLPs  int         `key:"tlps" default:"256" min:"1" max:"2047" doc:"TLPs" source:"[PCIe]: less than 2048; 256: assumption, more 24-byte TLPs than Gen4 x16 sends until they are acknowledged, 155 ns"`
	Bytes model.Bytes `key:"bytes" default:"32KiB" min:"1KiB" max:"16MiB" doc:"bytes" source:"assumption: more than 63.0 GB/s × 300 ns = 19 KB, Gen5 x16 (derived)"`
}

// Credits are the initial flow-control advertisements of a receiver. Header
// credits count TLPs, data credits 16 bytes of payload; 0 is infinite.
type Credits struct {
	PH   int `key:"ph" default:"127" min:"0" max:"2032" doc:"posted headers; 0: infinite" source:"of the root port, 127: [PCIe], the most without scaling; 64 B writes at Gen4 x16 over a 300 ns loop need 31.5 GB/s × 300 ns / 88 B = 108 (derived); of the adapter, 64: [cocotbext-pcie]"`
	PD   int `key:"pd" default:"1024" min:"0" max:"32752" doc:"posted data, 16 B each; 0: infinite" source:"[cocotbext-pcie]: 1024; Gen4 x16, 300 ns and MPS 256 need 34 TLPs × 16 = 544 (derived)"`
	NPH  int `key:"nph" default:"127" min:"0" max:"2032" doc:"non-posted headers; 0: infinite" source:"[PCIe]: 127 is the most without scaling"`
	NPD  int `key:"npd" default:"64" min:"0" max:"32752" doc:"non-posted data, 16 B each; 0: infinite; no TLP of the model takes any, as atomics are reads and writes on the link" source:"[cocotbext-pcie]: 64"`
	CPLH int `key:"cplh" default:"0" min:"0" max:"2032" doc:"completion headers; 0: infinite, of a switch's port 64" source:"[R-Tile]: endpoints and root complexes without peer-to-peer must advertise infinite, switches must not; of a switch's port: [cocotbext-pcie], a bridge"`
	CPLD int `key:"cpld" default:"0" min:"0" max:"32752" doc:"completion data, 16 B each; 0: infinite, of a switch's port 1024" source:"[R-Tile]: endpoints and root complexes without peer-to-peer must advertise infinite, switches must not; of a switch's port: [cocotbext-pcie], a bridge"`
}

// splits are the policies of completion splitting by name.
var splits = map[string]rules.Split{rules.SplitMin.String(): rules.SplitMin, rules.SplitRCB.String(): rules.SplitRCB,
	rules.SplitRandom.String(): rules.SplitRandom}

// deep tells whether a TLP may pass another of its class although that can go, or
// because of an attribute.
func (s *Spec) deep() bool { return s.Pass != PassBlocked || s.Relaxed || s.IDOrdered }

// usable is the number of reads that may be outstanding.
func (s *Spec) usable() int {
	_, n := rules.Tags(s.TagBits)
	if s.Tags > 0 {
		n = min(n, s.Tags)
	}
	return n
}

// Check refuses what cannot be built or would hang. Errors name the key.
func (s *Spec) Check() error {
	_, split := splits[s.SplitPolicy]
	switch {
	case s.Gen < rules.FirstGen || s.Gen > rules.LastGen:
		return fmt.Errorf("pcie.gen: %d: 1 to 6 is due", s.Gen)
	case s.Lanes > 32 || bits.OnesCount(uint(s.Lanes)) != 1:
		return fmt.Errorf("pcie.lanes: %d: 1, 2, 4, 8, 16 or 32 is due", s.Lanes)
	case !goodSize(s.MPS):
		return fmt.Errorf("pcie.mps: %d B: a power of two from 128 to 4096 is due", s.MPS)
	case !goodSize(s.MRRS):
		return fmt.Errorf("pcie.mrrs: %d B: a power of two from 128 to 4096 is due", s.MRRS)
	case s.RCB != 64 && s.RCB != 128:
		return fmt.Errorf("pcie.rcb: %d B: 64 or 128 is due", s.RCB)
	case !split:
		return fmt.Errorf("pcie.split_policy: %q: min, rcb or random is due", s.SplitPolicy)
	case s.Pass != PassBlocked && s.Pass != PassAlways && s.Pass != PassRandom:
		return fmt.Errorf("pcie.pass: %q: blocked, always or random is due", s.Pass)
	case s.Scale != 1 && s.Scale != 4 && s.Scale != 16:
		return fmt.Errorf("pcie.scale: %d: 1, 4 or 16 is due", s.Scale)
	}
	if err := s.checkBuffers(); err != nil {
		return err
	}
	if err := s.checkCredits(&s.Credits, "pcie.credits"); err != nil {
		return err
	}
	if err := s.checkCredits(&s.AdapterCredits, "pcie.adapter_credits"); err != nil {
		return err
	}
	return s.Inject.check()
}

func (s *Spec) checkBuffers() error {
	_, tags := rules.Tags(s.TagBits)
	largest := rules.TLPBytes(s.Gen, rules.Shape{Header: rules.Header4DW, Prefixes: 1, Digest: s.ECRC, Payload: uint32(s.MPS) + 4})
	switch {
	case tags == 0:
		return fmt.Errorf("pcie.tag_bits: %d: 5, 8, 10 or 14 is due", s.TagBits)
	case s.TagBits == 14 && !rules.Flits(s.Gen):
		return fmt.Errorf("pcie.tag_bits: 14: at most 10 is due below pcie.gen 6")
	case s.Tags < 0:
		return fmt.Errorf("pcie.tags: %d: 0 (all) or more is due", s.Tags)
	case s.CompletionBuffer < s.MRRS || s.CompletionBuffer > 16<<20:
		return fmt.Errorf("pcie.completion_buffer: %d B: at least pcie.mrrs (%d B) and at most 16 MiB is due, or a read could never be sent", s.CompletionBuffer, s.MRRS)
	case s.ReadQueue < 1 || s.WriteQueue < 1 || s.ReadQueue > 4096 || s.WriteQueue > 4096:
		return fmt.Errorf("pcie: read_queue %d, write_queue %d: 1 to 4096 is due", s.ReadQueue, s.WriteQueue)
	case s.LinkLatency < 1:
		return fmt.Errorf("pcie.link_latency: %v: at least 1 ps is due", s.LinkLatency)
	case s.ReplayBuffer.TLPs < 1 || s.ReplayBuffer.TLPs > rules.MaxOutstanding:
		return fmt.Errorf("pcie.replay_buffer.tlps: %d: 1 to %d is due", s.ReplayBuffer.TLPs, rules.MaxOutstanding)
	case int64(s.ReplayBuffer.Bytes) < largest:
		return fmt.Errorf("pcie.replay_buffer.bytes: %d B: at least %d is due, or a TLP of pcie.mps (%d B) could never be sent", s.ReplayBuffer.Bytes, largest, s.MPS)
	}
	return nil
}

func goodSize(n model.Bytes) bool {
	return n >= 128 && n <= 4096 && bits.OnesCount64(uint64(n)) == 1
}

// checkCredits refuses credits with which a maximal TLP could never be sent, and
// more than the counters can tell.
func (s *Spec) checkCredits(c *Credits, group string) error {
	for p, n := range c.pools() {
		pool, scale := rules.Pool(p), rules.Scale(s.Scale)
		least, most := rules.MinCredits(pool, scale, uint32(s.MPS)), rules.MaxCredits(pool, scale)
		switch {
		case n < 0 || n > 0 && uint32(n/s.Scale*s.Scale) < least:
			return fmt.Errorf("%s.%s: %d: 0 (infinite) or at least %d is due, or a TLP of pcie.mps (%d B) could never be sent",
				group, pool, n, least, s.MPS)
		case n > 0 && uint32(n) > most:
			return fmt.Errorf("%s.%s: %d: at most %d is due with pcie.scale %d", group, pool, n, most, s.Scale)
		}
	}
	return nil
}

// pools lists the credits in the order of rules.Pool.
func (c *Credits) pools() [rules.NumPools]int {
	return [rules.NumPools]int{c.PH, c.PD, c.NPH, c.NPD, c.CPLH, c.CPLD}
}
