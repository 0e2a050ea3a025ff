package workload

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// defaultSpec is uniform random 64-byte WRITEs over 64 MiB, one
// region, one QP, closed loop, one million accesses. The figures of the other
// patterns are YCSB's ([YCSB10]): theta 0.99; hot set of 20 %
// taking 80 % of the accesses.
func defaultSpec() SyntheticSpec {
	return SyntheticSpec{
		Pattern: Uniform, Accesses: 1_000_000,
		WorkingSet: 64 << 20, Regions: 1, Page: model.Shift4K, AccessBytes: 64, QPs: 1,
		StrideBytes: 4096, ZipfTheta: 0.99, HotFraction: 0.2, HotProbability: 0.8,
		ValueMin: 64, ValueMax: 1024, Arrival: Exponential,
		Tenants: 1, AggressorWorkingSet: 64 << 20, AggressorRegions: 1,
	}
}

func mustGenerator(t testing.TB, change func(*SyntheticSpec)) *Generator {
	t.Helper()
	spec := defaultSpec()
	spec.Seed = 1
	change(&spec)
	g, err := NewGenerator(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Reference outputs: splitmix64 with seed 1234567 (Rosetta Code,
// "Pseudo-random numbers/Splitmix64"); xoshiro256** with state 1,2,3,4 (crate
// rand_xoshiro, made with the authors' C code).
func TestRandomNumbersAreTheReferences(t *testing.T) {
	s := splitmix64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := s.next(); got != want {
			t.Errorf("splitmix64 %d, want %d", got, want)
		}
	}
	r := rng{1, 2, 3, 4}
	for _, want := range []uint64{11520, 0, 1509978240, 1215971899390074240, 1216172134540287360} {
		if got := r.next(); got != want {
			t.Errorf("xoshiro256** %d, want %d", got, want)
		}
	}
}

func TestElementaryFunctions(t *testing.T) {
	r := stream(1, "test")
	for range 100_000 {
		x := (r.unit() - 0.5) * 1000
		if e := math.Exp(x); math.Abs(exp(x)/e-1) > 1e-12 {
			t.Fatalf("exp(%g) = %g, want %g", x, exp(x), e)
		}
		y := math.Exp(x)
		if l := math.Log(y); math.Abs(ln(y)-l) > 1e-12*max(1, math.Abs(l)) {
			t.Fatalf("ln(%g) = %g, want %g", y, ln(y), l)
		}
	}
}

func TestPermutationIsABijection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 5000).Draw(t, "n")
		r := stream(rapid.Uint64().Draw(t, "seed"), "test")
		p := newPermutation(n, &r)
		seen := make([]bool, n)
		for x := range n {
			if y := p.at(x); y >= n || seen[y] {
				t.Fatalf("image %d of %d is out of range or taken", y, x)
			} else {
				seen[y] = true
			}
		}
	})
}

// chiSquare tests counts against expected numbers. The bound is the mean of
// the distribution plus five of its standard deviations.
func chiSquare(t *testing.T, what string, counts []int, expected func(i int) float64) {
	t.Helper()
	sum := 0.0
	for i, n := range counts {
		e := expected(i)
		sum += (float64(n) - e) * (float64(n) - e) / e
	}
	free := float64(len(counts) - 1)
	if bound := free + 5*math.Sqrt(2*free); sum > bound || sum < free-5*math.Sqrt(2*free) {
		t.Errorf("%s: chi-square %.0f with %.0f degrees of freedom, bound %.0f", what, sum, free, bound)
	}
}

func TestUniformIsUniform(t *testing.T) {
	const slots, draws = 1000, 1_000_000
	g := mustGenerator(t, func(s *SyntheticSpec) { s.WorkingSet = slots * 64 })
	counts := make([]int, slots)
	var a Access
	for range draws {
		g.Next(&a)
		counts[(a.VA-BaseVA)/64]++
	}
	chiSquare(t, "uniform", counts, func(int) float64 { return draws / slots })
}

