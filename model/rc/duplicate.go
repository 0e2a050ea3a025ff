package rc

import "rnicmmu/model"

func (r *Responder) remember(d resource) {
	r.done[r.doneEnd] = d
	r.doneEnd = (r.doneEnd + 1) % r.config.Resources
}

// recall is the newest resource that covers a PSN, or nil.
func (r *Responder) recall(p PSN) *resource {
	for i := range r.config.Resources {
		d := &r.done[(r.doneEnd-1-i+2*r.config.Resources)%r.config.Resources]
		if at := p.Sub(d.first); d.used && at >= 0 && at < int32(d.span) {
			return d
		}
	}
	return nil
}

// duplicate answers a packet that was executed before: SEND and WRITE are
// acknowledged again up to the latest, a READ inside the range of the original
// is sent again, an atomic's reply is repeated; what is not remembered is
// dropped. Nothing is executed twice.
func (r *Responder) duplicate(p Packet) Action {
	op := p.Opcode.Op()
	if !op.Responds() {
		return r.ack(r.Expected.Add(psnMask)) // one before
	}
	d := r.recall(p.PSN)
	switch {
	case d == nil || d.op != op:
		return Action{Kind: Drop}
	case op == model.OpRead:
		offset := uint64(p.VA - d.va) // wraps to a large number where VA is below
		if p.Key != d.key || offset > uint64(d.length) || uint64(p.Length) > uint64(d.length)-offset {
			return Action{Kind: Drop}
		}
		return Action{Kind: ReplayRead, Syndrome: AckUnlimited, PSN: p.PSN, MSN: r.MSN}
	}
	return Action{Kind: ReplayAtomic, Syndrome: AckUnlimited, PSN: p.PSN, MSN: r.MSN, Original: d.original}
}
