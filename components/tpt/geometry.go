package tpt

import (
	"fmt"

	"rnicmmu/model/cache"
)

// MaxTenants is the most tenants that can share the caches.
const MaxTenants = 16

// geometries are the shapes of a cache's levels; the second has no entries where
// there is no second level.
func (s *Spec) geometries(replacement string, first, second cache.Geometry) (_, _ cache.Geometry, err error) {
	policy, err := cache.ParsePolicy(replacement)
	first.Policy, second.Policy = policy, policy
	if s.Partition == "tenant" {
		first.Tenants, second.Tenants = s.Tenants, s.Tenants
	}
	return first, second, err
}

func (s *Spec) mptGeometry(seed uint64, unit string) (first, second cache.Geometry, err error) {
	m := &s.MPT
	return s.geometries(m.Replacement,
		cache.Geometry{Entries: m.Entries, Ways: m.Ways, Line: 1, Seed: seed, Stream: unit + ".mpt"},
		cache.Geometry{Entries: m.L2Entries, Ways: m.L2Ways, Line: 1, Seed: seed, Stream: unit + ".mpt.l2"})
}

func (s *Spec) mttGeometry(seed uint64, unit string) (first, second cache.Geometry, err error) {
	m := &s.MTT
	return s.geometries(m.Replacement,
		cache.Geometry{Entries: m.Entries, Ways: m.Ways, Line: m.LineEntries, Seed: seed, Stream: unit + ".mtt"},
		cache.Geometry{Entries: m.L2Entries, Ways: m.L2Ways, Line: m.LineEntries, Seed: seed, Stream: unit + ".mtt.l2"})
}

// Check tells what cannot be built, naming the key.
func (s *Spec) Check() error {
	if s.Partition == "tenant" && s.Tenants < 2 {
		return fmt.Errorf("tpt.partition: tenant, with tpt.tenants %d; set tpt.tenants to 2 or more", s.Tenants)
	}
	first, second, err := s.mptGeometry(0, "")
	if err == nil {
		err = checkLevels("tpt.mpt", first, second)
	}
	if err != nil {
		return err
	}
	if first, second, err = s.mttGeometry(0, ""); err == nil {
		err = checkLevels("tpt.mtt", first, second)
	}
	if err != nil {
		return err
	}
	if s.MTT.Index == "page" && s.MTT.L2Entries > 0 {
		return fmt.Errorf("tpt.mtt.l2_entries: %d, but a second level is found by entry; set tpt.mtt.index to entry", s.MTT.L2Entries)
	}
	return nil
}

// checkLevels tells why a cache of these levels cannot be built, naming its key.
func checkLevels(key string, first, second cache.Geometry) error {
	const mend = "choose entries, ways and line_entries so that entries / line_entries / ways is a power of two"
	if err := first.Validate(); err != nil {
		return fmt.Errorf("%s: %w; %s", key, err, mend)
	}
	if second.Entries == 0 {
		return nil
	}
	if second.Entries < first.Entries {
		return fmt.Errorf("%s.l2_entries: %d, but a second level holds all that the first holds: choose %d or more, or 0 for none",
			key, second.Entries, first.Entries)
	}
	if err := second.Validate(); err != nil {
		return fmt.Errorf("%s: second level: %w; %s", key, err, mend)
	}
	return nil
}
