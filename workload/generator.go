package workload

import (
	"fmt"

	"rnicmmu/model"
)

// Generator is the Source of a synthetic workload.
type Generator struct {
	left    uint64 // accesses still to give
	endless bool
	qp, qps uint32

	ops             rng
	onlyWrites      bool
	reads           uint64 // thresholds of one draw, cumulated
	sends, atomics  uint64
	accessBytes     uint32
	now             uint64 // ps, exact time of the next access
	period          float64
	arrivals        rng
	open, exponents bool
	count           uint64
	aggressor       aggressor

	target
}

// NewGenerator checks spec and makes its Source.
func NewGenerator(spec SyntheticSpec) (*Generator, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	g := &Generator{
		left: spec.Accesses, endless: spec.Accesses == 0,
		qps: spec.QPs, accessBytes: spec.AccessBytes,
		ops:        stream(spec.Seed, "operation"),
		onlyWrites: spec.ReadFraction+spec.SendFraction+spec.AtomicFraction == 0,
		reads:      threshold(spec.ReadFraction),
		sends:      threshold(spec.ReadFraction + spec.SendFraction),
		atomics:    threshold(spec.ReadFraction + spec.SendFraction + spec.AtomicFraction),
		arrivals:   stream(spec.Seed, "arrival"),
		open:       spec.OfferedRate > 0,
		exponents:  spec.Arrival == Exponential,
		aggressor:  newAggressor(&spec),
	}
	if g.open {
		g.period = 1e12 / spec.OfferedRate
	}
	regions, err := Layout(spec.WorkingSet, spec.Regions, spec.Page)
	if err != nil {
		return nil, err
	}
	if err := g.target.build(&spec, regions); err != nil {
		return nil, err
	}
	return g, nil
}

// Err implements Source; a Generator cannot fail.
func (g *Generator) Err() error { return nil }

// Next implements Source.
func (g *Generator) Next(a *Access) bool {
	if !g.endless {
		if g.left == 0 {
			return false
		}
		g.left--
	}
	*a = Access{TimePS: NoTime, Len: g.accessBytes}
	if g.open {
		a.TimePS = g.arrive()
	}
	ops := g.place(a)
	if !g.onlyWrites {
		g.choose(a, ops)
	}
	return true
}

// place gives the access its QP and address, and tells whose draws choose its
// operation.
func (g *Generator) place(a *Access) *rng {
	switch {
	case g.aggressor.share == 0:
		a.QP = g.qp
		if g.qp++; g.qp == g.qps {
			g.qp = 0
		}
	case g.aggressor.attacks():
		g.aggressor.aim(a, g.qps)
		return &g.aggressor.ops
	default:
		g.aggressor.yield(a, g.qps)
	}
	g.aim(a)
	return &g.ops
}

// choose draws the operation.
func (g *Generator) choose(a *Access, ops *rng) {
	switch u := ops.chance(); {
	case u < g.reads:
		a.Op = model.OpRead
	case u < g.sends:
		a.Op, a.VA = model.OpSend, 0
	case u < g.atomics:
		a.Op, a.Len = model.OpCompareSwap, 8
		if u&1 == 1 {
			a.Op = model.OpFetchAdd
		}
	}
}

// arrive is the time of the next access, in picoseconds. Fixed gaps do not
// drift: access i is at i periods, rounded once.
func (g *Generator) arrive() int64 {
	if !g.exponents {
		t := float64(float64(g.count) * g.period)
		g.count++
		return int64(t + 0.5)
	}
	t := g.now
	g.now += uint64(float64(-ln(g.arrivals.unit())*g.period) + 0.5)
	return int64(t)
}

// target is where accesses go.
type target struct {
	draws    rng
	slots    slots  // of one access
	items    slots  // zipf and pointer-chase: of a page; keyvalue: of a value
	pos      uint64 // sequential, strided, pointer-chase: the next slot
	lane     uint64 // strided: first slot of this round
	stride   uint64 // strided: in slots
	zipf     zipf
	shuffle  permutation
	salt     uint64
	hotSlots uint64
	hot      uint64 // hotset: threshold
	valueMin uint32
	valueMax uint32
	inner    uint64 // slots in an item
	step     func(t *target, a *Access)
}

// aim fills the address and length of a.
func (t *target) aim(a *Access) { t.step(t, a) }

func (t *target) build(s *SyntheticSpec, regions []Region) error {
	t.draws = stream(s.Seed, "address")
	layout := stream(s.Seed, "layout")
	t.salt = layout.next()
	t.slots = newSlots(uint64(s.AccessBytes), regions)
	itemBytes := max(s.Page.Bytes(), uint64(s.AccessBytes))
	if s.Pattern == KeyValue {
		align := uint64(s.AccessBytes)
		itemBytes = (uint64(s.ValueMax) + align - 1) / align * align
	}
	t.items = newSlots(itemBytes, regions)
	t.inner = itemBytes / uint64(s.AccessBytes)
	t.stride = s.StrideBytes / uint64(s.AccessBytes)
	t.valueMin, t.valueMax = s.ValueMin, s.ValueMax
	t.step = steps[s.Pattern]
	fits, what := t.slots.count, uint64(s.AccessBytes)
	if s.Pattern == Zipf || s.Pattern == PointerChase || s.Pattern == KeyValue {
		fits, what = t.items.count, itemBytes
	}
	if fits == 0 {
		return fmt.Errorf("working_set of %d bytes in %d regions holds no slot of %d bytes", s.WorkingSet, s.Regions, what)
	}
	if s.Pattern == Strided && t.stride > t.slots.count {
		return fmt.Errorf("stride %d bytes: must not pass the working_set of %d bytes", s.StrideBytes, s.WorkingSet)
	}
	t.hotSlots = max(1, uint64(float64(t.slots.count)*s.HotFraction))
	t.hot = threshold(s.HotProbability)
	t.shuffle = newPermutation(fits, &layout)
	t.zipf = newZipf(fits, s.ZipfTheta)
	return nil
}
