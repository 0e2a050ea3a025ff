package rc

import (
	"fmt"

	"rnicmmu/model"
	"rnicmmu/model/key"
)

// MaxResources is the most READs and atomics that a responder remembers.
const MaxResources = 16

// QPState is the state of a queue pair as far as a responder cares.
type QPState uint8

// States.
const (
	Reset QPState = iota
	Ready         // to receive
	Error
)

// ResponderConfig is fixed when the QP is made ready.
type ResponderConfig struct {
	MTU         uint32     // bytes
	Rights      key.Rights // operations the QP admits (qp_access_flags)
	Resources   int        // max_dest_rd_atomic, 0 … MaxResources
	RNRTimer    uint8      // min_rnr_timer code, 0 … 31
	NAKAfterRNR bool       // answer what follows an RNR NAK with one sequence NAK, as [Linux] rxe_resp.c does
}

// Validate tells what is wrong with the configuration, or nil.
func (c ResponderConfig) Validate() error {
	switch {
	case !ValidMTU(c.MTU):
		return fmt.Errorf("MTU %d: must be 256, 512, 1024, 2048 or 4096", c.MTU)
	case c.Resources < 0 || c.Resources > MaxResources:
		return fmt.Errorf("max_dest_rd_atomic %d: must be 0 to %d", c.Resources, MaxResources)
	case c.RNRTimer > 31:
		return fmt.Errorf("RNR timer code %d: must be 0 to 31", c.RNRTimer)
	}
	return nil
}

// Cursor is where a responder stands in the packet stream. A copy of it undoes
// packets that were executed early.
type Cursor struct {
	Expected PSN    // next PSN
	MSN      uint32 // messages completed, 24 bits
	inside   bool   // a SEND or WRITE has begun and not ended
	op       model.Op
	key      key.Key  // of the WRITE
	va       model.VA // of the WRITE's next byte
	left     uint32   // bytes of the WRITE to come
}

// Responder is the responder side of one QP.
type Responder struct {
	Cursor
	State   QPState
	config  ResponderConfig
	silent  bool // the gap has had its NAK
	done    [MaxResources]resource
	doneEnd int // next of done to overwrite
}

// resource is what a duplicate READ or atomic is answered from.
type resource struct {
	used     bool
	op       model.Op
	first    PSN
	span     uint32
	key      key.Key
	va       model.VA
	length   uint32
	original uint64 // atomic: value before
}

// NewResponder makes a responder that is ready to receive from a first PSN.
func NewResponder(c ResponderConfig, start PSN) (*Responder, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Responder{Cursor: Cursor{Expected: start & psnMask}, State: Ready, config: c}, nil
}

// Packet is a request packet: the fields of BTH, RETH and AtomicETH that rules
// look at. VA, Key and Length count only where the opcode has them: Length is
// the whole message's, in bytes.
type Packet struct {
	Opcode     Opcode
	AckRequest bool
	PSN        PSN
	Payload    uint32 // bytes
	Length     uint32
	Key        key.Key
	VA         model.VA
}

// Bytes is how many bytes of memory the packet touches.
func (p *Packet) Bytes() uint32 {
	switch op := p.Opcode.Op(); {
	case op == model.OpRead:
		return p.Length
	case op.Atomic():
		return AtomicBytes
	}
	return p.Payload
}

// Remaining is how many bytes of memory the packet and the rest of its message
// touch; of a SEND, whose length nobody tells, the packet alone.
func (r *Responder) Remaining(p *Packet) uint32 {
	switch o := p.Opcode; {
	case o.Op() != model.OpWrite:
		return p.Bytes()
	case o.First():
		return p.Length
	}
	return r.left
}

// Target is the memory that a packet addresses by key.
type Target struct {
	Op        model.Op
	Key       key.Key
	VA        model.VA
	Bytes     uint64 // that this packet touches: translate these
	Remaining uint64 // that it and the rest of its message touch: check the key for these
}

// Target is what an admitted packet addresses; ok is false for a SEND, which
// goes to a receive buffer.
func (r *Responder) Target(p Packet) (t Target, ok bool) {
	op := p.Opcode.Op()
	if op == model.OpSend || op == model.NumOps {
		return Target{}, false
	}
	t = Target{Op: op, Key: p.Key, VA: p.VA, Bytes: uint64(p.Bytes()), Remaining: uint64(r.Remaining(&p))}
	if op == model.OpWrite && !p.Opcode.First() {
		t.Key, t.VA = r.key, r.va
	}
	return t, true
}
