package memory

import (
	"fmt"
	"strconv"

	"github.com/sarchlab/akita/v3/mem/dram"
	"github.com/sarchlab/akita/v3/mem/mem"
	"github.com/sarchlab/akita/v3/sim"

	"rnicmmu/clocked"
)

// akita is Akita's DRAM model, one of its memory controllers a channel. Lines go
// to it one by one and are answered one by one:
//
//	transfer ─▶ queue ─▶ port ═ connection ═ dram.MemController ─ ranks ─ banks
//
// Akita v3.1.0 closes the row behind each access and does not refresh, so that
// there are no row hits, and a line takes six cycles, rcd and rp at rest. As no
// row holds a second line of use, lines that follow each other are in different
// banks.
type akita struct {
	channels []akitaChannel
	requests []*akitaRequest // by the number that is their Akita ID
	free     []int           // of them
	jobs     []akitaJob      // by ticket
	done     clocked.FIFO[akitaDone]
	mask     uint64       // of an address in its channel
	rest     clocked.Time // of a line
}

// akitaChannel is the way to one of Akita's controllers.
type akitaChannel struct {
	port  *clocked.Port
	top   sim.Port // the controller's
	queue clocked.FIFO[akitaLine]
}

// akitaLine is a line that is not yet on its way.
type akitaLine struct {
	address uint64
	write   bool
	ticket  int
}

// akitaRequest is a line on its way, in messages that are used again.
type akitaRequest struct {
	read   mem.ReadReq
	write  mem.WriteReq
	ticket int
}

// akitaJob is what is left of a transfer.
type akitaJob struct {
	start clocked.Time
	lines int
}

type akitaDone struct {
	ticket int
	late   clocked.Time
}

const (
	akitaBurst = 8       // transfers of 64 bits: a line
	akitaBanks = 4       // of a group, and groups of a rank
	akitaRows  = 1 << 12 // addresses repeat beyond: where no row stays open, a row's number means little
	akitaDepth = 64      // messages under way in a direction
	akitaPath  = 6       // cycles beside those of the bank: three between registers, three in the controller
)

// Akita makes its generator of IDs when it is first asked: ask before systems run side by side.
func init() { sim.GetIDGenerator() }

// newAkita builds the controllers of a socket for a unit that its ports wake.
func newAkita(e *clocked.Engine, owner *clocked.Component, s DRAM, socket int) *akita {
	cycle := int64(clocked.Second) / int64(s.Akita.Clock)
	a := &akita{channels: make([]akitaChannel, s.Channels),
		mask: uint64(s.Banks)*akitaRows<<lineShift - 1,
		rest: clocked.Time(cycle*int64(akitaPath+s.Akita.RCD+s.Akita.RP)) + clocked.Picosecond} // seen then
	for i := range a.channels {
		name := fmt.Sprintf("Memory.Socket[%d].Channel[%d]", socket, i)
		c := &a.channels[i]
		c.top = s.Akita.build(e, name, s.Banks).GetPortByName("Top")
		c.port = clocked.NewPort(owner, akitaDepth, name+".Port")
		bus := clocked.NewConnection(clocked.ConnectionSpec{Name: name + ".Bus", Engine: e, Domain: clocked.NewDomain(s.Akita.Clock), Cycles: 1})
		bus.PlugIn(c.port, akitaDepth)
		bus.PlugIn(c.top, akitaDepth)
	}
	return a
}

