package key

import "slices"

// Children are the child regions of an implicit one. A child's life, each step
// of which may come in any order with those of others ([Linux] mlx5/odp.c):
//
//	Attach ─▶ attached ──Fill, Publish──▶ the root's entry names it
//	              │                          │
//	              └── Zap of the last page, ─┴─▶ detached: the entry is null first
//	                  last Release without           │
//	                  pages                          ▼
//	                              Reap, when its users have left: destroyed
//
// There is at most one attached child for an index, and the root's entry names
// none that is not (PRE-4). The zero value has no children.
type Children struct {
	list []child // attached ones and those not yet reaped
}

type child struct {
	index    uint64
	key      Key
	users    int    // faults and prefetches
	pages    uint64 // present
	attached bool
	entry    bool // the root's entry names it
}

func (c *Children) find(match func(*child) bool) *child {
	for i := range c.list {
		if match(&c.list[i]) {
			return &c.list[i]
		}
	}
	return nil
}

func (c *Children) attached(index uint64) *child {
	return c.find(func(x *child) bool { return x.attached && x.index == index })
}

func (c *Children) child(k Key) *child {
	return c.find(func(x *child) bool { return x.key == k })
}

// Len counts the children that are not yet reaped.
func (c *Children) Len() int { return len(c.list) }

// Users counts what keeps children from being reaped.
func (c *Children) Users() (n int) {
	for _, x := range c.list {
		n += x.users
	}
	return n
}

// Pages counts what is present of a child.
func (c *Children) Pages(k Key) uint64 {
	if x := c.child(k); x != nil {
		return x.pages
	}
	return 0
}

// Attached is the child that a fault at the index uses.
func (c *Children) Attached(index uint64) (Key, bool) {
	if x := c.attached(index); x != nil {
		return x.key, true
	}
	return 0, false
}

// Entry is what the root's entry names: false where it is the null key, which
// faults.
func (c *Children) Entry(index uint64) (Key, bool) {
	if x := c.attached(index); x != nil && x.entry {
		return x.key, true
	}
	return 0, false
}

// Attach makes k the child of an index unless there is one. It returns the
// child, whose user the caller then is; the loser of two faults destroys its
// own.
func (c *Children) Attach(index uint64, k Key) (child Key, won bool) {
	x := c.attached(index)
	if won = x == nil; won {
		x = c.add(index, k)
	}
	x.users++
	return x.key, won
}

func (c *Children) add(index uint64, k Key) *child {
	c.list = append(c.list, child{index: index, key: k, attached: true})
	return &c.list[len(c.list)-1]
}

// Hold makes the caller a user of an attached child, and tells whether it is.
func (c *Children) Hold(k Key) bool {
	x := c.child(k)
	if x == nil || !x.attached {
		return false
	}
	x.users++
	return true
}

// Release ends a use. The last one of a child without pages detaches it.
func (c *Children) Release(k Key) Detached {
	x := c.child(k)
	if x == nil || x.users == 0 {
		return Detached{}
	}
	x.users--
	return x.detach(x.users == 0)
}

// Fill notes pages that became present. It refuses when the child was detached
// meanwhile: the fault starts anew, with a new child.
func (c *Children) Fill(k Key, pages uint64) bool {
	x := c.child(k)
	if x == nil || !x.attached {
		return false
	}
	x.pages += pages
	return true
}

// Publish says that the root's entry names an attached child from now on, and
// tells whether it did not before: the caller writes it.
func (c *Children) Publish(k Key) bool {
	x := c.child(k)
	if x == nil || !x.attached || x.entry {
		return false
	}
	x.entry = true
	return true
}

// Zap notes pages that became absent. When the last goes, the child is
// detached, which happens once.
func (c *Children) Zap(k Key, pages uint64) Detached {
	x := c.child(k)
	if x == nil || pages == 0 {
		return Detached{}
	}
	x.pages -= min(pages, x.pages)
	return x.detach(true)
}

// Detached tells whether a step has detached a child. Where the root's entry
// named it, the entry is null from now on, and the caller writes that.
type Detached struct {
	Now, Named bool
	Index      uint64 // of the child
}

// detach detaches an attached child if it has no pages.
func (x *child) detach(idle bool) (d Detached) {
	if idle && x.attached && x.pages == 0 {
		d = Detached{true, x.entry, x.index}
		x.attached, x.entry = false, false
	}
	return d
}

// Reap hands out, once, a detached child without users: its key is for the
// caller to deregister. False says that there is none now.
func (c *Children) Reap() (Key, bool) {
	i := slices.IndexFunc(c.list, func(x child) bool { return !x.attached && x.users == 0 })
	if i < 0 {
		return 0, false
	}
	k := c.list[i].key
	c.list = slices.Delete(c.list, i, i+1)
	return k, true
}
