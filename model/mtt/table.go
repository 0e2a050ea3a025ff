package mtt

// storeEntries is how many entries are allocated at once: 32 KiB, so that a
// sparse table stays small and a dense one has few pieces.
const storeEntries = 4096

type store [storeEntries]Word

// Table is the contents of table memory: what a walk finds at each entry.
// Entries never written are zero and cost nothing.
type Table struct {
	entries   uint64
	chunks    []*store
	suspended []span // active suspensions, in the order in which they came
}

// NewTable makes a table of absent entries for a layout.
func NewTable(l Layout) *Table {
	return &Table{
		entries: l.entries,
		chunks:  make([]*store, (l.entries+storeEntries-1)/storeEntries),
	}
}

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

// pieces visits the n entries from first, a run of allocated ones at a time.
// Entries out of range or never written are passed over.
func (t *Table) pieces(first, n uint64, visit func(at uint64, words []Word)) {
	if first >= t.entries {
		return
	}
	n = min(n, t.entries-first)
	for n > 0 {
		at := first % storeEntries
		part := min(n, storeEntries-at)
		if c := t.chunks[first/storeEntries]; c != nil {
			visit(first, c[at:at+part])
		}
		first += part
		n -= part
	}
}

// Zap makes n entries from first absent and counts those that were present.
// Those of a page that moves keep their suspended bit, so that an access which
// meets one is told apart from one that meets a page on disk.
func (t *Table) Zap(first, n uint64, moving bool) (zapped uint64) {
	t.pieces(first, n, func(_ uint64, words []Word) {
		for i, w := range words {
			if w.Present() {
				zapped++
			}
			words[i] = w.Zapped(moving)
		}
	})
	return zapped
}

// Protect takes the right to store from n entries from first.
func (t *Table) Protect(first, n uint64) {
	t.pieces(first, n, func(_ uint64, words []Word) {
		for i, w := range words {
			words[i] = w.Protected()
		}
	})
}
