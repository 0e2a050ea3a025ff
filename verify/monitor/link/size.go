package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// block is what no request may cross, in bytes.
const block = 4096

// words are the bytes of the double words that n bytes at pa touch.
func words(pa model.PA, n uint32) uint64 {
	if n == 0 {
		return 0
	}
	first, last := uint64(pa)/4, (uint64(pa)+uint64(n)-1)/4
	return 4 * (last - first + 1)
}

// touched is what a TLP carries, in bytes.
func touched(p *pcie.Shown) uint64 {
	if !p.Payload {
		return 0
	}
	return words(p.PA, p.Len)
}

// measure checks the sizes of a TLP.
func (d *direction) measure(now clocked.Time, p *pcie.Shown) {
	if n := touched(p); n > uint64(d.spec.MPS) {
		d.log.Report(Payload, now, "%s: TLP %d carries %d bytes; MPS is %d", d.name, p.Seq, n, d.spec.MPS)
	}
	if p.Type == msg.NonPosted {
		if n := words(p.PA, p.Len); n > uint64(d.net.origin(p.Rule.Sender).MRRS) {
			d.log.Report(ReadRequest, now, "%s: TLP %d asks for %d bytes; MRRS is %d", d.name, p.Seq, n, d.net.origin(p.Rule.Sender).MRRS)
		}
	}
	request := p.Type != msg.Completion && p.Kind != msg.KindMessage
	if request && uint64(p.PA)%block+uint64(p.Len) > block {
		d.log.Report(Crossing, now, "%s: TLP %d at %#x has %d bytes and crosses a boundary of 4 KiB", d.name, p.Seq, uint64(p.PA), p.Len)
	}
	if n := d.wire(p, request); uint64(p.Bytes) != n {
		d.log.Report(Header, now, "%s: TLP %d at %#x takes %d bytes; %d are due", d.name, p.Seq, uint64(p.PA), p.Bytes, n)
	}
}

// wire is what a TLP takes on the line: 8 bytes of framing and LCRC but in flit
// mode, a header of 16 bytes for a message or a request from 4 GiB on and else of
// 12, a prefix of 4 for a process, 4 of ECRC, and what it carries.
func (d *direction) wire(p *pcie.Shown, request bool) uint64 {
	n := 12 + touched(p)
	if p.Kind == msg.KindMessage || request && p.PA >= 1<<32 {
		n += 4
	}
	if p.Type != msg.Completion && p.Rule.PASID != 0 {
		n += 4
	}
	if d.net.origin(p.Rule.Sender).ECRC {
		n += 4
	}
	if !rules.Flits(d.spec.Gen) {
		n += 8
	}
	return n
}
