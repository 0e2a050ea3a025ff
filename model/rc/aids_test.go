package rc

import "rnicmmu/model/key"

// Inputs are the answers that a responder needs from outside.
type Inputs struct {
	ReceiveReady bool        // a receive work request is posted
	Key          key.Verdict // for Target's Remaining bytes; ignored for a SEND
	Present      bool        // the packet's pages are there
	Execution    Execution
	Original     uint64 // atomic: the value before
}

// Receive takes a packet through all steps at once.
func (r *Responder) Receive(p Packet, in Inputs) Action {
	if a := r.Admit(p, in.ReceiveReady); a.Kind != Continue {
		return a
	}
	if a := r.Authorize(p, in.Key); a.Kind != Continue {
		return a
	}
	if a := r.Translate(p, in.Present); a.Kind != Continue {
		return a
	}
	return r.Execute(p, in.Execution, in.Original)
}

// RetriesLeft are the budgets that remain for the present stall; a budget of 7
// is never spent.
func (r *Requester) RetriesLeft() (retry, rnr uint8) { return r.retry, r.rnr }