// Page frequencies, sorted back to ranks, follow 1/rank^theta over the
// generalised harmonic number.
func TestZipfLaw(t *testing.T) {
	const n, draws = 500, 1_000_000
	for _, theta := range []float64{0, 0.5, 0.99, 1, 1.2, 2} {
		g := mustGenerator(t, func(s *SyntheticSpec) {
			s.Pattern, s.ZipfTheta, s.WorkingSet, s.Accesses = Zipf, theta, n*4096, draws
		})
		harmonic := 0.0
		for k := 1; k <= n; k++ {
			harmonic += math.Pow(float64(k), -theta)
		}
		counts := make([]int, n)
		inverse := map[model.VA]int{}
		for k := range uint64(n) {
			inverse[g.items.va(g.shuffle.at(k))] = int(k)
		}
		var a Access
		for g.Next(&a) {
			counts[inverse[a.VA&^4095]]++
		}
		chiSquare(t, fmt.Sprintf("theta %g", theta), counts, func(i int) float64 {
			return draws * math.Pow(float64(i+1), -theta) / harmonic
		})
	}
}

// No rank is accepted without a test that the test would refuse.
func TestZipfSqueeze(t *testing.T) {
	for _, theta := range []float64{0, 0.3, 0.99, 1, 1.5, 2} {
		z := newZipf(1<<20, theta)
		for k := 2; k < 3000; k++ {
			if d := z.distance(float64(k)); d < z.accept[bits.Len(uint(k))]-1e-6 {
				t.Errorf("theta %g, rank %d: distance %g, accepted from %g", theta, k, d, z.accept[bits.Len(uint(k))])
			}
		}
	}
}

func TestPointerChaseIsOneCycle(t *testing.T) {
	const pages = 1000
	g := mustGenerator(t, func(s *SyntheticSpec) { s.Pattern, s.WorkingSet = PointerChase, pages*4096 })
	first := make([]model.VA, pages)
	seen := map[model.VA]bool{}
	var a Access
	for i := range first {
		g.Next(&a)
		first[i] = a.VA
		seen[a.VA&^4095] = true
	}
	if len(seen) != pages {
		t.Errorf("%d pages in a cycle, want %d", len(seen), pages)
	}
	inOrder := 0
	for i, va := range first {
		if g.Next(&a); a.VA != va {
			t.Fatalf("access %d of the second cycle is at %#x, want %#x", i, a.VA, va)
		}
		if i > 0 && va>>12 == first[i-1]>>12+1 {
			inOrder++
		}
	}
	if inOrder > 10 { // one is expected of a random order
		t.Errorf("%d of %d steps go to the next page", inOrder, pages)
	}
}

func TestSequentialAndStrided(t *testing.T) {
	g := mustGenerator(t, func(s *SyntheticSpec) { s.Pattern, s.WorkingSet = Sequential, 192 })
	want := []model.VA{0, 64, 128, 0, 64}
	var a Access
	for i, w := range want {
		if g.Next(&a); a.VA != BaseVA+w {
			t.Errorf("sequential %d: %#x", i, a.VA)
		}
	}
	g = mustGenerator(t, func(s *SyntheticSpec) { s.Pattern, s.WorkingSet, s.StrideBytes = Strided, 320, 128 })
	for i, w := range []model.VA{0, 128, 256, 64, 192, 0} {
		if g.Next(&a); a.VA != BaseVA+w {
			t.Errorf("strided %d: %#x, want %#x", i, a.VA, BaseVA+w)
		}
	}
}

// share checks a count of draws against a probability, five deviations wide.
func share(t *testing.T, what string, n, draws int, p float64) {
	t.Helper()
	if d := math.Abs(float64(n) - p*float64(draws)); d > 5*math.Sqrt(p*(1-p)*float64(draws))+0.5 {
		t.Errorf("%s: %d of %d, want a share of %g", what, n, draws, p)
	}
}

func TestHotSet(t *testing.T) {
	const draws = 200_000
	g := mustGenerator(t, func(s *SyntheticSpec) {
		s.Pattern, s.WorkingSet, s.HotFraction, s.HotProbability = HotSet, 64*1000, 0.1, 0.9
	})
	hot := 0
	var a Access
	for range draws {
		if g.Next(&a); a.VA < BaseVA+64*100 {
			hot++
		}
	}
	share(t, "hot", hot, draws, 0.9)
}

