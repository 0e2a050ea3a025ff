package msg

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Translate asks the TPT for one page of an access: [VA, VA+Len) lies within
// one adapter page.
type Translate struct {
	Cookie   uint64 // returned in Translation
	QP       uint32
	PD       uint32
	Key      uint32
	Op       model.Op
	Write    bool // the translation will be used to store
	Replay   bool // the same packet or page was looked up before its fault: not counted again
	Kill     bool // not an access: invalidate Key for a SEND with invalidate, drain, answer without a translation
	CheckKey bool // look the key up and check [CheckVA, CheckVA+CheckLen) too
	Hold     bool // keep the request until the page is there; absent is the answer only where the QP's fault of that class is another request's
	Len      uint32
	Rest     uint32 // bytes from VA to the end of the message, as far as the adapter knows it, ≥ Len: what a fault asks for
	CheckLen uint32
	CheckVA  model.VA
	VA       model.VA
	Page     uint32 // dense number of the process page (Oracle)
	Access   *measure.Access
	Ledger   *measure.Ledger // charged translate, mpt_miss, mtt_miss, mshr, fault
}

// Outcome of a Translate.
type Outcome uint8

// Outcomes. Absent and Moving are answered with RNR (or a dropped segment) by
// the transport.
const (
	OutcomeOK Outcome = iota
	OutcomeAbsent
	OutcomeMoving       // present but suspended or being moved
	OutcomeRemoteAccess // key, PD, rights or bounds
	OutcomeRemoteOp     // the fault was resolved with an error
	OutcomeRevoke       // not an answer: give the held translation Handle back
)

// Translation answers a Translate, or revokes one that is held.
type Translation struct {
	Outcome Outcome
	Write   bool        // stores are allowed
	Why     key.Verdict // OutcomeRemoteAccess: the check that failed; OK: not told
	Handle  uint32
	Cookie  uint64
	PA      model.PA // of Translate.VA
	Address Address  // what DMA by this translation says of PA
	At      clocked.Time
}

// Release gives a translation back: every bus access that used it has been
// issued (writes) or answered (reads).
type Release struct{ Handle uint32 }

// CommandOp is what the kernel asks of an adapter's tables.
type CommandOp uint8

// Table commands.
const (
	CmdFill       CommandOp = iota // program entries
	CmdInvalidate                  // zap entries, drop copies, drain, acknowledge
	CmdResume                      // end a fault: Token, Failed
	CmdSuspend                     // suspend entries, or the region of Key when Whole; drain, acknowledge
	CmdUnsuspend                   // end one suspension of the same
	CmdProtect                     // take the right to store from entries, drop copies, drain, acknowledge
	CmdKey                         // change the protection table: Change
)

// KeyOp is a change of the protection table.
type KeyOp uint8

// Changes of the protection table. Those that take a key away drain what uses
// it before they are acknowledged.
const (
	KeyRegister     KeyOp = iota // Region becomes valid under Key, or where that is 0 under one that the adapter allots and tells
	KeyDeregister                // the key is dead, its index may serve again
	KeyFastRegister              // REG_MR: a free region becomes valid over Region's memory
	KeyInvalidate                // LOCAL_INV: a valid fast-registration region or type 2 window becomes free
	KeyBind                      // bind a memory window
	KeyEntry                     // write the entry of an implicit region's list
)

// KeyChange is the argument of CmdKey, and its result.
type KeyChange struct {
	Op     KeyOp
	Key    key.Key
	Region key.Region // of KeyRegister and KeyFastRegister; of KeyBind the window; of KeyEntry an address, Base
	Under  key.Key    // KeyBind: the region that the window opens; KeyEntry: the child, or 0 for the null key
	Err    error      // out: why the change was refused; nothing has changed then
}

// KeepEntry stands in a fill for an entry that is not written.
const KeepEntry = ^model.PA(0)

// Command is a work request on the kernel's shared command queue. The kernel
// owns it until the doorbell and again from the CQE on.
type Command struct {
	Op      CommandOp
	Failed  bool       // CmdResume: the QP goes to error
	Write   bool       // CmdFill: entries allow stores
	Token   FaultToken // CmdResume: the fault
	Entry   uint64     // first table entry
	Count   uint32     // entries
	Posts   uint32     // work requests that the range takes (chunks)
	PA      []model.PA // CmdFill: of the entries; KeepEntry where one stays as it is
	Record  *measure.Invalidation
	Adapter uint16
	Owner   uint32 // kernel's own reference
	Whole   bool   // CmdSuspend, CmdUnsuspend: the region of Key instead of entries
	Moving  bool   // CmdSuspend, CmdInvalidate: the pages are being moved and will be back, not paged out
	Key     key.Key
	Change  KeyChange // CmdKey
}

// FaultKind is a class of which a QP may have one outstanding fault: the
// responder's two of the four of [Lesokhin17].
type FaultKind uint8

// Fault classes.
const (
	ResponderWrite FaultKind = iota
	ResponderRead
)

// FaultToken names a fault of an adapter: the place that it has there, and which
// of the place's uses it is, from 1. So none names two, and the zero one none.
type FaultToken struct{ Place, Use uint32 }

// String is the place, with its use where it is not the first.
func (t FaultToken) String() string {
	if t.Use == 1 {
		return fmt.Sprint(t.Place)
	}
	return fmt.Sprintf("%d.%d", t.Place, t.Use)
}

// Event is an entry of the adapter's event queue: a page fault.
type Event struct {
	Token  FaultToken
	QP     uint32
	Kind   FaultKind
	Write  bool     // the access stores
	VA     model.VA // first byte wanted
	Entry  uint64   // of VA; not told where an implicit region has no child
	Count  uint32   // entries wanted, ≥ 1
	Page   uint32   // dense number of the process page
	Raised clocked.Time
}
