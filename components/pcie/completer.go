package pcie

import (
	"math/rand/v2"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	rules "rnicmmu/model/pcie"
)

// completer turns the answers of requests into completions: a root port's, and an
// endpoint's for other adapters.
type completer struct {
	device uint16 // Requester and Completer ID
	rcb    uint32
	mps    uint32
	split  rules.Split
	short  uint32     // longest read that is cut at each boundary in any case
	random *rand.Rand // nil but for random splits
	shape  shaping

	answers slots[completion]
}

// completion is the answer to one request; offset bytes of it are sent.
type completion struct {
	done   msg.MemDone
	offset uint32
}

// answer takes an answer, for which there is room, and offers its completions.
func (u *completer) answer(t *transmitter, d *msg.MemDone) {
	i, c := u.answers.take()
	*c = completion{done: *d}
	o := t.submit(msg.Completion, i)
	o.packet.Sender, o.packet.Requester, o.packet.Tag, o.packet.Relaxed = u.device, d.Adapter, d.Tag, d.Relaxed
	u.piece(o, c)
}

// piece fits an offer to what is left of an answer.
func (u *completer) piece(o *offer, c *completion) {
	d := &c.done
	pa := d.PA + model.PA(c.offset)
	o.bytes = 0
	if d.Status == msg.StatusSuccess {
		var draw uint64
		if u.random != nil {
			draw = u.random.Uint64()
		}
		split := u.split
		if d.Len <= u.short {
			split = rules.SplitRCB
		}
		o.bytes = rules.CompletionPiece(pa, d.Len-c.offset, u.rcb, u.mps, split, draw)
	}
	u.shape.completion(o, pa, o.bytes)
}

// sendCompletion sends the next CplD of an answer, or the Cpl that ends a
// request without success.
func (u *completer) sendCompletion(now clocked.Time, t *transmitter, c choice) {
	o := t.chosen(c)
	i, n := o.place, o.bytes
	a := &u.answers.at[i]
	d := &a.done
	p := t.place(c.class)
	*p = packet{to: d.Adapter, TLP: msg.TLP{Type: msg.Completion, Kind: d.Kind, Stale: d.Stale, Status: d.Status, Payload: n > 0,
		Relaxed: d.Relaxed, Tag: d.Tag, Len: n, PA: d.PA + model.PA(a.offset)}}
	a.offset += n
	last := n == 0 || a.offset == d.Len
	if last {
		p.Last, p.Ledger, p.Entry = true, d.Ledger, d.Entry
	}
	t.launch(now, c, p)
	if !last {
		u.piece(o, a)
		return
	}
	t.done(c)
	u.answers.give(i)
}

// unsupported is the answer to a request that the unit does not serve.
func unsupported(p *packet) msg.MemDone {
	return msg.MemDone{Kind: p.Kind, Relaxed: p.Relaxed, Status: msg.StatusUnsupported, Tag: p.Tag, Adapter: p.rule.Sender,
		Len: p.Len, PA: p.PA, Ledger: p.Ledger}
}
