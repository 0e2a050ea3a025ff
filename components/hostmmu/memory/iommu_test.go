package memory

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// A client with a service time of its own is served in that time, line times
// and bank conflicts as for others; one with 0 or without an entry in ReadService.
func TestReadServicePerClient(t *testing.T) {
	config := fourFrames(3)
	config.Services = []clocked.Time{0, 70 * ns}
	b := newBench(t, quiet(), config, 0)
	for i, c := range b.clients {
		c.send(1000*ns, read(model.PA(i)<<16, 64))
		c.send(3000*ns, read(model.PA(i)<<16, 256))
	}
	b.run(t)
	for i, want := range []clocked.Time{service, 70 * ns, service} {
		first := clocked.Time(i) * 2730 // they share the channel
		wantTime(t, "a line", b.answered(i, 0), 1000*ns+want+first)
		wantTime(t, "four lines", b.answered(i, 1), 3000*ns+want+4*first+3*2730)
	}
}

// Walks read page tables, not pages: no frame is looked at, whoever owns it.
func TestWalksAreNotChecked(t *testing.T) {
	b := newBench(t, quiet(), fourFrames(1), 0)
	for i, k := range []msg.Kind{msg.KindWalk, msg.KindData} {
		walk := read(0, 8)
		walk.Kind, walk.Oracle.Page, walk.Tag = k, 5, uint16(i)
		b.clients[0].send(clocked.Time(1000*(i+1))*ns, walk)
	}
	stats := b.run(t)
	want := msg.MemDone{Kind: msg.KindWalk, Len: 8}
	if got := b.clients[0].got[0].msg; got != want {
		t.Errorf("walk answered %+v, want %+v", got, want)
	}
	// The frame is nobody's: a device's read of it for page 5 is stale.
	if stats.Reads != 2 || stats.StaleDMA != 1 {
		t.Errorf("%d reads, %d stale, want 2 and 1", stats.Reads, stats.StaleDMA)
	}
}

// A message that reaches memory takes no time, no place and no bandwidth.
func TestMessagesEndHere(t *testing.T) {
	spec := quiet()
	spec.IIO.WriteBuffer = 1
	b := newBench(t, spec, fourFrames(1), 0)
	b.clients[0].send(1000*ns, store(0, 64)) // fills the write buffer
	for range 3 {
		b.clients[0].send(1000*ns, msg.MemReq{Write: true, Kind: msg.KindMessage, Body: &msg.PageRequest{}})
	}
	b.clients[0].send(1000*ns, read(1<<16, 64))
	stats := b.run(t)
	wantTime(t, "read behind messages", b.answered(0, 0), 1000*ns+service+2730)
	if stats.Writes != 1 || stats.WriteBufferStalls != 0 || len(b.inbox.got) != 0 || !b.memory.Idle() {
		t.Errorf("statistics %+v, %d entries for software", stats, len(b.inbox.got))
	}
}

func TestRefusedServices(t *testing.T) {
	for _, c := range []struct {
		want     string
		services []clocked.Time
	}{
		{"2 read service times: at most one for each of 1 clients", []clocked.Time{ns, ns}},
		{"client 0: read service time -1.000ns: at least 1ps", []clocked.Time{-ns}},
		{"host.llc.saving: 67.000ns: less than the 67.000ns that a read of client 0 takes", []clocked.Time{67 * ns}},
	} {
		spec, config := quiet(), fourFrames(1)
		spec.LLC = LLC{Saving: 67 * ns, DDIOLines: 8, DDIOWays: 2}
		config.Services = c.services
		if _, err := New(clocked.NewEngine(), "memory", spec, config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
