package pagetable

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

type page struct {
	pa    model.PA
	shift model.PageShift
	flags PTE
}

// naive is a map from the first address of each mapped page.
type naive map[model.VA]page

func (n naive) find(va model.VA) (model.VA, page, bool) {
	for _, s := range []model.PageShift{model.Shift4K, model.Shift2M, model.Shift1G} {
		first := va &^ model.VA(s.Bytes()-1)
		if p, ok := n[first]; ok && p.shift == s {
			return first, p, true
		}
	}
	return 0, page{}, false
}

func (n naive) overlaps(va model.VA, s model.PageShift) bool {
	if _, _, ok := n.find(va); ok {
		return true
	}
	for first := range n {
		if first >= va && uint64(first-va) < s.Bytes() {
			return true
		}
	}
	return false
}

// addresses are few, so that pages of all sizes collide, in both halves.
func addresses() *rapid.Generator[model.VA] {
	return rapid.Custom(func(t *rapid.T) model.VA {
		va := model.VA(rapid.Uint64Max(2).Draw(t, "1G"))<<30 |
			model.VA(rapid.Uint64Max(2).Draw(t, "2M"))<<21 | model.VA(rapid.Uint64Max(3).Draw(t, "4K"))<<12
		if rapid.Bool().Draw(t, "upper") {
			va |= upperHalf
		}
		return va
	})
}

func TestAgainstNaive(t *testing.T) {
	sizes := []model.PageShift{model.Shift4K, model.Shift4K, model.Shift2M, model.Shift1G}
	rapid.Check(t, func(t *rapid.T) {
		s, err := NewStore(storeBase, 100)
		if err != nil {
			t.Fatal(err)
		}
		table, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		n := naive{}
		for i := range 100 {
			va := addresses().Draw(t, "va")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				shift := rapid.SampledFrom(sizes).Draw(t, "size")
				va &^= model.VA(shift.Bytes() - 1)
				p := page{model.PA(i) << 30, shift, Write}
				_, covered, ok := n.find(va)
				tables, err := table.Prune(va, shift, nil)
				if larger := ok && covered.shift >= shift; (err == nil) != (larger || !n.overlaps(va, shift)) {
					t.Fatalf("Prune(%#x, %d): %v", va, shift, err)
				}
				for _, a := range tables {
					s.Release(a)
				}
				if err := table.Map(va, p.pa, shift, p.flags); (err == nil) == n.overlaps(va, shift) {
					t.Fatalf("Map(%#x, %d): %v", va, shift, err)
				} else if err == nil {
					n[va] = p
				}
			case 2:
				first, p, ok := n.find(va)
				e, shift, err := table.Unmap(va)
				if (err == nil) != ok || ok && (e.PA() != p.pa || shift != p.shift) {
					t.Fatalf("Unmap(%#x) = %#x, %d, %v", va, uint64(e), shift, err)
				}
				if ok {
					delete(n, first)
				}
			case 3:
				first, p, ok := n.find(va)
				if err := table.SetDirty(va); (err == nil) != ok {
					t.Fatalf("SetDirty(%#x): %v", va, err)
				}
				if ok {
					p.flags |= Accessed | Dirty
					n[first] = p
				}
			}
		}
		compare(t, table, n)
	})
}

func compare(t *rapid.T, table *Table, n naive) {
	for range 20 {
		va := addresses().Draw(t, "probe") + 0x123
		_, p, ok := n.find(va)
		w := table.Lookup(va)
		if w.Present() != ok || ok && w.Translate(va) != p.pa+model.PA(uint64(va)&(p.shift.Bytes()-1)) {
			t.Fatalf("Lookup(%#x): %+v, want %+v", va, w, p)
		}
	}
	from := addresses().Draw(t, "from")
	length := rapid.Uint64Max(1<<32).Draw(t, "length")
	var want, got []model.VA
	for first, p := range n {
		touches := length > 0 && first <= from+model.VA(length-1) && first+model.VA(p.shift.Bytes()-1) >= from
		if from+model.VA(length-1) < from { // runs into the top of memory
			touches = length > 0 && first+model.VA(p.shift.Bytes()-1) >= from
		}
		if touches {
			want = append(want, first)
		}
	}
	slices.Sort(want)
	for first, leaf := range table.Range(from, length) {
		got = append(got, first)
		if p := n[first]; leaf.Shift != p.shift || leaf.Entry.PA() != p.pa || leaf.Entry&(Write|Accessed|Dirty) != p.flags {
			t.Fatalf("Range yields %#x: %+v, want %+v", first, leaf, p)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Range(%#x, %#x) = %#x, want %#x", from, length, got, want)
	}
}
