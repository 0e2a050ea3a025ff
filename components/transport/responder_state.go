package transport

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/rc"
)

// none is no place in a table.
const none int32 = -1

// stage is what the packet at the head of a QP waits for.
type stage uint8

const (
	stageIdle         stage = iota // no packet
	stageCheck                     // its checks
	stageWriteBack                 // DMA wire: a dirty context leaves the cache
	stageContextRead               // DMA wire
	stageContext                   // its QP context
	stageReceiveRead               // DMA wire
	stageReceive                   // a receive work request
	stagePiece                     // the next piece
	stageTranslate                 // the Translate wire
	stageTranslation               // a translation
	stageReadAhead                 // room for a READ response
	stageStore                     // DMA wire: data write
	stageLoad                      // DMA wire: data read
	stageAtomicLoad                // DMA wire
	stageAtomic                    // the old value of an atomic
	stageAtomicStore               // DMA wire
	stageFlush                     // DMA wire: read that pushes the data to memory
	stageProve                     // DMA wire: read that tells whether a write met its page
	stageProof                     // that read's answer
	stageInvalidate                // the Translate wire: invalidation of a key
	stageInvalidation              // its end
	stageBackUp                    // DMA wire: the piece goes to the backup ring
	stageMerged                    // the QP's entries in the backup ring
	stageReceiveEntry              // DMA wire: completion entry of a receive
)

var stageNames = [...]string{"idle", "is checked", "waits for DMA of a context write-back", "waits for DMA of its context",
	"waits for its context", "waits for DMA of a receive work request", "waits for a receive work request", "moves on",
	"waits to ask for a translation", "waits for a translation", "waits for READ responses to leave", "waits for DMA of a write",
	"waits for DMA of a read", "waits for DMA of an atomic's read", "waits for an atomic's old value",
	"waits for DMA of an atomic's write", "waits for DMA of a flush", "waits for DMA of a write's proof",
	"waits for a write's proof", "waits to ask for a key's invalidation", "waits for a key's invalidation",
	"waits for DMA to the backup ring", "waits for its data in the backup ring to be merged",
	"waits for DMA of a receive completion"}

func (s stage) String() string { return stageNames[s] }

// recvQP is the state of a receive side.
type recvQP struct {
	silent     bool  // it has stopped without a word, as its context could not be read
	head, tail int32 // packets in the receive buffer, through waiting
	stage      stage
	since      clocked.Time

	packet   rc.Packet // the head as the rules see it
	offset   uint32    // bytes of the head done; of a READ, of its message
	lastOp   int32     // the head's last data write
	unplaced bool      // the head has written data that may not be in memory
	counted  bool      // the head was looked up before, when it was executed
	checked  bool      // the key was checked within this message
	stalled  bool      // the head was put off: its PSN comes again
	looked   model.VA  // what of the message lies below was looked up

	held        int32  // translation in use
	heldPage    uint64 // adapter page number
	heldPA      model.PA
	heldAddress msg.Address
	stored      uint32 // bytes of the piece whose proof is awaited

	backed  uint32 // entries in the backup ring
	delayed uint32 // receive completions that wait for them

	receives int            // receive work requests fetched and unused
	buffer   int            // the next receive buffer in the ring
	repost   []clocked.Time // when each buffer may be taken again

	open                 int32 // READ response being read
	replyHead, replyTail int32
	replies              int
	queued               bool  // in Responder.sending
	flushed              int32 // reply that the head's flush is for
	victim               uint64
}

// node is a packet in the receive buffer, in a list a QP.
type node struct {
	arrival
	next int32
}

// reply is a packet to send, in PSN order a QP.
type reply struct {
	packet *msg.Packet
	waits  int32      // transfers that must end first
	open   bool       // more transfers will be added
	status msg.Status // the worst of its reads
	next   int32
}

// recvOp is what a DMA of the responder is for.
type recvOp struct {
	stage  stage // that asked for it
	qp     int32
	handle int32 // translation used
	reply  int32
	ledger measure.Ledger // of a READ's piece
}

// handle is a translation that the TPT counts as in use.
type handle struct {
	number  uint32 // the TPT's
	refs    int32  // transfers not issued (writes) or not answered (reads)
	qp      int32  // none: an entry of the backup ring
	entry   uint32
	live    bool
	closed  bool // no further use
	revoked bool // the TPT wants it back
}