// Values never overlap, and each key's has one place and length.
func TestKeyValue(t *testing.T) {
	g := mustGenerator(t, func(s *SyntheticSpec) {
		s.Pattern, s.WorkingSet, s.ValueMin, s.ValueMax, s.ZipfTheta = KeyValue, 1<<20, 100, 1000, 0.5
	})
	lengths := map[model.VA]uint32{}
	var a Access
	for range 100_000 {
		g.Next(&a)
		if n, ok := lengths[a.VA]; ok && n != a.Len || a.Len < 100 || a.Len > 1000 {
			t.Fatalf("length %d at %#x, before %d", a.Len, a.VA, n)
		}
		lengths[a.VA] = a.Len
	}
	if len(lengths) != 1<<20/1024 {
		t.Errorf("%d keys seen, want all of %d", len(lengths), 1<<20/1024)
	}
	var places []model.VA
	distinct := map[uint32]bool{}
	for va, n := range lengths {
		places, distinct[n] = append(places, va), true
	}
	slices.Sort(places)
	for i, va := range places[1:] {
		if places[i]+model.VA(lengths[places[i]]) > va {
			t.Errorf("values at %#x and %#x overlap", places[i], va)
		}
	}
	if len(distinct) < 400 {
		t.Errorf("only %d lengths", len(distinct))
	}
}

func TestMixOfOperations(t *testing.T) {
	const draws = 200_000
	g := mustGenerator(t, func(s *SyntheticSpec) {
		s.ReadFraction, s.SendFraction, s.AtomicFraction, s.QPs = 0.4, 0.1, 0.2, 3
	})
	var counts [model.NumOps]int
	var a Access
	for i := range draws {
		g.Next(&a)
		counts[a.Op]++
		if a.QP != uint32(i%3) || a.Op.Atomic() != (a.Len == 8) || (a.Op == model.OpSend) != (a.VA == 0) {
			t.Fatalf("access %d: %+v", i, a)
		}
	}
	for op, p := range map[model.Op]float64{
		model.OpWrite: 0.3, model.OpRead: 0.4, model.OpSend: 0.1, model.OpCompareSwap: 0.1, model.OpFetchAdd: 0.1,
	} {
		share(t, op.String(), counts[op], draws, p)
	}
	g = mustGenerator(t, func(s *SyntheticSpec) { s.ReadFraction = 1 })
	for range 1000 {
		if g.Next(&a); a.Op != model.OpRead {
			t.Fatal("read_fraction 1 gives another operation")
		}
	}
}

func TestOfferedRate(t *testing.T) {
	const draws, period = 200_000, 1e12 / 3e6
	fixed := mustGenerator(t, func(s *SyntheticSpec) { s.OfferedRate, s.Arrival = 3e6, Fixed })
	random := mustGenerator(t, func(s *SyntheticSpec) { s.OfferedRate = 3e6 })
	var a, b, before Access
	long := 0
	for i := range draws {
		fixed.Next(&a)
		if want := float64(i) * period; math.Abs(float64(a.TimePS)-want) > 0.51 {
			t.Fatalf("access %d at %d ps, want %.1f", i, a.TimePS, want)
		}
		if random.Next(&b); i > 0 && float64(b.TimePS-before.TimePS) > period {
			long++
		}
		before = b
	}
	// Exponential gaps pass their mean with probability 1/e, and the sum of n
	// has a deviation of sqrt(n) means.
	share(t, "gaps longer than the mean", long, draws, 1/math.E)
	if d := math.Abs(float64(b.TimePS) - draws*period); d > 5*math.Sqrt(draws)*period {
		t.Errorf("last access at %d ps, want about %.0f", b.TimePS, draws*period)
	}
}

