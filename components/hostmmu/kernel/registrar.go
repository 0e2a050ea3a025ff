package kernel

import (
	"errors"
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/key"
)

// RegistrarStats count changes of dynamic regions.
type RegistrarStats struct {
	Registrations        uint64
	RegistrationsRefused uint64 // frames did not suffice, or the adapter refused
	Deregistrations      uint64
	FastRegistrations    uint64
	LocalInvalidations   uint64
	RemoteInvalidations  uint64 // by peers' SENDs
	PinnedPages          uint64 // by registrations, all together
	UnpinnedPages        uint64
	Remaps               uint64
	RegisterTime         clocked.Time // of Registrations, all together
	DeregisterTime       clocked.Time
}

// Errors of changes, besides *Refused and those of model/key.
var (
	ErrNotDynamic = errors.New("region was registered before time 0 for good")
	ErrBusy       = errors.New("region has another change under way, or its pages are in use")
	ErrRegistered = errors.New("region is registered already")
	ErrNone       = errors.New("region is not registered")
	ErrGone       = errors.New("adapter did not answer in time and was cut off")
)

// regionState is how far a dynamic region is.
type regionState uint8

const (
	regionNone  regionState = iota
	regionValid             // peers may use the key
	regionFree              // its key was invalidated; a fast registration makes it valid again
)

// regionPhase is what a change of a dynamic region waits for.
type regionPhase uint8

const (
	regionRest     regionPhase = iota // no change is under way
	regionCall                        // the system call's own time
	regionPin                         // pages become present and pinned, one by one
	regionTable                       // the table is written, a chunk a command
	regionSnapshot                    // pages that are present are mapped
	regionKey                         // the key command is out
	regionQuiet                       // faults, prefetches and invalidations that use the region end
	regionClear                       // the table's entries are cleared
	regionUnmap                       // software's part of DMA unmapping
	regionFlush                       // the IOTLB's flush
	regionUnpin                       // the unpinning
)

// dynamic is the registration of a region, or of none.
type dynamic struct {
	pinned  bool // else pages are brought in on demand
	serves  bool // faults of the region are answered
	state   regionState
	phase   regionPhase
	request msg.Registration
	since   clocked.Time
	next    uint32   // pages before it are pinned
	written uint32   // pages before it are in the table
	waits   uint32   // page, or msg.NoPage
	leaving []uint32 // pages that no adapter reaches any more, to be unpinned

	departed  int // pages that left the DMA domain, and that the IOTLB is flushed for
	departure clocked.Time
	refusal   error // the change ends with
	cmd       *msg.Command

	allocation uint32 // mappings of its memory so far
	noticed    bool   // a notice is in the queue
	orphans    []uint32
}

// registrar changes dynamic regions.
type registrar struct {
	regions   []dynamic        // as Kernel.regions
	pins      []uint8          // registrations that pin a page or will; nil: no region is dynamic
	pinned    int              // frames pinned or promised, those of orphans too
	orphans   map[uint32]uint8 // registrations that keep a frame whose page was unmapped; only looked up
	changing  int              // changes under way
	unmapping int              // unmappings under way
	quiet     int              // regions in regionQuiet
	out       clocked.FIFO[msg.Registered]
}

// setUpRegistrar notes how regions are registered. Pages that static regions
// pin stay so.
func (k *Kernel) setUpRegistrar() error {
	g := &k.registrar
	g.regions = make([]dynamic, len(k.regions))
	changes := false
	for i := range k.regions {
		r, d := &k.regions[i], &g.regions[i]
		a := k.adapterOf(i)
		*d = dynamic{pinned: a.pins(), serves: !r.Dynamic, waits: msg.NoPage, next: r.FirstPage, cmd: new(msg.Command)}
		if !r.Dynamic {
			continue
		}
		changes = true
		r.Key = r.MPT.Key
		if a.hasTable() && a.shift > k.shift {
			return fmt.Errorf("tpt.page: %d B exceed the host's page of %s: frames of a dynamic region need not follow each other", a.shift.Bytes(), k.spec.Page)
		}
	}
	if changes {
		g.pins = make([]uint8, len(k.pages))
		g.orphans = map[uint32]uint8{}
	}
	for p := range k.pages {
		if k.pages[p].flags&pagePinned != 0 {
			g.pinned++
			if changes {
				g.pins[p] = 1
			}
		}
	}
	return nil
}

// serves tells whether faults of a region are to be answered.
func (k *Kernel) serves(region int) bool { return k.registrar.regions[region].serves }

// takeRegistrations starts the changes that software asks for.
func (k *Kernel) takeRegistrations(now clocked.Time) {
	if k.ports.Registration == nil {
		return
	}
	for m := k.ports.Registration.Peek(now); m != nil; m = k.ports.Registration.Peek(now) {
		k.request(now, m)
		k.ports.Registration.Pop(now)
	}
}

