package platform

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/key"
	"rnicmmu/workload"
)

// Ways to register the memory of accesses.
const (
	registerOnce     = "once"
	registerEach     = "each"
	registerCached   = "cached"
	registerImplicit = "implicit"
)

// place is where a region is between unregistered and registered.
type place uint8

const (
	placeNone    place = iota
	placeComing        // its registration is under way
	placeValid         // peers may use the key
	placeLeaving       // its deregistration, or its key's invalidation, is under way
	placeFree          // methods fast and window: its key is dead, its memory stays registered
)

// registration is a region on one adapter.
type registration struct {
	once, each bool  // how it is registered; neither: cached
	cache      int32 // that it is of
	place      place
	wanted     bool // in the queue of those to be registered
	stale      bool // its memory was unmapped under the registration
	users      int32
	key        key.Key
	qp         uint32 // method window: that its window is bound to
	allocation uint32 // mapping that is registered
	waiting    clocked.FIFO[*passport]
}

// regionCache is what is registered on one adapter of the pattern's memory, or of
// the aggressor's.
type regionCache struct {
	limit   int     // registrations at a time
	held    int     // registrations, those on their way in and out too
	leaving int     // of them, on their way out
	idle    lruList // without users
	wanted  clocked.FIFO[int32]
}

// registrar is the host's software that registers the memory of an access on
// the peer's adapter before the access, and lets it go afterwards: at once, or
// when a cache of registrations needs its place. Accesses to one region that
// overlap share a registration.
type registrar struct {
	spec    *WorkloadSpec
	regions []registration // as the kernel's: an adapter's after another's
	each    int            // regions of an adapter
	caches  []regionCache  // two an adapter
	nodes   lruNodes       // of idle and free, by registration
	free    lruList        // placeFree, of all adapters
	pinning int            // regions that have pages, or ask for them
	ending  int            // deregistrations under way
	short   bool           // the kernel had no memory for a registration: one has to go first
	parked  int
	hits    uint64 // accesses whose region was registered

	requests *clocked.Wire[msg.Registration]
	answers  *clocked.Wire[msg.Registered]
	out      clocked.FIFO[msg.Registration]
	ready    clocked.FIFO[*passport] // to be posted
	refused  clocked.FIFO[*passport] // to be given up

	remapAt clocked.Time // the next remap
	random  *workload.Stream
	killer  *workload.Stream // of SENDs with invalidate
	remaps  []int32          // regions to choose from, by number on the first adapter
}

// newRegistrar is nil where memory is registered once.
func newRegistrar(spec *Spec, adapters int, space *Space) *registrar {
	w := &spec.Workload
	each := len(space.Regions)
	g := &registrar{spec: w, each: each, regions: make([]registration, adapters*each), nodes: make(lruNodes, adapters*each),
		caches: make([]regionCache, 2*adapters), free: emptyList, remapAt: w.RemapInterval, random: workload.NewStream(spec.Seed, "remap"),
		killer: workload.NewStream(spec.Seed, "invalidate")}
	for i := range space.Regions {
		if space.Regions[i].dynamic(w) {
			g.remaps = append(g.remaps, int32(i))
		}
	}
	if len(g.remaps) == 0 {
		return nil
	}
	for i := range g.caches {
		g.caches[i] = regionCache{idle: emptyList, limit: each}
	}
	for n := range g.regions {
		r, region := &g.regions[n], &space.Regions[n%each]
		how := w.registrationOf(region)
		r.once, r.each, r.cache = !dynamic(how), how == registerEach, int32(2*(n/each))
		if region.Aggressor {
			r.cache++
		}
		if how == registerCached {
			g.caches[r.cache].limit = w.RegistrationCache
		}
	}
	return g
}

// ask tells whether an access may be posted; if not, it comes back in ready or
// in refused.
func (g *registrar) ask(p *passport) bool {
	if p.region == nobody {
		g.mayInvalidate(p)
		return true
	}
	n := int32(int(p.access.Adapter)*g.each) + p.region
	r := &g.regions[n]
	if r.once {
		return true
	}
	if r.place == placeValid && !r.stale && g.serves(r, p) {
		g.hits++
		g.use(n, p)
		return true
	}
	*r.waiting.Push() = p
	g.parked++
	if r.place == placeValid && r.users == 0 { // the window of another queue pair
		g.release(n)
	}
	g.want(n)
	return false
}

