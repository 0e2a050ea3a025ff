package measure

// tenant collects the completed accesses of one tenant or several.
type tenant struct {
	stats   TenantStats
	latency *Histogram
}

func newTenant() tenant { return tenant{latency: NewHistogram()} }

func (t *tenant) count(a *Access) {
	t.stats.Completed++
	t.latency.Record(a.Complete - a.Issue)
	t.stats.MTT.Hits += uint64(a.Counts.MTTHits)
	t.stats.MTT.Misses += uint64(a.Counts.MTTMisses)
}

func (t *tenant) summary() TenantStats {
	s := t.stats
	s.LatencyPS = t.latency.Quantiles()
	s.MTT.Lookups = s.MTT.Hits + s.MTT.Misses
	return s
}

// tenancy tells the tenants of a run apart: an access is of its QP's number
// modulo their number. Without tenants it counts nothing.
type tenancy struct {
	each   []tenant
	others tenant // all but the first
}

// Share makes the recorder tell n tenants apart, before the first access; fewer
// than 2 are none.
func (r *Recorder) Share(n int) {
	if n < 2 {
		return
	}
	r.tenants = tenancy{each: make([]tenant, n), others: newTenant()}
	for i := range r.tenants.each {
		r.tenants.each[i] = newTenant()
	}
}

func (t *tenancy) count(a *Access) {
	n := uint32(len(t.each))
	if n == 0 {
		return
	}
	who := a.QP % n
	t.each[who].count(a)
	if who > 0 {
		t.others.count(a)
	}
}

func (t *tenancy) finish(s *Summary) {
	if len(t.each) == 0 {
		return
	}
	for i := range t.each {
		s.Tenants = append(s.Tenants, t.each[i].summary())
	}
	s.Victim, s.Aggressor = s.Tenants[0], t.others.summary()
}
