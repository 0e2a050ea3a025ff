package coverage

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/platform"
)

// beside is a collector beside a system of 16 pages that does not run.
func beside(t *testing.T, set ...string) (*Collector, *adapter) {
	t.Helper()
	var spec platform.Spec
	all := append([]string{"scheme=odp", "workload.working_set=64KiB"}, set...)
	if _, err := configs.Load(&spec, configs.Sources{Profile: "default", Set: all}); err != nil {
		t.Fatal(err)
	}
	s, err := platform.New([]platform.Spec{spec}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := New(s)
	clear(c.hits)
	return c, &c.adapters[0]
}

// want compares all that was counted, in groups named, with what it must be.
func (c *Collector) want(t *testing.T, what string, counts map[*Group]map[string]uint64) {
	t.Helper()
	for g, bins := range counts {
		for i, b := range g.Bins {
			if n := c.hits[g.first+i]; n != bins[b.Name] {
				t.Errorf("%s: %s: %s has %d hits, want %d", what, g.Name, b.Name, n, bins[b.Name])
			}
		}
	}
	clear(c.hits)
}

// TestRaceOfAnInvalidation: one goes through its phases while a translation is
// asked for, given, used and given back.
func TestRaceOfAnInvalidation(t *testing.T) {
	c, a := beside(t)
	r := &measure.Invalidation{ID: 7}
	cmd := &msg.Command{Op: msg.CmdInvalidate, Entry: 3, Count: 2, Record: r}
	race := races[kindInvalidate]
	c.asks(a, &msg.Translate{Cookie: 5, Page: 4, Op: model.OpWrite, Write: true})
	c.told(a, cmd)
	c.want(t, "sent", map[*Group]map[string]uint64{race: {"sent × translation asked": 1}})
	c.answers(a, &msg.Translation{Cookie: 5, Handle: 9})
	c.transfers(a, &msg.DMA{Kind: msg.KindData, Write: true, Len: 64, Oracle: msg.Oracle{Page: 4}})
	c.transfers(a, &msg.DMA{Kind: msg.KindData, Len: 64, Oracle: msg.Oracle{Page: 2}}) // not its page
	c.want(t, "used", map[*Group]map[string]uint64{race: {"sent × translation out": 1, "sent × DMA write": 1},
		opOutcome: {"WRITE × granted": 1}})
	c.fetched(a)
	c.want(t, "received", map[*Group]map[string]uint64{race: {"received × translation out": 1, "received × DMA write": 1}})
	r.Received, r.Marked = 1, 2
	c.answers(a, &msg.Translation{Outcome: msg.OutcomeRevoke, Handle: 9})
	c.asks(a, &msg.Translate{Cookie: 6, Page: 3, Op: model.OpRead})
	c.want(t, "marked", map[*Group]map[string]uint64{race: {"marked × translation out": 1, "marked × DMA write": 1, "marked × translation asked": 1},
		opOutcome: {"WRITE × called back": 1}})
	c.released(a, 9)
	c.reaches(a, &msg.MemReq{Kind: msg.KindData, Write: true, Len: 64, Oracle: msg.Oracle{Page: 4}})
	c.want(t, "drains", map[*Group]map[string]uint64{allowedSet: {"store × 2": 1}})
	c.executed(a, cmd)
	c.want(t, "drained", map[*Group]map[string]uint64{race: {"marked × translation asked": 1, "drained × translation asked": 1},
		entryEvent: {"absent × invalidate": 2}})
	c.seen(a, cmd)
	c.want(t, "acknowledged", map[*Group]map[string]uint64{race: {"acknowledged × translation asked": 1}, invalidationEnds: {"table × acknowledged": 1}})
	r.Done = 3
	c.faults(a, &msg.Event{Token: msg.FaultToken{Use: 1}, Page: 3, Count: 1})
	c.want(t, "over", map[*Group]map[string]uint64{race: {}, fault: {"load × nowhere": 1}})
}

// TestRacesOfOthers: suspension, protection, ATS and keys each count in their own
// group, and see each other.
func TestRacesOfOthers(t *testing.T) {
	c, a := beside(t)
	suspend := &msg.Command{Op: msg.CmdSuspend, Entry: 0, Count: 1, Moving: true}
	c.told(a, suspend)
	c.told(a, &msg.Command{Op: msg.CmdProtect, Entry: 0, Count: 1})
	c.want(t, "both", map[*Group]map[string]uint64{races[kindSuspend]: {"sent × invalidation": 1}, races[kindProtect]: {"sent × suspension": 1}})
	c.executed(a, suspend)
	c.asks(a, &msg.Translate{Cookie: 1, Page: 0, Op: model.OpRead})
	c.want(t, "moving", map[*Group]map[string]uint64{entryEvent: {"absent × suspend": 1, "moving × load": 1}})
	c.seen(a, suspend)
	c.told(a, &msg.Command{Op: msg.CmdUnsuspend, Entry: 0, Count: 1})
	if n := c.hits[races[kindSuspend].first+int(phaseAcknowledged)*int(numMeets)+int(meetResume)]; n != 1 {
		t.Errorf("%d ends of the suspension", n)
	}
	c, a = beside(t)
	c.told(a, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyDeregister, Key: key.Make(1, 0)}})
	c.transfers(a, &msg.DMA{Kind: msg.KindData, Len: 64, Oracle: msg.Oracle{Page: 15}})
	c.transfers(a, &msg.DMA{Kind: msg.KindData, Len: 64, Oracle: msg.Oracle{Page: 16}})
	c.want(t, "key", map[*Group]map[string]uint64{races[kindKey]: {"sent × DMA read": 1}})
}