// Whatever the geometry, accesses are aligned slots within one region, and
// equal specs give equal accesses.
func TestAccessesStayInRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := defaultSpec()
		spec.Pattern = rapid.SampledFrom(Patterns).Draw(t, "pattern")
		spec.Seed = rapid.Uint64().Draw(t, "seed")
		spec.WorkingSet = rapid.Uint64Range(1, 1<<20).Draw(t, "working set")
		spec.Regions = rapid.Uint32Range(1, 9).Draw(t, "regions")
		spec.AccessBytes = rapid.Uint32Range(1, 10000).Draw(t, "access")
		spec.StrideBytes = uint64(spec.AccessBytes) * rapid.Uint64Range(1, 50).Draw(t, "stride")
		spec.ReadFraction, spec.Accesses = 0.5, 200
		g, err := NewGenerator(spec)
		if err != nil {
			return // impossible geometry
		}
		again, _ := NewGenerator(spec)
		regions, _ := Layout(spec.WorkingSet, spec.Regions, spec.Page)
		total := uint64(0)
		for i, r := range regions {
			if total += r.Len; i > 0 && r.VA != regions[i-1].VA+model.VA(regions[i-1].Len) {
				t.Fatalf("region %d does not follow the one before", i)
			}
		}
		if total != spec.WorkingSet || uint32(len(regions)) != spec.Regions {
			t.Fatalf("%d regions of %d bytes together", len(regions), total)
		}
		aligned := func(offset uint64) bool {
			if spec.Pattern == Zipf || spec.Pattern == PointerChase { // aligned in its page
				offset %= max(spec.Page.Bytes(), uint64(spec.AccessBytes))
			}
			return offset%uint64(spec.AccessBytes) == 0
		}
		var a, b Access
		n := uint64(0)
		for ; g.Next(&a); n++ {
			if again.Next(&b); a != b {
				t.Fatalf("access %d is %+v, then %+v", n, a, b)
			}
			inside := func(r Region) bool {
				return a.VA >= r.VA && uint64(a.VA-r.VA)+uint64(a.Len) <= r.Len && aligned(uint64(a.VA-r.VA))
			}
			if !slices.ContainsFunc(regions, inside) {
				t.Fatalf("access %d, %+v, is not an aligned slot of a region of %+v", n, a, regions)
			}
		}
		if n != spec.Accesses {
			t.Fatalf("%d accesses, want %d", n, spec.Accesses)
		}
	})
}

