package measure

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
)

// nearestRank is the definition, on sorted data.
func nearestRank(sorted []clocked.Time, permille int) clocked.Time {
	return sorted[(len(sorted)*permille+999)/1000-1]
}

// width bounds a bucket at 3 significant digits: 2048 buckets cover 0 … 2047
// one by one, and each further power of two has 1024.
func width(v clocked.Time) clocked.Time { return v / 1024 }

func TestQuantilesAgreeWithSortedData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom([]int64{10, 2047, 1e6, int64(histogramTop)}).Draw(t, "top")
		values := rapid.SliceOfN(rapid.Int64Range(0, top), 1, 3000).Draw(t, "values")
		h := NewHistogram()
		var sorted []clocked.Time
		var total clocked.Time
		for _, v := range values {
			h.Record(clocked.Time(v))
			sorted = append(sorted, clocked.Time(v))
			total += clocked.Time(v)
		}
		slices.Sort(sorted)
		q := h.Quantiles()
		n := clocked.Time(len(values))
		if q.Total != total || q.Max != sorted[len(sorted)-1] || q.Mean != (2*total+n)/(2*n) {
			t.Fatalf("total %d, max %d, mean %d of %v", q.Total, q.Max, q.Mean, sorted)
		}
		for _, c := range []struct {
			permille int
			got      clocked.Time
		}{{500, q.P50}, {900, q.P90}, {990, q.P99}, {999, q.P999}} {
			want := nearestRank(sorted, c.permille)
			if c.got < want || c.got > want+width(want) || c.got > q.Max {
				t.Fatalf("%d/1000 quantile %d, exactly %d, of %d values", c.permille, c.got, want, n)
			}
		}
	})
}

// Ranks of large sets are exact: one value more than a share moves the
// quantile.
func TestRanksOfLargeSets(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 7, 999, 1000, 1001, 123_457, 2_000_003} {
		for _, permille := range []int64{500, 900, 990, 999} {
			r := rank(n, permille)
			if r < 1 || r > n || r*1000 < n*permille || (r-1)*1000 >= n*permille {
				t.Fatalf("rank(%d, %d) = %d", n, permille, r)
			}
			h := NewHistogram()
			_ = h.hdr.RecordValues(10, r) // r values up to the rank, the rest above
			_ = h.hdr.RecordValues(20, n-r)
			h.max = 20
			if at := h.at(r); at != 10 {
				t.Errorf("n = %d: the value at rank %d is %d", n, r, at)
			}
			if r < n && h.at(r+1) != 20 {
				t.Errorf("n = %d: the value at rank %d is %d", n, r+1, h.at(r+1))
			}
		}
	}
}

func TestQuantilesAtTheEdges(t *testing.T) {
	if q := NewHistogram().Quantiles(); q != (Quantiles{}) {
		t.Errorf("of an empty set: %+v", q)
	}
	h := NewHistogram()
	h.Record(-5)
	if q := h.Quantiles(); q != (Quantiles{}) || h.Count() != 1 {
		t.Errorf("a negative time counts as 0, got %+v", q)
	}
	h = NewHistogram()
	h.Record(300 * clocked.Second)
	q := h.Quantiles()
	if q.Max != 300*clocked.Second || q.Mean != q.Max || q.P50 < histogramTop || q.P50 > histogramTop+width(histogramTop) {
		t.Errorf("beyond the range: %+v", q)
	}
}

func BenchmarkHistogram(b *testing.B) {
	h := NewHistogram()
	b.ReportAllocs()
	for i := range b.N {
		h.Record(clocked.Time(i%1000) * 12345)
	}
}
