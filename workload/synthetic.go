package workload

import (
	"fmt"
	"slices"
	"strings"

	"rnicmmu/model"
)

// Patterns that SyntheticSpec.Pattern names.
const (
	Sequential   = "sequential"
	Strided      = "strided"
	Uniform      = "uniform"
	Zipf         = "zipf"
	PointerChase = "pointer-chase"
	HotSet       = "hotset"
	KeyValue     = "keyvalue"
)

// Patterns lists every pattern, in the order that help prints them.
var Patterns = []string{Sequential, Strided, Uniform, Zipf, PointerChase, HotSet, KeyValue}

// Arrivals that SyntheticSpec.Arrival names.
const (
	Exponential = "exponential"
	Fixed       = "fixed"
)

// SyntheticSpec says what a synthetic workload does. Every draw comes from
// Seed, so equal specs give equal accesses under every version of Go.
type SyntheticSpec struct {
	Seed     uint64
	Pattern  string // one of Patterns
	Accesses uint64 // how many; 0 never ends

	WorkingSet  uint64          // bytes, from BaseVA
	Regions     uint32          // memory regions that it is split in, see Layout
	Page        model.PageShift // regions are whole pages of this size; zipf and pointer-chase go by it
	AccessBytes uint32          // bytes of an access, and its alignment within a region (zipf, pointer-chase: a page)
	QPs         uint32          // 1 to 2^24; without an aggressor access i is on QP i mod QPs

	// Shares of the operations, 0 to 1 together; the rest are WRITEs. Atomics
	// are 8 bytes, compare-and-swap and fetch-and-add in equal parts. SENDs
	// carry AccessBytes (keyvalue: a value) and name no address.
	ReadFraction, SendFraction, AtomicFraction float64

	StrideBytes    uint64  // strided: bytes between accesses, a multiple of AccessBytes
	ZipfTheta      float64 // zipf, keyvalue: exponent, 0 (uniform) to 10; 0.99 is YCSB's
	HotFraction    float64 // hotset: share of the working set that is hot, in (0, 1)
	HotProbability float64 // hotset: share of the accesses that go there, 0 to 1
	ValueMin       uint32  // keyvalue: shortest value, bytes
	ValueMax       uint32  // keyvalue: longest value, bytes; a slot holds one, rounded up to AccessBytes

	// An aggressor beside the pattern. QP q is of tenant q mod Tenants. The pattern
	// keeps to tenant 0's QPs, in turn; a share of AggressorFraction of the
	// accesses, 0 (none: the pattern is on all QPs) to 1, is on those of the others,
	// uniform in memory of their own behind the working set, see Memory.
	Tenants             uint32
	AggressorFraction   float64
	AggressorWorkingSet uint64 // bytes
	AggressorRegions    uint32 // 1 to its pages; sizes as of Layout

	OfferedRate float64 // open loop: accesses per second on average; 0 is closed loop (TimePS is NoTime)
	Arrival     string  // open loop: Exponential or Fixed gaps
}

// Validate reports the first impossible value, by its name.
func (s *SyntheticSpec) Validate() error {
	if !slices.Contains(Patterns, s.Pattern) {
		return fmt.Errorf("pattern %q: must be one of %s", s.Pattern, strings.Join(Patterns, ", "))
	}
	if _, err := Layout(s.WorkingSet, s.Regions, s.Page); err != nil {
		return err
	}
	if s.AccessBytes == 0 || s.AccessBytes > MaxMessage {
		return fmt.Errorf("access_bytes %d: must be 1 byte to 2GiB", s.AccessBytes)
	}
	if s.QPs == 0 || s.QPs > 1<<24 {
		return fmt.Errorf("qps %d: must be 1 to %d", s.QPs, 1<<24)
	}
	if err := s.validateMix(); err != nil {
		return err
	}
	if err := s.validateRate(); err != nil {
		return err
	}
	if err := s.validateAggressor(); err != nil {
		return err
	}
	return s.validatePattern()
}

func (s *SyntheticSpec) validateMix() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"read_fraction", s.ReadFraction}, {"send_fraction", s.SendFraction}, {"atomic_fraction", s.AtomicFraction},
		{"read_fraction + send_fraction + atomic_fraction", s.ReadFraction + s.SendFraction + s.AtomicFraction},
	} {
		if !(f.value >= 0 && f.value <= 1+1e-12) {
			return fmt.Errorf("%s %g: must be 0 to 1", f.name, f.value)
		}
	}
	if s.AtomicFraction > 0 && s.AccessBytes%8 != 0 {
		return fmt.Errorf("access_bytes %d: atomics need a multiple of 8", s.AccessBytes)
	}
	return nil
}

func (s *SyntheticSpec) validateRate() error {
	if !(s.OfferedRate == 0 || s.OfferedRate >= 1e-3 && s.OfferedRate <= 1e12) {
		return fmt.Errorf("offered_rate %g: must be 0 (closed loop) or 0.001 to 1e12 accesses a second", s.OfferedRate)
	}
	if s.OfferedRate > 0 && s.Arrival != Exponential && s.Arrival != Fixed {
		return fmt.Errorf("arrival %q: must be %s or %s", s.Arrival, Exponential, Fixed)
	}
	return nil
}

func (s *SyntheticSpec) validatePattern() error {
	switch s.Pattern {
	case Strided:
		if s.StrideBytes == 0 || s.StrideBytes%uint64(s.AccessBytes) != 0 {
			return fmt.Errorf("stride %d bytes: must be a positive multiple of access_bytes %d", s.StrideBytes, s.AccessBytes)
		}
	case HotSet:
		if !(s.HotFraction > 0 && s.HotFraction < 1) {
			return fmt.Errorf("hot_fraction %g: must be more than 0 and less than 1", s.HotFraction)
		}
		if !(s.HotProbability >= 0 && s.HotProbability <= 1) {
			return fmt.Errorf("hot_probability %g: must be 0 to 1", s.HotProbability)
		}
	case KeyValue:
		if s.ValueMin == 0 || s.ValueMin > s.ValueMax || s.ValueMax > 1<<30 {
			return fmt.Errorf("values of %d to %d bytes: need 1 byte <= shortest <= longest <= 1GiB", s.ValueMin, s.ValueMax)
		}
	}
	if (s.Pattern == Zipf || s.Pattern == KeyValue) && !(s.ZipfTheta >= 0 && s.ZipfTheta <= 10) {
		return fmt.Errorf("zipf_theta %g: must be 0 to 10", s.ZipfTheta)
	}
	return nil
}
