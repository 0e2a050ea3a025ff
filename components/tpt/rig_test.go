package tpt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
)

// rig is a unit between a responder and a kernel that act at random, and an
// oracle that knows every command and when it was sent and acknowledged. All
// draws follow the order of what the rig sends or receives, never the order in
// which units tick.
type rig struct {
	engine *clocked.Engine
	unit   *Unit
	key    key.Key
	random [3]*rand.Rand // of the responder, the endpoint and the kernel

	ids      [3]clocked.UnitID
	work     []dueRequest // requests and spontaneous commands, by time
	requests []*tracked
	held     []*tracked // translations that the responder has
	stalled  clocked.Time
	dones    []timedDone // by time
	bells    []bell      // by time
	history  []*issued
	acked    int // commands from the first on that are acknowledged
	tags     [ats.MaxTags]tag
	oracle   oracle
	failed   map[uint32]bool // QPs told that a fault failed
	errors   bool            // some reads of tables, and translation requests, end without data
	erred    int             // that did
	events   uint64
	most     int
	logs     [2]strings.Builder // what the responder and the endpoint saw
	broken   []string
}

type dueRequest struct {
	at  clocked.Time
	req *tracked
}

// bell is what the kernel does at a time: a doorbell with its body, or a change
// of the page table.
type bell struct {
	at   clocked.Time
	body any
}

// issued is a command with its place in the history of the tables.
type issued struct {
	cmd     *msg.Command
	sent    clocked.Time
	refused bool // the oracle says so
	acked   bool
}

// tracked is a request and what became of it.
type tracked struct {
	req     msg.Translate
	ledger  measure.Ledger
	sent    clocked.Time
	after   int // commands acknowledged when it was sent
	answers int
	state   int // commands executed when its page was translated
	key     int // and when its key was checked
	handle  uint32
	release clocked.Time // 0: not given
}

func newRig(t *rapid.T, sp Spec, mode Mode, seed uint64, shuffle uint64, spurious bool) *rig {
	e := clocked.NewEngine()
	if shuffle > 0 {
		e.Shuffle(shuffle)
	}
	r := &rig{engine: e, failed: map[uint32]bool{}}
	var err error
	if r.unit, err = New(e, "tpt0", sp, Config{Place: Place{MPT: 1 << 40, MTT: 1 << 41, Keys: 4, Entries: rigPages}, Seed: seed, Mode: mode, PASID: process}); err != nil {
		t.Fatal(err)
	}
	r.key, err = r.unit.Keys().Register(key.Region{PD: 1, Base: baseVA, Length: rigPages << 12, PageShift: model.Shift4K, FastReg: true,
		Rights: key.LocalWrite | key.RemoteRead | key.RemoteWrite | key.OnDemand})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range []func(clocked.Time){r.responder, r.endpoint, r.kernel} {
		r.ids[i] = e.Register(side{fmt.Sprint(i), f})
		r.random[i] = rand.New(rand.NewPCG(seed, uint64(i)))
	}
	hop := func(w, rd clocked.UnitID, depth int) clocked.WireSpec {
		return clocked.WireSpec{Domain: r.unit.Clock(), Depth: depth, Latency: cycle, Writer: w, Reader: rd}
	}
	u := r.unit
	u.Ports = Ports{
		Translate:   clocked.NewWire[msg.Translate](e, hop(r.ids[0], u.ID(), 4)),
		Translation: clocked.NewWire[msg.Translation](e, hop(u.ID(), r.ids[0], 2)),
		Release:     clocked.NewWire[msg.Release](e, hop(r.ids[0], u.ID(), 2)),
		DMA:         clocked.NewWire[msg.DMA](e, hop(u.ID(), r.ids[1], 2)),
		DMADone:     clocked.NewWire[msg.DMADone](e, hop(r.ids[1], u.ID(), 2)),
		Doorbell:    clocked.NewWire[msg.Doorbell](e, hop(r.ids[2], u.ID(), 2)),
	}
	r.oracle.reset()
	r.schedule(seed)
	if spurious {
		r.disturb(seed)
	}
	return r
}

