package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/key"
)

// changeKey posts the change of a region's key.
func (k *Kernel) changeKey(region int, op msg.KeyOp) {
	r, d := &k.regions[region], &k.registrar.regions[region]
	entry := r.MPT
	entry.Key, entry.State, entry.Base, entry.Length = d.key, key.Valid, r.VA, r.Length
	entry.PageShift, entry.MTT = k.adapters[r.Adapter].shift, r.FirstEntry
	if d.request.Rights != 0 {
		entry.Rights = d.request.Rights
	}
	if !d.pinned {
		entry.Rights |= key.OnDemand
	}
	d.phase = regionKey
	k.order(region, msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: op, Key: d.key, Region: entry}})
}

// order posts a command of a region's change.
func (k *Kernel) order(region int, c msg.Command) {
	d := &k.registrar.regions[region]
	c.Owner, c.Adapter = uint32(refer(actorRegion, region)), uint16(k.regions[region].Adapter)
	d.cmd = c
	k.send(&d.cmd)
}

// stepRegion goes on with a change when its time has come.
func (k *Kernel) stepRegion(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	switch d.phase {
	case regionCall:
		k.called(now, region)
	case regionPin:
		k.pinPages(now, region)
	case regionSnapshot:
		k.end(now, region)
	case regionLetGo:
		k.letGoRegion(now, region)
	}
}

// called: the system call has looked at its arguments.
func (k *Kernel) called(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	switch {
	case d.request.Op == msg.DeregisterRegion:
		k.changeKey(region, msg.KeyDeregister)
	case !d.pinned:
		k.register(region)
	default:
		if d.refusal = k.promise(region); d.refusal != nil {
			k.end(now, region)
			return
		}
		d.phase = regionPin
		d.next = k.regions[region].FirstPage
		k.pinPages(now, region)
	}
}

// register posts the key of a region whose table is ready.
func (k *Kernel) register(region int) {
	k.registrar.regions[region].serves = true
	k.changeKey(region, msg.KeyRegister)
}

// regionCommand goes on with a change after its command.
func (k *Kernel) regionCommand(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	switch d.phase {
	case regionTable:
		k.writeTable(region)
	case regionKey:
		k.keyChanged(now, region)
	case regionClear:
		d.phase = regionLetGo
		k.after(now, k.letGoTime(region), refer(actorRegion, region))
	}
}

// keyChanged: the adapter has changed the key, or refused to.
func (k *Kernel) keyChanged(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	d.refusal = d.cmd.Change.Err
	switch op := d.request.Op; {
	case op == msg.RegisterRegion && d.refusal != nil || op == msg.DeregisterRegion && d.refusal == nil:
		d.serves = false
		d.phase = regionQuiet
		k.registrar.quiet++
	case op == msg.RegisterRegion && !d.pinned && k.spec.Pager.Snapshot:
		r := &k.regions[region]
		d.phase = regionSnapshot
		k.prefetch(now, region, AdvisePrefetchNoFault, r.FirstPage, k.pagesOf(r), false).owner = refer(actorRegion, region)
	default:
		k.end(now, region)
	}
}
