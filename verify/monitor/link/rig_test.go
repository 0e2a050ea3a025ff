package link

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/configs"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
	"rnicmmu/verify/rule"
)

const ns = clocked.Nanosecond

// rig is the monitors of one link, of an adapter with the ID 3 and one client,
// fed by hand. Gen1 x1: a byte takes 4 ns.
type rig struct {
	log  rule.Log
	spec pcie.Spec
	end  endpoint
	root root
	net  *network
	up   *direction
	down *direction
	now  clocked.Time
}

const adapter = 3

func newRig(t *testing.T, change ...func(*pcie.Spec)) *rig {
	t.Helper()
	r := &rig{}
	if err := configs.Defaults(&r.spec); err != nil {
		t.Fatal(err)
	}
	r.spec.Gen, r.spec.Lanes, r.spec.Adapter, r.spec.SKP = 1, 1, adapter, false
	for _, f := range change {
		f(&r.spec)
	}
	r.net = newNetwork(&r.spec)
	r.up, r.down = pair(&r.log, r.net, pcie.Line{Name: "up", Spec: &r.spec}, pcie.Line{Name: "down", Spec: &r.spec})
	r.up.directed = func() bool { return false }
	r.down.directed = r.up.directed
	r.end = endpoint{id: adapter, up: r.up, down: r.down, requests: newRequests(&r.spec), unpaid: make([]int, 1)}
	r.root = root{up: r.up, down: r.down, net: r.net}
	r.net.add(&r.end)
	r.up.writer, r.down.reader = &r.end, &r.end
	r.down.writer, r.up.reader = &r.root, &r.root
	return r
}

// broken are the rules that were, each once.
func (r *rig) broken() (ids []string) {
	for _, x := range Rules() {
		if r.log.Count(x.ID) > 0 {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// write is a DMA of payload that the endpoint accepts, read one to be answered.
func (r *rig) write(pa model.PA, n uint32) {
	r.end.accept(r.now, &msg.DMA{Kind: msg.KindData, Write: true, PA: pa, Len: n}, 0)
}

func (r *rig) read(pa model.PA, n uint32) {
	r.end.accept(r.now, &msg.DMA{Kind: msg.KindData, PA: pa, Len: n}, 0)
}

// answer is one of memory.
func (r *rig) answer(tag uint16, pa model.PA, n uint32, status msg.Status) {
	r.root.answer(r.now, &msg.MemDone{Kind: msg.KindData, Tag: tag, Adapter: adapter, PA: pa, Len: n, Status: status})
}

// ring is a doorbell of 8 bytes.
func (r *rig) ring() { r.root.ring(r.now, &msg.Doorbell{Adapter: adapter, Len: 8}) }

// mwr, mrd and cpl are TLPs as they should be, with their numbers.
func (r *rig) mwr(seq uint16, pa model.PA, n uint32, last bool) *pcie.Shown {
	return r.shown(msg.TLP{Type: msg.Posted, Kind: msg.KindData, Payload: true, PA: pa, Len: n, Last: last}, seq, rules.Packet{Sender: adapter})
}

func (r *rig) mrd(seq, tag uint16, pa model.PA, n uint32, last bool) *pcie.Shown {
	return r.shown(msg.TLP{Type: msg.NonPosted, Kind: msg.KindData, Tag: tag, PA: pa, Len: n, Last: last}, seq, rules.Packet{Sender: adapter})
}

func (r *rig) cpl(seq, tag uint16, pa model.PA, n uint32, last bool) *pcie.Shown {
	return r.shown(msg.TLP{Type: msg.Completion, Kind: msg.KindData, Payload: n > 0, Tag: tag, PA: pa, Len: n, Last: last}, seq,
		rules.Packet{Sender: host, Requester: adapter, Tag: tag})
}

func (r *rig) bell(seq uint16) *pcie.Shown {
	return r.shown(msg.TLP{Type: msg.Posted, Kind: msg.KindDoorbell, Payload: true, PA: pcie.Window(adapter, 0), Len: 8, Last: true}, seq, rules.Packet{Sender: host})
}

// shown gives a TLP its size: of requests from 4 GiB on, a header of 16 bytes.
func (r *rig) shown(t msg.TLP, seq uint16, p rules.Packet) *pcie.Shown {
	p.Class = [...]rules.Class{rules.Posted, rules.NonPosted, rules.Completion}[t.Type]
	s := &pcie.Shown{TLP: &t, Rule: p, Seq: seq, Bytes: 20, To: p.Requester}
	if t.Type != msg.Completion && t.PA >= 1<<32 {
		s.Bytes = 24
	}
	if t.Payload {
		carried := (uint32(t.PA%4) + t.Len + 3) / 4 * 4
		s.Bytes += carried
		s.Credits = (carried + 15) / 16
	}
	return s
}

// send puts TLPs on a direction, one after the other.
func (r *rig) send(d *direction, all ...*pcie.Shown) {
	for _, p := range all {
		end := r.now + clocked.Time(p.Bytes)*4*ns
		d.Sent(r.now, end, p, false)
		r.now = end
	}
}

func (r *rig) again(d *direction, p *pcie.Shown) {
	end := r.now + clocked.Time(p.Bytes)*4*ns
	d.Sent(r.now, end, p, true)
	r.now = end
}

// arrive has TLPs accepted a link's latency from now, and take has them taken.
func (r *rig) arrive(d *direction, all ...*pcie.Shown) {
	r.now += r.spec.LinkLatency
	for _, p := range all {
		d.Arrived(r.now, &pcie.Arrival{Seq: p.Seq, Accepted: p})
	}
}

func (r *rig) take(d *direction, all ...*pcie.Shown) {
	for _, p := range all {
		d.Drained(r.now, p)
	}
}

// pass is send, arrive and take.
func (r *rig) pass(d *direction, all ...*pcie.Shown) {
	r.send(d, all...)
	r.arrive(d, all...)
	r.take(d, all...)
}

// dllp leaves on a direction, and is heeded.
func (r *rig) dllp(d *direction, p pcie.DLLP) {
	d.Departed(r.now, r.now+32*ns, &p, false)
	r.now += 32 * ns
	d.Collected(r.now, &p)
}

// finish is the end of a run, at rest long after.
func (r *rig) finish(rest bool) {
	m := Monitor{directions: []*direction{r.up, r.down}, units: []finisher{&r.end, &r.root}}
	r.now += 100 * clocked.Microsecond
	m.Finish(r.now, rest)
}

// answered is a read that was sent, and its answer.
func (r *rig) answered(tag uint16, pa uint64, n uint32) {
	r.end.requests.tags[tag] = request{open: true, kind: msg.KindData, pa: model.PA(pa), len: n}
	r.end.requests.open++
	r.end.requests.reserved += uint64(n)
	r.answer(tag, model.PA(pa), n, msg.StatusSuccess)
}

// take1 has the endpoint take a completion, whoever sent it.
func (r *rig) take1(p *pcie.Shown) { r.end.drained(r.now, r.down, p) }

// settle sends the Ack and UpdateFC that are due.
func (r *rig) settle(d *direction) {
	r.dllp(d, pcie.DLLP{Kind: pcie.Ack, Seq: d.back.sequence.due - 1})
	for c := range msg.TLPType(numClasses) {
		h, x := &d.back.pools[2*c], &d.back.pools[2*c+1]
		r.dllp(d, pcie.DLLP{Kind: pcie.UpdateFC, Class: c, Header: uint16(h.initial+h.freed) & 255, Data: uint16(x.initial+x.freed) & 4095})
	}
}
