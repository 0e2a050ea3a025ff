package key

import (
	"errors"
	"testing"

	"rnicmmu/model"
)

// KEY-4: at the end of the address space a region, a window over its second half
// and a kept registration grant what ends there, and nothing whose end has
// passed 2^64 and come out low.
func TestEndOfTheAddressSpace(t *testing.T) {
	const (
		base = model.VA(0xFFFF_FFFF_FFFF_F000)
		half = base + 0x800
	)
	table := mustTable(t, 16)
	r := region(base, 0x1000)
	r.Rights |= WindowBind
	k, w := mustRegister(t, table, r), window(t, table, Window1)
	for _, length := range []uint64{0x801, 0x1000, 1<<64 - 1} {
		if err := table.Bind(w, k, 1, qp, RemoteWrite, half, length); !errors.Is(err, ErrOutside) {
			t.Errorf("window of %#x bytes: %v", length, err)
		}
	}
	if err := table.Bind(w, k, 1, qp, RemoteWrite, half, 0x800); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		va     model.VA
		n      uint64
		region bool
		window bool
	}{
		{half, 0x800, true, true},
		{base, 0x1000, true, false},
		{base + 0xFF8, 8, true, true},
		{base + 0xFF8, 9, false, false},
		{base + 0xFFF, 2, false, false},
		{half, 0x801, false, false},
		{half, 1<<64 - 1, false, false},
		{0, 8, false, false},
	} {
		for key, granted := range map[Key]bool{k: c.region, w: c.window} {
			if _, v := table.Check(key, 1, qp, model.OpWrite, c.va, c.n); v.Granted() != granted {
				t.Errorf("%#x bytes at %#x by %#x: %v", c.n, uint64(c.va), uint32(key), v)
			}
		}
		if got := table.Lookup(k).Covers(1, RemoteWrite, c.va, c.n); got != c.region {
			t.Errorf("%#x bytes at %#x covered: %v", c.n, uint64(c.va), got)
		}
	}
}
