package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// delayed is a message that a mock answers after a delay.
type delayed[T any] struct {
	at  clocked.Time
	msg T
}

// mockTPT answers each look-up after a fixed delay, as decide says.
type mockTPT struct {
	engine   *clocked.Engine
	id       clocked.UnitID
	in       *clocked.Wire[msg.Translate]
	out      *clocked.Wire[msg.Translation]
	release  *clocked.Wire[msg.Release]
	delay    clocked.Time
	decide   func(now clocked.Time, t *msg.Translate) msg.Outcome
	slow     func(t *msg.Translate) bool // look-ups that take slowDelay
	slowTime clocked.Time
	revokeAt int // every n-th answer is revoked at once; 0: never

	why     key.Verdict // of refusals
	address msg.Address // of every translation
	limit   int         // translations given out at once; 0: any number
	queue   clocked.FIFO[delayed[msg.Translation]]
	slowly  clocked.FIFO[delayed[msg.Translation]]
	live    []bool
	since   []clocked.Time           // by handle: when its answer left
	held    []clocked.Time           // recorded: how long each was held, in the order of release
	busy    func(handle uint32) bool // whether a transfer uses it
	granted int
	asked   []msg.Translate // recorded when record is set
	record  bool
	lookups int
	bad     string
}

func (m *mockTPT) Name() string { return "tpt" }

func (m *mockTPT) Tick(now clocked.Time) {
	for r := m.release.Peek(now); r != nil; r = m.release.Peek(now) {
		if int(r.Handle) >= len(m.live) || !m.live[r.Handle] {
			m.bad = "release of a translation not given out"
		} else {
			m.giveBack(now, r.Handle)
		}
		m.release.Pop(now)
	}
	for t := m.in.Peek(now); t != nil && (m.limit == 0 || m.granted < m.limit); t = m.in.Peek(now) {
		m.take(now, t)
		m.in.Pop(now)
	}
	m.answer(now, &m.queue)
	m.answer(now, &m.slowly)
}

func (m *mockTPT) giveBack(now clocked.Time, h uint32) {
	m.live[h] = false
	m.granted--
	if m.record {
		m.held = append(m.held, now-m.since[h])
	}
	if m.busy(h) {
		m.bad = "release of a translation that a transfer uses"
	}
}

func (m *mockTPT) answer(now clocked.Time, q *clocked.FIFO[delayed[msg.Translation]]) {
	for q.Len() > 0 && q.Front().at <= now && m.out.Ready(now) {
		*m.out.Push(now) = q.Pop().msg
	}
	if q.Len() > 0 && q.Front().at > now {
		m.engine.Wake(m.id, q.Front().at)
	}
}

func (m *mockTPT) take(now clocked.Time, t *msg.Translate) {
	m.lookups++
	if m.record {
		m.asked = append(m.asked, *t)
	}
	o := msg.OutcomeOK
	if m.decide != nil {
		o = m.decide(now, t)
	}
	answer := msg.Translation{Outcome: o, Why: m.why, Cookie: t.Cookie, Write: true, Address: m.address}
	if o == msg.OutcomeOK && !t.Kill {
		answer.Handle = m.handle(now + m.delay)
		answer.PA = userPA(t.VA, answer.Handle)
	}
	if m.slow != nil && m.slow(t) {
		*m.slowly.Push() = delayed[msg.Translation]{at: now + m.slowTime, msg: answer}
		return
	}
	*m.queue.Push() = delayed[msg.Translation]{at: now + m.delay, msg: answer}
	if o == msg.OutcomeOK && !t.Kill && m.revokeAt > 0 && m.lookups%m.revokeAt == 0 {
		*m.queue.Push() = delayed[msg.Translation]{at: now + m.delay, msg: msg.Translation{Outcome: msg.OutcomeRevoke, Handle: answer.Handle}}
	}
}

func (m *mockTPT) handle(at clocked.Time) uint32 {
	m.granted++
	for i, used := range m.live {
		if !used {
			m.live[i], m.since[i] = true, at
			return uint32(i)
		}
	}
	m.live, m.since = append(m.live, true), append(m.since, at)
	return uint32(len(m.live) - 1)
}

// userPA is an address of user memory: it says by which translation it came.
func userPA(va model.VA, handle uint32) model.PA { return model.PA(va) + 1<<40 + model.PA(handle)<<41 }

// user takes userPA apart; ok is false for memory of the adapter's own.
func user(pa model.PA) (va model.VA, handle uint32, ok bool) {
	return model.VA(pa & (1<<40 - 1)), uint32(pa >> 41), pa>>40&1 == 1
}

