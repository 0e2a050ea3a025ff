package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// ringCookie marks translations for entries of the backup ring; their numbers
// are in the lower half.
const ringCookie = 1 << 32

// askAgain is the time between look-ups for an entry that cannot be waited for:
// its page moves, or its bytes are behind an older entry's (assumption: short
// beside a fault).
const askAgain = clocked.Microsecond

// entryState is how far an entry of the backup ring is.
type entryState uint8

const (
	entryStored entryState = iota // its page is not asked for
	entryAsked
	entryFound // translated
	entryDone  // merged, or its page or key is gone for good
)

// entry is a piece of a packet, within a page, in the backup ring.
type entry struct {
	state  entryState
	op     model.Op
	qp     int32
	held   int32 // translation
	n      uint32
	key    uint32
	va     model.VA
	pa     model.PA
	oracle msg.Oracle
	bus    msg.Address
	ledger measure.Ledger // of nobody: the access may be over
}

// backupRing is the ring of qp.fault_response backup. The adapter asks for the
// pages of its oldest entries, and software merges those whose page is there,
// one after the other. Entries are numbered without end: number n is in buffer
// n mod length.
type backupRing struct {
	entries []entry // empty: no ring
	head    uint32  // oldest entry
	asked   uint32  // those below were asked for
	tail    uint32
	awaited uint32               // pieces that wait for the DMA wire to go to the ring
	open    int                  // asked for and not done
	found   clocked.FIFO[uint32] // entries that were found, in that order
	copying uint32               // entry that software merges
	copied  clocked.Time         // when it is done with that; Never: it does nothing
	alarm   clocked.Time
	again   clocked.FIFO[retry]
	delayed clocked.FIFO[receipt]
}

// retry is an entry whose page is to be asked for again.
type retry struct {
	at     clocked.Time
	number uint32
}

// receipt is a receive completion that waits for the entries below a number.
type receipt struct {
	after  uint32
	qp     int32
	buffer int
}

func newBackupRing(s *Spec) backupRing {
	if s.QP.FaultResponse != "backup" {
		return backupRing{}
	}
	return backupRing{entries: make([]entry, s.Adapter.BackupEntries), copied: clocked.Never}
}

func (b *backupRing) idle() bool { return b.head == b.tail && b.delayed.Len() == 0 }

// slot is the buffer of an entry.
func (b *backupRing) slot(number uint32) uint32 { return number % uint32(len(b.entries)) }

// String tells what the ring waits for.
func (b *backupRing) String() string {
	if b.head == b.tail {
		return fmt.Sprintf("%d receive completions behind the backup ring", b.delayed.Len())
	}
	e := &b.entries[b.slot(b.head)]
	what := [...]string{"is not asked for", "is waited for", "is there", "is done"}[e.state]
	return fmt.Sprintf("backup ring of %d entries: page at va %#x of QP %d %s", b.tail-b.head, uint64(e.va), e.qp, what)
}

// overlaps tells whether any of n bytes at va wait in an entry below end.
func (b *backupRing) overlaps(va model.VA, n, end uint32) bool {
	for i := b.head; i != end; i++ {
		if e := &b.entries[b.slot(i)]; e.state != entryDone && va < e.va+model.VA(e.n) && e.va < va+model.VA(n) {
			return true
		}
	}
	return false
}

// delay puts off the head's receive completion until the QP's entries, which
// are all in the ring by now, are merged.
func (b *backupRing) delay(qp int32, q *recvQP) {
	q.delayed++
	*b.delayed.Push() = receipt{after: b.tail, qp: qp, buffer: q.taken()}
}

// wantBackUp sends the head's piece to the ring, if it can go there.
func (r *Responder) wantBackUp(now clocked.Time, qp int32, q *recvQP) bool {
	if op := q.packet.Opcode.Op(); len(r.ring.entries) == 0 || op != model.OpWrite && op != model.OpSend {
		return false
	}
	if r.ring.tail-r.ring.head+r.ring.awaited == uint32(len(r.ring.entries)) {
		r.Stats.BackupFull++
		return false
	}
	r.ring.awaited++
	r.letGo(q)
	r.want(now, qp, q, stageBackUp)
	return true
}

// backUp writes what the head has for the page into the ring. The packet goes
// on, and is acknowledged, as if that were the page.
func (r *Responder) backUp(now clocked.Time, qp int32, q *recvQP) {
	p, va := r.first(q), r.address(q)
	n := min(p.Payload-q.offset, toBoundary(uint64(va), min(r.spec.AdapterPage, r.spec.HostPage).Bytes()))
	b := &r.ring
	slot := b.slot(b.tail)
	b.tail++
	b.awaited--
	r.Stats.BackedUp++
	r.Stats.BackupPeak = max(r.Stats.BackupPeak, int(b.tail-b.head))
	b.entries[slot] = entry{op: p.Op, qp: qp, held: none, n: n, key: p.Key, va: va, oracle: r.oracle(q, va)}
	if p.Op == model.OpSend {
		b.entries[slot].key = r.buffers[qp].Key
	}
	q.backed++
	i, op := r.ops.get()
	*op = recvOp{stage: stageStore, qp: qp, handle: none, reply: none}
	*r.Ports.DMA.Push(now) = msg.DMA{Kind: msg.KindData, Write: true, Notify: true, PA: r.memory.Backup + model.PA(slot*r.mtu),
		Len: n, Cookie: uint64(i), Counts: &p.Access.Counts, Oracle: msg.Oracle{Page: msg.NoPage}}
	p.Ledger.Charge(now, measure.CauseDMAQueue)
	q.lastOp, q.unplaced = i, true
	q.offset += n
	r.enterStage(now, q, stagePiece)
}
