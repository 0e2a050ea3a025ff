package tpt

import (
	"fmt"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Behind an implicit region page i of the script is entry i of the table: its
// GiB is child i >> 18, and the list lies behind the entries of all children.
const (
	childPages  = 1 << 18
	listAt      = 4 * childPages
	mostEntries = listAt + 2<<17
)

// openRoot puts an implicit region in the place of the region.
func (s *sandwich) openRoot() {
	var err error
	s.rooted = true
	s.key, err = s.unit.Keys().Register(key.Region{PD: 1, Kind: key.Implicit, Length: 1 << 47, PageShift: model.Shift4K, MTT: listAt,
		Rights: key.LocalWrite | key.RemoteRead | key.RemoteWrite})
	if err != nil {
		s.t.Fatal(err)
	}
}

// openChild makes a child before time 0, if there is none.
func (s *sandwich) openChild(n uint64) {
	c := msg.KeyChange{Op: msg.KeyRegister}
	s.childChange(&c, n, false)
	keys := s.unit.Keys()
	if !s.rooted || keys.Lookup(c.Key) != nil {
		return
	}
	if err := keys.RegisterAs(c.Key, c.Region); err != nil {
		s.t.Fatal(err)
	}
	if err := keys.SetEntry(s.key, c.Region.Base, c.Key); err != nil {
		s.t.Fatal(err)
	}
}

// childChange is a change of a child, or of the list's entry for it.
func (s *sandwich) childChange(c *msg.KeyChange, n uint64, null bool) {
	child := key.Make(10+uint32(n), 0)
	c.Region = key.Region{PD: 1, Base: s.base + model.VA(n)<<30, Length: 1 << 30, PageShift: model.Shift4K, MTT: n * childPages,
		Rights: key.LocalWrite | key.RemoteRead | key.RemoteWrite | key.OnDemand}
	switch {
	case c.Op != msg.KeyEntry:
		c.Key = child
	case !null:
		c.Under = child
	}
}

// where is the page of an event.
func (s *sandwich) where(x *msg.Event) string {
	if x.Entry == noEntry {
		return fmt.Sprintf("page=%d without a child", (x.VA-s.base)>>12)
	}
	return fmt.Sprintf("page=%d", x.Entry)
}