// schedule draws requests in bursts, and commands at random times.
func (r *rig) schedule(seed uint64) {
	g := rand.New(rand.NewPCG(seed, 9))
	at := clocked.Time(0)
	for range 120 {
		at += clocked.Time([]int{0, 1, 1, 2, 300, 1500}[g.IntN(6)]) * cycle
		page := g.Uint64N(rigPages)
		x := &tracked{sent: at}
		va := baseVA + model.VA(page<<12)
		x.req = msg.Translate{Cookie: uint64(len(r.requests)), QP: g.Uint32N(3), PD: 1, Key: uint32(r.key), Op: model.OpRead,
			CheckKey: true, CheckVA: va, CheckLen: 64, VA: va, Len: 64, Page: uint32(page), Hold: g.IntN(3) == 0, Ledger: &x.ledger}
		if g.IntN(2) == 0 {
			x.req.Op, x.req.Write = model.OpWrite, true
		}
		if g.IntN(12) == 0 {
			x.req.Key ^= 1
		}
		r.requests = append(r.requests, x)
		r.work = append(r.work, dueRequest{at, x})
		r.engine.Wake(r.ids[0], at)
	}
	for range 40 {
		t := clocked.Time(g.Int64N(int64(at/cycle)+1)) * cycle
		if r.unit.config.Mode == ATC {
			r.scheduleChange(g, t)
		} else {
			r.scheduleCommand(g, t)
		}
	}
}

// scheduleCommand draws a command, and for what has an end one that ends it.
func (r *rig) scheduleCommand(g *rand.Rand, at clocked.Time) {
	first := g.Uint64N(rigPages)
	c := &msg.Command{Op: msg.CmdInvalidate, Entry: first, Count: 1 + g.Uint32N(uint32(min(3, rigPages-first))), Posts: 1, Moving: g.IntN(2) == 0}
	end := *c
	switch g.IntN(12) {
	case 0, 1, 2:
		c = r.fill(g, first)
	case 3:
		c.Op = msg.CmdProtect
	case 4, 5:
		c.Op, end.Op = msg.CmdSuspend, msg.CmdUnsuspend
	case 6:
		c = &msg.Command{Op: msg.CmdSuspend, Whole: true, Key: r.key}
		end = *c
		end.Op = msg.CmdUnsuspend
	case 7:
		c = &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyInvalidate, Key: r.key}}
		end = *c
		end.Change.Op, end.Change.Region = msg.KeyFastRegister, *r.unit.Keys().Lookup(r.key)
	}
	r.ring(at, c)
	if end.Op != msg.CmdInvalidate {
		r.ring(at+clocked.Time(g.IntN(4000))*cycle, &end)
	}
}

func (r *rig) fill(g *rand.Rand, page uint64) *msg.Command {
	return &msg.Command{Op: msg.CmdFill, Entry: page, Count: 1, Posts: 1, Write: g.IntN(4) > 0, PA: []model.PA{0}}
}

// ring acts at the given time, behind what is due at the same time.
func (r *rig) ring(at clocked.Time, body any) {
	i, _ := slices.BinarySearchFunc(r.bells, at+1, func(b bell, t clocked.Time) int { return int(b.at - t) })
	r.bells = slices.Insert(r.bells, i, bell{at, body})
	r.engine.Wake(r.ids[2], at)
}

// disturb wakes the unit again and again, on and off the edges of its clock.
func (r *rig) disturb(seed uint64) {
	g := rand.New(rand.NewPCG(seed, 8))
	for at := clocked.Time(0); at < 100_000*cycle; at += clocked.Time(g.Int64N(int64(20 * cycle))) {
		r.engine.Wake(r.unit.ID(), at)
	}
}

func (r *rig) fail(now clocked.Time, format string, args ...any) {
	r.broken = append(r.broken, now.String()+": "+fmt.Sprintf(format, args...))
}

// responder takes translations unless it has stalled, gives them back after a
// random time and sends requests as the wire takes them.
func (r *rig) responder(now clocked.Time) {
	u := r.unit
	r.most = max(r.most, u.results.Len())
	for now >= r.stalled {
		m := u.Translation.Peek(now)
		if m == nil {
			break
		}
		r.take(now, m)
		u.Translation.Pop(now)
		if r.random[0].IntN(8) == 0 {
			r.stalled = now + clocked.Time(1+r.random[0].IntN(200))*cycle
			r.engine.Wake(r.ids[0], r.stalled)
		}
	}
	for i := 0; i < len(r.held); {
		if x := r.held[i]; x.release <= now && u.Release.Ready(now) {
			*u.Release.Push(now) = msg.Release{Handle: x.handle}
			r.held = slices.Delete(r.held, i, i+1)
			continue
		}
		i++
	}
	for len(r.work) > 0 && r.work[0].at <= now && u.Translate.Ready(now) {
		x := r.work[0].req
		r.work = r.work[1:]
		x.sent, x.after = now, r.acked
		x.ledger.Open(now)
		*u.Translate.Push(now) = x.req
	}
}

func (r *rig) take(now clocked.Time, m *msg.Translation) {
	fmt.Fprintf(&r.logs[0], "%v %+v\n", now, *m)
	if m.Outcome == msg.OutcomeRevoke {
		for _, x := range r.held {
			if x.handle == m.Handle && x.release > now {
				x.release = now + cycle
				r.engine.Wake(r.ids[0], x.release)
			}
		}
		return
	}
	x := r.requests[m.Cookie]
	x.answers++
	r.check(now, x, m)
	if m.Outcome == msg.OutcomeOK {
		x.handle, x.release = m.Handle, now+clocked.Time(1+r.random[0].IntN(1000))*cycle
		r.held = append(r.held, x)
		r.engine.Wake(r.ids[0], x.release)
	}
}

