package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/mtt"
)

// Doorbell hop, fetch, firmware, CQE hop: the times of an idle invalidation.
func TestInvalidationSteps(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	c := &msg.Command{Op: msg.CmdInvalidate, Entry: 3, Count: 1, Posts: 1, Record: new(measure.Invalidation)}
	s.command(0, c)
	s.run()
	received := cycle + cycle + readDelay + cycle // doorbell, to the endpoint, back
	marked := received + 200*clocked.Nanosecond + cycle
	r := c.Record
	if r.Received != received || r.Marked != marked || r.Drained != marked {
		t.Errorf("received %v marked %v drained %v, want %v, %v, %v", r.Received, r.Marked, r.Drained, received, marked, marked)
	}
	if s.acks[0].at != marked+cycle {
		t.Errorf("acknowledged at %v, want %v", s.acks[0].at, marked+cycle)
	}
	if s.unit.Stats.EntriesZapped != 1 {
		t.Errorf("%d entries zapped, want 1", s.unit.Stats.EntriesZapped)
	}
}

// A fill leaves the entries alone that it names KeepEntry, present or not.
func TestFillKeepsEntries(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	s.command(0, &msg.Command{Op: msg.CmdInvalidate, Entry: 4, Count: 1, Posts: 1})
	s.command(1000*cycle, &msg.Command{Op: msg.CmdFill, Entry: 2, Count: 4, Posts: 1, PA: []model.PA{frame(9), msg.KeepEntry, msg.KeepEntry, frame(8)}})
	before := s.unit.Table().Get(3)
	s.run()
	readable := func(pa model.PA) mtt.Word { return mtt.Entry{PA: pa, Read: true, Present: true}.Encode() }
	want := [...]mtt.Word{readable(frame(9)), before, 0, readable(frame(8))}
	for i, w := range want {
		if got := s.unit.Table().Get(2 + uint64(i)); got.Present() != w.Present() || got.Present() && got != w {
			t.Errorf("entry %d: %#x, want %#x", 2+i, got, w)
		}
	}
}

// With the defect an invalidation is acknowledged while its page is in use, which
// is not called back.
func TestEarlyAck(t *testing.T) {
	sp := spec()
	sp.Invalidation.EarlyAck = true
	s := newSandwichIn(t, sp, ATC).mapAll()
	s.read(0, 0, 3)
	s.requests[0].keep = true
	m := s.dropPages(2000*cycle, 4, 3, 1)
	s.script = append(s.script, step{at: 3000 * cycle, release: true})
	s.run()
	marked := 2001*cycle + 50*clocked.Nanosecond + cycle
	if r := m.Record; r.Marked != marked || r.Drained != marked || s.unit.Stats.Revoked != 0 || !s.unit.Idle() {
		t.Errorf("marked %v drained %v, want %v; %d called back; waits %v", r.Marked, r.Drained, marked, s.unit.Stats.Revoked, s.unit.Waits())
	}
	if len(s.done) != 1 || s.done[0].at != marked+cycle {
		t.Errorf("completed %v, want at %v", s.done, marked+cycle)
	}
}
