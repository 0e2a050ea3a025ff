package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
)

// ATS-4: on a PCIe link that the adapter's data and its messages share, the
// Invalidate Completion reaches the host behind all bytes written by the old
// translation, although they are written by another client of the endpoint and
// long after the invalidation has come.
func TestCompletionPushesWrites(t *testing.T) {
	const bytes, late = 16 << 10, 2000 * cycle
	var link pcie.Spec
	if err := configs.Defaults(&link); err != nil {
		t.Fatal(err)
	}
	e := clocked.NewEngine()
	u, err := New(e, "tpt0", spec(), Config{Place: Place{MPT: 1 << 40, MTT: 1 << 41, Keys: 4, Entries: 1}, Mode: ATC, PASID: process})
	if err != nil {
		t.Fatal(err)
	}
	k, err := u.Keys().Register(key.Region{PD: 1, Base: baseVA, Length: bytes, PageShift: model.Shift4K, Rights: key.LocalWrite | key.RemoteWrite})
	if err != nil {
		t.Fatal(err)
	}
	l, err := pcie.New(e, "pcie0", link, u.Clock())
	if err != nil {
		t.Fatal(err)
	}
	m := &dataMover{engine: e, unit: u, link: l, key: k, bytes: bytes, late: late}
	m.connect()
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	if !m.waiting || m.written != bytes || !m.completed || m.behind != bytes || !u.Idle() {
		t.Errorf("%d bytes in memory, completed %v behind %d of %d; waits %v", m.written, m.completed, m.behind, bytes, u.Waits())
	}
}

// dataMover is a responder that writes late by a translation which is called
// back meanwhile, and the host at the other end of the link. Translation
// requests are answered beside the link.
type dataMover struct {
	engine *clocked.Engine
	unit   *Unit
	link   *pcie.Link
	key    key.Key
	bytes  uint32
	late   clocked.Time

	responder, beside, host clocked.UnitID
	data, tables            pcie.Client // of the responder, and of the unit
	memory                  *clocked.Wire[msg.MemReq]
	memoryDone              *clocked.Wire[msg.MemDone]
	mmio                    *clocked.Wire[msg.Doorbell]

	asked, wrote, called bool
	writeAt              clocked.Time
	translation          msg.Translation
	ledger               measure.Ledger
	written, behind      uint32
	completed            bool
	waiting              bool // the page was called back before the write began
}

func (m *dataMover) connect() {
	e, u := m.engine, m.unit
	m.responder = e.Register(side{"responder", m.tickResponder})
	m.beside = e.Register(side{"beside", m.tickBeside})
	m.host = e.Register(side{"host", m.tickHost})
	end := m.link.Endpoint.ID()
	u.Ports = Ports{
		Translate:   inside[msg.Translate](m, m.responder, u.ID()),
		Translation: inside[msg.Translation](m, u.ID(), m.responder),
		Release:     inside[msg.Release](m, m.responder, u.ID()),
		DMA:         inside[msg.DMA](m, u.ID(), m.beside),
		DMADone:     inside[msg.DMADone](m, m.beside, u.ID()),
		Doorbell:    inside[msg.Doorbell](m, end, u.ID()),
	}
	m.data = pcie.Client{Req: inside[msg.DMA](m, m.responder, end), Done: inside[msg.DMADone](m, end, m.responder),
		Doorbell: inside[msg.Doorbell](m, end, m.responder)}
	m.tables = pcie.Client{Req: inside[msg.DMA](m, m.beside, end), Done: inside[msg.DMADone](m, end, m.beside), Doorbell: u.Doorbell}
	m.link.Endpoint.Connect(pcie.EndpointPorts{Clients: []pcie.Client{m.data, m.tables}})
	root := m.link.Root.ID()
	host := clocked.WireSpec{Depth: 64, Latency: clocked.Nanosecond, Writer: root, Reader: m.host}
	m.memory = clocked.NewWire[msg.MemReq](e, host)
	host.Writer, host.Reader = m.host, root
	m.memoryDone, m.mmio = clocked.NewWire[msg.MemDone](e, host), clocked.NewWire[msg.Doorbell](e, host)
	m.link.Root.Connect(pcie.RootPorts{MMIO: m.mmio, MemReq: m.memory, MemDone: m.memoryDone})
	e.Wake(m.responder, cycle)
}

