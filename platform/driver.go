package platform

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// driverPort is one peer: where its doorbells go and its completions come from.
type driverPort struct {
	mmio  *clocked.Wire[msg.Doorbell]
	inbox *clocked.Wire[msg.Inbox]
	ready clocked.FIFO[*passport] // let through by the host, and not yet posted
}

// driver is the peers' software: it posts the workload's accesses to the
// requesters and takes their completions.
type driver struct {
	engine *clocked.Engine
	id     clocked.UnitID
	peers  []driverPort
	space  *Space
	source workload.Source
	record *measure.Recorder

	outstanding int    // closed loop: accesses in flight, all QPs together; 0 is an open loop
	qps         uint32 // queue pairs in all; those of the workload are folded onto them
	deal        bool   // the workload names no QPs: accesses go to all in turn
	inline      uint32 // bytes of payload that ride in the doorbell
	warmup      model.Warmup

	pending  workload.Access
	havePend bool
	ended    bool // the source has no more
	over     bool // the end was announced
	nextID   uint64
	inFlight int
	done     uint64
	warm     bool   // the warm-up is over
	warmIDs  uint64 // accesses issued in it
	lastDone clocked.Time

	passports passports
	grants    *advertiser // nil: peers may use every buffer
	registrar *registrar  // nil: memory is registered once, before the run
	script    *Script     // nil: there is a workload

	notify func(done uint64) // progress
}

// Name is the unit's name.
func (d *driver) Name() string { return "driver" }

// Tick takes completions and posts accesses.
func (d *driver) Tick(now clocked.Time) {
	for i := range d.peers {
		d.complete(now, &d.peers[i])
	}
	d.register(now)
	if d.script != nil {
		d.script.serve(now)
	}
	d.serve(now)
	for d.post(now) {
	}
	if d.registrar != nil {
		d.registrar.serve(now)
	}
	if d.idle() && !d.over {
		d.over = true
		d.engine.Break()
	}
}

// idle tells whether every access of the workload has completed.
func (d *driver) idle() bool { return d.ended && !d.havePend && d.inFlight == 0 }

func (d *driver) complete(now clocked.Time, p *driverPort) {
	for m := p.inbox.Peek(now); m != nil; m = p.inbox.Peek(now) {
		a := m.Body.(*measure.Access)
		p.inbox.Pop(now)
		d.finish(now, d.passports.of(a), measure.CauseCompletion)
	}
}

// finish ends an access; its last wait is charged to c.
func (d *driver) finish(now clocked.Time, p *passport, c measure.Cause) {
	a := &p.access
	a.Ledger.Charge(now, c)
	a.Complete = now
	if p.buffers {
		d.grants.done(p)
	}
	if p.registration != nobody {
		d.registrar.done(p)
	}
	d.record.Access(now, a)
	if d.script != nil {
		d.script.Player.Done(now, a)
	}
	d.passports.put(a)
	d.inFlight--
	d.done++
	d.lastDone = now
	if d.notify != nil && d.done&0x3fff == 0 {
		d.notify(d.done)
	}
}

// register takes the kernel's answers, and has memory remapped when that is due.
func (d *driver) register(now clocked.Time) {
	g := d.registrar
	if g == nil {
		return
	}
	g.take(now)
	for g.ready.Len() > 0 {
		p := g.ready.Pop()
		p.access.Ledger.Charge(now, measure.CauseRegistration)
		*d.peer(p.access.QP).ready.Push() = p
	}
	for g.refused.Len() > 0 {
		d.refuse(now, g.refused.Pop(), measure.CauseRegistration)
	}
	if g.remapAt > 0 && !d.idle() {
		g.remap(now)
		d.engine.Wake(d.id, g.remapAt)
	}
}

// refuse ends an access that the host does not let through.
func (d *driver) refuse(now clocked.Time, p *passport, c measure.Cause) {
	p.access.Status = measure.StatusNotAdvertised
	d.finish(now, p, c)
}

// serve posts the accesses that the host has let through.
func (d *driver) serve(now clocked.Time) {
	if g := d.grants; g != nil {
		g.serve(now)
		for p := g.due(now); p != nil; p = g.due(now) {
			if !p.buffers {
				d.refuse(now, p, measure.CauseGrant)
				continue
			}
			p.access.Ledger.Charge(now, measure.CauseGrant)
			if d.registrar == nil || d.registrar.ask(p) {
				*d.peer(p.access.QP).ready.Push() = p
			}
		}
		if at := g.next(); at != clocked.Never {
			d.engine.Wake(d.id, at)
		}
	}
	for i := range d.peers {
		for p := &d.peers[i]; p.ready.Len() > 0 && p.mmio.Ready(now); {
			d.ring(now, p, p.ready.Pop())
		}
	}
}

