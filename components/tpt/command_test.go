package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
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
