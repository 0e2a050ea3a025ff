package iommu

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/pagetable"
)

// ATS-3: a translation request is answered with what the page allows of what was
// asked, with its size; an absent page with success and no rights, and nothing
// of that is cached.
func TestTranslationRequests(t *testing.T) {
	for _, on := range []bool{true, false} { // set_accessed
		spec := defaultSpec(t)
		spec.SetAccessed = on
		b := oneProcess(t, spec, 1)
		b.mapPages(0, 0x1000, 1<<30, 1, pagetable.Write)
		b.mapPages(0, 0x2000, 2<<30, 1, 0)
		b.mapPages(0, 0x3000, 3<<30, 1, pagetable.Write|pagetable.Dirty)
		if err := b.tables[0].Map(1<<21, 4<<30, model.Shift2M, pagetable.Write); err != nil {
			t.Fatal(err)
		}
		for i, tc := range []struct {
			name  string
			va    model.VA
			store bool
			want  ats.Translation
		}{
			{"for reading", 0x1040, false, ats.Translation{PA: 1 << 30, Shift: 12, Read: true}},
			{"clean page, for writing", 0x1040, true, ats.Translation{PA: 1 << 30, Shift: 12, Read: true, Write: on}},
			{"read-only page, for writing", 0x2040, true, ats.Translation{PA: 2 << 30, Shift: 12, Read: true}},
			{"dirty page, for writing", 0x3040, true, ats.Translation{PA: 3 << 30, Shift: 12, Read: true, Write: true}},
			{"2 MiB page", 1<<21 + 0x54321, false, ats.Translation{PA: 4 << 30, Shift: 21, Read: true}},
			{"absent", 0x9000, true, ats.Translation{Shift: 12}},
		} {
			at := clocked.Time(i+1) * 10000 * ns
			b.roots[0].send(at, translate(tc.va, 1, uint16(i), tc.store))
			b.run()
			d := b.roots[0].done[i]
			if got := ats.Decode(d.msg.Entry); got != tc.want || d.msg.Status != msg.StatusSuccess || d.msg.Kind != msg.KindATS || d.msg.Tag != uint16(i) {
				t.Errorf("set_accessed %v, %s: %+v, entry %+v, want %+v", on, tc.name, d.msg, got, tc.want)
			}
		}
		dirty := b.tables[0].Lookup(0x1000)
		if dirty.Entry.Has(pagetable.Dirty) != on {
			t.Errorf("set_accessed %v: entry %#x after W was asked for", on, uint64(dirty.Entry))
		}
		if len(b.atMemory(0)) != 0 || len(b.events) != 0 {
			t.Errorf("memory sees %d, events %+v", b.atMemory(0), b.events)
		}
		b.mapPages(0, 0x9000, 9<<30, 1, pagetable.Write|pagetable.Dirty)
		b.roots[0].send(100_000*ns, translate(0x9000, 1, 9, true))
		b.run()
		if got := ats.Decode(b.roots[0].done[6].msg.Entry); !got.Read || !got.Write {
			t.Errorf("set_accessed %v: mapped now, but the answer is %+v", on, got)
		}
	}
}

// Translation requests are refused where ATS is off or there is no context.
func TestTranslationRequestsRefused(t *testing.T) {
	b := newBench(t, defaultSpec(t), 1, 0)
	b.setContext(0, 1, Context{Table: b.tables[0], Domain: 1})
	b.roots[0].send(1000*ns, translate(0, 1, 1, false))
	b.roots[0].send(1000*ns, translate(0, 2, 2, false))
	b.run()
	for _, d := range b.roots[0].done {
		want := map[uint16]msg.Status{1: msg.StatusUnsupported, 2: msg.StatusAbort}[d.msg.Tag]
		if d.msg.Status != want {
			t.Errorf("tag %d: status %d, want %d", d.msg.Tag, d.msg.Status, want)
		}
	}
	if len(b.roots[0].done) != 2 || b.unit.Stats().Lookups != 0 {
		t.Errorf("%d answers, %+v", len(b.roots[0].done), b.unit.Stats())
	}
}

// B15: a translated request passes unchanged where its adapter is trusted, and is
// counted; else it is blocked, told to the platform, and a flush tells the
// writer.
func TestTranslatedRequests(t *testing.T) {
	for _, tc := range []struct {
		name         string
		ats, trusted bool
	}{{"trusted", true, true}, {"not trusted", true, false}, {"ATS off", false, true}} {
		passes := tc.ats && tc.trusted
		b := newBench(t, defaultSpec(t), 1, 0)
		b.setContext(0, 1, Context{Table: b.tables[0], Domain: 1, ATS: tc.ats, Trusted: tc.trusted, Identity: 1 << 44})
		blocked := 0
		b.unit.OnBlocked = func(_ clocked.Time, adapter uint16, m *msg.MemReq) {
			blocked++
			if adapter != 0 || m.PA != 0x7_0000_0040 {
				t.Errorf("%s: blocked %+v", tc.name, m)
			}
		}
		r, w, flush := read(0x7_0000_0040, 1, 1), store(0x7_0000_0040, 1, 2), read(1<<44, 1, 3)
		r.Address.Translated, w.Address.Translated = true, true
		flush.Kind = msg.KindFlush
		for _, m := range []msg.MemReq{r, w, flush} {
			b.roots[0].send(1000*ns, m)
		}
		b.run()
		s := b.unit.Stats()
		want, n := msg.StatusUnsupported, 1
		if passes {
			want, n = msg.StatusSuccess, 3
		}
		for _, d := range b.roots[0].done {
			if d.msg.Status != want {
				t.Errorf("%s: tag %d has status %d, want %d", tc.name, d.msg.Tag, d.msg.Status, want)
			}
		}
		if len(b.atMemory(0)) != n || (blocked == 2) == passes || (s.Unchecked == 2) != passes || (s.BlockedReads+s.BlockedWrites == 2) == passes {
			t.Errorf("%s: memory sees %d, %d blocked, %+v", tc.name, b.atMemory(0), blocked, s)
		}
		for _, a := range b.log {
			if a.client == 0 && a.req.Cookie < 3 && a.req.PA != 0x7_0000_0040 {
				t.Errorf("%s: %#x", tc.name, a.req.PA)
			}
		}
	}
}