// endpoint answers reads after random times, in any order, and stops taking
// requests now and then.
func (r *rig) endpoint(now clocked.Time) {
	u, g := r.unit, r.random[1]
	for len(r.dones) > 0 && r.dones[0].at <= now && u.DMADone.Ready(now) {
		*u.DMADone.Push(now) = r.dones[0].msg
		r.dones = r.dones[1:]
	}
	for m := u.DMA.Peek(now); m != nil; m = u.DMA.Peek(now) {
		fmt.Fprintf(&r.logs[1], "%v %v %v %#x %d\n", now, m.Kind, m.Write, m.PA, m.Len)
		switch {
		case !m.Write:
			at := now + clocked.Time(1+g.IntN(600))*cycle
			i, _ := slices.BinarySearchFunc(r.dones, at+1, func(d timedDone, t clocked.Time) int { return int(d.at - t) })
			r.dones = slices.Insert(r.dones, i, timedDone{at, r.endOf(now, m)})
			r.engine.Wake(r.ids[1], at)
		case m.Kind == msg.KindCQE:
			r.acknowledge(now, m.Body.(*msg.Command))
		case m.Kind == msg.KindEQE:
			r.events++
			r.service(now, m.Body.(*msg.Event))
		case m.Kind == msg.KindMessage:
			r.message(now, m.Body)
		}
		u.DMA.Pop(now)
		if g.IntN(6) == 0 {
			r.engine.Wake(r.ids[1], now+clocked.Time(1+g.IntN(100))*cycle)
			break
		}
	}
}

// endOf is the answer of a read, or now and then an error. What comes with it is
// not to be looked at.
func (r *rig) endOf(now clocked.Time, m *msg.DMA) msg.DMADone {
	d := r.answerOf(now, m)
	if g := r.random[1]; r.errors && m.Kind != msg.KindCommand && g.IntN(12) == 0 {
		r.erred++
		d.Status, d.Entry = final[g.IntN(len(final))], ^uint64(0)
	}
	return d
}

func (r *rig) acknowledge(now clocked.Time, cmd *msg.Command) {
	c := r.history[slices.IndexFunc(r.history, func(c *issued) bool { return c.cmd == cmd && !c.acked })]
	if c.refused != (cmd.Change.Err != nil) || r.unit.config.Mode == Table && c != r.history[r.acked] {
		r.fail(now, "acknowledged %+v, refused %v, out of turn or not as expected", *cmd, c.refused)
	}
	r.settle(now, c)
}

// settle marks a command as acknowledged: what it takes back is not out any more.
func (r *rig) settle(now clocked.Time, c *issued) {
	c.acked = true
	for r.acked < len(r.history) && r.history[r.acked].acked {
		r.acked++
	}
	for _, x := range r.held {
		r.checkRevoked(now, x, "held")
	}
}

// service is the kernel's fault handler: most faults fill their page, and all
// are resumed, a few with an error.
func (r *rig) service(now clocked.Time, e *msg.Event) {
	g := r.random[1]
	at := now + clocked.Time(1+g.IntN(3000))*cycle
	if g.IntN(5) > 0 {
		r.ring(at, r.fill(g, e.Entry))
	}
	r.ring(at, &msg.Command{Op: msg.CmdResume, Token: e.Token, Count: 1, Failed: g.IntN(6) == 0, Owner: e.QP})
}

// kernel rings the doorbells that are due.
func (r *rig) kernel(now clocked.Time) {
	for len(r.bells) > 0 && r.bells[0].at <= now && r.unit.Doorbell.Ready(now) {
		body := r.bells[0].body
		r.bells = r.bells[1:]
		switch x := body.(type) {
		case *msg.Command:
			if x.Failed {
				r.failed[x.Owner] = true
			}
			r.execute(now, x)
		case *change:
			if body = r.alter(now, x); body == nil {
				continue
			}
		case *response:
			body = r.respond(now, x)
		}
		*r.unit.Doorbell.Push(now) = msg.Doorbell{Len: 8, Body: body}
	}
}

// execute books a command; every fill has a frame of its own.
func (r *rig) execute(now clocked.Time, c *msg.Command) *issued {
	if c.Op == msg.CmdFill && c.PA[0] == 0 {
		c.PA[0] = model.PA(len(r.history)+1) << 12
	}
	x := &issued{cmd: c, sent: now, refused: !r.oracle.execute(c)}
	r.history = append(r.history, x)
	return x
}
