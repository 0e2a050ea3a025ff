package pcie

import (
	"testing"

	"pgregory.net/rapid"
)

// The table of [PCIe] entry by entry, without attributes, for TLPs of different
// transactions; a row is the later one.
func TestOrderingTable(t *testing.T) {
	want := [4][4]string{ // earlier: posted, read, with data, completion
		Posted:        {"no", "must", "must", "may"},
		NonPosted:     {"no", "may", "may", "may"},
		NonPostedData: {"no", "may", "may", "may"},
		Completion:    {"no", "must", "must", "may"},
	}
	for later := range NumClasses {
		for earlier := range NumClasses {
			got := MayPass(&Packet{Class: later, Sender: 1, Tag: 1}, &Packet{Class: earlier, Sender: 2, Tag: 2})
			if got.String() != want[later][earlier] {
				t.Errorf("class %d after %d: %v, want %s", later, earlier, got, want[later][earlier])
			}
		}
	}
}

// Notes (a) to (d): what releases a TLP from the posted one before it.
func TestOrderingReleases(t *testing.T) {
	ro, ido := Packet{Relaxed: true}, Packet{IDOrdered: true}
	other := Packet{IDOrdered: true, Sender: 9}
	process, nobody := Packet{IDOrdered: true, PASID: 6}, Packet{IDOrdered: true}
	for _, c := range []struct {
		what    string
		later   Packet
		earlier Packet
		want    [NumClasses]Verdict // of the later: posted, read, with data, completion
	}{
		{"relaxed", ro, Packet{}, [NumClasses]Verdict{May, No, May, May}},
		{"relaxed earlier only", Packet{}, ro, [NumClasses]Verdict{}},
		{"IDO, same sender", ido, Packet{}, [NumClasses]Verdict{}},
		{"IDO, other sender", other, Packet{}, [NumClasses]Verdict{May, May, May, May}},
		{"other sender without IDO", Packet{Sender: 9}, Packet{}, [NumClasses]Verdict{}},
		{"IDO of the earlier only", Packet{Sender: 9}, ido, [NumClasses]Verdict{}},
		{"IDO, other process", process, Packet{PASID: 7}, [NumClasses]Verdict{May, May, May, No}},
		{"IDO, same process", process, Packet{PASID: 6}, [NumClasses]Verdict{}},
		{"IDO, earlier without process", process, Packet{}, [NumClasses]Verdict{}},
		{"IDO, later without process", nobody, Packet{PASID: 7}, [NumClasses]Verdict{}},
		{"other process without IDO", Packet{PASID: 6}, Packet{PASID: 7}, [NumClasses]Verdict{}},
	} {
		for class := range NumClasses {
			later := c.later
			later.Class = class
			if got := MayPass(&later, &c.earlier); got != c.want[class] {
				t.Errorf("%s, class %d: %v, want %v", c.what, class, got, c.want[class])
			}
		}
	}
}

// Completions of one transaction stay in order whatever they carry: the same tag
// of another requester is another transaction.
func TestCompletionsOfOneTransaction(t *testing.T) {
	first := Packet{Class: Completion, Requester: 3, Tag: 4}
	for _, c := range []struct {
		later Packet
		want  Verdict
	}{
		{Packet{Class: Completion, Requester: 3, Tag: 4}, No},
		{Packet{Class: Completion, Requester: 3, Tag: 4, Relaxed: true, IDOrdered: true, Sender: 8}, No},
		{Packet{Class: Completion, Requester: 3, Tag: 5}, May},
		{Packet{Class: Completion, Requester: 2, Tag: 4}, May},
		{Packet{Class: NonPosted, Requester: 3, Tag: 4}, May},
	} {
		if got := MayPass(&c.later, &first); got != c.want {
			t.Errorf("%+v: %v, want %v", c.later, got, c.want)
		}
	}
}

// Attributes only ever release: they loosen an entry that says no and leave every
// other as it is.
func TestAttributesOnlyRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		packet := func(name string) Packet {
			return Packet{
				Class:   Class(rapid.IntRange(0, 3).Draw(t, name)),
				Relaxed: rapid.Bool().Draw(t, "ro"), IDOrdered: rapid.Bool().Draw(t, "ido"),
				Sender: rapid.Uint16Range(0, 1).Draw(t, "sender"), PASID: rapid.Uint32Range(0, 2).Draw(t, "pasid"),
				Requester: rapid.Uint16Range(0, 1).Draw(t, "requester"), Tag: rapid.Uint16Range(0, 1).Draw(t, "tag"),
			}
		}
		later, earlier := packet("later"), packet("earlier")
		plain := later
		plain.Relaxed, plain.IDOrdered = false, false
		got, base := MayPass(&later, &earlier), MayPass(&plain, &earlier)
		if got != base && !(base == No && got == May && earlier.Class == Posted) {
			t.Fatalf("%v with attributes, %v without", got, base)
		}
	})
}

// The pools that a TLP of each class takes credits from.
func TestPoolsOfClasses(t *testing.T) {
	want := [NumClasses]string{"ph pd", "nph npd", "nph npd", "cplh cpld"}
	for c := range NumClasses {
		if got := c.Headers().String() + " " + c.Data().String(); got != want[c] {
			t.Errorf("class %d: %s, want %s", c, got, want[c])
		}
	}
}
