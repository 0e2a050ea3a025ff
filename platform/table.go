package platform

import (
	"cmp"
	"fmt"
	"slices"

	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/tpt"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// piece is memory whose entries follow each other in an adapter's table: a
// region, or as much of one as a child of an implicit region serves.
type piece struct {
	region    *Region
	va        model.VA
	length    uint64
	firstPage uint32
	entry     uint64
}

// table is how an adapter's table is laid out.
type table struct {
	pieces  []piece
	list    uint64 // first entry of an implicit region's list
	entries uint64
}

// implicit tells whether one region over the whole address space stands for all.
func (w *WorkloadSpec) implicit() bool { return w.Registration == registerImplicit }

// root is the implicit region of every adapter; its list is the adapter's own.
func root() *key.Region {
	return &key.Region{Key: keyOf(0), PD: domain, Rights: allRights, Kind: key.Implicit, Length: userSpace}
}

// tableOf lays out the table of an adapter: regions by number or, under an
// implicit one, the entries of each GiB that holds memory, by address, and the
// list behind them.
func (s *System) tableOf(spec *tpt.Spec) (t table) {
	shift := spec.PageShift()
	if !s.spec.Workload.implicit() {
		for i := range s.space.Regions {
			r := &s.space.Regions[i]
			t.pieces = append(t.pieces, piece{r, r.Placed, r.Len, r.FirstPage, t.entries})
			t.entries += lineUp(shift.Span(r.Placed, r.Len))
		}
		return t
	}
	t.pieces = s.cut()
	each := key.ChildShift.Bytes() >> shift
	for i := range t.pieces {
		p := &t.pieces[i]
		index := key.ChildIndex(p.va)
		if i == 0 || index != key.ChildIndex(t.pieces[i-1].va) {
			t.list += each
		}
		p.entry = t.list - each + shift.Number(p.va) - shift.Number(key.ChildBase(index))
	}
	t.entries = t.list + key.ChildIndex(userSpace)*key.IndirectBytes/8
	return t
}

// cut divides the regions where one child ends, in order of address.
func (s *System) cut() (all []piece) {
	host := s.spec.Host.Shift()
	for i := range s.space.Regions {
		r := &s.space.Regions[i]
		for va, end := r.Placed, r.Placed+model.VA(r.Len); va < end; {
			next := min(end, key.ChildBase(key.ChildIndex(va)+1))
			all = append(all, piece{region: r, va: va, length: uint64(next - va),
				firstPage: r.FirstPage + uint32(host.Number(va)-host.Number(r.Placed))})
			va = next
		}
	}
	slices.SortFunc(all, func(a, b piece) int { return cmp.Compare(a.va, b.va) })
	return all
}

// keysOf is the size of an adapter's protection table. Children come and go under
// ever new keys, as many as faults make.
func (s *System) keysOf() int {
	if s.spec.Workload.implicit() {
		return key.MaxRegions
	}
	n := len(s.space.Regions)
	if s.spec.Workload.RegistrationMethod == "window" {
		n *= 2
	}
	return n + 2
}

// registerKeys registers what an adapter knows before time 0.
func (s *System) registerKeys(n *node) error {
	t := s.tableOf(&n.spec.TPT)
	if s.spec.Workload.implicit() {
		r := root()
		r.PageShift, r.MTT = n.spec.TPT.PageShift(), t.list
		return n.tpt.Keys().RegisterAs(r.Key, *r)
	}
	onDemand := key.Rights(0)
	if n.spec.Scheme != kernel.Pinned && n.spec.Scheme != kernel.IOMMU {
		onDemand = key.OnDemand
	}
	for _, p := range t.pieces {
		if w := s.windowOf(p.region); w != 0 {
			if err := n.tpt.Keys().RegisterAs(w, key.Region{PD: domain, Kind: key.Window2B}); err != nil {
				return fmt.Errorf("window of region %d: %w", p.region.Number, err)
			}
		}
		if s.isDynamic(p.region) {
			continue
		}
		granted, bounds := s.rights(p.region, p.length)
		err := n.tpt.Keys().RegisterAs(p.region.Key, key.Region{PD: domain, Rights: granted | onDemand, Base: p.va, Length: bounds,
			PageShift: n.spec.TPT.PageShift(), MTT: p.entry})
		if err != nil {
			return fmt.Errorf("region %d: %w", p.region.Number, err)
		}
	}
	return nil
}

// addChildren tells of the children of implicit regions.
func (s *System) addChildren(r *measure.RegistrationSummary) {
	for i := range s.nodes {
		if s.spec.Workload.implicit() {
			attached, _ := s.kernel.CheckChildren(i, nil)
			r.ChildrenResident += uint64(attached)
		}
	}
}

// auditChildren asserts what must hold of the children of implicit regions.
func (s *System) auditChildren(violate func(rule, format string, args ...any)) {
	if !s.spec.Workload.implicit() {
		return
	}
	var all uint64
	for i, n := range s.nodes {
		var list *key.Region
		if !s.kernel.Dead(i) {
			list = n.tpt.Keys().Lookup(keyOf(0))
			if n.tpt.Stats.Refused > 0 {
				violate(RuleChildren, "adapter %d: %d commands refused", i, n.tpt.Stats.Refused)
			}
		}
		attached, wrong := s.kernel.CheckChildren(i, list)
		all += uint64(attached)
		if wrong > 0 {
			violate(RuleChildren, "adapter %d: %d children do not have the pages, users or entry that they must", i, wrong)
		}
	}
	if k := &s.kernel.Stats; k.ChildrenMade != k.ChildrenDestroyed+all {
		violate(RuleChildren, "%d children made, %d destroyed, %d are left", k.ChildrenMade, k.ChildrenDestroyed, all)
	}
}
