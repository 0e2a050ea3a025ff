package platform

import (
	"path/filepath"
	"testing"

	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// rowsOf runs accesses over the memory that registered touches, and returns
// their rows in order of issue.
func rowsOf(t *testing.T, registered, run []workload.Access, set ...string) ([]measure.Access, *outcome) {
	t.Helper()
	sys := assemble(t, &Input{Accesses: registered}, set)
	sys.driver.source = workload.NewSlice(run)
	o, dir := record(t, sys)
	rows := make([]measure.Access, len(run))
	if err := measure.ReadAccesses(filepath.Join(dir, "accesses.parquet"), func(some []measure.Access) {
		for _, a := range some {
			rows[a.ID] = a
		}
	}); err != nil {
		t.Fatal(err)
	}
	if broken := o.broken(); broken != "" {
		t.Error(broken)
	}
	return rows, o
}

const base model.VA = 0x10000000

// lookups is how many translations an access takes: a page a time for a
// request, a packet of at most mtu, or a TLP that ends at a multiple of tlp
// bytes (and so at every 4 KiB boundary) and at the packet's end.
func lookups(per string, va model.VA, bytes, mtu, tlp uint64) (n int) {
	pages := func(va model.VA, bytes uint64) int { return int(model.Shift4K.Span(va, bytes)) }
	if per == "request" {
		return pages(va, bytes)
	}
	for bytes > 0 {
		packet := min(bytes, mtu)
		bytes -= packet
		if per == "packet" {
			n += pages(va, packet)
			va += model.VA(packet)
			continue
		}
		for packet > 0 {
			piece := min(packet, tlp-uint64(va)&(tlp-1))
			packet -= piece
			va += model.VA(piece)
			n++
		}
	}
	return n
}

func TestLookupsOfMultiPageAccesses(t *testing.T) {
	registered := []workload.Access{{Op: model.OpWrite, Len: 1 << 20, VA: base}}
	for _, op := range []model.Op{model.OpWrite, model.OpRead} {
		tlp := uint64(256) // pcie.mps
		if op == model.OpRead {
			tlp = 512 // pcie.mrrs
		}
		for _, mtu := range []uint64{256, 1024, 4096} {
			for _, per := range []string{"request", "packet", "tlp"} {
				var run []workload.Access
				for _, at := range []model.VA{0, 1, 100, 4095, 4096, 8000} {
					for _, bytes := range []uint32{1, 64, 300, 4096, 4097, 20000, 100000} {
						run = append(run, workload.Access{Op: op, Len: bytes, VA: base + at})
					}
				}
				rows, _ := rowsOf(t, registered, run, "translate_per="+per, "qp.mtu="+itoa(int(mtu))+"B", "workload.outstanding=1", "workload.qps=1")
				for _, a := range rows {
					want := lookups(per, a.VA, uint64(a.Len), mtu, tlp)
					if got := int(a.Counts.Pages); got != want || a.Status != measure.StatusOK || a.Counts.MTTHits+a.Counts.MTTMisses != a.Counts.Pages {
						t.Errorf("%v of %d B at +%d, mtu %d, per %s: %d look-ups, want %d, %v", a.Op, a.Len, a.VA-base, mtu, per, got, want, a.Status)
					}
				}
			}
		}
	}
}

// Pages are looked up in ascending order: a cache of one entry holds the last
// page of an access after it, and no other.
func TestAscendingOrder(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead} {
		run := []workload.Access{
			{Op: op, Len: 3 << 12, VA: base}, {Op: op, Len: 64, VA: base + 2<<12}, // hit: the last page
			{Op: op, Len: 3 << 12, VA: base}, {Op: op, Len: 64, VA: base}, // miss: not the first
			{Op: op, Len: 2 << 12, VA: base}, // its first page hits, then the second misses
		}
		rows, _ := rowsOf(t, run, run, "tpt.mtt.entries=1", "tpt.mtt.ways=1", "workload.outstanding=1", "workload.qps=1")
		for i, want := range [][2]uint32{{0, 3}, {1, 0}, {0, 3}, {0, 1}, {1, 1}} {
			if c := rows[i].Counts; c.MTTHits != want[0] || c.MTTMisses != want[1] {
				t.Errorf("%v %d: %d hits, %d misses, want %v", op, i, c.MTTHits, c.MTTMisses, want)
			}
		}
	}
}

