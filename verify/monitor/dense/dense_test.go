package dense

import "testing"

// TestTable: places far apart keep what they are given, and Each shows those of
// a range that there are, whatever lies between.
func TestTable(t *testing.T) {
	var table Table[int]
	numbers := []uint64{0, 511, 512, 1<<21 - 1, 1 << 21, 1<<39 + 5}
	for i, n := range numbers {
		*table.At(n) = i + 1
	}
	for i, n := range numbers {
		if v := table.Get(n); v == nil || *v != i+1 {
			t.Errorf("%d: %v", n, v)
		}
	}
	if table.Get(1<<30) != nil || table.Get(1<<39+1<<22) != nil {
		t.Error("a place that was never asked for")
	}
	sum := 0
	table.Each(1, 1<<39+4, func(_ uint64, v *int) { sum += *v })
	if sum != 2+3+4+5 {
		t.Errorf("shown: %d", sum)
	}
	table.Each(0, ^uint64(0), func(_ uint64, v *int) { sum += *v })
	if sum != 14+21 {
		t.Errorf("shown: %d", sum)
	}
	var list []int
	*Slot(&list, 3) = 7
	if len(list) != 4 || list[3] != 7 || *Slot(&list, 1) != 0 {
		t.Errorf("%v", list)
	}
}
