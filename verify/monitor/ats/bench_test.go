package ats

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/verify/rule"
)

// bench feeds the monitors with messages by hand: an adapter of process 1 with
// ATS, two page requests allocated, and the IOMMU before it, two invalidations
// deep.
type bench struct {
	*Device
	iommu *IOMMU
	log   *rule.Log
	now   clocked.Time
}

func newBench() *bench {
	log := &rule.Log{}
	return &bench{log: log, iommu: NewIOMMU([]int{2}, log),
		Device: NewDevice(DeviceConfig{On: true, PASID: 1, Shift: 12, Allocation: 2}, log)}
}

func (b *bench) request(slot uint64, pa model.PA) {
	b.now++
	b.DMA(b.now, &msg.DMA{Kind: msg.KindATS, PA: pa, Len: 8, Cookie: slot, Address: msg.Address{PASID: 1}})
}

func (b *bench) reply(slot uint64, t ats.Translation) {
	b.Done(b.now, &msg.DMADone{Kind: msg.KindATS, Cookie: slot, Entry: ats.Encode(t)})
}

// ask brings the translation of page 1.
func (b *bench) ask(t ats.Translation) {
	b.request(0, 0x1000)
	b.reply(0, t)
}

func (b *bench) give(write bool) {
	b.now++
	b.Given(b.now, 0x1008, write, &msg.Translation{Handle: 3, PA: 0x5008, Write: write})
}

func (b *bench) invalidate(tag uint8) {
	b.Doorbell(b.now, &msg.Doorbell{Body: &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: tag, PASID: 1, Range: ats.Range{VA: 0x1000, Shift: 12}}}})
}

func done(tags uint32) *msg.InvalidateDone {
	return &msg.InvalidateDone{InvalidateCompletion: ats.InvalidateCompletion{ITags: tags, Count: 1}}
}

func (b *bench) complete(tags uint32) {
	b.DMA(b.now, &msg.DMA{Kind: msg.KindMessage, Body: done(tags)})
}

func (b *bench) askPage(group uint16, last bool) {
	b.DMA(b.now, &msg.DMA{Kind: msg.KindMessage, Body: &msg.PageRequest{PageRequest: ats.PageRequest{Group: group, Last: last, Read: true, PASID: 1}}})
}

func (b *bench) respond(group uint16, code ats.ResponseCode) {
	b.Doorbell(b.now, &msg.Doorbell{Body: &msg.PageResponse{PageResponse: ats.PageResponse{Group: group, Code: code}}})
}

func (b *bench) store(pa model.PA) {
	b.Data(b.now, &msg.DMA{Kind: msg.KindData, Write: true, PA: pa, Len: 64, Address: msg.Address{Translated: true}})
}

// queue is a command of the kernel's for the page at va.
func (b *bench) queue(op msg.IOMMUOp, va model.VA, n uint64) *msg.IOMMUCommand {
	c := &msg.IOMMUCommand{Op: op, PASID: 1, First: va, Len: n}
	b.iommu.Command(b.now, &c)
	return c
}

func (b *bench) send(tag uint8, va model.VA, shift model.PageShift) {
	b.iommu.Message(b.now, &msg.Doorbell{Body: &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: tag, PASID: 1, Range: ats.Range{VA: va, Shift: shift}}}})
}

func (b *bench) arrive(tags uint32) {
	r := &msg.MemReq{Kind: msg.KindMessage, Body: done(tags)}
	b.iommu.Arrived(b.now, r)
	b.Device.Arrived(b.now, r)
}

func (b *bench) fenced(c *msg.IOMMUCommand) {
	b.iommu.Event(b.now, &msg.IOMMUEvent{Kind: msg.EventFence, Command: c})
}

// both flushes the IOTLB and asks for the adapter's invalidation.
func (b *bench) both(va model.VA, n uint64) {
	b.queue(msg.IOTLBInvalidate, va, n)
	b.queue(msg.DevTLBInvalidate, va, n)
}

var loads = ats.Translation{PA: 0x5000, Shift: 12, Read: true}
var storable = ats.Translation{PA: 0x5000, Shift: 12, Read: true, Write: true}

func (b *bench) finish() {
	b.Device.Finish(b.now, true)
	b.iommu.Finish(b.now, true)
}

// tag has the IOMMU send an Invalidate Request for a page of its own.
func (b *bench) tag(tag uint8) {
	va := model.VA(0x100000 + uint64(tag)<<12)
	b.both(va, 4096)
	b.send(tag, va, 12)
}
