package tpt

import (
	"errors"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// errNoTable refuses a command for entries where there are none.
var errNoTable = errors.New("the adapter has no translation table under this scheme")

// pageRange is a range of table entries or, without a table, of page numbers.
type pageRange struct{ first, last uint64 }

// entriesOf is the range that a command names.
func entriesOf(cmd *msg.Command) pageRange {
	return pageRange{cmd.Entry, cmd.Entry + uint64(max(1, cmd.Count)) - 1}
}

// apply makes the job's change and goes on to draining or completion.
func (u *Unit) apply(now clocked.Time) {
	switch j := &u.commands.current; j.source {
	case fromKernel:
		u.applyCommand(now, j.command)
	case fromIOMMU:
		u.dropRange(now, j.invalidate)
		u.drain(now)
	default:
		u.kill(now, &u.slots[j.slot].req)
	}
}

func (u *Unit) applyCommand(now clocked.Time, cmd *msg.Command) {
	cmd.Change.Err = nil
	switch {
	case cmd.Op == msg.CmdResume && !u.faults.resumable(cmd.Token):
		u.Stats.StrayResumes++
		u.refuse(now, errNoFault)
	case cmd.Op == msg.CmdResume:
		u.scheduleResume(now, cmd.Token.Place, cmd.Failed)
		u.complete(now)
	case cmd.Op == msg.CmdKey:
		u.changeKey(now, &cmd.Change)
	case cmd.Whole:
		u.suspendRegion(now, cmd)
	case u.config.Mode != Table:
		u.refuse(now, errNoTable)
	default:
		u.changeEntries(now, cmd)
	}
}

// changeEntries writes the table and drops cached copies. What takes a right
// away calls translations back and waits for them.
func (u *Unit) changeEntries(now clocked.Time, cmd *msg.Command) {
	n := uint64(cmd.Count)
	drains := true
	switch cmd.Op {
	case msg.CmdFill:
		u.program(cmd)
		drains = false
	case msg.CmdInvalidate:
		u.Stats.Invalidates++
		u.Stats.EntriesZapped += u.table.Zap(cmd.Entry, n, cmd.Moving)
	case msg.CmdSuspend:
		u.Stats.Suspends++
		u.table.Suspend(cmd.Entry, n)
	case msg.CmdUnsuspend:
		if err := u.table.Unsuspend(cmd.Entry, n); err != nil {
			u.refuse(now, err)
			return
		}
		u.Stats.Unsuspends++
		drains = false
	case msg.CmdProtect:
		u.Stats.Protects++
		u.table.Protect(cmd.Entry, n)
	}
	r := entriesOf(cmd)
	u.forget(r)
	u.writeTable(cmd)
	if !drains {
		u.complete(now)
		return
	}
	u.revokePages(now, r)
	u.drain(now)
}

// program writes entries of a fill; under a suspension they stay suspended.
func (u *Unit) program(cmd *msg.Command) {
	u.Stats.Fills++
	for j, p := range cmd.PA {
		if p == msg.KeepEntry {
			continue
		}
		w := mtt.Entry{PA: p, Read: true, Write: cmd.Write, Present: true}.Encode()
		u.table.Program(cmd.Entry+uint64(j), w)
	}
}

// suspendRegion starts or ends a suspension of the region of a key. Its entries
// stay as they are: what moves meanwhile is programmed before the end.
func (u *Unit) suspendRegion(now clocked.Time, cmd *msg.Command) {
	change, count := u.keys.Suspend, &u.Stats.Suspends
	if cmd.Op == msg.CmdUnsuspend {
		change, count = u.keys.Resume, &u.Stats.Unsuspends
	}
	if err := change(cmd.Key); err != nil {
		u.refuse(now, err)
		return
	}
	*count++
	r := u.pagesOf(u.keys.Lookup(cmd.Key))
	u.forgetKey(cmd.Key, r)
	if cmd.Op == msg.CmdUnsuspend {
		u.complete(now)
		return
	}
	u.revokePages(now, r)
	u.drain(now)
}

// pagesOf is the range of a region, or of an implicit one's list.
func (u *Unit) pagesOf(r *key.Region) pageRange {
	if r.Kind == key.Implicit {
		return pageRange{r.MTT, r.MTT + max(1, 2*key.ChildShift.Number(model.VA(r.Length))) - 1}
	}
	first := u.entryOf(r, r.Base)
	return pageRange{first, first + max(1, r.Pages()) - 1}
}

// writeTable stores the changed entries where the table lives.
func (u *Unit) writeTable(cmd *msg.Command) {
	if u.spec.Tables == "onboard" {
		return
	}
	*u.dma.Push() = msg.DMA{Kind: msg.KindMTT, Write: true, PA: u.layout.Address(cmd.Entry),
		Len: max(1, cmd.Count) * mtt.EntryBytes, Oracle: msg.Oracle{Page: msg.NoPage}}
}

// forget drops cached copies of the range and makes walks that have read it
// read again.
func (u *Unit) forget(r pageRange) {
	le := uint64(u.spec.MTT.LineEntries)
	first, last := r.first/le, r.last/le
	for i := range u.walks {
		if w := &u.walks[i]; w.busy && w.line >= first && w.line <= last {
			w.stale = true
		}
	}
	if u.spec.MTT.Index == "entry" && last-first < uint64(u.mtt.Lines()) {
		for line := first; line <= last; line++ {
			u.mtt.Invalidate(line)
		}
		return
	}
	u.mtt.dropRange(first, last)
}

// revokePages calls back every translation of the range that was given out.
func (u *Unit) revokePages(now clocked.Time, r pageRange) {
	for i := range u.slots {
		if s := &u.slots[i]; s.phase == slotGiven && s.entry >= r.first && s.entry <= r.last {
			u.revoke(now, uint32(i))
		}
	}
}

// revokeKey calls back every translation that was given out under the key or
// through it, whatever its variant.
func (u *Unit) revokeKey(now clocked.Time, k key.Key) {
	for i := range u.slots {
		if s := &u.slots[i]; s.phase == slotGiven && (s.key == k.Index() || s.via.root == k.Index()) {
			u.revoke(now, uint32(i))
		}
	}
}

// revoke calls a translation back, for drain to wait for it.
func (u *Unit) revoke(now clocked.Time, handle uint32) {
	if u.spec.Invalidation.EarlyAck {
		return
	}
	u.slots[handle].marked = true
	u.commands.draining++
	u.Stats.Revoked++
	u.answer(now, u.clock.Next(now), msg.Translation{Outcome: msg.OutcomeRevoke, Handle: handle})
}
