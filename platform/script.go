package platform

import (
	"context"
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/iommu"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/components/tpt"
	"rnicmmu/components/transport"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/workload"
)

// Script is a run in which somebody says what happens and when, in the place of
// a workload.
type Script struct {
	Memory []Memory
	Sends  bool // there are SENDs: receive buffers are registered
	Player Player

	requests *clocked.Wire[msg.Registration]
	answers  *clocked.Wire[msg.Registered]
	asked    clocked.FIFO[msg.Registration]
}

// Player acts between instants.
type Player interface {
	// Play is called before time 0 and at the end of each instant, at now, and
	// just before the instant that it last asked for. What it does is seen after
	// now. It returns the next instant that it waits for (clocked.Never: none),
	// and whether there is nothing left that it will do.
	Play(now clocked.Time) (next clocked.Time, over bool)
	// Done is told of each access that ends, within its instant.
	Done(now clocked.Time, a *measure.Access)
	// Registered is told of each answer to Register, and each notice, likewise.
	Registered(m *msg.Registered)
}

// Memory is a region of a script: on every adapter, under the key of its number.
type Memory struct {
	VA      model.VA
	Len     uint64
	Bounds  uint64                           // bytes that the key covers
	Rights  key.Rights                       // of peers
	Dynamic bool                             // registered by Register, not before the run
	Initial func(page uint32) kernel.Initial // backing of its pages, where they page; nil: host.pager.initial
}

// Post is an access of a script.
type Post struct {
	Op         model.Op
	QP         uint32 // of all; its adapter is this modulo their number
	Region     int    // that it means; below 0: none
	Key        uint32
	VA         model.VA
	Len        uint32
	Fence      bool
	Invalidate key.Key // of a SEND
}

// regions are the script's as the workload's.
func (c *Script) regions() (all []workload.Region) {
	for i := range c.Memory {
		all = append(all, workload.Region{VA: c.Memory[i].VA, Len: c.Memory[i].Len})
	}
	return all
}

// scripted is what the script says of a region; nil: nothing.
func (s *System) scripted(r *Region) *Memory {
	if s.script == nil || int(r.Number) >= len(s.script.Memory) {
		return nil
	}
	return &s.script.Memory[r.Number]
}

// isDynamic tells whether a region is registered in the run.
func (s *System) isDynamic(r *Region) bool {
	if m := s.scripted(r); m != nil {
		return m.Dynamic
	}
	return r.dynamic(&s.spec.Workload)
}

// rights are those of peers on a region, and the bytes that its key covers.
func (s *System) rights(r *Region, length uint64) (key.Rights, uint64) {
	if m := s.scripted(r); m != nil {
		return m.Rights, m.Bounds
	}
	return allRights, length
}

// initial is the backing of a page before the run.
func (s *System) initial(page uint32) kernel.Initial {
	for i := range s.space.Regions {
		r := &s.space.Regions[i]
		if page < r.FirstPage || page >= r.FirstPage+r.Pages {
			continue
		}
		if m := s.scripted(r); m != nil && m.Initial != nil {
			return m.Initial(page - r.FirstPage)
		}
	}
	switch s.spec.Host.Pager.Initial {
	case "resident":
		return kernel.InitialResident
	case "swapped":
		return kernel.InitialSwapped
	}
	return kernel.InitialZero
}

// Counters are the figures since time 0 that units count, as they are now.
func (s *System) Counters() measure.Summary { return s.counters() }

// Post posts an access, which is issued the instant after now. The access is the
// driver's from then on: of it, only the address of its counts, and the number,
// stay what they are until it is done.
func (s *System) Post(now clocked.Time, w Post) *measure.Access {
	d := s.driver
	p := d.passports.get()
	a := &p.access
	a.ID = d.nextID
	d.nextID++
	d.inFlight++
	a.Adapter = uint16(int(w.QP) % len(d.peers))
	a.Op, a.QP, a.Len, a.VA, a.Key = w.Op, w.QP, w.Len, w.VA, w.Key
	a.Issue = now + 1
	a.Ledger.Open(now + 1)
	p.region, p.registration = nobody, nobody
	p.wqe = msg.WQE{Op: w.Op, QP: w.QP, Key: w.Key, Len: w.Len, VA: w.VA, Page: msg.NoPage, Fence: w.Fence, Invalidate: w.Invalidate, Access: a}
	if w.Region >= 0 {
		r := &s.space.Regions[w.Region]
		p.region = r.Number
		if w.VA >= r.Placed && uint64(w.VA-r.Placed) < r.Len {
			p.wqe.Page = s.space.Page(r, w.VA)
		}
	}
	p.bell = d.doorbellBytes(&workload.Access{Op: w.Op, Len: w.Len})
	*d.peer(w.QP).ready.Push() = p
	s.engine.Wake(d.id, now+1)
	return a
}

