package mtt

import "testing"

// What an access meets in an entry, and what the entry becomes, by the bits:
// R 1, W 2, P 4, S 8.
func TestWhatEntriesBecome(t *testing.T) {
	const frame = Word(0x5000)
	for _, c := range []struct {
		w                         Word
		load, store               Meeting
		zapped, moving, protected Word
		held, opened              Word
	}{
		{0, Absent, Absent, 0, 0, 0, 0, 0},
		{frame | 5, Granted, Absent, 0, 8, frame | 5, 12, frame | 5},  // to load
		{frame | 7, Granted, Granted, 0, 8, frame | 5, 12, frame | 7}, // to store
		{frame | 15, Held, Held, 0, 8, frame | 13, 12, frame | 7},     // filled in while suspended
		{12, Held, Held, 0, 8, 12, 12, 0},                             // suspended, frame forgotten
		{8, Moving, Moving, 0, 8, 8, 8, 0},                            // zapped because its page moves
	} {
		if got := [2]Meeting{c.w.Meets(false), c.w.Meets(true)}; got != [2]Meeting{c.load, c.store} {
			t.Errorf("%#x: a load and a store meet %v", c.w, got)
		}
		got := [5]Word{c.w.Zapped(false), c.w.Zapped(true), c.w.Protected(), c.w.Held(), c.w.Opened()}
		if want := [5]Word{c.zapped, c.moving, c.protected, c.held, c.opened}; got != want {
			t.Errorf("%#x: zapped, moving, protected, held, opened %#x; want %#x", c.w, got, want)
		}
	}
}