// Other seeds, other accesses; a draw more for one purpose leaves the others.
func TestStreamsAreIndependent(t *testing.T) {
	plain := mustGenerator(t, func(*SyntheticSpec) {})
	mixed := mustGenerator(t, func(s *SyntheticSpec) { s.ReadFraction, s.OfferedRate = 0.5, 1e6 })
	other := mustGenerator(t, func(s *SyntheticSpec) { s.Seed = 2 })
	var a, b, c Access
	same := 0
	for range 1000 {
		plain.Next(&a)
		mixed.Next(&b)
		other.Next(&c)
		if a.VA != b.VA {
			t.Fatal("the mix of operations changes the addresses")
		}
		if a.VA == c.VA {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 1000 addresses are equal under another seed", same)
	}
}

func TestImpossibleSpecs(t *testing.T) {
	for want, change := range map[string]func(*SyntheticSpec){
		`pattern "zip"`: func(s *SyntheticSpec) { s.Pattern = "zip" },
		"working_set":   func(s *SyntheticSpec) { s.WorkingSet = 0 },
		"working_set of 1 bytes in 1 regions holds no slot of 64": func(s *SyntheticSpec) { s.WorkingSet = 1 },
		"128TiB":                            func(s *SyntheticSpec) { s.WorkingSet = math.MaxUint64 },
		"regions 0":                         func(s *SyntheticSpec) { s.Regions = 0 },
		"regions 3":                         func(s *SyntheticSpec) { s.Regions, s.WorkingSet = 3, 8192 },
		"page of 2^3":                       func(s *SyntheticSpec) { s.Page = 3 },
		"access_bytes 0":                    func(s *SyntheticSpec) { s.AccessBytes = 0 },
		"qps":                               func(s *SyntheticSpec) { s.QPs = 1<<24 + 1 },
		"read_fraction":                     func(s *SyntheticSpec) { s.ReadFraction = math.NaN() },
		"+ send_fraction":                   func(s *SyntheticSpec) { s.ReadFraction, s.SendFraction = 0.7, 0.4 },
		"multiple of 8":                     func(s *SyntheticSpec) { s.AtomicFraction, s.AccessBytes = 0.1, 12 },
		"offered_rate":                      func(s *SyntheticSpec) { s.OfferedRate = math.Inf(1) },
		"arrival":                           func(s *SyntheticSpec) { s.OfferedRate, s.Arrival = 1, "poisson" },
		"positive multiple of access_bytes": func(s *SyntheticSpec) { s.Pattern, s.StrideBytes = Strided, 100 },
		"must not pass the working_set":     func(s *SyntheticSpec) { s.Pattern, s.StrideBytes = Strided, 1<<30 },
		"hot_fraction":                      func(s *SyntheticSpec) { s.Pattern, s.HotFraction = HotSet, 1 },
		"hot_probability":                   func(s *SyntheticSpec) { s.Pattern, s.HotProbability = HotSet, 2 },
		"zipf_theta":                        func(s *SyntheticSpec) { s.Pattern, s.ZipfTheta = Zipf, -1 },
		"aggressor_fraction NaN":            func(s *SyntheticSpec) { s.AggressorFraction = math.NaN() },
		"aggressor_fraction 1.5":            func(s *SyntheticSpec) { s.AggressorFraction = 1.5 },
		"need 2 or more tenants":            func(s *SyntheticSpec) { s.AggressorFraction, s.QPs = 0.5, 2 },
		"all 1 QPs are of tenant":           func(s *SyntheticSpec) { s.AggressorFraction, s.Tenants = 0.5, 2 },
		"aggressor_working_set of 63 bytes in 1 aggressor_regions holds no access": func(s *SyntheticSpec) {
			s.AggressorFraction, s.Tenants, s.QPs, s.AggressorWorkingSet = 0.5, 2, 2, 63
		},
		"must end with the working_set": func(s *SyntheticSpec) {
			s.AggressorFraction, s.Tenants, s.QPs, s.WorkingSet = 0.5, 2, 2, 1<<47-uint64(BaseVA)
		},
		"values of 9 to 8": func(s *SyntheticSpec) { s.Pattern, s.ValueMin, s.ValueMax = KeyValue, 9, 8 },
	} {
		spec := defaultSpec()
		change(&spec)
		if _, err := NewGenerator(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	var a Access
	for _, pattern := range Patterns {
		var g Source = mustGenerator(t, func(s *SyntheticSpec) { s.Pattern, s.ReadFraction, s.OfferedRate = pattern, 0.5, 1e6 })
		if n := testing.AllocsPerRun(1000, func() { g.Next(&a) }); n != 0 {
			t.Errorf("%s: %g allocations an access", pattern, n)
		}
	}
	var beside Source = mustGenerator(t, func(s *SyntheticSpec) { s.QPs, s.Tenants, s.AggressorFraction = 8, 2, 0.5 })
	if n := testing.AllocsPerRun(1000, func() { beside.Next(&a) }); n != 0 {
		t.Errorf("beside an aggressor: %g allocations an access", n)
	}
	trace, err := Example()
	if err != nil {
		t.Fatal(err)
	}
	trace.Next(&a)
	if n := testing.AllocsPerRun(100_000, func() { trace.Next(&a) }); n != 0 {
		t.Errorf("CSV: %g allocations an access", n)
	}
}

func BenchmarkGenerator(b *testing.B) {
	for _, pattern := range Patterns {
		b.Run(pattern, func(b *testing.B) {
			var g Source = mustGenerator(b, func(s *SyntheticSpec) {
				s.Pattern, s.Accesses, s.WorkingSet, s.ReadFraction = pattern, 0, 1<<30, 0.5
			})
			var a Access
			b.ReportAllocs()
			for b.Loop() {
				g.Next(&a)
			}
		})
	}
}
