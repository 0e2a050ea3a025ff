package contract

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/sarchlab/akita/v3/mem/mem"
	"github.com/sarchlab/akita/v3/mem/vm"
	"github.com/sarchlab/akita/v3/sim"
)

const (
	pageSize = 4096
	pages    = 24

	// roomy is more than the responses that memory can have under way. Akita's
	// memory controller repeats a refused response by an event at its next
	// cycle, which may be the time of another response: which of the two goes
	// first is then up to the engine's order of equal times, and Akita's is an
	// accident of its heap.
	roomy = 64
)

// frame is where page p lives: a permutation, as 7 and 24 have no common factor.
func frame(p uint64) uint64 { return (7*p + 5) % pages }

// response is all that an access shows of the simulation.
type response struct {
	access  int
	now     sim.VTimeInSec // of the agent's tick
	arrived sim.VTimeInSec
	kind    byte // 't'ranslation, 'r'ead, 'w'rite
	value   uint64
}

// agent is a stock-style Akita component: it translates random addresses, then
// reads or writes the physical addresses it was given.
type agent struct {
	*sim.TickingComponent
	translate, memory sim.Port
	tlb, mem          sim.Port

	rng     *rand.Rand
	left    int // accesses to start
	open    map[string]int
	va      []uint64
	toMem   []sim.Msg
	seen    []response
	perTick int
}

func newAgent(e sim.Engine, f sim.Freq, n int, seed uint64, port newPort) *agent {
	a := &agent{left: n, open: map[string]int{}, rng: rand.New(rand.NewPCG(seed, 1)), perTick: 3}
	a.TickingComponent = sim.NewTickingComponent("Agent", e, f, a)
	a.translate = port(a, 2, "Agent.Translate")
	a.memory = port(a, roomy, "Agent.Memory")
	a.AddPort("Translate", a.translate)
	a.AddPort("Memory", a.memory)
	return a
}

func (a *agent) Tick(now sim.VTimeInSec) bool {
	progress := a.collect(now, a.memory)
	progress = a.collect(now, a.translate) || progress
	progress = a.access(now) || progress
	return a.start(now) || progress
}

func (a *agent) collect(now sim.VTimeInSec, p sim.Port) bool {
	if len(a.toMem) > 4 {
		return false
	}
	msg := p.Retrieve(now)
	if msg == nil {
		return false
	}
	r := response{now: now, arrived: msg.Meta().RecvTime}
	id := msg.(sim.Rsp).GetRspTo()
	r.access = a.open[id]
	delete(a.open, id)
	switch m := msg.(type) {
	case *vm.TranslationRsp:
		r.kind, r.value = 't', m.Page.PAddr
		a.queue(r.access, m.Page.PAddr+a.va[r.access]%pageSize)
	case *mem.DataReadyRsp:
		r.kind, r.value = 'r', binary.LittleEndian.Uint64(m.Data)
	case *mem.WriteDoneRsp:
		r.kind = 'w'
	}
	a.seen = append(a.seen, r)
	return true
}

// queue prepares the memory access that follows a translation.
func (a *agent) queue(access int, pa uint64) {
	var msg sim.Msg
	if access%3 == 0 {
		data := binary.LittleEndian.AppendUint64(nil, uint64(access)+1)
		msg = mem.WriteReqBuilder{}.WithSrc(a.memory).WithDst(a.mem).WithAddress(pa).WithData(data).Build()
	} else {
		msg = mem.ReadReqBuilder{}.WithSrc(a.memory).WithDst(a.mem).WithAddress(pa).WithByteSize(8).Build()
	}
	a.open[msg.Meta().ID] = access
	a.toMem = append(a.toMem, msg)
}

func (a *agent) access(now sim.VTimeInSec) bool {
	if len(a.toMem) == 0 {
		return false
	}
	a.toMem[0].Meta().SendTime = now
	if a.memory.Send(a.toMem[0]) != nil {
		return false
	}
	a.toMem = a.toMem[1:]
	return true
}

func (a *agent) start(now sim.VTimeInSec) (progress bool) {
	for k := 0; k < a.perTick && a.left > 0 && len(a.open) < 24 && a.translate.CanSend(); k++ {
		va := a.rng.Uint64N(pages)*pageSize + 8*a.rng.Uint64N(4)
		req := vm.TranslationReqBuilder{}.WithSendTime(now).WithSrc(a.translate).WithDst(a.tlb).
			WithPID(1).WithVAddr(va / pageSize * pageSize).WithDeviceID(1).Build()
		if a.translate.Send(req) != nil {
			return progress
		}
		a.open[req.ID] = len(a.va)
		a.va = append(a.va, va)
		a.left--
		progress = true
	}
	return progress
}