// TestPageContent: a page is where page operations take it, and what must not
// occur is counted as such.
func TestPageContent(t *testing.T) {
	c, _ := beside(t)
	for _, k := range []msg.PageOp{{Kind: msg.PageZero, Frame: 5}, {Kind: msg.PageFree, Frame: 4}, {Kind: msg.PageCPUWrite, Frame: 5}, {Kind: msg.PageOut, Frame: 5},
		{Kind: msg.PageIn, Frame: 6}, {Kind: msg.PageFree, Frame: 6}, {Kind: msg.PageIn, Frame: 6}, {Kind: msg.PageIn, Frame: 7}, {Kind: msg.PageDiscard, Frame: 7},
		{Kind: msg.PageZero, Frame: 8}, {Kind: msg.PageFree, Frame: 8}} {
		c.paged(&k)
	}
	r := c.Report("test", 1)
	if b := r.Broken(); len(b) != 1 {
		t.Errorf("must not occur: %v", b)
	}
	c.want(t, "operations", map[*Group]map[string]uint64{pageEvent: {"nowhere × zero": 2, "in a frame × free": 3, "in a frame × CPU store": 1, "in a frame × swap out": 1,
		"in swap × swap in": 2, "in a frame × swap in": 1, "in a frame × discard": 1}})
}

// TestNoAllocation: once its tables have grown, a collector allocates nothing a
// message.
func TestNoAllocation(t *testing.T) {
	c, a := beside(t)
	cmd := &msg.Command{Op: msg.CmdInvalidate, Entry: 0, Count: 16, Record: &measure.Invalidation{}}
	access := &measure.Access{Len: 64}
	step := func() {
		c.told(a, cmd)
		c.asks(a, &msg.Translate{Cookie: 1, Page: 3, Op: model.OpWrite})
		c.tableDMA(a, &msg.DMA{Kind: msg.KindMTT, PA: a.table + 24, Len: 8, Cookie: 1})
		c.tableDone(a, &msg.DMADone{Kind: msg.KindMTT, Cookie: 1})
		c.answers(a, &msg.Translation{Cookie: 1, Handle: 1})
		c.transfers(a, &msg.DMA{Kind: msg.KindData, Write: true, Len: 64, Oracle: msg.Oracle{Page: 3}})
		c.cut(a, &msg.MemReq{Kind: msg.KindData, Write: true, Len: 64, PA: 4096})
		c.reaches(a, &msg.MemReq{Kind: msg.KindData, Write: true, Len: 64, Oracle: msg.Oracle{Page: 3}})
		c.released(a, 1)
		c.executed(a, cmd)
		c.seen(a, cmd)
		cmd.Record.Done = 1
		c.ended(a, access, 4096)
	}
	step()
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
