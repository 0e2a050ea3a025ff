package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// backup is a sandwich with a backup ring, whose page 0x100 and those after it
// are absent until the ring's own request for them is answered, after 100 us.
type backup struct {
	*sandwich
	present map[uint64]bool
	ringed  []clocked.Time // writes to the ring, as the endpoint sees them
	merged  []clocked.Time // writes to absent pages
	order   []uint64       // accesses whose data were written to user memory
	entries int            // receive completions
	last    clocked.Time   // the last of them
}

const pageService = 100 * clocked.Microsecond

func backupSpec(t *testing.T) Spec {
	spec := testSpec(t)
	spec.QP.FaultResponse, spec.QP.RNRTimer = "backup", 1
	return spec
}

func newBackup(t *testing.T, spec Spec) *backup {
	b := &backup{sandwich: warm(t, spec), present: map[uint64]bool{}}
	absent := func(va model.VA) bool {
		page := model.Shift4K.Number(va)
		return (page >= 0x100 && page < 0x200 || va == 1<<32) && !b.present[page]
	}
	b.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if !q.Hold && absent(q.VA) {
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
	b.tpt.slowTime = pageService
	b.tpt.slow = func(q *msg.Translate) bool { return q.Hold && absent(q.VA) }
	b.host.seen = b.seen
	return b
}

func (b *backup) seen(now clocked.Time, d *msg.DMA) {
	va, _, ok := user(d.PA)
	switch {
	case d.Kind == msg.KindCQE:
		b.entries++
		b.last = now
	case d.Kind == msg.KindData && d.Write && !ok && d.Counts != nil:
		b.ringed = append(b.ringed, now)
	case d.Kind == msg.KindData && d.Write:
		b.order = append(b.order, d.Oracle.Write>>24-1)
		if page := model.Shift4K.Number(va); d.Counts == nil {
			b.present[page] = true
			b.merged = append(b.merged, now)
		}
	}
}

// A WRITE to an absent page is acknowledged as soon as one to a present page,
// for its data are in the ring. They cross PCIe a second time when the page is
// there and software has taken its time, and carry the WRITE's identity.
func TestBackupCost(t *testing.T) {
	spec := backupSpec(t)
	b := newBackup(t, spec)
	bytes := b.host.bytes
	b.tpt.record = true
	a := b.post(model.OpWrite, 0, 0x100000, 64)
	b.run(t)
	// Doorbell, request, look-up, write issued by the endpoint, ACK, entry.
	want := ns + oneWay(&spec, 162, true) + 17*ns + 22*ns + oneWay(&spec, 86, false) + ns
	if got := a.Complete - a.Issue; got != want || a.Counts.RNRNaks != 0 {
		t.Errorf("latency %v, want %v", got, want)
	}
	if got := b.host.bytes - bytes; got != 2*64 {
		t.Errorf("%d bytes written, want 128", got)
	}
	// The ring's look-up goes out with the write to the ring: a hop, the page's
	// service, a hop, the copy, and another DMA.
	if got, want := b.merged[0]-b.ringed[0], ns+pageService+ns+spec.Adapter.BackupCopy; got != want {
		t.Errorf("merged %v after it was stored, want %v", got, want)
	}
	if ring := b.tpt.asked[len(b.tpt.asked)-1]; int(ring.QP) < spec.QPs || !ring.Replay || !ring.CheckKey {
		t.Errorf("the ring asks by %+v", ring)
	}
	if b.order[0] != a.ID || !b.resp.Idle() || b.resp.Stats.BackedUp != 1 || b.tpt.granted != 0 {
		t.Errorf("merge of access %d, %+v", b.order[0], b.resp.Stats)
	}
}

// Five pages come at the same time and software merges one entry after the
// other. It asks for two at a time where adapter.backup_ahead says so: then a
// page is asked for when an entry is merged.
func TestBackupPace(t *testing.T) {
	for _, ahead := range []int{16, 1} {
		spec := backupSpec(t)
		spec.Adapter.BackupAhead = ahead
		b := newBackup(t, spec)
		b.post(model.OpWrite, 0, 0x100000, 5*4096)
		b.run(t)
		if len(b.merged) != 5 {
			t.Fatalf("%d merged", len(b.merged))
		}
		step := spec.Adapter.BackupCopy
		if ahead == 1 {
			step += ns + pageService + ns
		}
		for i := range 4 {
			if got := b.merged[i+1] - b.merged[i]; got != step {
				t.Errorf("ahead %d: %v between merges, want %v", ahead, got, step)
			}
		}
	}
}

// Three packets wait for the DMA wire, of two places, which others fill, to go
// to a ring of one: only the first has a place there.
func TestBackupPromised(t *testing.T) {
	spec := backupSpec(t)
	spec.QPs, spec.Adapter.BackupEntries = 5, 1
	b := newBackup(t, spec)
	b.driver.outstanding = 5
	for qp := range uint32(5) {
		b.post(model.OpWrite, qp, 0x300000, 8) // brings its context in
	}
	b.run(t)
	b.host.free = b.engine.Now() + 5*clocked.Microsecond
	b.host.in = wire[msg.DMA](b.engine, "narrow", b.resp.ID(), b.host.id, 2)
	b.resp.Ports.DMA = b.host.in
	for qp, va := range []model.VA{0x300000, 0x301000, 0x100000, 0x101000, 0x102000} {
		b.post(model.OpWrite, uint32(qp), va, 64)
	}
	b.run(t)
	if st := b.resp.Stats; st.BackupPeak != 1 || st.BackupFull < 2 || st.BackedUp != 3 || len(b.merged) != 3 {
		t.Errorf("%+v, %d merged", st, len(b.merged))
	}
}

// A full ring meets packets with RNR NAKs, as absent pages do without one.
func TestBackupFull(t *testing.T) {
	spec := backupSpec(t)
	spec.Adapter.BackupEntries = 2
	b := newBackup(t, spec)
	b.driver.outstanding = 3
	for qp := range uint32(3) {
		b.post(model.OpWrite, qp, model.VA(0x100000+uint64(qp)<<12), 64)
	}
	b.run(t)
	st := b.resp.Stats
	if st.BackupFull == 0 || st.RNRAbsent != st.BackupFull || st.BackedUp != 3 || st.BackupPeak != 2 {
		t.Errorf("%+v", st)
	}
}

// A READ of bytes that wait in the ring meets RNR NAKs until they are merged,
// every 10 us and a round trip; one of other bytes of the page does not, once
// the page is there, nor does one of another page at any time.
func TestBackupBeforeRead(t *testing.T) {
	spec := backupSpec(t)
	b := newBackup(t, spec)
	b.driver.outstanding = 1
	b.post(model.OpWrite, 0, 0x100000, 64)
	other := b.post(model.OpRead, 1, 0x300000, 64)
	behind := b.post(model.OpRead, 1, 0x10003f, 64)
	b.run(t)
	if other.Counts.RNRNaks != 0 || behind.Counts.RNRNaks == 0 || behind.Complete < b.merged[0] {
		t.Errorf("%d and %d NAKs, merged at %v, read at %v", other.Counts.RNRNaks, behind.Counts.RNRNaks, b.merged[0], behind.Complete)
	}
	if wait := behind.Complete - b.merged[0]; wait > 10*clocked.Microsecond+2*behind.Ledger.Causes[measure.CauseNetwork]+2*clocked.Microsecond {
		t.Errorf("read %v after the merge", wait)
	}

	b = newBackup(t, spec)
	b.driver.outstanding = 1
	b.post(model.OpWrite, 0, 0x100000, 64)
	b.present[0x100] = true // but the ring waits
	beside := b.post(model.OpRead, 1, 0x100040, 64)
	b.tpt.slow = func(q *msg.Translate) bool { return q.Hold }
	absent := true
	b.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if q.Op == model.OpWrite && absent && !q.Hold {
			absent = false
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
	b.run(t)
	if beside.Counts.RNRNaks != 0 || beside.Complete > b.merged[0] {
		t.Errorf("%d NAKs, merged at %v, read at %v", beside.Counts.RNRNaks, b.merged[0], beside.Complete)
	}
}

// A WRITE over bytes that wait in the ring follows them there although its page
// has come meanwhile, and is merged after them.
func TestBackupOrder(t *testing.T) {
	b := newBackup(t, backupSpec(t))
	b.driver.outstanding = 1
	first := b.post(model.OpWrite, 0, 0x100000, 64)
	second := b.post(model.OpWrite, 1, 0x100020, 64)
	asked := 0
	b.tpt.decide = func(_ clocked.Time, q *msg.Translate) msg.Outcome {
		if asked++; asked == 1 {
			return msg.OutcomeAbsent
		}
		return msg.OutcomeOK
	}
	b.run(t)
	if b.resp.Stats.BackedUp != 2 || len(b.order) != 2 || b.order[0] != first.ID || b.order[1] != second.ID {
		t.Errorf("written in the order %v, %+v", b.order, b.resp.Stats)
	}
}

// SENDs whose buffers' pages are absent, and one behind them whose page is
// there, are acknowledged at once; the receive completions follow the merge, in
// order.
func TestBackupReceive(t *testing.T) {
	spec := backupSpec(t)
	b := newBackup(t, spec)
	b.driver.outstanding = 2
	first := b.post(model.OpSend, 0, 0, 64)  // buffer at 1<<32
	second := b.post(model.OpSend, 0, 0, 64) // buffer 16 KiB further
	b.run(t)
	if late := max(first.Complete, second.Complete); late > b.merged[0] || b.entries != 2 || b.last < b.merged[0] {
		t.Errorf("completed by %v, merged at %v, %d receive completions by %v", late, b.merged[0], b.entries, b.last)
	}
	if len(b.order) != 2 || b.order[0] != second.ID || b.order[1] != first.ID {
		t.Errorf("written in the order %v", b.order)
	}
}

// A SEND with invalidate kills its key only when the QP's data are merged.
func TestBackupInvalidate(t *testing.T) {
	b := newBackup(t, backupSpec(t))
	b.post(model.OpSend, 0, 0, 64)
	b.driver.work[len(b.driver.work)-1].Invalidate = 0x900
	var killed clocked.Time
	decide := b.tpt.decide
	b.tpt.decide = func(now clocked.Time, q *msg.Translate) msg.Outcome {
		if q.Kill {
			killed = now
			return msg.OutcomeOK
		}
		return decide(now, q)
	}
	b.run(t)
	if killed < b.merged[0] || b.entries != 1 || b.last < killed {
		t.Errorf("merged at %v, key killed at %v, completion at %v", b.merged[0], killed, b.last)
	}
}

// A translation that the TPT calls back while its entry waits for software goes
// back at once, and the entry asks again.
func TestBackupRevoked(t *testing.T) {
	spec := backupSpec(t)
	spec.Adapter.BackupCopy = 50 * clocked.Microsecond
	b := newBackup(t, spec)
	b.driver.outstanding = 2
	b.tpt.slow = nil
	b.tpt.record = true
	b.tpt.revokeAt = b.tpt.lookups + 4 // Absent, Absent, two grants: the second is called back
	b.post(model.OpWrite, 0, 0x100000, 64)
	b.post(model.OpWrite, 1, 0x101000, 64)
	b.run(t)
	if b.resp.Stats.Revoked != 1 || len(b.merged) != 2 || len(b.tpt.held) != 3 || b.tpt.held[0] > clocked.Microsecond {
		t.Errorf("%d revoked, %d merged, held %v", b.resp.Stats.Revoked, len(b.merged), b.tpt.held)
	}
}

// A key that dies while data wait in the ring: they are not written, and the
// QP, which has acknowledged them, stops.
func TestBackupKeyGone(t *testing.T) {
	spec := backupSpec(t)
	spec.QP.Retry, spec.QP.AckTimeout = 1, 6
	b := newBackup(t, spec)
	b.driver.outstanding = 1
	decide := b.tpt.decide
	b.tpt.decide = func(now clocked.Time, q *msg.Translate) msg.Outcome {
		if q.Hold {
			return msg.OutcomeRemoteAccess
		}
		return decide(now, q)
	}
	b.tpt.slow = nil
	a := b.post(model.OpWrite, 0, 0x100000, 64)
	next := b.post(model.OpWrite, 0, 0x200000, 64)
	b.run(t)
	if a.Status != measure.StatusOK || next.Status != measure.StatusRetryExceeded || b.resp.Stats.BackupLost != 1 || len(b.merged) != 0 {
		t.Errorf("%v, then %v, %+v", a.Status, next.Status, b.resp.Stats)
	}
}

// A stopped run says what the ring waits for.
func TestBackupWaits(t *testing.T) {
	b := newBackup(t, backupSpec(t))
	b.post(model.OpWrite, 3, 0x100000, 64)
	b.engine.Wake(b.driver.id, b.engine.Now()+ns)
	if err := b.engine.RunUntil(b.engine.Now() + 10*clocked.Microsecond); err != nil {
		t.Fatal(err)
	}
	want := "responder: backup ring of 1 entries: page at va 0x100000 of QP 3 is waited for"
	if w := b.resp.Waits(); len(w) != 1 || w[0] != want || b.resp.Idle() {
		t.Errorf("%q, want %q", w, want)
	}
}
