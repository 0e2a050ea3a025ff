package ats

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// ATS-6: requests that are outstanding never exceed what was allocated, a
// response gives its group's credits back, and a group gets all or none.
func TestPageRequestCredits(t *testing.T) {
	g := NewGroups(5)
	first, ok1 := g.Open(1, 100, 3)
	_, ok2 := g.Open(1, 101, 3)
	second, ok3 := g.Open(1, 102, 2)
	if !ok1 || ok2 || !ok3 || first == second || g.Credits() != 0 || g.Pending() != 2 {
		t.Fatalf("3, 3 and 2 of 5: %v %v %v, %d credits left", ok1, ok2, ok3, g.Credits())
	}
	if owner, ok := g.Close(PageResponse{Group: first, PASID: 1}); !ok || owner != 100 || g.Credits() != 3 {
		t.Fatalf("owner %d, %v, %d credits", owner, ok, g.Credits())
	}
	if _, ok := g.Open(1, 103, 3); !ok {
		t.Error("no group with three credits back")
	}
	for _, n := range []int{0, -1, 6} {
		if _, ok := g.Open(1, 104, n); ok {
			t.Errorf("a group of %d requests with %d credits", n, g.Credits())
		}
	}
}

// ATS-5: a response ends a group that is pending, once; others are counted.
func TestResponseOnlyToAPendingGroup(t *testing.T) {
	g := NewGroups(8)
	index, _ := g.Open(7, 100, 1)
	for _, r := range []PageResponse{
		{Group: index + 1, PASID: 7}, {Group: index, PASID: 8}, {Group: MaxGroups + index, PASID: 7},
	} {
		if _, ok := g.Close(r); ok {
			t.Errorf("%+v ended a group", r)
		}
	}
	if owner, ok := g.Close(PageResponse{Group: index, Code: ResponseInvalid}); !ok || owner != 100 {
		t.Errorf("response without PASID: owner %d, %v", owner, ok)
	}
	if _, ok := g.Close(PageResponse{Group: index, PASID: 7}); ok || g.Unexpected() != 4 || g.Credits() != 8 {
		t.Errorf("second response taken: %v; %d unexpected, want 4; %d credits, want 8", ok, g.Unexpected(), g.Credits())
	}
}

// A ResponseFailure, or a code that has no meaning, ends page requests; what
// was pending is given up and later responses are ignored.
func TestResponseFailureDisables(t *testing.T) {
	for code := ResponseCode(0); code < 16; code++ {
		g := NewGroups(8)
		var index [3]uint16
		for i := range index {
			index[i], _ = g.Open(1, uint32(100+i), 2)
		}
		owner, ok := g.Close(PageResponse{Group: index[1], Code: code})
		if !ok || owner != 101 || g.Disabled() != (code > 1) {
			t.Errorf("code %d: owner %d, %v, disabled %v", code, owner, ok, g.Disabled())
		}
		if _, ok := g.Open(1, 1, 1); ok == g.Disabled() {
			t.Errorf("code %d: another group: %v", code, ok)
		}
		if !g.Disabled() {
			if _, ok := g.Abandon(); ok {
				t.Errorf("code %d: a group was abandoned", code)
			}
			continue
		}
		var owners []uint32
		for o, ok := g.Abandon(); ok; o, ok = g.Abandon() {
			owners = append(owners, o)
		}
		if fmt.Sprint(owners) != "[100 102]" || g.Pending() != 0 || g.Credits() != 8 {
			t.Errorf("code %d: abandoned %v, %d credits", code, owners, g.Credits())
		}
		if _, ok := g.Close(PageResponse{Group: index[0]}); ok || g.Unexpected() != 1 {
			t.Errorf("code %d: late response taken", code)
		}
	}
}

// ATS-6: 512 groups at most, and an index is reused only after all others.
func TestGroupIndexes(t *testing.T) {
	g := NewGroups(1000)
	for i := range MaxGroups {
		if index, ok := g.Open(1, 0, 1); !ok || index != uint16(i) {
			t.Fatalf("group %d: index %d, %v", i, index, ok)
		}
	}
	if _, ok := g.Open(1, 0, 1); ok {
		t.Fatal("513 groups")
	}
	for _, i := range []uint16{300, 9, 8} {
		g.Close(PageResponse{Group: i})
	}
	for _, want := range []uint16{8, 9, 300} {
		if index, ok := g.Open(1, 0, 1); !ok || index != want {
			t.Errorf("index %d, %v, want %d", index, ok, want)
		}
	}
}

