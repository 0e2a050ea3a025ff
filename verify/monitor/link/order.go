package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	rules "rnicmmu/model/pcie"
)

// stays is what the ordering table says of a later TLP (row) and an earlier one
// (column) without attributes: the later may not go first.
var stays = [numClasses][numClasses]bool{
	//                posted, non-posted, completion
	msg.Posted:     {true, false, false},
	msg.NonPosted:  {true, false, false},
	msg.Completion: {true, false, false},
}

// mayPass tells whether a TLP may go before an earlier one. Relaxed ordering lets
// posted TLPs and completions pass posted ones; ID-based ordering lets all pass
// those of another requester or, where both have one, another PASID. Completions of
// one request never pass each other.
func mayPass(later *pcie.Shown, earlier *rules.Packet, column msg.TLPType) bool {
	l := &later.Rule
	if later.Type == msg.Completion && column == msg.Completion {
		return l.Requester != earlier.Requester || l.Tag != earlier.Tag
	}
	if !stays[later.Type][column] {
		return true
	}
	if l.Relaxed && later.Type != msg.NonPosted {
		return true
	}
	if !l.IDOrdered {
		return false
	}
	if l.Sender != earlier.Sender {
		return true
	}
	return later.Type != msg.Completion && l.PASID != 0 && earlier.PASID != 0 && l.PASID != earlier.PASID
}

// inbox is what a direction has brought and the unit has not taken.
type inbox struct {
	classes [numClasses]clocked.FIFO[arrived]
	count   uint64
}

type arrived struct {
	number uint64 // of its acceptance
	seq    uint16
	rule   rules.Packet
}

func (b *inbox) add(p *pcie.Shown) {
	b.count++
	*b.classes[p.Type].Push() = arrived{b.count, p.Seq, p.Rule}
}

func (b *inbox) len() int { return b.classes[0].Len() + b.classes[1].Len() + b.classes[2].Len() }

// deliver checks that the receiver takes each TLP once, and none before an
// earlier one that it may not pass.
func (d *direction) deliver(now clocked.Time, p *pcie.Shown) {
	f := &d.inbox.classes[p.Type]
	if f.Len() == 0 || f.Front().seq != p.Seq {
		d.log.Report(Once, now, "%s: %s TLP %d is taken out of the buffer, where another one is the oldest", d.name, classNames[p.Type], p.Seq)
		return
	}
	number := f.Pop().number
	posted := &d.inbox.classes[msg.Posted]
	for n := posted.Head(); n != posted.Tail() && posted.At(n).number < number; n++ {
		if e := posted.At(n); !mayPass(p, &e.rule, msg.Posted) {
			d.log.Report(TakenEarly, now, "%s: %s TLP %d is taken before posted TLP %d, which came before it", d.name, classNames[p.Type], p.Seq, e.seq)
			return
		}
	}
}
