package transport

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// How long a translation is held, from the instant at which the answer leaves
// the TPT to that at which its release is there. A hop is 1 ns, an issued write
// is reported after 20 ns and a read answered after 400 ns.
const (
	heldByWrite  = ns + (ns + 20*ns + ns) + ns          // answer; DMA, issue, report; release
	heldByRead   = ns + (ns + 400*ns + ns) + ns         // answer; DMA, data; release
	heldByAtomic = ns + 402*ns + (ns + 20*ns + ns) + ns // answer; read; write; release
)

// holds runs one request of 4 KiB on a page of 64 KiB, in packets of 1 KiB, TLPs
// of 256 B and read requests of 512 B, and tells how long each translation was
// held.
func holds(t *testing.T, per string, op model.Op, address msg.Address) []clocked.Time {
	spec := testSpec(t)
	spec.TranslatePer, spec.QP.MTU, spec.AdapterPage = per, 1024, model.Shift64K
	s := warm(t, spec)
	s.tpt.record, s.tpt.address = true, address
	n := uint32(4096)
	if op.Atomic() {
		n = 8
	}
	s.post(op, 0, 0x100000, n)
	s.run(t)
	return s.tpt.held
}

// The hazard of a translation, from look-up to the last use of the bus, in each
// meaning of translate_per.
func TestTranslationHeld(t *testing.T) {
	// The fourth packet, of 82+1024 B, ends 3 × 88.48 ns after the first; the
	// first waits 17 ns for its look-up, of which 16 lie before the answer leaves.
	stream := 3*(82+1024)*80 - 16*ns + (heldByWrite - ns)
	for _, c := range []struct {
		per     string
		op      model.Op
		address msg.Address
		n       int
		each    clocked.Time
	}{
		{"request", model.OpWrite, msg.Address{}, 1, stream},
		{"packet", model.OpWrite, msg.Address{}, 4, heldByWrite},
		{"tlp", model.OpWrite, msg.Address{}, 16, heldByWrite},
		{"request", model.OpRead, msg.Address{}, 1, heldByRead},
		{"packet", model.OpRead, msg.Address{}, 4, heldByRead},
		{"tlp", model.OpRead, msg.Address{}, 8, heldByRead},
		{"request", model.OpFetchAdd, msg.Address{}, 1, heldByAtomic},
		{"packet", model.OpFetchAdd, msg.Address{}, 1, heldByAtomic},
		{"tlp", model.OpFetchAdd, msg.Address{}, 1, heldByAtomic},
		{"packet", model.OpWrite, process, 4, heldByRead}, // until its proof is here
		{"tlp", model.OpWrite, process, 16, heldByRead},
	} {
		got := holds(t, c.per, c.op, c.address)
		if want := slices.Repeat([]clocked.Time{c.each}, c.n); !slices.Equal(got, want) {
			t.Errorf("%s, %v, %+v: held %v, want %v", c.per, c.op, c.address, got, want)
		}
	}
}

// INV-1: a translation that is called back while a READ is under way is given
// back when the transfer that it was given for is answered, and none starts with
// it meanwhile: the next piece is looked up again.
func TestRevokedInFlight(t *testing.T) {
	spec := testSpec(t)
	spec.AdapterPage = model.Shift64K
	s := warm(t, spec)
	s.tpt.record, s.tpt.revokeAt = true, s.tpt.lookups+1
	s.post(model.OpRead, 0, 0x100000, 3*4096)
	s.run(t)
	if want := []clocked.Time{heldByRead, heldByRead}; !slices.Equal(s.tpt.held, want) {
		t.Errorf("held %v, want %v", s.tpt.held, want)
	}
	if n := len(s.tpt.asked); n != 2 || s.tpt.asked[1].VA != 0x101000 || s.resp.Stats.Revoked != 1 {
		t.Errorf("%d look-ups, %d revoked", n, s.resp.Stats.Revoked)
	}
}
