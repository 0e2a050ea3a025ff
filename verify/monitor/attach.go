// Package monitor puts the passive checkers of single rules beside a system:
// those of the translation unit and keys (tpt), of ATS and page requests (ats),
// of the kernel's frames and queues (host) and of queue pairs (transport).
package monitor

import (
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	unit "rnicmmu/components/tpt"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
	"rnicmmu/platform"
	"rnicmmu/verify/monitor/ats"
	"rnicmmu/verify/monitor/host"
	"rnicmmu/verify/monitor/tpt"
	"rnicmmu/verify/monitor/transport"
	"rnicmmu/verify/rule"
	"rnicmmu/verify/wires"
)

// Rules are all that these monitors watch for.
func Rules() []*rule.Rule {
	return slices.Concat(tpt.Rules(), ats.Rules(), host.Rules(), transport.Rules())
}

// Units are the monitors of a system.
type Units struct {
	adapters []platform.Spec
	tables   []*tpt.Monitor
	frames   *host.Frames
	devices  []*ats.Device
	iommu    *ats.IOMMU // nil: there is none
	pairs    []*transport.Monitor
}

// Attach puts the monitors beside a system that has not begun to run.
func Attach(s *platform.System, log *rule.Log) *Units {
	u := &Units{adapters: s.Adapters()}
	u.watchFrames(s, log)
	u.watchDevices(s, log)
	u.watchTables(s, log)
	u.watchIOMMU(s, log)
	u.watchPairs(s, log)
	for _, w := range wires.Of[msg.Doorbell](s, "kernel", "") {
		w.Wire.OnSent(u.cutOff)
	}
	return u
}

// Finish reports what is due at the end.
func (u *Units) Finish(now clocked.Time, rest bool) {
	for i, m := range u.tables {
		m.Finish(now, rest)
		u.devices[i].Finish(now, rest)
		u.pairs[i].Finish(now, rest)
	}
	if u.iommu != nil {
		u.iommu.Finish(now, rest)
	}
}

// cutOff sees the kernel give an adapter up.
func (u *Units) cutOff(_ clocked.Time, d *msg.Doorbell) {
	if d.Disable {
		u.tables[d.Adapter].CutOff()
		u.frames.CutOff(int(d.Adapter))
		u.devices[d.Adapter].CutOff()
		u.pairs[d.Adapter].CutOff()
		if u.iommu != nil {
			u.iommu.CutOff(int(d.Adapter))
		}
	}
}

// physical tells whether what an adapter addresses are frames, by no other
// translation behind it.
func physical(a *platform.Spec) bool { return a.Scheme == kernel.SVA || !a.Behind() }

func (u *Units) watchFrames(s *platform.System, log *rule.Log) {
	var pages []model.PageShift
	for i := range u.adapters {
		pages = append(pages, u.adapters[i].TPT.PageShift())
	}
	u.frames = host.New(u.adapters[0].Host.Shift(), pages, log)
	for _, r := range s.Setup().Resident {
		for i := range r.Count {
			u.frames.Resident(r.Frame+i, r.First+i)
		}
	}
	for _, w := range wires.Of[msg.PageOp](s, "kernel", "memory") {
		w.Wire.OnSent(u.frames.PageOp)
	}
	for _, w := range wires.Of[msg.DMA](s, "responder", "") {
		if physical(&u.adapters[w.From]) {
			w.Wire.OnSent(func(_ clocked.Time, d *msg.DMA) { u.frames.Wrote(d) })
		}
	}
}

// watchTables puts a monitor at each translation unit.
func (u *Units) watchTables(s *platform.System, log *rule.Log) {
	for i := range u.adapters {
		u.tables = append(u.tables, u.table(s, i, log))
	}
	for _, f := range s.Setup().Fills {
		step := model.PA(u.adapters[f.Adapter].TPT.PageShift().Bytes())
		for i := range f.Count {
			u.tables[f.Adapter].Program(f.Entry+i, f.PA+model.PA(i)*step, f.Write)
		}
	}
	for _, w := range wires.Of[msg.Translate](s, "responder", "tpt") {
		w.Wire.OnSent(u.tables[w.To].Translate)
		w.Wire.OnTaken(u.tables[w.To].Accepted)
	}
	for _, w := range wires.Of[msg.Translation](s, "tpt", "responder") {
		w.Wire.OnSent(u.tables[w.From].Translation)
	}
	for _, w := range wires.Of[msg.Release](s, "responder", "tpt") {
		w.Wire.OnTaken(u.tables[w.To].Release)
	}
	for _, w := range wires.Of[msg.DMA](s, "tpt", "") {
		w.Wire.OnSent(u.tables[w.From].DMA)
	}
	for _, w := range wires.Of[msg.DMADone](s, "", "tpt") {
		w.Wire.OnTaken(u.tables[w.To].ReadDone)
	}
	for _, w := range wires.Of[msg.Doorbell](s, "", "tpt") {
		w.Wire.OnTaken(u.tables[w.To].Doorbell)
	}
	for _, w := range wires.Of[msg.DMA](s, "responder", "") {
		w.Wire.OnSent(u.tables[w.From].Data)
	}
}