// peer is the one that a queue pair belongs to.
func (d *driver) peer(qp uint32) *driverPort { return &d.peers[int(qp)%len(d.peers)] }

// post offers the next access if it is due and its peer takes doorbells.
func (d *driver) post(now clocked.Time) bool {
	if !d.havePend && !d.fetch() {
		return false
	}
	if d.outstanding > 0 && d.inFlight >= d.outstanding {
		return false
	}
	at := now
	if d.outstanding == 0 {
		at = clocked.Time(d.pending.TimePS)
		if at > now {
			d.engine.Wake(d.id, at)
			return false
		}
	}
	qp := d.pending.QP % d.qps
	if d.deal {
		qp = uint32(d.nextID % uint64(d.qps))
	}
	p := d.peer(qp)
	if !p.mmio.Ready(now) || p.ready.Len() > 0 {
		return false
	}
	d.send(now, d.issue(now, at, qp))
	d.havePend = false
	return true
}

func (d *driver) fetch() bool {
	if d.ended {
		return false
	}
	if !d.source.Next(&d.pending) {
		d.ended = true
		return false
	}
	d.havePend = true
	return true
}

// issue makes the passport of the pending access. In an open loop the access
// is as old as its offered time, whatever held it up.
func (d *driver) issue(now, at clocked.Time, qp uint32) *passport {
	w := &d.pending
	p := d.passports.get()
	a := &p.access
	a.ID = d.nextID
	d.nextID++
	a.Adapter = uint16(int(qp) % len(d.peers))
	a.Op, a.QP, a.Len, a.VA = w.Op, qp, w.Len, w.VA
	a.Issue = at
	a.Ledger.Open(at)
	a.Ledger.Charge(now, measure.CauseSendQueue)
	a.Warmup = d.inWarmup(a)
	if !a.Warmup && !d.warm {
		d.warm = true
		d.warmIDs = a.ID
		d.engine.Break()
	}
	p.region, p.registration = nobody, nobody
	p.bell = d.doorbellBytes(w)
	p.wqe = msg.WQE{Op: w.Op, QP: qp, Len: w.Len, Page: msg.NoPage, Access: a}
	if w.Op != model.OpSend {
		d.aim(p, w)
	}
	a.Key = p.wqe.Key
	d.inFlight++
	return p
}

// send posts an access if the host lets its peer use the memory.
func (d *driver) send(now clocked.Time, p *passport) {
	if d.grants != nil && !d.grants.ask(now, p) {
		d.serve(now) // the host's word may take no time
		return
	}
	if d.registrar != nil && !d.registrar.ask(p) {
		return
	}
	d.ring(now, d.peer(p.access.QP), p)
}

// ring posts an access.
func (d *driver) ring(now clocked.Time, to *driverPort, p *passport) {
	*to.mmio.Push(now) = msg.Doorbell{Len: p.bell, Body: &p.wqe, Ledger: &p.access.Ledger}
}

// aim gives the request its key, placed address and page. Memory that is not
// registered gets key 0, which names nothing: the responder refuses it.
func (d *driver) aim(p *passport, w *workload.Access) {
	q := &p.wqe
	q.VA = w.VA
	r := d.space.Find(w.Host, w.VA)
	if r == nil {
		return
	}
	p.region = r.Number
	q.Key = uint32(r.Key)
	q.VA = r.Placed + (w.VA - r.VA)
	q.Page = d.space.Page(r, q.VA)
}

func (d *driver) inWarmup(a *measure.Access) bool {
	return a.ID < d.warmup.Accesses || int64(a.Issue) < d.warmup.Picoseconds
}

// Waits names what the driver waits for, for a deadlock dump.
func (d *driver) Waits() []string {
	if d.inFlight == 0 {
		return nil
	}
	all := []string{fmt.Sprintf("driver: %d of %d accesses posted are not complete", d.inFlight, d.nextID)}
	if d.registrar != nil {
		all = append(all, d.registrar.Waits()...)
	}
	return all
}

// due is when the next access is to be posted, for the watchdog of a slow open
// loop.
func (d *driver) due() clocked.Time {
	if d.outstanding == 0 && d.havePend && d.inFlight == 0 {
		return clocked.Time(d.pending.TimePS)
	}
	return 0
}

// ID is the unit's identity on its engine.
func (d *driver) ID() clocked.UnitID { return d.id }
