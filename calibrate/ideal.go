package calibrate

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/configs"
	"rnicmmu/model"
)

// Traffic is what saturates a link.
type Traffic int

// Traffics.
const (
	Writes Traffic = iota
	Reads
	Both // reads and writes in turn
	NumTraffics
)

var trafficNames = [NumTraffics]string{"write", "read", "both"}

// String is the traffic's name.
func (t Traffic) String() string { return trafficNames[t] }

// ideal is a link between an adapter and a host that never make it wait: the
// adapter always has a transfer, the host answers at once, and credits, tags and
// buffers suffice.
func ideal(gen, lanes int) (pcie.Spec, error) {
	var s pcie.Spec
	if err := configs.Defaults(&s); err != nil {
		return s, err
	}
	s.Gen, s.Lanes = gen, lanes
	s.LinkLatency = clocked.Nanosecond
	s.TagBits, s.CompletionBuffer, s.Scale = 10, 1<<24, 16
	s.Credits = pcie.Credits{PH: 2032, PD: 32752, NPH: 2032, NPD: 64}
	s.AdapterCredits = s.Credits
	s.ReadQueue, s.WriteQueue = 8, 8
	return s, nil
}

// idealClock is so fast that a client's edges never hold a link up.
const idealClock clocked.Freq = 1_000_000_000_000

// source is an adapter's unit that always has the next transfer of n bytes, each
// at a page of its own.
type source struct {
	client  pcie.Client
	traffic Traffic
	n       uint32
	left    int // transfers, of each direction
	turn    int
	reads   arrivals
}

// arrivals counts transfers that are over.
type arrivals struct {
	warmup      int
	count       int
	first, last clocked.Time // ends of transfer number warmup and of the last one
}

func (a *arrivals) add(now clocked.Time) {
	a.count++
	a.last = now
	if a.count == a.warmup {
		a.first = now
	}
}

// rate is what arrived in transfers of n bytes, in bytes a second.
func (a *arrivals) rate(n uint32) float64 {
	return float64(n) * float64(a.count-a.warmup) / float64(a.last-a.first) * float64(clocked.Second)
}

func (u *source) Name() string { return "source" }

func (u *source) Tick(now clocked.Time) {
	for u.client.Done.Peek(now) != nil {
		u.reads.add(now)
		u.client.Done.Pop(now)
	}
	for u.left > 0 && u.client.Req.Ready(now) {
		write := u.traffic == Writes || u.traffic == Both && u.turn%2 == 0
		*u.client.Req.Push(now) = msg.DMA{Write: write, PA: 1<<32 + model.PA(u.turn)<<12, Len: u.n}
		u.turn++
		if u.traffic != Both || !write {
			u.left--
		}
	}
}

// sink is a host that takes every request as it comes and answers reads after a
// fixed time.
type sink struct {
	req     *clocked.Wire[msg.MemReq]
	done    *clocked.Wire[msg.MemDone]
	latency clocked.Time
	n       uint32
	bytes   uint32 // of the transfer that is arriving
	writes  arrivals
}

func (u *sink) Name() string { return "sink" }

func (u *sink) Tick(now clocked.Time) {
	for r := u.req.Peek(now); r != nil; r = u.req.Peek(now) {
		switch {
		case r.Write:
			if u.bytes += r.Len; u.bytes == u.n {
				u.bytes = 0
				u.writes.add(now)
			}
		case u.done.Ready(now):
			*u.done.PushAt(now, now+u.latency) = msg.MemDone{Kind: r.Kind, Tag: r.Tag, Len: r.Len, PA: r.PA}
		default:
			return
		}
		u.req.Pop(now)
	}
}

// saturation is what stands at both ends of a link.
type saturation struct {
	source *source
	sink   *sink
}

// saturate runs so many transfers of n bytes, of each direction in Both; those
// after the warm-up count. The host answers after the given time.
func saturate(spec pcie.Spec, traffic Traffic, n uint32, transfers, warmup int, latency clocked.Time) (*saturation, error) {
	e := clocked.NewEngine()
	clock := clocked.NewDomain(idealClock)
	link, err := pcie.New(e, "pcie", spec, clock)
	if err != nil {
		return nil, err
	}
	s := &saturation{
		source: &source{traffic: traffic, n: n, left: transfers, reads: arrivals{warmup: warmup}},
		sink:   &sink{n: n, latency: latency, writes: arrivals{warmup: warmup}}}
	from, to := e.Register(s.source), e.Register(s.sink)
	s.source.client = client(e, from, link.Endpoint.ID(), clock)
	link.Endpoint.Connect(pcie.EndpointPorts{Clients: []pcie.Client{s.source.client}})
	none := clocked.Domain{}
	s.sink.req = wire[msg.MemReq](e, link.Root.ID(), to, none, clocked.Picosecond)
	s.sink.done = clocked.NewWire[msg.MemDone](e, clocked.WireSpec{Name: "done", Writer: to, Reader: link.Root.ID(),
		Depth: 4096, Latency: clocked.Picosecond})
	link.Root.Connect(pcie.RootPorts{MMIO: wire[msg.Doorbell](e, to, link.Root.ID(), none, clocked.Picosecond),
		MemReq: s.sink.req, MemDone: s.sink.done})
	e.Wake(from, clocked.Picosecond)
	if err := e.Run(); err != nil {
		return nil, err
	}
	if got, want := max(s.source.reads.count, s.sink.writes.count), transfers; got != want {
		return nil, fmt.Errorf("%v of %d B stood still: %d of %d transfers are over: %v", traffic, n, got, want,
			append(link.Endpoint.Waits(), link.Root.Waits()...))
	}
	return s, nil
}

// rate is the payload that arrived, in bytes a second; in Both of the reads.
func (s *saturation) rate(traffic Traffic, n uint32) float64 {
	if traffic == Writes {
		return s.sink.writes.rate(n)
	}
	return s.source.reads.rate(n)
}
