package contract

import (
	"github.com/sarchlab/akita/v3/mem/idealmemcontroller"
	"github.com/sarchlab/akita/v3/mem/mem"
	"github.com/sarchlab/akita/v3/mem/vm"
	"github.com/sarchlab/akita/v3/mem/vm/mmu"
	"github.com/sarchlab/akita/v3/mem/vm/tlb"
	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/clocked"
)

// plan is a system: its clocks, sizes and traffic.
type plan struct {
	agent, tlb, mmu, mem, wire sim.Freq

	accesses, ways, mshrs, walk, latency, depth int
	seed                                        uint64
}

func uniform(f sim.Freq) plan {
	return plan{agent: f, tlb: f, mmu: f, mem: f, wire: f,
		accesses: 400, ways: 8, mshrs: 4, walk: 17, latency: 20, depth: 2, seed: 1}
}

type (
	newPort       func(owner sim.Component, capacity int, name string) sim.Port
	newConnection func(e sim.Engine, name string, f sim.Freq) sim.Connection
)

func akitaPort(owner sim.Component, capacity int, name string) sim.Port {
	return sim.NewLimitNumMsgPort(owner, capacity, name)
}

func ourPort(owner sim.Component, capacity int, name string) sim.Port {
	return clocked.NewPort(owner, capacity, name)
}

func direct(e sim.Engine, name string, f sim.Freq) sim.Connection {
	return sim.NewDirectConnection(name, e, f)
}

func registered(e sim.Engine, name string, f sim.Freq) sim.Connection {
	return clocked.NewConnection(clocked.ConnectionSpec{Name: name, Engine: e,
		Domain: clocked.NewDomain(clocked.Freq(f)), Cycles: 2})
}

// simulate runs a plan on an engine and returns every response in the order in
// which the agent saw them.
func simulate(e sim.Engine, p plan, port newPort, connect newConnection) []response {
	a := newAgent(e, p.agent, p.accesses, p.seed, port)
	table := vm.NewPageTable(12)
	for i := range uint64(pages) {
		table.Insert(vm.Page{PID: 1, VAddr: i * pageSize, PAddr: frame(i) * pageSize, PageSize: pageSize, Valid: true, DeviceID: 1})
	}
	walker := mmu.MakeBuilder().WithEngine(e).WithFreq(p.mmu).WithPageTable(table).
		WithPageWalkingLatency(p.walk).WithMaxNumReqInFlight(3).Build("MMU")
	cache := tlb.MakeBuilder().WithEngine(e).WithFreq(p.tlb).WithNumWays(p.ways).WithNumMSHREntry(p.mshrs).
		WithNumReqPerCycle(2).WithLowModule(walker.GetPortByName("Top")).Build("TLB")
	memory := idealmemcontroller.MakeBuilder().WithEngine(e).WithFreq(p.mem).WithLatency(p.latency).
		WithTopBufSize(2).WithNewStorage(1 * mem.MB).Build("Memory")
	a.tlb, a.mem = cache.GetPortByName("Top"), memory.GetPortByName("Top")

	join := func(name string, upper, lower sim.Port, depth int) {
		c := connect(e, name, p.wire)
		c.PlugIn(upper, p.depth)
		c.PlugIn(lower, depth)
	}
	join("Upper", a.translate, a.tlb, p.depth)
	join("Lower", cache.GetPortByName("Bottom"), walker.GetPortByName("Top"), p.depth)
	join("Bus", a.memory, a.mem, roomy)
	a.TickLater(0)
	if err := e.Run(); err != nil {
		panic(err)
	}
	return a.seen
}
