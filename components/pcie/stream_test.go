package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// course is a link between a stream of DMAs and a host, which check what comes as
// it comes and keep no record of it.
type course struct {
	*rig
	adapter *stream
	host    *host
}

func newCourse(t tb, options ...option) *course {
	c := &course{rig: newRig(t, options...)}
	e := c.engine
	a := &stream{engine: e, clock: c.clock(), fail: t}
	a.id = e.Register(a)
	a.Client = Client{
		Req:      requests(e, a.id, c.Endpoint.ID(), true),
		Done:     wire[msg.DMADone](e, c.Endpoint.ID(), a.id, a.clock, 64, cycle),
		Doorbell: wire[msg.Doorbell](e, c.Endpoint.ID(), a.id, a.clock, 8, cycle),
	}
	h := &host{fail: t, latency: c.memory.latency}
	h.id = e.Register(h)
	h.req = wire[msg.MemReq](e, c.Root.ID(), h.id, clocked.Domain{}, 8, hop)
	h.done = wire[msg.MemDone](e, h.id, c.Root.ID(), clocked.Domain{}, 1024, hop)
	h.mmio = wire[msg.Doorbell](e, h.id, c.Root.ID(), clocked.Domain{}, 4, hop)
	c.Endpoint.Connect(EndpointPorts{Clients: []Client{a.Client}})
	c.Root.Connect(RootPorts{MMIO: h.mmio, MemReq: h.req, MemDone: h.done})
	c.adapter, c.host = a, h
	return c
}

// play runs until nothing is left to happen.
func (c *course) play(t tb) {
	t.Helper()
	c.engine.Wake(c.adapter.id, c.engine.Now()+cycle)
	c.engine.Wake(c.host.id, c.engine.Now()+1)
	c.runUntil(t, clocked.Never)
}

// complete checks that all has arrived once and nothing is held anywhere.
func (c *course) complete(t tb) {
	t.Helper()
	a, h := c.adapter, c.host
	s := c.Endpoint.Stats()
	if a.writes != h.written || a.reads != h.read || a.reads != a.answered || h.rung != a.heard {
		t.Errorf("%d writes, %d reads and %d doorbells sent; %d writes, %d reads, %d answers and %d doorbells came",
			a.writes, a.reads, h.rung, h.written, h.read, a.answered, a.heard)
	}
	if s.Unexpected+s.TimedOut > 0 {
		t.Errorf("%d unexpected completions, %d reads timed out", s.Unexpected, s.TimedOut)
	}
	if !c.Idle() || c.engine.Pending() > 0 || len(c.Endpoint.Waits())+len(c.Root.Waits()) > 0 {
		t.Errorf("at the end: idle %v, %d events, waits %q %q", c.Idle(), c.engine.Pending(), c.Endpoint.Waits(), c.Root.Waits())
	}
	if tx := &c.Endpoint.tx; int(tx.tags) != len(c.Endpoint.tags.at) || c.Endpoint.tags.used() > 0 {
		t.Errorf("%d of %d tags are free", tx.tags, len(c.Endpoint.tags.at))
	}
}

// stream is an adapter that issues DMAs as fast as they are taken: number i is
// what dma makes of it. Each write and read is of one TLP.
type stream struct {
	Client
	engine *clocked.Engine
	id     clocked.UnitID
	clock  clocked.Domain
	fail   tb

	dma             func(i uint64) msg.DMA
	next, end       uint64
	loose           bool   // DMAs may pass each other
	writes, reads   uint64 // issued
	answered, heard uint64 // reads, doorbells
	at              clocked.Time
}

func (s *stream) Name() string { return "stream" }

func (s *stream) Tick(now clocked.Time) {
	for d := s.Done.Peek(now); d != nil; d = s.Done.Peek(now) {
		if d.Cookie != s.answered && !s.loose || d.Status != msg.StatusSuccess {
			s.fail.Fatalf("answer of read %d, %v, where that of %d was due", d.Cookie, d.Status, s.answered)
		}
		s.answered++
		s.at = now
		s.Done.Pop(now)
	}
	for b := s.Doorbell.Peek(now); b != nil; b = s.Doorbell.Peek(now) {
		if b.Cookie != s.heard {
			s.fail.Fatalf("doorbell %d where %d was due", b.Cookie, s.heard)
		}
		s.heard++
		s.Doorbell.Pop(now)
	}
	if s.next == s.end {
		return
	}
	if s.clock.Edge(now) != now {
		s.engine.Wake(s.id, s.clock.Next(now))
		return
	}
	if !s.Req.Ready(now) {
		return
	}
	d := s.Req.Push(now)
	*d = s.dma(s.next)
	s.next++
	if d.Write {
		d.Cookie = s.writes
		s.writes++
	} else {
		d.Cookie = s.reads
		s.reads++
	}
	if s.next < s.end {
		s.engine.Wake(s.id, s.clock.Next(now))
	}
}

// host is memory that answers reads after a fixed time, and software that rings
// doorbells as fast as they are taken.
type host struct {
	id      clocked.UnitID
	req     *clocked.Wire[msg.MemReq]
	done    *clocked.Wire[msg.MemDone]
	mmio    *clocked.Wire[msg.Doorbell]
	latency clocked.Time
	fail    tb

	loose         bool // requests may pass each other
	written, read uint64
	rung, bells   uint64
	at            clocked.Time // of the last request
}

func (h *host) Name() string { return "host" }

func (h *host) Tick(now clocked.Time) {
	for h.rung < h.bells && h.mmio.Ready(now) {
		*h.mmio.Push(now) = msg.Doorbell{Len: 8, Cookie: h.rung}
		h.rung++
	}
	for q := h.req.Peek(now); q != nil; q = h.req.Peek(now) {
		due := &h.read
		if q.Write {
			due = &h.written
		} else if !h.done.Ready(now) {
			return
		}
		if q.Cookie != *due && !h.loose {
			h.fail.Fatalf("request %+v where number %d of its kind was due", q, *due)
		}
		*due++
		h.at = now
		if !q.Write {
			*h.done.PushAt(now, now+h.latency) = msg.MemDone{Kind: q.Kind, Tag: q.Tag, Len: q.Len, PA: q.PA, Relaxed: q.Relaxed}
		}
		h.req.Pop(now)
	}
}

// block is DMA number i of 256 bytes, all in blocks of their own.
func block(write bool, i uint64) msg.DMA {
	return msg.DMA{Write: write, PA: 1<<32 + model.PA(i%(1<<20))<<8, Len: 256}
}