func ask(group uint16, page model.VA, rights string) Part {
	p := Part{PageRequest: PageRequest{Group: group, PASID: 1, VA: page << 12}, Ref: uint32(page)}
	for _, c := range rights {
		switch c {
		case 'r':
			p.Read = true
		case 'w':
			p.Write = true
		case 'L':
			p.Last = true
		}
	}
	return p
}

func show(group []Part) (s string) {
	for _, p := range group {
		s += fmt.Sprintf("%d:", p.Ref)
		for _, b := range []struct {
			set  bool
			name string
		}{{p.Read, "r"}, {p.Write, "w"}, {p.Last, "L"}} {
			if b.set {
				s += b.name
			}
		}
		s += " "
	}
	return s
}

// ATS-5: parts are never answered alone; the last request closes its group,
// whatever came between, and nothing of another adapter, PASID or group is in it.
func TestCollectorGathersAGroup(t *testing.T) {
	var c Collector
	other := ask(3, 50, "r")
	other.PASID = 2
	for i, add := range []struct {
		adapter uint16
		part    Part
		want    string
	}{
		{0, ask(3, 10, "r"), ""},
		{0, ask(4, 20, "r"), ""},
		{1, ask(3, 30, "w"), ""},
		{0, other, ""},
		{0, ask(3, 11, "w"), ""},
		{0, ask(3, 12, "rL"), "10:r 11:w 12:rL "},
		{0, ask(3, 13, "rL"), "13:rL "}, // its first parts were lost: answered as is
		{0, ask(4, 20, "w"), ""},        // asked for twice: one page, both rights
		{0, ask(4, 20, "wL"), "20:rwL "},
		{0, ask(4, 20, "wL"), "20:wL "}, // asked again later: a group of its own
		{0, ask(5, 0, "L"), ""},         // stop marker
		{0, ask(5, 0, ""), ""},
		{1, ask(3, 31, "wL"), "30:w 31:wL "},
	} {
		if got := show(c.Add(add.adapter, add.part)); got != add.want {
			t.Errorf("request %d: group %q, want %q", i, got, add.want)
		}
	}
	if c.Partial() != 1 || c.Discard() != 1 || c.Partial() != 0 {
		t.Error("the other PASID's part should be left, and then discarded")
	}
}

// ATS-5: requests of many groups mixed: every Last that is no stop marker gives
// one group with just the pages asked for under its name since the last one.
func TestCollectorProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Collector
		type name struct {
			adapter, group uint16
			pasid          uint32
		}
		kept := map[name]map[model.VA]string{}
		for range rapid.IntRange(1, 100).Draw(t, "n") {
			p := ask(rapid.Uint16Range(0, 2).Draw(t, "group"), model.VA(rapid.Uint64Range(0, 3).Draw(t, "page")),
				rapid.SampledFrom([]string{"r", "w", "rw", "rL", "wL", "L", ""}).Draw(t, "rights"))
			p.PASID = rapid.Uint32Range(1, 2).Draw(t, "pasid")
			n := name{rapid.Uint16Range(0, 1).Draw(t, "adapter"), p.Group, p.PASID}
			group := c.Add(n.adapter, p)
			if !p.Read && !p.Write {
				if group != nil {
					t.Fatalf("a request for nothing gave %v", group)
				}
				continue
			}
			if kept[n] == nil {
				kept[n] = map[model.VA]string{}
			}
			kept[n][p.VA] += show([]Part{p})
			if !p.Last {
				if group != nil {
					t.Fatalf("a part gave %v", group)
				}
				continue
			}
			if len(group) != len(kept[n]) {
				t.Fatalf("group %v, want pages %v", group, kept[n])
			}
			for _, q := range group {
				asked := kept[n][q.VA]
				if q.Read != strings.Contains(asked, "r") || q.Write != strings.Contains(asked, "w") {
					t.Fatalf("%+v, asked for as %q", q, asked)
				}
			}
			delete(kept, n)
		}
	})
}

// Nothing is allocated once the lists have their size.
func TestNoAllocation(t *testing.T) {
	var c Collector
	g, tags := NewGroups(4), NewTags(4)
	round := func() {
		i, _ := g.Open(1, 1, 2)
		c.Add(0, ask(i, 1, "r"))
		c.Add(0, ask(i, 2, "rL"))
		g.Close(PageResponse{Group: i})
		itag, _ := tags.Allocate(1)
		tags.Complete(one(int(itag), 1))
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
