package scoreboard

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// TestPermitsFollowCommands: what an adapter may use is what its commands leave:
// a fill opens, an invalidation closes when it is complete and not before, a fill
// behind it stays open, and nothing is counted for ever.
func TestPermitsFollowCommands(t *testing.T) {
	a := &adapter{table: true, direct: true, shift: model.Shift4K, permits: map[model.PA]permit{}}
	fill := func(entry uint64, frame model.PA, write bool) {
		a.told(&msg.Command{Op: msg.CmdFill, Entry: entry, Count: 1, PA: []model.PA{frame << 12}, Write: write})
	}
	zap := &msg.Command{Op: msg.CmdInvalidate, Entry: 3, Count: 2}
	want := func(step string, frame model.PA, p permit) {
		t.Helper()
		if got := a.permits[frame]; got != p {
			t.Errorf("%s: frame %d: %+v, want %+v", step, frame, got, p)
		}
	}
	fill(3, 7, true)
	fill(4, 7, false)
	want("two entries", 7, permit{open: 2, writable: 1})
	a.told(zap)
	want("told", 7, permit{2, 1, 2})
	if !a.mayUse(7<<12, 4096) || a.mayUse(8<<12, 4096) {
		t.Error("frame 7 may be used until the completion, frame 8 never")
	}
	fill(4, 9, true) // behind the invalidation
	want("filled behind", 7, permit{1, 1, 1})
	a.completed(zap)
	want("complete", 7, permit{})
	want("complete", 9, permit{open: 1, writable: 1})
	a.completed(&msg.Command{Op: msg.CmdProtect, Entry: 4, Count: 1})
	want("protected", 9, permit{open: 1})
	if len(a.permits) != 1 {
		t.Errorf("%d pages are counted", len(a.permits))
	}
}
