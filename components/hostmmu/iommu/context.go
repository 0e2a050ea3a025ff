package iommu

import (
	"fmt"
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/cache"
	"rnicmmu/model/pagetable"
)

// Context says how the requests of an adapter with one PASID are translated.
type Context struct {
	Table    *pagetable.Table // walked from its root; nil: there is no such context
	Domain   uint32           // tag of what is cached of the table, below MaxDomains; one table only
	Identity model.PA         // addresses from here to 2^52 translate to themselves, as pages of 1 GiB; a multiple of 512 GiB; 0: none
	ATS      bool             // translation requests are answered
	PRI      bool             // page requests are taken
	Trusted  bool             // translated requests are let through (with ATS)
	Absent   string           // abort or retry; empty: host.iommu.absent
}

// MaxDomains bounds the tags that tell tables apart.
const MaxDomains = 1 << 17

// topOfMemory is the first address beyond 52 bits.
const topOfMemory = 1 << 52

// placed is a context in memory.
type placed struct {
	pasid   uint32
	context context
}

// context is a Context as the unit uses it.
type context struct {
	Context
	refusal msg.Status
}

// identical tells whether an address translates to itself.
func (c *context) identical(va model.VA) bool {
	return c.Identity != 0 && va >= model.VA(c.Identity) && va < topOfMemory
}

// SetContext writes a context into memory; one without a table removes it. What
// the unit has cached of the old one stays in use until a ContextInvalidate.
func (u *Unit) SetContext(adapter uint16, pasid uint32, c Context) error {
	if c.Absent == "" {
		c.Absent = u.spec.Absent
	}
	status, err := refusal(c.Absent)
	switch {
	case err != nil:
		return err
	case int(adapter) >= len(u.adapters) || pasid >= maxPASID:
		return fmt.Errorf("iommu: context of adapter %d, PASID %d: adapters below %d and PASIDs below %d are due", adapter, pasid, len(u.adapters), maxPASID)
	case c.Domain >= MaxDomains:
		return fmt.Errorf("iommu: domain %d: below %d is due", c.Domain, MaxDomains)
	case c.Identity%(512<<30) != 0 || c.Identity >= topOfMemory:
		return fmt.Errorf("iommu: identity from %#x: a multiple of 512 GiB below 2^52 is due", uint64(c.Identity))
	}
	a := &u.adapters[adapter]
	a.everATS = a.everATS || c.ATS
	i, found := a.find(pasid)
	switch {
	case c.Table == nil && found:
		a.contexts = slices.Delete(a.contexts, i, i+1)
	case found:
		a.contexts[i].context = context{c, status}
	case c.Table != nil:
		a.contexts = slices.Insert(a.contexts, i, placed{pasid, context{c, status}})
	}
	return nil
}

// find is the place of a PASID's context in memory.
func (a *adapter) find(pasid uint32) (i int, found bool) {
	return slices.BinarySearchFunc(a.contexts, pasid, func(p placed, want uint32) int { return int(p.pasid) - int(want) })
}

// inMemory is the context as memory holds it, or nil.
func (u *Unit) inMemory(adapter uint16, pasid uint32) *context {
	a := &u.adapters[adapter]
	if i, found := a.find(pasid); found {
		return &a.contexts[i].context
	}
	return nil
}

// contextCache holds contexts of adapters and PASIDs, and the reads under way.
type contextCache struct {
	tags    *cache.Cache
	entries []context
	fetches [contextReads]fetch
	stalled waiters // slots that found no register
}

// contextReads is the number of contexts that are read at once.
const contextReads = 8

// fetch is the read of a context.
type fetch struct {
	busy bool
	key  uint64
	list waiters
}

func newContextCache(entries int) (c contextCache, err error) {
	c.tags, err = cache.New(cache.Geometry{Entries: entries, Line: 1, Policy: cache.LRU})
	c.entries = make([]context, entries)
	c.stalled = noWaiters
	return c, err
}

func contextKey(adapter uint16, pasid uint32) uint64 { return uint64(adapter)<<32 | uint64(pasid) }

// lookup is the cached context, or nil.
func (c *contextCache) lookup(adapter uint16, pasid uint32) *context {
	if i, hit := c.tags.Lookup(0, contextKey(adapter, pasid)); hit {
		return &c.entries[i]
	}
	return nil
}

// peek is the cached context, or nil; it does not count as a use.
func (c *contextCache) peek(adapter uint16, pasid uint32) *context {
	if i, hit := c.tags.Peek(0, contextKey(adapter, pasid)); hit {
		return &c.entries[i]
	}
	return nil
}

// pasid is the process that a request belongs to.
func (s *request) pasid() uint32 {
	if p, ok := s.req.Body.(*msg.PageRequest); ok && s.req.Kind == msg.KindMessage {
		return p.PASID
	}
	return s.req.Address.PASID
}

// parkOnContext makes a request wait for its context.
func (u *Unit) parkOnContext(now clocked.Time, n int32) {
	s := &u.slots[n]
	s.stage = stageContext
	u.arrived(now, s)
	key := contextKey(s.adapter, s.pasid())
	idle := -1
	for i := range u.contexts.fetches {
		f := &u.contexts.fetches[i]
		if f.busy && f.key == key {
			u.enqueue(&f.list, n)
			return
		}
		if !f.busy && idle < 0 {
			idle = i
		}
	}
	if idle < 0 {
		u.enqueue(&u.contexts.stalled, n)
		return
	}
	f := &u.contexts.fetches[idle]
	*f = fetch{busy: true, key: key, list: noWaiters}
	u.enqueue(&f.list, n)
	u.stats.ContextReads++
	at := u.config.Tables + identityBytes + model.PA(s.adapter)*contextBytes + model.PA(s.pasid())*contextEntry
	*u.memory.Push() = msg.MemReq{Kind: msg.KindWalk, Tag: contextTag | uint16(idle), Len: contextEntry, PA: at,
		Oracle: msg.Oracle{Page: msg.NoPage}}
}

// finishContext caches the context that memory holds now, if there is one, and
// lets the requests go on.
func (u *Unit) finishContext(now clocked.Time, i int) {
	f := &u.contexts.fetches[i]
	adapter, pasid := uint16(f.key>>32), uint32(f.key)
	c := u.inMemory(adapter, pasid)
	if c != nil {
		at, _, _ := u.contexts.tags.Fill(0, f.key)
		u.contexts.entries[at] = *c
	}
	f.busy = false
	for list := f.list; list.head != none; {
		n := u.dequeue(&list)
		u.check(now, n, c)
	}
	list := u.contexts.stalled
	for u.contexts.stalled = noWaiters; list.head != none; {
		u.start(now, u.dequeue(&list))
	}
}

// arrived charges the way to the IOMMU, once, when a request has to wait here.
func (u *Unit) arrived(now clocked.Time, s *request) {
	if l := s.req.Ledger; l != nil && !s.waited && s.req.Kind != msg.KindATS {
		l.Charge(now, measure.CauseHostMemory)
	}
	s.waited = true
}

func (u *Unit) enqueue(l *waiters, n int32) {
	u.slots[n].next = none
	if l.head == none {
		l.head = n
	} else {
		u.slots[l.tail].next = n
	}
	l.tail = n
}

func (u *Unit) dequeue(l *waiters) int32 {
	n := l.head
	l.head = u.slots[n].next
	return n
}
