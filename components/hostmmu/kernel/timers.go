package kernel

import "rnicmmu/clocked"

// actor is a kind of activity; with an index it names one.
type actor uint8

const (
	actorHandler  actor = iota // of the event queue
	actorJob                   // an adapter's fault
	actorPageIn                // a CPU fault
	actorEviction              // an invalidation and what follows
	actorFrame                 // a frame on its way out
	actorThread                // of the CPU user
	actorReclaim               // a look for victims
	actorEvent                 // the next event of a kind
	actorCommand               // a command of an eviction
	actorReopen                // a command that ends a suspension
	actorRing                  // the handler of the page request ring
	actorFence                 // the IOMMU's part of an eviction
	actorLazy                  // the flush of pages unmapped and not flushed
	actorWatch                 // the oldest command to an adapter
	actorDisable               // an adapter that is being cut off
)

// More of them, from the top of the range down.
const (
	actorNobody   actor = 31 - iota // nothing follows
	actorChild                      // the end of its life
	actorPrefetch                   // and its command
	actorRegion                     // a change of a dynamic region, and its command
	actorOrphan                     // a frame that an old registration had
	actorOrder                      // a command for a child of an implicit region
)

// ref names an activity in timers, cookies and command owners.
type ref uint32

const indexBits = 27

func refer(a actor, index int) ref { return ref(a)<<indexBits | ref(index) }

func (r ref) actor() actor { return actor(r >> indexBits) }
func (r ref) index() int   { return int(r & (1<<indexBits - 1)) }

type timer struct {
	at    clocked.Time
	order uint64
	who   ref
}

func (t timer) before(u timer) bool {
	return t.at < u.at || t.at == u.at && t.order < u.order
}

// timers is a binary heap; equal instants fire in the order of setting.
type timers struct {
	heap  []timer
	order uint64
}

func (t *timers) set(at clocked.Time, who ref) {
	t.order++
	t.heap = append(t.heap, timer{at, t.order, who})
	for i := len(t.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !t.heap[i].before(t.heap[up]) {
			return
		}
		t.heap[i], t.heap[up] = t.heap[up], t.heap[i]
		i = up
	}
}

func (t *timers) due(now clocked.Time) bool { return len(t.heap) > 0 && t.heap[0].at <= now }

func (t *timers) pop() ref {
	who, last := t.heap[0].who, len(t.heap)-1
	t.heap[0] = t.heap[last]
	t.heap = t.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if t.heap[child].before(t.heap[least]) {
				least = child
			}
		}
		if least == i {
			return who
		}
		t.heap[i], t.heap[least] = t.heap[least], t.heap[i]
		i = least
	}
}

// pool hands out objects that stay where they are, the last freed first.
type pool[T any] struct {
	items []*T
	free  []int32
	used  int
}

func (p *pool[T]) get() int {
	p.used++
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		return int(i)
	}
	p.items = append(p.items, new(T))
	return len(p.items) - 1
}

func (p *pool[T]) put(i int) {
	p.used--
	p.free = append(p.free, int32(i))
}