// Register asks the kernel for a change of a region on an adapter.
func (s *System) Register(now clocked.Time, adapter, region int, m msg.Registration) {
	m.Region = adapter*len(s.space.Regions) + region
	*s.script.asked.Push() = m
	s.engine.Wake(s.driver.id, now+1)
}

// Window is the key of a region's window, where workload.registration_method
// gives it one.
func (s *System) Window(region int) key.Key { return s.windowOf(&s.space.Regions[region]) }

// serve passes on what the script asks of the kernel, and what it answers.
func (c *Script) serve(now clocked.Time) {
	if c.requests == nil {
		return
	}
	for m := c.answers.Peek(now); m != nil; m = c.answers.Peek(now) {
		c.Player.Registered(m)
		c.answers.Pop(now)
	}
	for c.asked.Len() > 0 && c.requests.Ready(now) {
		*c.requests.Push(now) = c.asked.Pop()
	}
}

// connectScript joins the script to the kernel, where it registers anything.
func (s *System) connectScript(k *kernel.Ports) {
	for i := range s.script.Memory {
		if s.script.Memory[i].Dynamic {
			s.script.requests = hostWire[msg.Registration](s, s.driver, s.kernel, depthRegister)
			s.script.answers = hostWire[msg.Registered](s, s.kernel, s.driver, depthRegister)
			k.Registration, k.Registered = s.script.requests, s.script.answers
			return
		}
	}
}

// play runs a script instant by instant to its end.
func (s *System) play(ctx context.Context) error {
	s.driver.warm = true
	s.warm()
	steps := s.engine.Stepwise()
	defer steps.End()
	next, over := s.script.Player.Play(0)
	moved, seen := clocked.Time(0), s.driver.done
	for !over || s.driver.inFlight > 0 {
		if ctx.Err() != nil {
			return nil
		}
		if over && s.engine.Pending() == 0 || !over && next == clocked.Never && s.engine.Pending() == 0 {
			return &Stuck{Reason: "deadlock: nothing is left to happen, and the script is not over", Waits: s.Waits()}
		}
		limit := moved + s.spec.Watchdog
		if next < clocked.Never {
			limit = max(next-1, 0)
		}
		ran, err := steps.Run(limit)
		if err != nil {
			return err
		}
		now := s.engine.Now()
		if !ran { // nothing before the limit
			if next == clocked.Never {
				return &Stuck{Reason: fmt.Sprintf("watchdog: no access completed in %v of simulated time", s.spec.Watchdog), Waits: s.Waits()}
			}
			now = limit
		}
		if s.driver.done != seen || next < clocked.Never {
			moved, seen = now, s.driver.done
		}
		next, over = s.script.Player.Play(now)
	}
	s.driver.ended = true
	return nil
}

// What a script, or what watches a run, may look at and act upon.

// Kernel is the host's kernel.
func (s *System) Kernel() *kernel.Kernel { return s.kernel }

// Memory is the host's memory.
func (s *System) Memory() *memory.Memory { return s.memory }

// IOMMU is the host's; nil: it has none.
func (s *System) IOMMU() *iommu.Unit { return s.iommu }

// TPT is an adapter's.
func (s *System) TPT(adapter int) *tpt.Unit { return s.nodes[adapter].tpt }

// Link is an adapter's.
func (s *System) Link(adapter int) *pcie.Link { return s.nodes[adapter].link }

// PeerLink is that of an adapter's peer.
func (s *System) PeerLink(adapter int) *pcie.Link { return s.nodes[adapter].peerLink }

// Transport are the two ends of an adapter's queue pairs.
func (s *System) Transport(adapter int) (*transport.Requester, *transport.Responder) {
	return s.nodes[adapter].requester, s.nodes[adapter].responder
}

// QPs is the number of queue pairs, all adapters together.
func (s *System) QPs() int { return s.spec.Workload.QPs }

// Region is the n-th region.
func (s *System) Region(n int) *Region { return &s.space.Regions[n] }
