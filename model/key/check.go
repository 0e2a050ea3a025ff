package key

import "rnicmmu/model"

// Verdict is the outcome of the key checks.
type Verdict uint8

// Verdicts. Their order is the order in which the checks are made.
const (
	OK           Verdict = iota
	ZeroLength           // READ or WRITE of no bytes: neither key nor address is looked at
	NoRegion             // the index names no region
	WrongVariant         // stale or forged key
	WrongPD              // region of another protection domain, window of another QP
	NoRight              // the region does not grant the operation
	NotValid             // the region is invalidated, the window not bound
	OutOfBounds          // some byte lies outside, or the end wraps
	TooDeep              // more indirect keys in a row than MaxDepth
	SuspendedNow         // permitted, but the region is suspended: RNR NAK, try again
	NoChild              // permitted, but nothing of this part was touched yet: a fault
	numVerdicts
)

var verdictNames = [numVerdicts]string{"ok", "zero length", "no region", "wrong variant", "wrong PD or QP",
	"no right", "not valid", "out of bounds", "too deep", "suspended", "no child"}

func (v Verdict) String() string {
	if v < numVerdicts {
		return verdictNames[v]
	}
	return "invalid verdict"
}

// Granted tells whether the access may go on to translation; one of no bytes
// is granted without any.
func (v Verdict) Granted() bool { return v <= ZeroLength }

// Refused tells whether the access is an access error for good: NAK remote
// access error at a responder, local protection error at a requester.
func (v Verdict) Refused() bool { return v > ZeroLength && v < SuspendedNow }

// needed are the rights that an operation needs of the memory it targets at
// the responder. A SEND lands in a receive buffer, local memory.
var needed = [model.NumOps]Rights{
	model.OpWrite:       RemoteWrite,
	model.OpRead:        RemoteRead,
	model.OpSend:        LocalWrite,
	model.OpCompareSwap: RemoteAtomic,
	model.OpFetchAdd:    RemoteAtomic,
}

// Needed is the right that op asks of its target region.
func Needed(op model.Op) Rights {
	if op < model.NumOps {
		return needed[op]
	}
	return 0
}

// Check applies the responder's key checks to an access by a QP whose key was
// looked up; r is nil where the index names no region. The order is that of the
// RC responder ([Linux] rxe_resp.c, in the order of [IBA]): zero length, lookup,
// variant, PD (of a type 2 window: QP), right, state, bounds, and only then
// suspension. Of an indirect or implicit key it checks the key itself, and
// Table.Resolve the regions behind it.
func Check(r *Region, k Key, pd PD, qp uint32, op model.Op, va model.VA, length uint64) Verdict {
	if length == 0 && (op == model.OpRead || op == model.OpWrite) {
		return ZeroLength
	}
	if op >= model.NumOps {
		return NoRight
	}
	return check(r, k, pd, qp, needed[op], va, length)
}

// CheckLocal applies the key checks to a requester's own memory: the source of
// a WRITE or SEND (write is false), or where the response of a READ or an
// atomic lands (write is true). A segment of no bytes is not checked; a window is
// no key for local use.
func CheckLocal(r *Region, k Key, pd PD, write bool, va model.VA, length uint64) Verdict {
	if length == 0 {
		return ZeroLength
	}
	var right Rights
	if write {
		right = LocalWrite
	}
	if r != nil && r.Kind.Window() {
		return NoRegion
	}
	return check(r, k, pd, 0, right, va, length)
}

// admits tells whether a QP of a protection domain may use the key at all.
func (r *Region) admits(pd PD, qp uint32) bool {
	switch r.Kind {
	case Window2A:
		return r.QP == qp
	case Window2B:
		return r.QP == qp && r.PD == pd
	}
	return r.PD == pd
}

func check(r *Region, k Key, pd PD, qp uint32, right Rights, va model.VA, length uint64) Verdict {
	switch {
	case r == nil || r.State == Unused || r.Key.Index() != k.Index():
		return NoRegion
	case r.Key != k:
		return WrongVariant
	case !r.admits(pd, qp):
		return WrongPD
	case !r.Rights.Has(right):
		return NoRight
	case r.State == Free:
		return NotValid
	case !r.Contains(va, length):
		return OutOfBounds
	case r.State == Suspended:
		return SuspendedNow
	}
	return OK
}
