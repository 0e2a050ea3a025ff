package kernel

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

func build(t *testing.T, s Spec, shifts []model.PageShift, regions []Region, scheme string) (*Kernel, Setup, error) {
	t.Helper()
	k, err := New(clocked.NewEngine(), "kernel", s, Config{Adapters: adapters(scheme, shifts)})
	if err != nil {
		t.Fatal(err)
	}
	setup, err := k.Register(regions)
	return k, setup, err
}

// adapters are alike but for their page sizes.
func adapters(scheme string, shifts []model.PageShift) (list []AdapterConfig) {
	for _, shift := range shifts {
		list = append(list, AdapterConfig{Shift: shift, Scheme: scheme})
	}
	return list
}

var one4K = []model.PageShift{model.Shift4K}

// Pinning is all or nothing, and says what to do.
func TestPinnedRefusal(t *testing.T) {
	_, setup, err := build(t, quick(8), one4K, oneRegion(9), Pinned)
	var refused *Refused
	if !errors.As(err, &refused) || len(setup.Fills)+len(setup.Resident) > 0 {
		t.Fatalf("error %v, setup %+v; want a refusal and nothing", err, setup)
	}
	const want = "host.memory: 9 pages of 4KiB to pin, 8 frames: raise host.memory or use scheme odp"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

func TestPinned(t *testing.T) {
	k, setup, err := build(t, quick(8), one4K, oneRegion(8), Pinned)
	if err != nil {
		t.Fatal(err)
	}
	want := Setup{Fills: []Fill{{Count: 8, Write: true}}, Resident: []Run{{Count: 8}}}
	if !reflect.DeepEqual(setup, want) {
		t.Errorf("setup %+v, want %+v", setup, want)
	}
	if _, ok := k.victim(0); ok {
		t.Error("a pinned page is a victim")
	}
	// One region at 10 us and 8 pages at 460 ns.
	wantTime(t, "registration", k.Stats.RegistrationTime, 10*us+8*460*ns)
}

// A pinned adapter never faults.
func TestPinnedRun(t *testing.T) {
	w := newWorld(t, setting{spec: quick(8), regions: oneRegion(8), scheme: Pinned})
	w.touch(true, pages(0, 8)...)
	wantCount(t, "events", w.run().Events, 0)
}

// Adapter pages larger than the host's: frames follow each other and lie to
// the adapter's pages as the addresses do.
func TestPinnedLargeAdapterPages(t *testing.T) {
	regions := []Region{{VA: 0x1F000, Length: 0x12000, FirstEntry: 8}} // pages 0x1F … 0x30, in 64 KiB pages 1 … 3
	_, setup, err := build(t, quick(64), []model.PageShift{model.Shift64K}, regions, Pinned)
	if err != nil {
		t.Fatal(err)
	}
	// The first frame is 15 of its 16, as 0x1F is.
	want := []Fill{{Entry: 8, Count: 3, PA: 0}}
	if !reflect.DeepEqual(setup.Fills, want) || setup.Resident[0].Frame != 15 {
		t.Errorf("fills %+v, resident %+v; want %+v from frame 15", setup.Fills, setup.Resident, want)
	}
	if _, _, err = build(t, quick(64), []model.PageShift{model.Shift64K}, regions, ODP); err == nil || !strings.Contains(err.Error(), "tpt.page") {
		t.Errorf("error %v: on-demand pages of 4 KiB cannot fill entries of 64 KiB", err)
	}
}

// A host page of 2 MiB is 512 entries of 4 KiB, fewer at the region's ends.
func TestEntriesOfLargeHostPages(t *testing.T) {
	s := quick(2)
	s.Page, s.Memory = "2MiB", 8<<20
	regions := []Region{{VA: 0x2FF000, Length: 0x202000, FirstEntry: 100}} // last page of one, all of one, first of one
	k, _, err := build(t, s, one4K, regions, ODP)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range []struct {
		entry uint64
		count uint32
		skip  model.PA
	}{{100, 257, 0xFF000}, {357, 257, 0}} {
		if entry, count, skip := k.entriesOf(&k.regions[0], uint32(p)); entry != want.entry || count != want.count || skip != want.skip {
			t.Errorf("page %d: entry %d, count %d, skip %#x; want %+v", p, entry, count, skip, want)
		}
	}
}

func TestInitialBacking(t *testing.T) {
	for _, c := range []struct {
		initial  string
		snapshot bool
		want     Setup
	}{
		{"zero", true, Setup{}},
		{"swapped", true, Setup{Swapped: []Run{{Count: 12}}}},
		{"resident", false, Setup{Resident: []Run{{Count: 8}}, Swapped: []Run{{First: 8, Count: 4}}}},
		{"resident", true, Setup{Resident: []Run{{Count: 8}}, Swapped: []Run{{First: 8, Count: 4}}, Fills: []Fill{{Count: 8, Write: true}}}},
	} {
		s := quick(8)
		s.Pager.Initial, s.Pager.Snapshot = c.initial, c.snapshot
		_, setup, err := build(t, s, one4K, oneRegion(12), ODP)
		if err != nil || !reflect.DeepEqual(setup, c.want) {
			t.Errorf("%s, snapshot %v: %+v, %v; want %+v", c.initial, c.snapshot, setup, err, c.want)
		}
	}
}

// Regions that share pages and regions apart: a segment for each combination.
func TestSegments(t *testing.T) {
	regions := []Region{
		{VA: 0x10000, Length: 4 * 4096},                              // pages 0–3
		{VA: 0x12000, Length: 2 * 4096, Adapter: 1, FirstPage: 2},    // 2–3
		{VA: 0x90000, Length: 3 * 4096, FirstPage: 4, FirstEntry: 8}, // 4–6
	}
	k, _, err := build(t, quick(8), []model.PageShift{12, 12}, regions, ODP)
	if err != nil {
		t.Fatal(err)
	}
	want := []segment{{0, 2, 0x10000, []int{0}}, {2, 4, 0x12000, []int{0, 1}}, {4, 7, 0x90000, []int{2}}}
	if !reflect.DeepEqual(k.segments, want) {
		t.Errorf("%+v, want %+v", k.segments, want)
	}
	for p, va := range []model.VA{0x10000, 0x11000, 0x12000, 0x13000, 0x90000, 0x91000, 0x92000} {
		if got := k.vaOf(uint32(p)); got != va {
			t.Errorf("page %d at %#x, want %#x", p, got, va)
		}
	}
}

func TestAdvertised(t *testing.T) {
	for n, over := range map[int]bool{8: false, 9: true} {
		k, _, err := build(t, quick(8), one4K, oneRegion(n), ODP)
		if err != nil || k.Advertised() != uint64(n)*4096 || k.Reserved() != 8*4096 || k.Resident() != 0 || k.OverAdvertised() != over {
			t.Errorf("%d pages: %v, advertised %d, reserved %d, resident %d, over %v", n, err, k.Advertised(), k.Reserved(), k.Resident(), k.OverAdvertised())
		}
	}
}

func TestRefusedSpecs(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"host.memory":               func(s *Spec) { s.Memory = 4096 },
		"host.pager.high_watermark": func(s *Spec) { s.Pager.Low = 0.5 },
		"host.pager.swap":           func(s *Spec) { s.Pager.Swap.QueueDepth = 0 },
		"host.command":              func(s *Spec) { s.Command.Outstanding = 0 },
		"host.events: split":        func(s *Spec) { s.Events.Collapse = us },
		"host: fault.contexts":      func(s *Spec) { s.Fault.Workers = 0 },
	} {
		s := quick(8)
		change(&s)
		if _, err := New(clocked.NewEngine(), "kernel", s, Config{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
	for want, r := range map[string]Region{
		"adapter 3":   {Length: 1, Adapter: 3},
		"is no range": {VA: 0x1000},
	} {
		if _, _, err := build(t, quick(8), one4K, []Region{r}, ODP); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}