// build makes a controller of one channel with so many banks.
func (s *Akita) build(e sim.Engine, name string, all int) *dram.MemController {
	groups := min(akitaBanks, all)
	inGroup := min(akitaBanks, all/groups)
	return dram.MakeBuilder().WithEngine(e).WithFreq(sim.Freq(s.Clock)).WithProtocol(dram.DDR4).
		WithGlobalStorage(mem.NewStorageWithUnitSize(uint64(all)*akitaRows<<lineShift, 1<<lineShift)).
		WithBusWidth(64).WithBurstLength(akitaBurst).
		WithNumChannel(1).WithNumRank(all / groups / inGroup).WithNumBankGroup(groups).WithNumBank(inGroup).
		WithNumRow(akitaRows).WithNumCol(akitaBurst).
		WithTCL(s.CL).WithTCWL(s.CWL).WithTRCD(s.RCD).WithTRP(s.RP).WithTRAS(s.RAS).WithTRTP(s.RTP).WithTWR(s.WR).
		WithTCCDS(akitaBurst / 2).WithTCCDL(s.CCDL).WithTRRDS(s.RRDS).WithTRRDL(s.RRDL).
		WithTWTRS(s.WTRS).WithTWTRL(s.WTRL).WithTRTRS(s.RTRS).
		Build(name)
}

// start queues a transfer's lines.
func (a *akita) start(now clocked.Time, t transfer) (late clocked.Time, known bool) {
	channel, within := place(t.pa, len(a.channels))
	if t.ticket != nobody {
		for len(a.jobs) <= t.ticket {
			a.jobs = append(a.jobs, akitaJob{})
		}
		a.jobs[t.ticket] = akitaJob{start: now, lines: t.lines}
	}
	c := &a.channels[channel]
	for i := range uint64(t.lines) {
		*c.queue.Push() = akitaLine{address: (within>>lineShift + i) << lineShift & a.mask, write: t.write, ticket: t.ticket}
	}
	a.send(now, c)
	return 0, t.ticket == nobody
}

// send puts lines on their way while the connection takes them; else it wakes
// the unit when it does.
func (a *akita) send(now clocked.Time, c *akitaChannel) {
	for c.queue.Len() > 0 && c.port.CanSend() {
		line := c.queue.Pop()
		r := a.request()
		r.ticket = line.ticket
		var message sim.Msg = &r.read
		if line.write {
			r.write.Address = line.address
			message = &r.write
		} else {
			r.read.Address = line.address
		}
		m := message.Meta()
		m.Src, m.Dst, m.SendTime = c.port, c.top, now.Seconds()
		c.port.Send(message)
	}
}

// request is one that is not on its way.
func (a *akita) request() *akitaRequest {
	if n := len(a.free); n > 0 {
		i := a.free[n-1]
		a.free = a.free[:n-1]
		return a.requests[i]
	}
	r := &akitaRequest{}
	r.read.ID = strconv.Itoa(len(a.requests))
	r.read.AccessByteSize = 1 << lineShift
	r.write.ID = r.read.ID
	r.write.Data = make([]byte, 1<<lineShift)
	a.requests = append(a.requests, r)
	return r
}

// finished takes answers, and gives one after the other the transfers that they
// complete.
func (a *akita) finished(now clocked.Time) (ticket int, late clocked.Time, ok bool) {
	if a.done.Len() == 0 {
		for i := range a.channels {
			c := &a.channels[i]
			for message := c.port.Retrieve(now.Seconds()); message != nil; message = c.port.Retrieve(now.Seconds()) {
				a.answered(now, message.(sim.Rsp).GetRspTo())
			}
			a.send(now, c)
		}
	}
	if a.done.Len() == 0 {
		return 0, 0, false
	}
	d := a.done.Pop()
	return d.ticket, d.late, true
}

// answered takes the answer to one line.
func (a *akita) answered(now clocked.Time, id string) {
	number, err := strconv.Atoi(id)
	if err != nil || number >= len(a.requests) {
		panic(fmt.Sprintf("memory: Akita answers a request %q that was never made", id))
	}
	a.free = append(a.free, number)
	ticket := a.requests[number].ticket
	if ticket == nobody {
		return
	}
	j := &a.jobs[ticket]
	if j.lines--; j.lines == 0 {
		*a.done.Push() = akitaDone{ticket, max(0, now-j.start-a.rest)}
	}
}
