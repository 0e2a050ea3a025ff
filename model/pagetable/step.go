package pagetable

import "rnicmmu/model"

// Step is one read of a walk under way: the entry that comes next. A walker
// that takes time reads At with Store.Load when memory answers, and goes on
// Below the table that the entry names.
type Step struct {
	At    model.PA // address of the entry
	Level int      // 4 … 1
}

// First is the first read of a walk for va from the level-4 table at root.
func First(root model.PA, va model.VA) Step { return in(root, va, levels) }

func in(table model.PA, va model.VA, level int) Step {
	return Step{At: slot(table, va, level), Level: level}
}

// Below is the read of the next level, in a table that an entry of this one
// names; the entry must be present and no leaf.
func (s Step) Below(table model.PA, va model.VA) Step { return in(table, va, s.Level-1) }

// Leaf tells whether a present entry that was read here maps a page.
func (s Step) Leaf(e PTE) bool { return e.leaf(s.Level) }

// Shift is the size of what an entry of this level covers: 12, 21, 30 or 39.
func (s Step) Shift() model.PageShift { return shiftOf(s.Level) }
