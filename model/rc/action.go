package rc

// Kind is what a responder does about a packet.
type Kind uint8

// Kinds of action.
const (
	Continue     Kind = iota // go on with the next step
	Executed                 // done, and no acknowledgement is asked for
	SendAck                  // done or duplicate: send the ACK
	SendResponse             // READ or atomic done: send its response
	SendNAK                  // send the NAK; all but the sequence NAK end the QP
	SendRNR                  // send the RNR NAK
	ReplayRead               // duplicate: check the key again and send the response again
	ReplayAtomic             // duplicate: send the stored reply, do not execute
	Drop                     // say nothing
	Fail                     // QP to error without a NAK
)

var kindNames = [...]string{"continue", "executed", "ack", "response", "nak", "rnr", "replay-read",
	"replay-atomic", "drop", "fail"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid kind"
}

// Action is a responder's decision. Syndrome, PSN and MSN are what the packet
// sent carries, where one is sent.
type Action struct {
	Kind     Kind
	Syndrome Syndrome
	PSN      PSN
	MSN      uint32
	Original uint64 // ReplayAtomic: the value to reply
}

// Execution is how the execution of an admitted, authorized and translated
// packet ended.
type Execution uint8

// Executions.
const (
	Done              Execution = iota
	ReceiveTooSmall             // the receive buffer is shorter than the SEND
	ReceiveMalformed            // the receive work request is bad
	CopyFault                   // memory refused the access
	InvalidateRefused           // the key of a SEND with invalidate cannot be invalidated
)

// nak refuses a packet for good.
func (r *Responder) nak(s Syndrome, p PSN) Action {
	r.State = Error
	return Action{Kind: SendNAK, Syndrome: s, PSN: p, MSN: r.MSN}
}

// rnr puts a packet off. The expected PSN stays, so the packet comes again.
func (r *Responder) rnr(p PSN) Action {
	r.silent = !r.config.NAKAfterRNR
	return Action{Kind: SendRNR, Syndrome: RNRNAK(r.config.RNRTimer), PSN: p, MSN: r.MSN}
}

func (r *Responder) ack(p PSN) Action {
	return Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: p, MSN: r.MSN}
}
