package kernel

import (
	"fmt"
	"sort"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// ChildStats count the children of implicit regions.
type ChildStats struct {
	ChildrenMade      uint64
	ChildrenDestroyed uint64
}

// implicit is an adapter's implicit region: what is registered of the process's
// memory is found by way of a child for each GiB. All that concerns children and
// the region's list is posted in the order in which it is decided, and adapters
// execute commands in that order; nobody waits for it.
type implicit struct {
	key.Children
	root    key.Region // its key, and what children have of it
	ending  bool       // its key is being deregistered
	next    uint32     // index of a key never used
	retired clocked.FIFO[key.Key]
}

// childOrder is a command for a child, the list or the root.
type childOrder struct{ cmd msg.Command }

// noEntry is an entry that no region has.
const noEntry = uint64(1) << 62

func newImplicit(c *AdapterConfig) *implicit {
	if c.Root == nil {
		return nil
	}
	return &implicit{root: *c.Root, next: c.Root.Key.Index() + 1}
}

// checkChild tells why a region is not served by one child. Regions of one GiB
// share its entries, so that these lie as their addresses do.
func checkChild(r *Region, shift model.PageShift) error {
	base := key.ChildBase(key.ChildIndex(r.VA))
	if uint64(r.VA-base)+r.Length > key.ChildShift.Bytes() || r.FirstEntry < shift.Number(r.VA)-shift.Number(base) {
		return fmt.Errorf("[0x%x, +%d B) at entry %d is not within one child of an implicit region", uint64(r.VA), r.Length, r.FirstEntry)
	}
	return nil
}

// entryAt is the entry of an address under an implicit region, whether there is
// a child or not, or noEntry.
func (k *Kernel) entryAt(a *adapter, va model.VA) uint64 {
	at := sort.Search(len(a.regions), func(i int) bool { return a.shift.Number(k.regions[a.regions[i]].VA) > a.shift.Number(va) }) - 1
	if at < 0 {
		return noEntry
	}
	r := &k.regions[a.regions[at]]
	n := a.shift.Number(va) - a.shift.Number(r.VA)
	if n >= a.shift.Span(r.VA, r.Length) {
		return noEntry
	}
	return r.FirstEntry + n
}

// enter makes the caller a user of the child that serves a region, which is made
// if there is none. Where there is no implicit region it is 0.
func (k *Kernel) enter(now clocked.Time, r *Region) key.Key {
	a := &k.adapters[r.Adapter]
	x, index := a.implicit, key.ChildIndex(r.VA)
	if x == nil {
		return 0
	}
	if child, ok := x.Attached(index); ok {
		x.Hold(child)
		return child
	}
	child := x.allot()
	x.Attach(index, child)
	k.Stats.ChildrenMade++
	region, base := x.root, key.ChildBase(index)
	region.Key, region.Kind, region.Base, region.Length, region.PageShift = child, key.Memory, base, key.ChildShift.Bytes(), a.shift
	region.Rights |= key.OnDemand
	region.MTT = r.FirstEntry - (a.shift.Number(r.VA) - a.shift.Number(base))
	k.orderChild(now, r.Adapter, msg.KeyChange{Op: msg.KeyRegister, Key: child, Region: region})
	return child
}

// allot is a key that no child has: of an index never used, or the one retired
// longest ago.
func (x *implicit) allot() key.Key {
	if x.retired.Len() > 0 {
		return x.retired.Pop()
	}
	x.next++
	return key.Make(x.next-1, 0)
}

// leave ends the use of a child; 0 is none.
func (k *Kernel) leave(now clocked.Time, adapter int, child key.Key) {
	if child != 0 {
		k.detached(now, adapter, k.adapters[adapter].implicit.Release(child))
	}
}

// attached tells whether a child can still be filled; 0, no child, always can.
func (k *Kernel) attached(adapter int, child key.Key, va model.VA) bool {
	if child == 0 {
		return true
	}
	is, _ := k.adapters[adapter].implicit.Attached(key.ChildIndex(va))
	return is == child
}

// mapIn notes that a fill of a region's page is queued. Its child is attached.
func (k *Kernel) mapIn(r *Region, bit uint16, p uint32) {
	pg, x := &k.pages[p], k.adapters[r.Adapter].implicit
	if x != nil && pg.mapped&bit == 0 {
		child, _ := x.Attached(key.ChildIndex(r.VA))
		x.Fill(child, 1)
	}
	pg.mapped |= bit
}

// mapOut notes that tables have a page no more. The child that had its last page
// there goes.
func (k *Kernel) mapOut(now clocked.Time, p uint32, bits uint16) {
	pg := &k.pages[p]
	bits &= pg.mapped
	pg.mapped &^= bits
	if bits == 0 || k.roots == 0 {
		return
	}
	for i, n := range k.segmentOf(p).regions {
		r := &k.regions[n]
		x := k.adapters[r.Adapter].implicit
		if x == nil || bits&(1<<i) == 0 {
			continue
		}
		child, _ := x.Attached(key.ChildIndex(r.VA))
		k.detached(now, r.Adapter, x.Zap(child, 1))
	}
}

// publish has the list name the child of a region, whose fill is queued, if it
// does not.
func (k *Kernel) publish(now clocked.Time, r *Region) {
	x := k.adapters[r.Adapter].implicit
	if x == nil || x.ending {
		return
	}
	if child, _ := x.Attached(key.ChildIndex(r.VA)); x.Publish(child) {
		k.orderChild(now, r.Adapter, msg.KeyChange{Op: msg.KeyEntry, Key: x.root.Key, Region: key.Region{Base: r.VA}, Under: child})
	}
}

// detached goes on after a child was, perhaps, detached, or lost a user: the
// list's entry is null first, and what nobody uses is destroyed.
func (k *Kernel) detached(now clocked.Time, adapter int, d key.Detached) {
	x := k.adapters[adapter].implicit
	if d.Named && !x.ending {
		k.orderChild(now, adapter, msg.KeyChange{Op: msg.KeyEntry, Key: x.root.Key, Region: key.Region{Base: key.ChildBase(d.Index)}})
	}
	for gone, ok := x.Reap(); ok; gone, ok = x.Reap() {
		k.orderChild(now, adapter, msg.KeyChange{Op: msg.KeyDeregister, Key: gone})
	}
}

func (k *Kernel) orderChild(now clocked.Time, adapter int, c msg.KeyChange) {
	i := k.orders.get()
	o := k.orders.items[i]
	o.cmd = msg.Command{Op: msg.CmdKey, Change: c, Adapter: uint16(adapter), Owner: uint32(refer(actorOrder, i))}
	k.send(now, &o.cmd)
}

// childOrdered: the adapter has executed a command, or was cut off. A key that
// is dead may serve again, as another.
func (k *Kernel) childOrdered(i int, timedOut bool) {
	c := k.orders.items[i].cmd
	x := k.adapters[c.Adapter].implicit
	if timedOut {
		k.orders.items[i] = new(childOrder) // the adapter may still write to the old one
	} else if c.Change.Err != nil {
		k.Stats.TableErrors++
	}
	k.orders.put(i)
	switch dead := c.Change.Key; {
	case c.Change.Op != msg.KeyDeregister:
	case dead == x.root.Key:
		k.rootDead(int(c.Adapter))
	default:
		k.Stats.ChildrenDestroyed++
		*x.retired.Push() = key.Make(dead.Index(), dead.Variant()+1)
	}
}

// DeregisterRoot starts the end of an adapter's implicit region: its key first,
// then, once nothing uses them, all pages under it and with them its children.
// The kernel is idle when that is done. It is called like Protect.
func (k *Kernel) DeregisterRoot(now clocked.Time, adapter int) error {
	if adapter < 0 || adapter >= len(k.adapters) || k.adapters[adapter].implicit == nil || k.adapters[adapter].implicit.ending {
		return fmt.Errorf("adapter %d: %w", adapter, ErrNone)
	}
	x := k.adapters[adapter].implicit
	x.ending = true
	k.orderChild(now, adapter, msg.KeyChange{Op: msg.KeyDeregister, Key: x.root.Key})
	k.nudge(now)
	return nil
}

// rootDead: no access comes in by the root any more. The regions under it end as
// those that are deregistered one by one.
func (k *Kernel) rootDead(adapter int) {
	for _, region := range k.adapters[adapter].regions {
		d := &k.registrar.regions[region]
		d.serves, d.phase = false, regionQuiet
		d.request = msg.Registration{Op: msg.DeregisterRegion, Region: region}
		k.registrar.changing++
		k.registrar.quiet++
	}
}

// CheckChildren compares, at rest, the children of an adapter's implicit region
// with the pages in its table and with the list that the adapter has: a child is
// attached exactly where there are pages and counts them, the list names it, and
// nobody uses it.
// It counts the attached ones and what is wrong.
func (k *Kernel) CheckChildren(adapter int, list *key.Region) (attached, wrong int) {
	a := &k.adapters[adapter]
	present := 0
	for i, n := range a.regions {
		r := &k.regions[n]
		present += int(k.mappedPages(n))
		if i+1 < len(a.regions) && key.ChildIndex(k.regions[a.regions[i+1]].VA) == key.ChildIndex(r.VA) {
			continue
		}
		child, ok := a.implicit.Attached(key.ChildIndex(r.VA))
		if ok {
			attached++
		}
		named, _ := a.implicit.Entry(key.ChildIndex(r.VA))
		if ok != (present > 0) || a.implicit.Pages(child) != uint64(present) || list != nil && (named != child || list.Entry(r.VA) != named) {
			wrong++
		}
		present = 0
	}
	return attached, wrong + a.implicit.Len() - attached + a.implicit.Users()
}
