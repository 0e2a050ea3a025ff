package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Tenants hit in each other's ways and evict in their own only.
func TestTenants(t *testing.T) {
	sp := spec()
	sp.Partition, sp.Tenants, sp.MTT.Entries = "tenant", 2, 4
	s := newSandwich(t, sp).mapAll()
	at := clocked.Time(0)
	read := func(qp uint32, pages ...uint64) {
		for _, p := range pages {
			s.read(at, qp, p)
			at += quiet
		}
	}
	read(2, 0, 1)           // tenant 0 fills its two ways
	read(3, 10, 11, 12, 13) // tenant 1 scans: two evictions, of its own
	read(2, 0, 1)           // still there
	read(5, 0)              // tenant 1 hits in a way of tenant 0
	read(4, 2, 0)           // tenant 0 evicts page 1: 0 was used since, by tenant 1
	read(0, 12, 13)         // and hits what tenant 1 holds
	s.run()
	got := s.unit.Stats.Tenants
	if got[0] != (TenantStats{MPTHits: 8 - 1, MPTMisses: 1, MTTHits: 2 + 1 + 2, MTTMisses: 3}) {
		t.Errorf("tenant 0: %+v", got[0])
	}
	if got[1] != (TenantStats{MPTHits: 5, MTTHits: 1, MTTMisses: 4}) {
		t.Errorf("tenant 1: %+v", got[1])
	}
}

// So of keys: one tenant's keys leave the other's in.
func TestTenantsOfKeys(t *testing.T) {
	sp := spec()
	sp.Partition, sp.Tenants, sp.MPT.Entries = "tenant", 2, 2
	s := newSandwich(t, sp).mapAll()
	keys := []key.Key{s.key}
	for range 2 {
		k, err := s.unit.Keys().Register(key.Region{PD: 1, Base: s.base, Length: pages << 12, PageShift: model.Shift4K, Rights: key.RemoteRead})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	for i, x := range []struct {
		qp  uint32
		key int
	}{{0, 0}, {1, 1}, {1, 2}, {1, 1}, {0, 0}} {
		s.read(clocked.Time(i)*quiet, x.qp, 3).Key = uint32(keys[x.key])
	}
	s.run()
	if st := &s.unit.Stats; st.MPT.Hits != 1 || st.MPT.Misses != 4 {
		t.Errorf("%+v, want the last to hit", st.MPT)
	}
}

// So in the second level: a tenant's scan leaves the other's lines there.
func TestTenantsOfSecondLevel(t *testing.T) {
	sp := spec()
	sp.Partition, sp.Tenants = "tenant", 2
	sp.MTT.Entries, sp.MTT.L2Entries, sp.MTT.L2Latency = 2, 8, 10
	s := newSandwich(t, sp).mapAll()
	at := clocked.Time(0)
	for _, x := range []struct {
		qp          uint32
		first, last uint64
	}{{0, 0, 3}, {1, 10, 29}, {0, 0, 3}} {
		for p := x.first; p <= x.last; p++ {
			s.read(at, x.qp, p)
			at += quiet
		}
	}
	s.run()
	if st := &s.unit.Stats; st.MTT2.Hits != 4 || st.MTT2.Misses != 4+20 {
		t.Errorf("%+v, want the last four requests to hit", st.MTT2)
	}
}
