package tpt

import (
	"math/rand/v2"
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

// change takes pages, or the right to store to them, from the process: the page
// table changes at once, and an Invalidate Request follows. A page that moves
// has its new frame at once.
type change struct {
	cmd   *msg.Command // CmdInvalidate or CmdProtect, which the oracle understands
	moves bool
}

// response is the end of a page request: most bring the page in.
type response struct {
	ask  msg.PageRequest
	code ats.ResponseCode
	fill *msg.Command
}

// scheduleChange draws a change of the page table or of the key.
func (r *rig) scheduleChange(g *rand.Rand, at clocked.Time) {
	first := g.Uint64N(rigPages)
	c := &change{cmd: &msg.Command{Op: msg.CmdInvalidate, Entry: first, Count: 1 + g.Uint32N(uint32(min(3, rigPages-first)))}}
	switch g.IntN(10) {
	case 0, 1:
		c.cmd.Op = msg.CmdProtect
	case 2, 3, 4:
		c.moves, c.cmd.Count = true, 1
	case 5:
		r.ring(at, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyInvalidate, Key: r.key}})
		r.ring(at+clocked.Time(g.IntN(2000))*cycle, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyFastRegister, Key: r.key,
			Region: *r.unit.Keys().Lookup(r.key)}})
		return
	}
	r.ring(at, c)
}

// tag is an ITag; it may be used again from the time after its completion on.
type tag struct {
	of   *issued
	free clocked.Time
}

// alter changes the page table and returns the Invalidate Request; while all
// tags are busy it comes back later, off the clock's edges, and returns nil.
func (r *rig) alter(now clocked.Time, c *change) any {
	itag := slices.IndexFunc(r.tags[:], func(t tag) bool { return t.of == nil && t.free <= now })
	if itag < 0 {
		r.ring(now+100*cycle+1, c)
		return nil
	}
	r.tags[itag].of = r.execute(now, c.cmd)
	if c.moves {
		r.settle(now, r.execute(now, &msg.Command{Op: msg.CmdFill, Entry: c.cmd.Entry, Count: 1, Write: true, PA: []model.PA{0}}))
	}
	return &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: uint8(itag), PASID: process,
		Range: ats.Cover(baseVA+model.VA(c.cmd.Entry<<12), uint64(c.cmd.Count)<<12)}}
}

// answerOf is the answer of a read; of a translation request, what the page
// table holds before the time at which it is seen.
func (r *rig) answerOf(now clocked.Time, m *msg.DMA) msg.DMADone {
	d := msg.DMADone{Kind: m.Kind, Cookie: m.Cookie}
	if m.Kind == msg.KindATS {
		n := len(r.history)
		for n > 0 && r.history[n-1].sent == now {
			n--
		}
		e := r.oracle.states[n].pages[(uint64(m.PA)-uint64(baseVA))>>12]
		d.Entry = ats.Encode(ats.Translation{PA: e.frame, Shift: model.Shift4K, Read: e.here, Write: e.write && m.Address.Store})
	}
	return d
}

// message is what the IOMMU is told.
func (r *rig) message(now clocked.Time, body any) {
	g := r.random[1]
	switch m := body.(type) {
	case *msg.InvalidateDone:
		for itag, t := range r.tags {
			if m.ITags>>itag&1 == 0 {
				continue
			}
			if r.tags[itag] = (tag{free: now + 1}); t.of == nil {
				r.fail(now, "tag %d completed twice", itag)
				continue
			}
			r.settle(now, t.of)
		}
	case *msg.PageRequest:
		r.events++
		x := &response{ask: *m}
		if code := g.IntN(8); code < 2 {
			x.code = [...]ats.ResponseCode{ats.ResponseInvalid, ats.ResponseSuccess}[code]
		} else {
			x.fill = r.fill(g, uint64(m.VA-baseVA)>>12)
			x.fill.Write = m.Write || x.fill.Write
		}
		r.ring(now+clocked.Time(1+g.IntN(3000))*cycle, x)
	}
}

// respond brings the page in, unless that has been done, and answers.
func (r *rig) respond(now clocked.Time, x *response) any {
	if x.code != ats.ResponseSuccess {
		r.failed[x.ask.QP] = true
	}
	if c := x.fill; c != nil {
		switch e := r.oracle.states[len(r.history)].pages[c.Entry]; {
		case !e.here:
			r.settle(now, r.execute(now, c))
		case !e.write:
			c.PA[0] = e.frame // a right is given without a word to the adapter
			r.settle(now, r.execute(now, c))
		}
	}
	return &msg.PageResponse{PageResponse: ats.PageResponse{Group: x.ask.Group, PASID: process, Code: x.code}}
}
