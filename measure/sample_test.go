package measure

import (
	"math/rand/v2"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// sampleAccess is access id with every column different from zero somewhere in
// a run and causes that sum to its latency.
func sampleAccess(random *rand.Rand, id uint64, complete clocked.Time) Access {
	a := Access{
		ID: id, Adapter: uint16(id % 3), Op: model.Op(random.UintN(uint(model.NumOps))),
		QP: random.Uint32N(8), Key: random.Uint32(), Len: random.Uint32(),
		VA: model.VA(random.Uint64()), Warmup: random.UintN(4) == 0,
		Counts: Counts{
			random.Uint32N(9), random.Uint32N(9), random.Uint32N(9), random.Uint32N(9), random.Uint32N(9),
			random.Uint32N(9), random.Uint32N(9), random.Uint32N(9), random.Uint32N(9), random.Uint32N(9),
			random.Uint32N(9), random.Uint32N(9), random.Uint32(), random.Uint64N(1 << 40),
		},
	}
	a.Placed = a.Len
	if random.UintN(8) == 0 {
		a.Status = Status(random.UintN(uint(NumStatuses)))
	}
	for c := range a.Ledger.Causes {
		if random.UintN(3) == 0 {
			a.Ledger.Causes[c] = clocked.Time(random.Int64N(1e7))
		}
	}
	a.Complete, a.Ledger.Last = complete, complete
	a.Issue = complete - a.Ledger.Sum()
	return a
}

func sampleInvalidation(random *rand.Rand, id uint64, done clocked.Time) Invalidation {
	step := func() clocked.Time { return done - clocked.Time(random.Int64N(1e6)) }
	return Invalidation{
		ID: id, Adapter: uint16(id % 2), Trigger: Trigger(random.UintN(uint(NumTriggers))),
		Pages: random.Uint32N(512), Notified: done - 2e6, Checked: step(), Sent: step(), Received: step(), Marked: step(),
		Drained: step(), Acknowledged: step(), IOTLB: step(), DevTLB: step(), Others: step(), Done: done,
		TimedOut: random.UintN(5) == 0, Warmup: random.UintN(5) == 0,
	}
}

// sampleRun is n accesses and n/4 invalidations, several an instant.
func sampleRun(seed uint64, n int) ([]Access, []Invalidation) {
	random := rand.New(rand.NewPCG(seed, 0))
	now := 10 * clocked.Millisecond
	var accesses []Access
	var invalidations []Invalidation
	for i := range n {
		if random.UintN(3) > 0 {
			now += clocked.Time(random.Int64N(1e5))
		}
		accesses = append(accesses, sampleAccess(random, uint64(i), now))
		if i%4 == 0 {
			invalidations = append(invalidations, sampleInvalidation(random, uint64(i/4), now))
		}
	}
	return accesses, invalidations
}

// feed reports rows in the order given and finishes with matching issue counts.
func feed(r *Recorder, accesses []Access, invalidations []Invalidation) Summary {
	var s Summary
	for i := range accesses {
		r.Access(accesses[i].Complete, &accesses[i])
		if !accesses[i].Warmup {
			s.Accesses.Issued++
		}
		s.SimulatedPS = accesses[i].Complete
	}
	for i := range invalidations {
		r.Invalidation(invalidations[i].Done, &invalidations[i])
		if !invalidations[i].Warmup {
			s.Invalidations.Issued++
		}
	}
	r.Finish(&s)
	return s
}

// shuffleInstants permutes rows within each instant only.
func shuffleInstants[T any](random *rand.Rand, rows []T, at func(*T) clocked.Time) []T {
	rows = append([]T(nil), rows...)
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && at(&rows[to]) == at(&rows[from]) {
			to++
		}
		part := rows[from:to]
		random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		from = to
	}
	return rows
}
