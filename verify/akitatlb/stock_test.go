package akitatlb

import (
	"testing"

	"github.com/sarchlab/akita/v3/mem/vm"
	"github.com/sarchlab/akita/v3/mem/vm/tlb"
	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/tpt"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/mtt"
)

func entry(pa model.PA) mtt.Word {
	return mtt.Entry{PA: pa, Read: true, Write: true, Present: true}.Encode()
}

// stock puts Akita's TLB behind the ports of a translation unit. What it misses
// is read from the table by DMA; an invalidation is a flush of the page, which is
// acknowledged when the TLB says so, and a restart.
//
//	Translate ─▶ adapter ─TranslationReq─▶ TLB ─TranslationReq─▶ adapter ─▶ DMA
//	Doorbell  ─▶         ─FlushReq───────▶     ◀─TranslationRsp─         ◀─ DMADone
type stock struct {
	*clocked.Component
	ports          tpt.Ports
	clock          clocked.Domain
	top, low, ctrl *clocked.Port
	toTop, toCtrl  sim.Port
	table          [pages]model.PA
	asks           map[string]msg.Translate // by the request's id
	walks          []*vm.TranslationReq     // by cookie
	commands       []*msg.Command
	busy           bool // a flush or restart is under way
	handle         uint32
}

func newStock(_ *testing.T, b *bench, ways int) (clocked.UnitID, func(tpt.Ports)) {
	s := &stock{clock: clocked.NewDomain(clock), asks: map[string]msg.Translate{}}
	s.Component = clocked.NewComponent(b.engine, "Adapter", s, s.clock)
	s.top, s.low, s.ctrl = clocked.NewPort(s, 16, "Adapter.Top"), clocked.NewPort(s, 16, "Adapter.Low"), clocked.NewPort(s, 4, "Adapter.Ctrl")
	t := tlb.MakeBuilder().WithEngine(b.engine).WithFreq(800 * sim.MHz).WithNumSets(1).WithNumWays(ways).WithNumMSHREntry(4).
		WithNumReqPerCycle(1).WithLowModule(s.low).Build("TLB")
	s.toTop, s.toCtrl = t.GetPortByName("Top"), t.GetPortByName("Control")
	wire := clocked.NewConnection(clocked.ConnectionSpec{Name: "Conn", Engine: b.engine, Domain: s.clock, Cycles: 1})
	for _, p := range []sim.Port{s.top, s.low, s.ctrl, s.toTop, s.toCtrl, t.GetPortByName("Bottom")} {
		wire.PlugIn(p, 16)
	}
	for i := range s.table {
		s.table[i] = frame(i, 0)
	}
	return s.ID(), func(p tpt.Ports) { s.ports = p }
}

// Tick moves what is due in both directions.
func (s *stock) Tick(now clocked.Time) {
	for m := s.ports.Release.Peek(now); m != nil; m = s.ports.Release.Peek(now) {
		s.ports.Release.Pop(now)
	}
	for m := s.ports.Doorbell.Peek(now); m != nil; m = s.ports.Doorbell.Peek(now) {
		s.commands = append(s.commands, m.Body.(*msg.Command))
		s.ports.Doorbell.Pop(now)
	}
	s.control(now)
	for m := s.ports.Translate.Peek(now); m != nil; m = s.ports.Translate.Peek(now) {
		r := vm.TranslationReqBuilder{}.WithSendTime(now.Seconds()).WithSrc(s.top).WithDst(s.toTop).WithPID(1).WithVAddr(uint64(m.VA)).Build()
		if s.top.Send(r) != nil {
			return
		}
		s.asks[r.ID] = *m
		s.ports.Translate.Pop(now)
	}
	s.answers(now)
	s.below(now)
}

// answers passes translations on.
func (s *stock) answers(now clocked.Time) {
	for s.top.Peek() != nil {
		r := s.top.Retrieve(now.Seconds()).(*vm.TranslationRsp)
		m := s.asks[r.RespondTo]
		m.Ledger.Charge(now+cycle, measure.CauseTranslate)
		*s.ports.Translation.Push(now) = msg.Translation{Handle: s.handle, Cookie: m.Cookie, PA: model.PA(r.Page.PAddr), Write: true, At: now + cycle}
		s.handle = (s.handle + 1) % 256
	}
}

// below reads the table for what the TLB misses.
func (s *stock) below(now clocked.Time) {
	for s.low.Peek() != nil {
		r := s.low.Retrieve(now.Seconds()).(*vm.TranslationReq)
		page := (r.VAddr - uint64(base)) >> 12
		*s.ports.DMA.Push(now) = msg.DMA{Kind: msg.KindMTT, PA: leaves + model.PA(8*page), Len: 8, Cookie: uint64(len(s.walks))}
		s.walks = append(s.walks, r)
	}
	for d := s.ports.DMADone.Peek(now); d != nil; d = s.ports.DMADone.Peek(now) {
		r := s.walks[d.Cookie]
		page := (r.VAddr - uint64(base)) >> 12
		rsp := vm.TranslationRspBuilder{}.WithSendTime(now.Seconds()).WithSrc(s.low).WithDst(r.Src).WithRspTo(r.ID).
			WithPage(vm.Page{PID: 1, VAddr: r.VAddr, PAddr: uint64(s.table[page]), PageSize: 4096, Valid: true}).Build()
		if s.low.Send(rsp) != nil {
			return
		}
		s.ports.DMADone.Pop(now)
	}
}

// control executes commands one after another.
func (s *stock) control(now clocked.Time) {
	for s.ctrl.Peek() != nil {
		switch s.ctrl.Retrieve(now.Seconds()).(type) {
		case *tlb.FlushRsp:
			s.complete(now)
			s.ctrl.Send(tlb.RestartReqBuilder{}.WithSendTime(now.Seconds()).WithSrc(s.ctrl).WithDst(s.toCtrl).Build())
		case *tlb.RestartRsp:
			s.busy = false
		}
	}
	for !s.busy && len(s.commands) > 0 {
		switch c := s.commands[0]; c.Op {
		case msg.CmdFill:
			s.table[c.Entry] = c.PA[0]
			s.complete(now)
		default:
			s.busy = true
			s.ctrl.Send(tlb.FlushReqBuilder{}.WithSendTime(now.Seconds()).WithSrc(s.ctrl).WithDst(s.toCtrl).WithPID(1).
				WithVAddrs([]uint64{uint64(base) + c.Entry<<12}).Build())
			return
		}
	}
}

func (s *stock) complete(now clocked.Time) {
	*s.ports.DMA.Push(now) = msg.DMA{Kind: msg.KindCQE, Write: true, Body: s.commands[0]}
	s.commands = s.commands[1:]
}
