package kernel

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// INV-12: a command is its entries by the chunk, rounded up: 131064 entries are
// what 1 MiB less 64 B holds, 8192 and 512 what 64 KiB and a page hold.
func TestWorkRequestsOfACommand(t *testing.T) {
	for _, c := range []struct{ entries, chunk, want uint32 }{
		{0, 131064, 1}, // a key change or a resume
		{1, 131064, 1},
		{131064, 131064, 1},
		{131065, 131064, 2},
		{2 << 18, 131064, 5}, // 2 GiB of 4 KiB pages
		{16 << 18, 131064, 33},
		{20 << 18, 131064, 41}, // 20 GiB
		{20 << 18, 8192, 640},
		{20 << 18, 512, 10240},
	} {
		s := quick(2)
		s.Command.Chunk = int(c.chunk)
		w := newWorld(t, setting{spec: s, regions: oneRegion(1)})
		cmd := &msg.Command{Op: msg.CmdInvalidate, Count: c.entries}
		w.kernel.send(0, cmd)
		if cmd.Posts != c.want {
			t.Errorf("%d entries by %d: %d work requests, want %d", c.entries, c.chunk, cmd.Posts, c.want)
		}
	}
}

// INV-12: pages that are present far apart leave with a command and a work
// request each, neighbours with one for all of them; either way what is counted
// are pages that were present. So every 16th page of 20 GiB costs 327680.
func TestWorkRequestsOfRuns(t *testing.T) {
	const taken = 4
	for stride, commands := range map[uint32]uint64{1: 1, 2: taken, 16: taken} {
		s := quick(taken)
		s.Pager.Batch = taken
		w := newWorld(t, setting{spec: s, regions: oneRegion(64)})
		var script []uint32
		for i := range uint32(taken) {
			script = append(script, i*stride)
		}
		w.touch(true, script...)
		w.run()
		posts, entries := uint32(0), uint32(0)
		w.nics[0].zapped = func(_ clocked.Time, c *msg.Command) {
			if c.Op == msg.CmdInvalidate {
				posts += c.Posts
				entries += c.Count
			}
		}
		w.touch(true, 60, 61, 62, 63)
		stats := w.run()
		wantCount(t, "commands", stats.InvalidationsIssued, commands)
		wantCount(t, "work requests", uint64(posts), commands)
		wantCount(t, "entries", uint64(entries), taken)
		wantCount(t, "evictions", stats.Evictions, taken)
	}
}
