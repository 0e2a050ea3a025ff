package follow

import (
	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/platform"
	"rnicmmu/verify/rule"
)

// bench is a check beside messages that a test makes: two adapters, a table at 0
// and a cache at 1. Page 4 is at 0x10000, entry 8 of adapter 0, and page 5 behind
// it. Page 4 is in frame 1 when the run begins, and entry 8 leads there.
type bench struct {
	*Path
	now clocked.Time
}

const page4 = model.VA(0x10000)

func newBench(host, table model.PageShift) *bench {
	log := &rule.Log{}
	c := &Path{log: log, adapters: make([]adapter, 2), shift: uint(host)}
	all := []platform.Mapping{{VA: page4, Length: 2 * host.Bytes(), FirstPage: 4, FirstEntry: 8}}
	for i := range c.adapters {
		a := &c.adapters[i]
		a.number, a.table, a.cache, a.shift = uint16(i), i == 0, i == 1, table
		a.lay(all, host)
	}
	c.space = stretches(all, host)
	c.start.init(kernel.Setup{Resident: []kernel.Run{{First: 4, Frame: 1, Count: 1}},
		Fills: []kernel.Fill{{Entry: 8, Count: max(1, host.Bytes()/table.Bytes()), PA: model.PA(host.Bytes()) + model.PA(page4)&model.PA(host.Bytes()-1), Write: true}}})
	return &bench{Path: c}
}

func (b *bench) post(m *msg.Command) *msg.Command {
	b.now++
	b.doorbell(b.now, &msg.Doorbell{Body: m})
	return m
}

func (b *bench) acknowledge(m *msg.Command) {
	b.now++
	b.leaves(b.now, &b.adapters[0], &msg.DMA{Kind: msg.KindCQE, Body: m})
}

func (b *bench) done(m *msg.Command) { b.now++; b.inbox(b.now, &msg.Inbox{Body: m}) }

func (b *bench) zap() *msg.Command {
	return b.post(&msg.Command{Op: msg.CmdInvalidate, Entry: 8, Count: 1})
}

func (b *bench) fill(frame uint32) *msg.Command {
	return b.post(&msg.Command{Op: msg.CmdFill, Entry: 8, Count: 1, Write: true, PA: []model.PA{msg.FramePA(frame, 12)}})
}

func (b *bench) fault(place uint32) {
	b.now++
	b.inbox(b.now, &msg.Inbox{Body: &msg.Event{Token: msg.FaultToken{Place: place, Use: 1}, VA: page4, Entry: 8, Count: 1, Page: 4}})
}

func (b *bench) resume(place uint32) {
	b.post(&msg.Command{Op: msg.CmdResume, Token: msg.FaultToken{Place: place, Use: 1}})
}

func (b *bench) op(kind msg.PageOpKind, frame uint32) {
	b.now++
	b.pageOp(b.now, &msg.PageOp{Kind: kind, Frame: frame, Page: 4})
}

// give has an adapter ask for va and give frame 1, or another, out.
func (b *bench) give(adapter int, handle uint32, va model.VA, pa model.PA) {
	b.now++
	a := &b.adapters[adapter]
	a.asked(&msg.Translate{Cookie: 2, VA: va, Page: 4})
	b.answered(b.now, a, &msg.Translation{Cookie: 2, Handle: handle, PA: pa, Write: true})
}

func (b *bench) take(adapter int, handle uint32) {
	b.now++
	b.released(b.now, &b.adapters[adapter], handle)
}

func (b *bench) dma(adapter uint16, frame uint32, write bool) {
	b.now++
	b.data(b.now, &msg.MemReq{Kind: msg.KindData, Adapter: adapter, Write: write, PA: model.PA(frame) << b.shift, Len: 64, Oracle: msg.Oracle{Page: 4}})
}

// Of the cache.

func (b *bench) order(op msg.IOMMUOp) *msg.IOMMUCommand {
	b.now++
	m := &msg.IOMMUCommand{Op: op, Adapter: 1, PASID: kernel.PASID, First: page4, Len: 4096}
	b.ordered(b.now, &m)
	return m
}

func (b *bench) fence(m *msg.IOMMUCommand) {
	b.now++
	b.fenced(b.now, &msg.IOMMUEvent{Kind: msg.EventFence, Command: m})
}

// invalidate sends the Invalidate Request of 8 KiB, pages 4 and 5.
func (b *bench) invalidate(tag uint8) {
	b.now++
	b.message(b.now, &msg.Doorbell{Adapter: 1, Message: true, Body: &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: tag, PASID: kernel.PASID,
		Range: ats.Range{VA: page4, Shift: 13}}}})
}

// complete is the Invalidate Completion, one of two, of a tag.
func (b *bench) complete(tag uint8) {
	b.now++
	body := &msg.InvalidateDone{InvalidateCompletion: ats.InvalidateCompletion{ITags: 1 << tag, Count: 2}}
	b.arrived(b.now, &msg.MemReq{Kind: msg.KindMessage, Adapter: 1, Body: body})
}

// leave is its way out of the adapter.
func (b *bench) leave(tag uint8) {
	b.now++
	body := &msg.InvalidateDone{InvalidateCompletion: ats.InvalidateCompletion{ITags: 1 << tag, Count: 2}}
	b.leaves(b.now, &b.adapters[1], &msg.DMA{Kind: msg.KindMessage, Body: body})
}

func (b *bench) translate(frame uint32) {
	b.now++
	t := ats.Translation{PA: msg.FramePA(frame, 12), Shift: model.Shift4K, Read: true, Write: true}
	b.translated(b.now, &msg.MemDone{Kind: msg.KindATS, Adapter: 1, PA: model.PA(page4), Entry: ats.Encode(t)})
}

func (b *bench) request(group uint16) {
	b.now++
	b.arrived(b.now, &msg.MemReq{Kind: msg.KindMessage, Adapter: 1, Body: &msg.PageRequest{PageRequest: ats.PageRequest{Group: group, Last: true, Read: true, PASID: kernel.PASID, VA: page4}}})
}

func (b *bench) respond(group uint16) {
	b.now++
	b.message(b.now, &msg.Doorbell{Adapter: 1, Message: true, Body: &msg.PageResponse{PageResponse: ats.PageResponse{Group: group, PASID: kernel.PASID}}})
}
