package mtt

// storeEntries is how many entries are allocated at once: 32 KiB, so that a
// sparse table stays small and a dense one has few pieces.
const storeEntries = 4096

type store [storeEntries]Word

// Table is the contents of table memory: what a walk finds at each entry.
// Entries never written are zero and cost nothing.
type Table struct {
	entries uint64
	chunks  []*store
}

// NewTable makes a table of absent entries for a layout.
func NewTable(l Layout) *Table {
	return &Table{
		entries: l.entries,
		chunks:  make([]*store, (l.entries+storeEntries-1)/storeEntries),
	}
}

// Entries is the number of entries.
func (t *Table) Entries() uint64 { return t.entries }

// Get is entry i; one out of range is absent.
func (t *Table) Get(i uint64) Word {
	if i >= t.entries {
		return 0
	}
	if c := t.chunks[i/storeEntries]; c != nil {
		return c[i%storeEntries]
	}
	return 0
}

// Set writes entry i and tells whether it is in range.
func (t *Table) Set(i uint64, w Word) bool {
	if i >= t.entries {
		return false
	}
	c := t.chunks[i/storeEntries]
	if c == nil {
		if w == 0 {
			return true
		}
		c = new(store)
		t.chunks[i/storeEntries] = c
	}
	c[i%storeEntries] = w
	return true
}

// Zap makes n entries from first absent and counts those that were present.
// What lies out of range is ignored.
func (t *Table) Zap(first, n uint64) (zapped uint64) {
	if first >= t.entries {
		return 0
	}
	n = min(n, t.entries-first)
	for n > 0 {
		at := first % storeEntries
		part := min(n, storeEntries-at)
		if c := t.chunks[first/storeEntries]; c != nil {
			for _, w := range c[at : at+part] {
				if w.Present() {
					zapped++
				}
			}
			clear(c[at : at+part])
		}
		first += part
		n -= part
	}
	return zapped
}
