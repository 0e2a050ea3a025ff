package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/verify/rule"
)

// Changes of the specification.
func nothing(*pcie.Spec) {}

func small(s *pcie.Spec)     { s.Credits.PH, s.Credits.PD = 1, 16 }
func oneTag(s *pcie.Spec)    { s.Tags, s.TagBits = 1, 8 }
func tenBits(s *pcie.Spec)   { s.TagBits = 10 }
func relaxed(s *pcie.Spec)   { s.Relaxed = true }
func oneTLP(s *pcie.Spec)    { s.ReplayBuffer.TLPs = 1 }
func shortData(s *pcie.Spec) { s.CompletionBuffer = 512 }

// sequenceTest is the shortest one that breaks a rule, or its like that breaks none.
type sequenceTest struct {
	name   string
	broken *rule.Rule // nil: none
	spec   func(*pcie.Spec)
	run    func(r *rig)
}

var transactions = []sequenceTest{
	{"a write, a read and its completion", nil, nothing, func(r *rig) {
		r.write(0x1000, 300)
		r.read(0x2000, 96)
		p := []*pcie.Shown{r.mwr(0, 0x1000, 256, false), r.mwr(1, 0x1100, 44, true), r.mrd(2, 0, 0x2000, 96, true)}
		r.pass(r.up, p...)
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 2})
		r.dllp(r.down, pcie.DLLP{Kind: pcie.UpdateFC, Class: msg.Posted, Header: 127 + 2, Data: 1024 + 19})
		r.dllp(r.down, pcie.DLLP{Kind: pcie.UpdateFC, Class: msg.NonPosted, Header: 127 + 1, Data: 64})
		r.answer(0, 0x2000, 96, msg.StatusSuccess)
		r.pass(r.down, r.cpl(0, 0, 0x2000, 64, false), r.cpl(1, 0, 0x2040, 32, true))
		r.dllp(r.up, pcie.DLLP{Kind: pcie.Ack, Seq: 1})
		r.end.answer(r.now, &msg.DMADone{Kind: msg.KindData}, 0)
		r.finish(true)
	}},
	{"a completion before an older doorbell", PassedPosted, nothing, func(r *rig) {
		r.ring()
		r.answered(0, 0x2000, 64)
		r.send(r.down, r.cpl(0, 0, 0x2000, 64, true))
	}},
	{"a read before an older write", PassedPosted, nothing, func(r *rig) {
		r.write(0x1000, 64)
		r.read(0x2000, 64)
		r.send(r.up, r.mrd(0, 0, 0x2000, 64, true))
	}},
	{"a relaxed read before an older write", PassedPosted, relaxed, func(r *rig) {
		r.write(0x1000, 64)
		r.read(0x2000, 64)
		p := r.mrd(0, 0, 0x2000, 64, true)
		p.Relaxed, p.Rule.Relaxed = true, true
		r.send(r.up, p)
	}},
	{"a relaxed write before an older one", nil, relaxed, func(r *rig) {
		r.write(0x1000, 64)
		r.write(0x2000, 64)
		p := r.mwr(0, 0x2000, 64, true)
		p.Relaxed, p.Rule.Relaxed = true, true
		r.send(r.up, p)
	}},
	{"a write before an older read", nil, nothing, func(r *rig) {
		r.read(0x2000, 64)
		r.write(0x1000, 64)
		r.send(r.up, r.mwr(0, 0x1000, 64, true))
	}},
	{"the second answer of a tag before the first", PassedOwn, nothing, func(r *rig) {
		r.answered(0, 0x2000, 64)
		r.answer(0, 0x2040, 64, msg.StatusSuccess)
		r.send(r.down, r.cpl(0, 0, 0x2040, 64, true))
	}},
	{"a completion is taken before a doorbell", TakenEarly, nothing, func(r *rig) {
		r.ring()
		r.answered(0, 0x2000, 64)
		p := []*pcie.Shown{r.bell(0), r.cpl(1, 0, 0x2000, 64, true)}
		r.send(r.down, p...)
		r.arrive(r.down, p...)
		r.take(r.down, p[1])
	}},
	{"a write that could go stands", HeldUp, nothing, func(r *rig) {
		r.write(0x1000, 64)
		r.now += 10 * clocked.Microsecond
		r.send(r.up, r.mwr(0, 0x1000, 64, true))
	}},
	{"a write without credits stands", nil, small, func(r *rig) {
		r.write(0x1000, 64)
		r.write(0x2000, 64)
		r.send(r.up, r.mwr(0, 0x1000, 64, true))
		r.now += 10 * clocked.Microsecond
		r.finish(false)
	}},
	{"a read stands though a tag is free", HeldUp, nothing, func(r *rig) {
		r.read(0x1000, 64)
		r.finish(false)
	}},
	{"a read without a tag stands", nil, oneTag, func(r *rig) {
		r.read(0x1000, 64)
		r.read(0x2000, 64)
		r.send(r.up, r.mrd(0, 0, 0x1000, 64, true))
		r.finish(false)
	}},
	{"a write is relaxed", Attributes, nothing, func(r *rig) {
		r.write(0x1000, 64)
		p := r.mwr(0, 0x1000, 64, true)
		p.Relaxed, p.Rule.Relaxed = true, true
		r.send(r.up, p)
	}},
	{"a write leaves out 4 bytes", Asked, nothing, func(r *rig) {
		r.write(0x1000, 512)
		r.send(r.up, r.mwr(0, 0x1000, 256, false), r.mwr(1, 0x1104, 252, true))
	}},
	{"the end of a write does not say so", Asked, nothing, func(r *rig) {
		r.write(0x1000, 64)
		r.send(r.up, r.mwr(0, 0x1000, 64, false))
	}},
	{"memory's refusal becomes success", Asked, nothing, func(r *rig) {
		r.read(0x2000, 64)
		r.send(r.up, r.mrd(0, 0, 0x2000, 64, true))
		r.answer(0, 0x2000, 64, msg.StatusAbort)
		r.send(r.down, r.cpl(0, 0, 0x2000, 64, true))
	}},
	{"a write is never sent", Left, small, func(r *rig) {
		r.write(0x1000, 64)
		r.up.frozen = clocked.Never // so that nothing but the rest complains
		r.finish(true)
	}},
	{"two answers of one read", Answered, nothing, func(r *rig) {
		r.read(0x1000, 64)
		r.end.answer(r.now, &msg.DMADone{}, 0)
		r.end.answer(r.now, &msg.DMADone{}, 0)
	}},
	{"two writes with one header credit", NoCredit, small, func(r *rig) {
		r.write(0x1000, 64)
		r.write(0x2000, 64)
		r.send(r.up, r.mwr(0, 0x1000, 64, true), r.mwr(1, 0x2000, 64, true))
	}},
	{"the buffer holds two writes and has room for one", Overflow, small, func(r *rig) {
		r.write(0x1000, 64)
		r.write(0x2000, 64)
		r.up.pools[0].infinite = true // the sender's check is another's
		r.up.pools[0].initial = 1
		p := []*pcie.Shown{r.mwr(0, 0x1000, 64, true), r.mwr(1, 0x2000, 64, true)}
		r.send(r.up, p...)
		r.up.pools[0].infinite = false
		r.arrive(r.up, p...)
	}},
	{"an UpdateFC brings two headers of one write", OverReturn, nothing, func(r *rig) {
		r.write(0x1000, 64)
		r.pass(r.up, r.mwr(0, 0x1000, 64, true))
		r.dllp(r.down, pcie.DLLP{Kind: pcie.UpdateFC, Class: msg.Posted, Header: 127 + 2, Data: 1024 + 4})
	}},
	{"an UpdateFC brings no data", Unreturned, nothing, func(r *rig) {
		r.write(0x1000, 64)
		r.pass(r.up, r.mwr(0, 0x1000, 64, true))
		r.dllp(r.down, pcie.DLLP{Kind: pcie.Ack, Seq: 0})
		r.dllp(r.down, pcie.DLLP{Kind: pcie.UpdateFC, Class: msg.Posted, Header: 127 + 1, Data: 1024})
		r.finish(true)
	}},
	{"17 bytes take one credit", CreditSize, nothing, func(r *rig) {
		r.write(0x1000, 17)
		p := r.mwr(0, 0x1000, 17, true)
		p.Credits = 1
		r.send(r.up, p)
	}},
	{"a tag is taken while it waits", TagBusy, nothing, func(r *rig) {
		r.read(0x1000, 64)
		r.read(0x2000, 64)
		r.send(r.up, r.mrd(0, 5, 0x1000, 64, true), r.mrd(1, 5, 0x2000, 64, true))
	}},
	{"tag 255 of 10 bits", TagRange, tenBits, func(r *rig) {
		r.read(0x1000, 64)
		r.send(r.up, r.mrd(0, 255, 0x1000, 64, true))
	}},
	{"two requests with one tag to have", TagRange, oneTag, func(r *rig) {
		r.read(0x1000, 64)
		r.read(0x2000, 64)
		r.send(r.up, r.mrd(0, 0, 0x1000, 64, true), r.mrd(1, 1, 0x2000, 64, true))
	}},
	{"a request is never answered", TagRest, nothing, func(r *rig) {
		r.read(0x1000, 64)
		r.pass(r.up, r.mrd(0, 0, 0x1000, 64, true))
		r.settle(r.down)
		r.end.answer(r.now, &msg.DMADone{}, 0) // as if in time
		r.finish(true)
	}},
	{"more is asked for than there is room", Reserve, shortData, func(r *rig) {
		r.read(0x1000, 512)
		r.read(0x2000, 64)
		r.send(r.up, r.mrd(0, 0, 0x1000, 512, true), r.mrd(1, 1, 0x2000, 64, true))
	}},
	{"a completion after the last", NoRequest, nothing, func(r *rig) {
		r.answered(2, 0x2000, 64)
		r.pass(r.down, r.cpl(0, 2, 0x2000, 64, true))
		r.answer(2, 0x2000, 64, msg.StatusSuccess)
		r.pass(r.down, r.cpl(1, 2, 0x2000, 64, true))
	}},
	{"a completion of another requester", NoRequest, nothing, func(r *rig) {
		r.answered(2, 0x2000, 64)
		p := r.cpl(0, 2, 0x2000, 64, true)
		p.Rule.Requester = 4
		r.take1(p)
	}},
	{"the first completion begins late", Address, nothing, func(r *rig) {
		r.answered(2, 0x2000, 68)
		r.take1(r.cpl(0, 2, 0x2004, 68, true))
	}},
	{"a completion ends a request early", Bytes, nothing, func(r *rig) {
		r.answered(2, 0x2000, 128)
		r.take1(r.cpl(0, 2, 0x2000, 124, true))
	}},
	{"a completion that is not the last ends at 0x2050", Boundary, nothing, func(r *rig) {
		r.answered(2, 0x2000, 128)
		r.take1(r.cpl(0, 2, 0x2000, 0x50, false))
	}},
	{"a completion of an endpoint ends at a boundary of 64", Boundary, nothing, func(r *rig) {
		r.answered(2, 0x2000, 256)
		p := r.cpl(0, 2, 0x2000, 64, false)
		p.Rule.Sender = 1
		r.take1(p)
	}},
	{"a refusal with data", Status, nothing, func(r *rig) {
		r.answered(2, 0x2000, 64)
		p := r.cpl(0, 2, 0x2000, 64, true)
		p.Status = msg.StatusUnsupported
		r.take1(p)
	}},
	{"a completion has RO and its request has not", Alike, nothing, func(r *rig) {
		r.answered(2, 0x2000, 64)
		p := r.cpl(0, 2, 0x2000, 64, true)
		p.Relaxed = true
		r.take1(p)
	}},
	{"256 bytes that touch 65 double words", Payload, nothing, func(r *rig) {
		r.write(0x1002, 256)
		r.send(r.up, r.mwr(0, 0x1002, 256, true))
	}},
	{"a read of 513 bytes", ReadRequest, nothing, func(r *rig) {
		r.read(0x1000, 513)
		r.send(r.up, r.mrd(0, 0, 0x1000, 513, true))
	}},
	{"64 bytes at 0x1ff0", Crossing, nothing, func(r *rig) {
		r.write(0x1ff0, 64)
		r.send(r.up, r.mwr(0, 0x1ff0, 64, true))
	}},
	{"the long header below 4 GiB", Header, nothing, func(r *rig) {
		r.read(0xfffffff0, 16)
		p := r.mrd(0, 0, 0xfffffff0, 16, true)
		p.Bytes = 24
		r.send(r.up, p)
	}},
	{"the short header at 4 GiB", Header, nothing, func(r *rig) {
		r.read(1<<32, 16)
		p := r.mrd(0, 0, 1<<32, 16, true)
		p.Bytes = 20
		r.send(r.up, p)
	}},
}
