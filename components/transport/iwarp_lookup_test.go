package transport

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Each look-up of a WRITE has the key checked for what it serves, whatever the
// length of the message, which DDP does not tell; a READ request's first for
// the whole READ.
func TestIWARPKeyChecks(t *testing.T) {
	spec := iwarpSpec(t)
	spec.QP.MTU = 1024
	s := warm(t, spec)
	s.tpt.record = true
	s.post(model.OpWrite, 0, 0x20000, 6<<10)
	s.post(model.OpRead, 0, 0x20000, 6<<10)
	s.run(t)
	want := []uint32{4 << 10, 2 << 10, 6 << 10, 2 << 10}
	if len(s.tpt.asked) != len(want) {
		t.Fatalf("%d look-ups", len(s.tpt.asked))
	}
	for i, q := range s.tpt.asked {
		if !q.CheckKey || q.CheckVA != q.VA || q.CheckLen != want[i] {
			t.Errorf("look-up %d checks %d bytes at %#x, want %d at %#x", i, q.CheckLen, q.CheckVA, want[i], q.VA)
		}
	}
}

// A segment whose second page is absent is placed again as a whole, and its
// first page's look-up is a replay.
func TestIWARPReplays(t *testing.T) {
	s := warm(t, iwarpSpec(t))
	s.tpt.record = true
	s.absentUntil(0x21000, clocked.Microsecond)
	s.post(model.OpWrite, 0, 0x20800, 4096)
	s.run(t)
	want := []bool{false, false, true, true}
	if len(s.tpt.asked) != len(want) {
		t.Fatalf("%d look-ups", len(s.tpt.asked))
	}
	for i, q := range s.tpt.asked {
		if q.Replay != want[i] {
			t.Errorf("look-up %d at %#x: replay %v", i, q.VA, q.Replay)
		}
	}
}