func inside[T any](m *dataMover, from, to clocked.UnitID) *clocked.Wire[T] {
	return clocked.NewWire[T](m.engine, clocked.WireSpec{Domain: m.unit.Clock(), Depth: 4, Latency: cycle, Writer: from, Reader: to})
}

// tickResponder translates once and writes long after.
func (m *dataMover) tickResponder(now clocked.Time) {
	u := m.unit
	if !m.asked {
		m.asked = true
		m.ledger.Open(now)
		*u.Translate.Push(now) = msg.Translate{PD: 1, Key: uint32(m.key), Op: model.OpWrite, Write: true, CheckKey: true,
			CheckVA: baseVA, CheckLen: m.bytes, VA: baseVA, Len: 4096, Ledger: &m.ledger}
	}
	for t := u.Translation.Peek(now); t != nil; t = u.Translation.Peek(now) {
		m.waiting = m.waiting || t.Outcome == msg.OutcomeRevoke && !m.wrote
		if t.Outcome == msg.OutcomeOK {
			m.translation, m.writeAt = *t, now+m.late
			m.engine.Wake(m.responder, m.writeAt)
		}
		u.Translation.Pop(now)
	}
	if m.writeAt > 0 && now >= m.writeAt && !m.wrote {
		m.wrote = true
		*m.data.Req.Push(now) = msg.DMA{Kind: msg.KindData, Write: true, Notify: true, PA: m.translation.PA, Len: m.bytes,
			Address: m.translation.Address, Oracle: msg.Oracle{Page: msg.NoPage}}
	}
	for m.data.Done.Peek(now) != nil {
		m.data.Done.Pop(now)
		*u.Release.Push(now) = msg.Release{Handle: m.translation.Handle}
	}
}

// tickBeside answers translation requests and passes everything else on.
func (m *dataMover) tickBeside(now clocked.Time) {
	u := m.unit
	for d := m.tables.Done.Peek(now); d != nil; d = m.tables.Done.Peek(now) {
		*u.DMADone.Push(now) = *d
		m.tables.Done.Pop(now)
	}
	for d := u.DMA.Peek(now); d != nil; d = u.DMA.Peek(now) {
		if d.Kind == msg.KindATS {
			t := ats.Translation{PA: 1 << 30, Shift: model.Shift4K, Read: true, Write: true}
			*u.DMADone.Push(now) = msg.DMADone{Kind: d.Kind, Cookie: d.Cookie, Entry: ats.Encode(t)}
		} else {
			*m.tables.Req.Push(now) = *d
		}
		u.DMA.Pop(now)
	}
}

// tickHost calls the page back while the translation is held, and takes what
// arrives.
func (m *dataMover) tickHost(now clocked.Time) {
	for r := m.memory.Peek(now); r != nil; r = m.memory.Peek(now) {
		switch {
		case !r.Write: // the protection entry: after it the translation is given
			*m.memoryDone.Push(now) = msg.MemDone{Kind: r.Kind, Tag: r.Tag, Len: r.Len, PA: r.PA, Ledger: r.Ledger}
			m.engine.Wake(m.host, now+m.late/2)
		case r.Kind == msg.KindData:
			m.written += r.Len
		default:
			m.completed, m.behind = true, m.written
		}
		m.memory.Pop(now)
	}
	if now >= m.late/2 && m.asked && !m.called {
		m.called = true
		*m.mmio.Push(now) = msg.Doorbell{Len: 8, Client: 1, Body: &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{PASID: process,
			Range: ats.Range{VA: baseVA, Shift: model.Shift4K}}}}
	}
}