// use gives an access the current key of its region.
func (g *registrar) use(n int32, p *passport) {
	r := &g.regions[n]
	if g.nodes[n].in {
		g.cacheOf(n).idle.remove(g.nodes, n)
	}
	r.users++
	p.registration = n
	p.wqe.Key = uint32(r.key)
	p.access.Key = p.wqe.Key
}

func (g *registrar) cacheOf(n int32) *regionCache { return &g.caches[g.regions[n].cache] }

// want queues a region to be registered, if it can be now.
func (g *registrar) want(n int32) {
	if r := &g.regions[n]; !r.wanted && (r.place == placeNone || r.place == placeFree) {
		r.wanted = true
		*g.cacheOf(n).wanted.Push() = n
	}
}

// serve starts the registrations that have a place, and sends what there is to
// be asked of the kernel.
func (g *registrar) serve(now clocked.Time) {
	for i := range g.caches {
		g.admit(&g.caches[i])
	}
	for g.out.Len() > 0 && g.requests.Ready(now) {
		*g.requests.Push(now) = g.out.Pop()
	}
}

// admit starts registrations of an adapter in the order in which they were
// asked for, as far as there are places and memory.
func (g *registrar) admit(c *regionCache) {
	for c.wanted.Len() > 0 {
		n := *c.wanted.Front()
		r := &g.regions[n]
		if r.place == placeLeaving { // it makes room; then it is wanted anew
			c.wanted.Pop()
			r.wanted = false
			continue
		}
		if c.held >= c.limit {
			for c.leaving < c.wanted.Len() && c.idle.oldest != nobody {
				g.release(c.idle.oldest)
			}
			return
		}
		op := msg.FastRegister
		if r.place == placeNone {
			if g.short {
				g.makeRoom()
				return
			}
			op = msg.RegisterRegion
			g.pinning++
		} else {
			g.free.remove(g.nodes, n)
		}
		c.wanted.Pop()
		c.held++
		r.wanted, r.place = false, placeComing
		if op == msg.FastRegister && g.windows() {
			g.bind(n)
			continue
		}
		g.order(op, n)
	}
}

// makeRoom deregisters something that nobody uses, if there is such a thing:
// rather not what is wanted again.
func (g *registrar) makeRoom() {
	if g.ending > 0 {
		return
	}
	n := g.free.oldest
	for n != nobody && g.regions[n].wanted {
		n = g.nodes[n].next
	}
	if n == nobody {
		n = g.free.oldest
	}
	if n != nobody {
		g.free.remove(g.nodes, n)
		g.regions[n].place = placeLeaving
		g.ending++
		g.order(msg.DeregisterRegion, n)
		return
	}
	for i := range g.caches {
		if c := &g.caches[i]; c.idle.oldest != nobody {
			g.release(c.idle.oldest)
			return
		}
	}
}

// release ends the registration of a region without users.
func (g *registrar) release(n int32) {
	r, c := &g.regions[n], g.cacheOf(n)
	if g.nodes[n].in {
		c.idle.remove(g.nodes, n)
	}
	r.place = placeLeaving
	c.leaving++
	if g.spec.RegistrationMethod != "regular" {
		g.order(msg.LocalInvalidate, n)
		return
	}
	g.ending++
	g.order(msg.DeregisterRegion, n)
}

func (g *registrar) order(op msg.RegistrationOp, n int32) {
	*g.out.Push() = msg.Registration{Op: op, Region: int(n)}
}

// done ends an access's use of its region.
func (g *registrar) done(p *passport) {
	if p.wqe.Invalidate != 0 {
		g.invalidated(p)
		return
	}
	n := p.registration
	r := &g.regions[n]
	if r.users--; r.users > 0 {
		return
	}
	if r.stale || r.each || r.waiting.Len() > 0 {
		g.release(n)
		return
	}
	g.cacheOf(n).idle.push(g.nodes, n)
}

// Waits says what the registrar waits for.
func (g *registrar) Waits() []string {
	if g.parked == 0 {
		return nil
	}
	wanted := 0
	for i := range g.caches {
		wanted += g.caches[i].wanted.Len()
	}
	return []string{fmt.Sprintf("driver: %d accesses wait for the registration of their memory; %d regions wait for a place", g.parked, wanted)}
}