// request starts a change, or answers at once why it cannot be.
func (k *Kernel) request(now clocked.Time, m *msg.Registration) {
	err := k.permits(m)
	if err == nil && m.Op >= msg.RemoteInvalidate {
		err = k.atOnce(now, m)
	}
	if err != nil {
		*k.registrar.out.Push() = msg.Registered{Op: m.Op, Region: m.Region, Cookie: m.Cookie, Err: fmt.Errorf("region %d: %w", m.Region, err)}
		return
	}
	d := &k.registrar.regions[m.Region]
	if m.Op >= msg.RemoteInvalidate {
		*k.registrar.out.Push() = msg.Registered{Op: m.Op, Region: m.Region, Cookie: m.Cookie, Key: k.regions[m.Region].peerKey(), Allocation: d.allocation}
		return
	}
	d.request, d.since, d.refusal = *m, now, nil
	k.registrar.changing++
	switch m.Op {
	case msg.RegisterRegion, msg.DeregisterRegion:
		d.phase = regionCall
		k.after(now, k.spec.Registration.Base, refer(actorRegion, m.Region))
	case msg.FastRegister:
		k.vary(m.Region, 1)
		op := msg.KeyFastRegister
		if k.regions[m.Region].Window != 0 {
			op = msg.KeyBind
		}
		k.changeKey(now, m.Region, op)
	case msg.LocalInvalidate:
		k.changeKey(now, m.Region, msg.KeyInvalidate)
	}
}

// atOnce serves a request that takes no time.
func (k *Kernel) atOnce(now clocked.Time, m *msg.Registration) error {
	r := &k.regions[m.Region]
	switch m.Op {
	case msg.RemoteInvalidate:
		k.registrar.regions[m.Region].state = regionFree
		k.Stats.RemoteInvalidations++
	case msg.AdviseRegion:
		return k.Advise(now, r.Adapter, m.Region, Advice(m.Advice), r.VA, r.Length)
	case msg.RemapRegion:
		if !k.Remap(now, m.Region) {
			return ErrBusy
		}
	}
	return nil
}

// permits tells why a request cannot be served in the region's state.
func (k *Kernel) permits(m *msg.Registration) error {
	if m.Region < 0 || m.Region >= len(k.regions) {
		return ErrNoRegion
	}
	d := &k.registrar.regions[m.Region]
	switch {
	case !k.regions[m.Region].Dynamic:
		return ErrNotDynamic
	case d.phase != regionRest:
		return ErrBusy
	case m.Op > msg.RemapRegion:
		return fmt.Errorf("request %d is unknown", m.Op)
	case m.Op == msg.RemapRegion:
		return nil
	case m.Op == msg.RegisterRegion && d.state != regionNone:
		return ErrRegistered
	case m.Op != msg.RegisterRegion && d.state == regionNone:
		return ErrNone
	case m.Op != msg.DeregisterRegion && k.adapterOf(m.Region).state != adapterAlive:
		return ErrGone
	}
	return nil
}

// end ends a change and answers it.
func (k *Kernel) end(now clocked.Time, region int) {
	d, s := &k.registrar.regions[region], &k.Stats
	d.phase = regionRest
	k.registrar.changing--
	if k.adapterOf(region).implicit != nil {
		return // it ends with the implicit one, which nobody waits for
	}
	switch op := d.request.Op; {
	case d.refusal != nil && op == msg.RegisterRegion:
		s.RegistrationsRefused++
	case d.refusal != nil:
		if op == msg.FastRegister {
			k.vary(region, -1)
		}
	case op == msg.RegisterRegion:
		if d.state = regionValid; k.regions[region].Window != 0 {
			d.state = regionFree
		}
		s.Registrations++
		s.RegisterTime += now - d.since
	case op == msg.DeregisterRegion:
		d.state = regionNone
		r := &k.regions[region]
		r.Key = varied(r.Key, 1)
		s.Deregistrations++
		s.DeregisterTime += now - d.since
	case op == msg.FastRegister:
		d.state = regionValid
		s.FastRegistrations++
	case op == msg.LocalInvalidate:
		d.state = regionFree
		s.LocalInvalidations++
	}
	*k.registrar.out.Push() = msg.Registered{Op: d.request.Op, Region: region, Cookie: d.request.Cookie, Key: k.regions[region].peerKey(),
		Allocation: d.allocation, Err: d.refusal}
}

// vary changes the variant of the key that peers use of a region: that of the
// valid key, or of the next to be.
func (k *Kernel) vary(region, by int) {
	r := &k.regions[region]
	if r.Window != 0 {
		r.Window = varied(r.Window, by)
		return
	}
	r.Key = varied(r.Key, by)
}

func varied(x key.Key, by int) key.Key { return key.Make(x.Index(), x.Variant()+uint8(by)) }

// peerKey is the key that peers use.
func (r *Region) peerKey() key.Key {
	if r.Window != 0 {
		return r.Window
	}
	return r.Key
}

// answer hands out answers and notices as far as the wire takes them.
func (k *Kernel) answer(now clocked.Time) {
	out := &k.registrar.out
	for out.Len() > 0 && k.ports.Registered != nil && k.ports.Registered.Ready(now) {
		m := out.Pop()
		if m.Op == msg.RegionUnmapped {
			k.registrar.regions[m.Region].noticed = false
		}
		*k.ports.Registered.Push(now) = m
	}
}
