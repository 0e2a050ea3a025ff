package scenario

import (
	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

var registrations = map[string]msg.RegistrationOp{"register": msg.RegisterRegion, "deregister": msg.DeregisterRegion,
	"fast-register": msg.FastRegister, "local-invalidate": msg.LocalInvalidate, "remap": msg.RemapRegion}

// act does what an event that is no access does.
func (p *player) act(e *played) {
	switch verbs[e.verb] {
	case kindPages:
		p.changePages(e)
	case kindRange:
		p.changeRange(e)
	case kindCPU:
		p.touch(e)
	case kindRegister:
		m := msg.Registration{Op: registrations[e.verb], Rights: e.rights, QP: uint32(p.qp(e.adapter, e.qps[0])), Cookie: uint64(e.number) + 1}
		p.sys.Register(p.now, e.adapter, p.index[e.region], m)
	case kindAdvise:
		p.advise(e)
	case kindReceive:
		p.postReceive(e)
	case kindAdapter:
		p.changeAdapter(e)
	default:
		p.end(e, statusDone, "")
	}
}

func (p *player) changeAdapter(e *played) {
	switch {
	case e.verb == "remove":
		p.sys.Kernel().Remove(p.now, e.adapter)
	case p.sys.IOMMU() == nil:
		p.end(e, statusFailed, "there is no IOMMU; use scheme sva or iommu, or host.iommu.mode strict")
		return
	default:
		p.sys.Kernel().FlushContext(p.now, e.adapter)
	}
	p.end(e, statusDone, "")
}

// pagesOf are the numbers of the pages of an event.
func (p *player) pagesOf(e *played) (all []uint32) {
	r := p.sys.Region(p.index[e.region])
	for i := range r.Pages {
		if e.pages.has(i) {
			all = append(all, r.FirstPage+i)
		}
	}
	return all
}

// changes are the kernel's methods by their verbs.
var changes = map[string]func(k *kernel.Kernel, now clocked.Time, p uint32) bool{
	"migrate": (*kernel.Kernel).Migrate, "evict": (*kernel.Kernel).Evict, "protect": (*kernel.Kernel).Protect, "unprotect": (*kernel.Kernel).Unprotect,
	"cow": (*kernel.Kernel).CopyOnWrite, "split": (*kernel.Kernel).Split, "collapse": (*kernel.Kernel).Collapse,
}

// changePages has the kernel change each page; one that it refuses is told.
func (p *player) changePages(e *played) {
	e.take(p)
	refused := -1
	for i, page := range e.changing {
		if !changes[e.verb](p.sys.Kernel(), p.now, page) {
			refused = i
		}
	}
	if refused >= 0 {
		p.end(e, statusRefused, "page %d of %s cannot be changed now: it is not resident, pinned, in use, in its grace (host.pager.grace), changed already, or no frame is free",
			e.changing[refused]-p.sys.Region(p.index[e.region]).FirstPage, e.region.name)
	}
}

func (p *player) changeRange(e *played) {
	e.take(p)
	if len(e.changing) == 0 {
		return
	}
	change := (*kernel.Kernel).Unmap
	if e.verb == "fork" {
		change = (*kernel.Kernel).Fork
	}
	if !change(p.sys.Kernel(), p.now, e.changing[0], uint32(len(e.changing))) {
		p.end(e, statusRefused, "one of the pages is pinned, in use, in its grace (host.pager.grace) or being changed")
	}
}

// take notes the pages that an event changes; without any it fails.
func (e *played) take(p *player) {
	if e.changing = p.pagesOf(e); len(e.changing) == 0 {
		p.end(e, statusFailed, "the region has no such page")
	}
}

// look ends an event of pages when none of them is in the kernel's hands.
func (p *player) look(e *played) {
	if e.state != stateStarted || len(e.changing) == 0 || p.now < e.started {
		return
	}
	for _, page := range e.changing {
		if !p.sys.Kernel().Settled(page) {
			return
		}
	}
	p.end(e, statusDone, "")
}

// storesOfCPU is above the identities of peers' data.
const storesOfCPU = 1 << 62

func (p *player) touch(e *played) {
	pages := p.pagesOf(e)
	if len(pages) == 0 {
		p.end(e, statusFailed, "the region has no such page")
		return
	}
	id := storesOfCPU + uint64(e.number)
	write := e.verb == "cpu-store"
	p.sys.Kernel().Touch(p.now, pages[0], write, id, func() {
		if write {
			p.watch.stores[pages[0]] = append(p.watch.stores[pages[0]], store{event: e.number, id: id})
		}
		p.now = max(p.now, p.sys.Now())
		p.end(e, statusDone, "")
	})
}

func (p *player) advise(e *played) {
	i := p.index[e.region]
	va := p.sys.Region(i).Placed + model.VA(e.offset)
	if err := p.sys.Kernel().Advise(p.now, e.adapter, e.adapter*len(p.s.memory)+i, e.advice, va, e.length); err != nil {
		p.end(e, statusFailed, "%v", err)
		return
	}
	p.end(e, statusDone, "")
}

func (p *player) postReceive(e *played) {
	_, r := p.sys.Transport(e.adapter)
	for range e.count {
		if !r.PostReceive(p.now, p.qp(e.adapter, e.qps[0])) {
			p.end(e, statusRefused, "all receive buffers of the queue pair are posted; raise workload.receive_buffers")
			return
		}
	}
	p.end(e, statusDone, "")
}