// mockEndpoint answers reads after readDelay and notifications after
// issueDelay; done sees what it was given.
type mockEndpoint struct {
	engine     *clocked.Engine
	id         clocked.UnitID
	name       string
	in         *clocked.Wire[msg.DMA]
	out        *clocked.Wire[msg.DMADone]
	readDelay  clocked.Time
	issueDelay clocked.Time
	pace       clocked.Time // from one transfer taken to the next
	free       clocked.Time
	seen       func(now clocked.Time, d *msg.DMA)
	status     func(now clocked.Time, d *msg.DMA) msg.Status // of a read; nil: success

	reads, writes clocked.FIFO[delayed[msg.DMA]]
	count         [msg.NumKinds]int
	bytes         int64               // written
	uses          map[uint32]int      // transfers in flight by translation
	check         func(handle uint32) // told of a transfer by a translation; nil: not
}

func (m *mockEndpoint) Name() string { return m.name }

func (m *mockEndpoint) Tick(now clocked.Time) {
	for d := m.in.Peek(now); d != nil; d = m.in.Peek(now) {
		if now < m.free {
			m.engine.Wake(m.id, m.free)
			break
		}
		m.free = now + m.pace
		m.count[d.Kind]++
		m.begin(d)
		if m.seen != nil {
			m.seen(now, d)
		}
		if !d.Write {
			*m.reads.Push() = delayed[msg.DMA]{at: now + m.readDelay, msg: *d}
		} else if d.Notify {
			*m.writes.Push() = delayed[msg.DMA]{at: now + m.issueDelay, msg: *d}
		}
		m.in.Pop(now)
	}
	m.answer(now, &m.writes)
	m.answer(now, &m.reads)
}

func (m *mockEndpoint) begin(d *msg.DMA) {
	if d.Write {
		m.bytes += int64(d.Len)
	}
	if _, h, ok := user(d.PA); ok && m.check != nil {
		m.check(h)
		m.uses[h]++
	}
}

func (m *mockEndpoint) answer(now clocked.Time, q *clocked.FIFO[delayed[msg.DMA]]) {
	for q.Len() > 0 {
		h := q.Front()
		if h.at > now {
			m.engine.Wake(m.id, h.at)
			return
		}
		if !m.out.Ready(now) {
			return
		}
		if h.msg.Ledger != nil {
			h.msg.Ledger.Charge(now, measure.CauseHostMemory)
		}
		if _, t, ok := user(h.msg.PA); ok && m.check != nil {
			m.uses[t]--
		}
		done := msg.DMADone{Kind: h.msg.Kind, Write: h.msg.Write, Cookie: h.msg.Cookie}
		if m.status != nil && !h.msg.Write {
			done.Status = m.status(now, &h.msg)
		}
		*m.out.Push(now) = done
		q.Pop()
	}
}

// mockWire carries packets and loses those that drop names.
type mockWire struct {
	id      clocked.UnitID
	blocked func() bool
	name    string
	in, out *clocked.Wire[*msg.Packet]
	drop    func(p *msg.Packet) bool
	seen    func(now clocked.Time, p *msg.Packet)
	pool    *msg.Pool[msg.Packet]
}

func (m *mockWire) Name() string { return m.name }

func (m *mockWire) Tick(now clocked.Time) {
	if m.blocked != nil && m.blocked() {
		return
	}
	for h := m.in.Peek(now); h != nil && m.out.Ready(now); h = m.in.Peek(now) {
		p := *h
		m.in.Pop(now)
		if m.drop != nil && m.drop(p) {
			m.pool.Put(p)
			continue
		}
		if m.seen != nil {
			m.seen(now, p)
		}
		*m.out.Push(now) = p
	}
}

// mockDriver rings doorbells: keeps outstanding requests of a list posted.
type mockDriver struct {
	engine      *clocked.Engine
	id          clocked.UnitID
	out         *clocked.Wire[msg.Doorbell]
	work        []msg.WQE
	next        int
	posted      int                        // in flight
	freed       clocked.FIFO[clocked.Time] // when completions make room for more
	outstanding int
	notBefore   clocked.Time // of the last request
	fetch       bool         // plain doorbells
	finished    []*measure.Access
	keep        bool
	completions int
}

func (m *mockDriver) Name() string { return "driver" }

func (m *mockDriver) Tick(now clocked.Time) {
	for m.freed.Len() > 0 && *m.freed.Front() <= now {
		m.freed.Pop()
		m.posted--
	}
	for m.next < len(m.work) && m.posted < m.outstanding && m.out.Ready(now) {
		if m.notBefore > now && m.next == len(m.work)-1 {
			m.engine.Wake(m.id, m.notBefore)
			return
		}
		w := &m.work[m.next]
		m.next++
		m.posted++
		w.Access.Issue = now
		w.Access.Ledger.Open(now)
		n := uint32(64)
		if m.fetch {
			n = 8
		}
		*m.out.Push(now) = msg.Doorbell{Len: n, Body: w}
	}
}

// complete is called by the endpoint mock of the same side, at the instant at
// which software sees the entry; the driver posts more a nanosecond later.
func (m *mockDriver) complete(now clocked.Time, a *measure.Access) {
	a.Ledger.Charge(now, measure.CauseCompletion)
	a.Complete = now
	m.completions++
	*m.freed.Push() = now + ns
	if m.keep {
		m.finished = append(m.finished, a)
	}
	m.engine.Wake(m.id, now+ns)
}