func (u *Units) table(s *platform.System, i int, log *rule.Log) *tpt.Monitor {
	a := &u.adapters[i]
	t := &a.TPT
	tables := s.Translator(i)
	mode, _ := a.Mode()
	policy, _ := cache.ParsePolicy(t.MTT.Replacement) // the unit was built with it
	place := tables.Config().Place
	leaves := place.MTT
	if l, err := mtt.NewLayout(place.MTT, place.Entries, t.MTT.Levels); err == nil {
		leaves = l.Address(0)
	}
	c := tpt.Config{Adapter: i, ATC: u.devices[i], Mode: mode, Shift: t.PageShift(), Leaves: leaves, Entries: place.Entries, Line: t.MTT.LineEntries,
		Cache:  cache.Geometry{Entries: t.MTT.Entries, Ways: t.MTT.Ways, Line: t.MTT.LineEntries, Policy: policy},
		Exact:  t.MTT.L2Entries == 0 && t.MTT.Prefetch == "none" && t.MTT.Index == "entry" && t.Partition == "none" && t.Tables == "host",
		HangAt: t.Command.HangAt}
	if c.Mode == unit.Table && physical(a) {
		c.Frames = u.frames
	}
	m := tpt.New(c, log)
	for k := range uint32(place.Keys) {
		if r := tables.Keys().Lookup(key.Make(k, 0)); r != nil {
			m.Register(r)
		}
	}
	return m
}

// watchDevices puts a monitor of ATS at each adapter.
func (u *Units) watchDevices(s *platform.System, log *rule.Log) {
	for i := range u.adapters {
		a := &u.adapters[i]
		mode, pasid := a.Mode()
		m := ats.NewDevice(ats.DeviceConfig{Adapter: i, On: mode == unit.ATC, PASID: pasid, Shift: a.TPT.PageShift(), HangAt: a.TPT.Command.HangAt,
			Allocation: min(a.TPT.PageRequests, u.adapters[0].Host.IOMMU.PageRequests), Frames: u.frames}, log)
		u.devices = append(u.devices, m)
	}
	for _, w := range wires.Of[msg.DMA](s, "tpt", "") {
		w.Wire.OnSent(u.devices[w.From].DMA)
	}
	for _, w := range wires.Of[msg.DMADone](s, "", "tpt") {
		w.Wire.OnTaken(u.devices[w.To].Done)
	}
	for _, w := range wires.Of[msg.Doorbell](s, "", "tpt") {
		w.Wire.OnTaken(u.devices[w.To].Doorbell)
	}
	for _, w := range wires.Of[msg.DMA](s, "responder", "") {
		w.Wire.OnSent(u.devices[w.From].Data)
	}
	for _, w := range wires.Of[msg.MemReq](s, "", "iommu") {
		w.Wire.OnSent(func(now clocked.Time, r *msg.MemReq) { u.devices[r.Adapter].Arrived(now, r) })
	}
}

// watchIOMMU puts a monitor at the IOMMU, if there is one.
func (u *Units) watchIOMMU(s *platform.System, log *rule.Log) {
	commands := wires.Of[*msg.IOMMUCommand](s, "kernel", "iommu")
	if len(commands) == 0 {
		return
	}
	var depth []int
	for i := range u.adapters {
		depth = append(depth, min(32, u.adapters[0].Host.IOMMU.ATSDepth, u.adapters[i].TPT.Invalidation.QueueDepth))
	}
	u.iommu = ats.NewIOMMU(depth, log)
	for _, w := range commands {
		w.Wire.OnSent(u.iommu.Command)
	}
	for _, w := range wires.Of[msg.IOMMUEvent](s, "iommu", "kernel") {
		w.Wire.OnSent(u.iommu.Event)
	}
	for _, w := range wires.Of[msg.Doorbell](s, "iommu", "") {
		w.Wire.OnSent(u.iommu.Message)
	}
	for _, w := range wires.Of[msg.MemReq](s, "", "iommu") {
		w.Wire.OnTaken(u.iommu.Arrived)
	}
}

// watchPairs puts a monitor between each adapter and its peer.
func (u *Units) watchPairs(s *platform.System, log *rule.Log) {
	for i := range u.adapters {
		a := &u.adapters[i]
		u.pairs = append(u.pairs, transport.New(transport.Config{Adapter: i, TCP: a.Transport == "iwarp", MTU: uint32(a.QP.MTU), Retry: a.QP.Retry,
			RNRRetry: a.QP.RNRRetry, First: uint32(a.QP.FirstPSN), Window: uint32(a.TCP.Window), Pipeline: a.Adapter.RxPipeline, Slack: 2 * clocked.NewDomain(a.TPT.Clock).Period(), Damming: a.QP.Damming, Flood: a.QP.Flood}, log))
	}
	for _, w := range wires.Of[msg.Doorbell](s, "driver", "") {
		w.Wire.OnSent(u.pairs[w.To].Post)
	}
	for _, w := range wires.Of[*msg.Packet](s, "requester", "responder") {
		w.Wire.OnSent(u.pairs[w.From].Request)
		w.Wire.OnTaken(u.pairs[w.From].Requested)
	}
	for _, w := range wires.Of[*msg.Packet](s, "responder", "requester") {
		w.Wire.OnSent(u.pairs[w.To].Response)
		w.Wire.OnTaken(u.pairs[w.To].Responded)
	}
	for _, w := range wires.Of[msg.DMA](s, "requester", "") {
		w.Wire.OnSent(u.pairs[w.From].Completion)
	}
	for _, w := range wires.Of[msg.DMA](s, "responder", "") {
		w.Wire.OnSent(u.pairs[w.From].Data)
	}
}