// An access outside its region is refused with a remote access error, pages
// nothing in, and ends its QP: what follows on it is flushed, in order. Other
// QPs go on.
func TestRefusedAccess(t *testing.T) {
	registered := []workload.Access{{Op: model.OpWrite, Len: 1 << 14, VA: base}, {Op: model.OpWrite, Len: 1 << 14, VA: base + 1<<30}}
	for name, bad := range map[string]workload.Access{
		"write beyond the region's end":  {Op: model.OpWrite, Len: 8192, VA: base + 3<<12},
		"read beyond the region's end":   {Op: model.OpRead, Len: 8192, VA: base + 3<<12},
		"write of unregistered memory":   {Op: model.OpWrite, Len: 64, VA: base + 1<<20},
		"read of unregistered memory":    {Op: model.OpRead, Len: 64, VA: base + 1<<20},
		"atomic on unregistered memory":  {Op: model.OpFetchAdd, Len: 8, VA: base + 1<<20},
		"write of more than the regions": {Op: model.OpWrite, Len: 1<<30 + 64, VA: base},
	} {
		for _, scheme := range []string{"pinned", "odp"} {
			good := func(qp uint32) workload.Access {
				return workload.Access{Op: model.OpWrite, Len: 64, VA: base, QP: qp}
			}
			run := []workload.Access{good(0), bad, good(0), good(1), good(0), good(1)}
			rows, o := rowsOf(t, registered, run, "scheme="+scheme, "workload.qps=2", "workload.outstanding=8", "workload.regions=2")
			want := []measure.Status{measure.StatusOK, measure.StatusRemoteAccess, measure.StatusFlushed, measure.StatusOK, measure.StatusFlushed, measure.StatusOK}
			for i := range rows {
				if rows[i].Status != want[i] {
					t.Errorf("%s: %s: access %d: %v, want %v", name, scheme, i, rows[i].Status, want[i])
				}
			}
			if o.sum.Transport.DeadQPs != 1 || o.sum.Accesses.Failed != 3 || rows[1].Counts.Faults != 0 {
				t.Errorf("%s: %s: %d dead QPs, %d failed, %d faults of the refused access", name, scheme,
					o.sum.Transport.DeadQPs, o.sum.Accesses.Failed, rows[1].Counts.Faults)
			}
		}
	}
}

// A SEND longer than its receive buffer is an invalid request; an atomic that
// is not aligned to its 8 bytes too.
func TestInvalidRequests(t *testing.T) {
	registered := []workload.Access{{Op: model.OpWrite, Len: 1 << 14, VA: base}, {Op: model.OpSend, Len: 64}}
	for name, bad := range map[string]workload.Access{
		"long SEND":        {Op: model.OpSend, Len: 8192},
		"unaligned atomic": {Op: model.OpFetchAdd, Len: 8, VA: base + 4},
	} {
		rows, _ := rowsOf(t, registered, []workload.Access{bad, {Op: model.OpWrite, Len: 64, VA: base}}, "workload.qps=1", "workload.outstanding=2")
		if rows[0].Status != measure.StatusInvalidReq || rows[1].Status != measure.StatusFlushed {
			t.Errorf("%s: %v, then %v", name, rows[0].Status, rows[1].Status)
		}
	}
}

// A transfer of no bytes touches no key, page or memory, registered or not.
func TestZeroLength(t *testing.T) {
	registered := []workload.Access{{Op: model.OpWrite, Len: 64, VA: base}}
	for _, scheme := range []string{"pinned", "odp"} {
		run := []workload.Access{{Op: model.OpWrite, VA: base}, {Op: model.OpRead, VA: base},
			{Op: model.OpWrite, VA: base + 1<<30}, {Op: model.OpRead, VA: base + 1<<30}}
		rows, o := rowsOf(t, registered, run, "scheme="+scheme, "workload.qps=1")
		for i, a := range rows {
			if a.Status != measure.StatusOK || a.Counts.Pages != 0 || a.Counts.MPTHits+a.Counts.MPTMisses != 0 || a.Counts.Faults != 0 {
				t.Errorf("%s: %d: %v, %+v", scheme, i, a.Status, a.Counts)
			}
		}
		if o.sum.TPT.MTT.Lookups != 0 || o.sum.TPT.MPT.Lookups != 0 || o.sum.Faults.Raised != 0 {
			t.Errorf("%s: %+v", scheme, o.sum.TPT)
		}
	}
	rowsOf(t, []workload.Access{{Op: model.OpWrite, VA: base}}, []workload.Access{{Op: model.OpWrite, VA: base}})
}
