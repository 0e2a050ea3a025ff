package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/key"
)

// changeKey posts the change of a region's key.
func (k *Kernel) changeKey(now clocked.Time, region int, op msg.KeyOp) {
	r, d, a := &k.regions[region], &k.registrar.regions[region], k.adapterOf(region)
	entry := r.MPT
	entry.Key, entry.State, entry.Base, entry.Length = r.Key, key.Valid, r.VA, r.Length
	entry.PageShift, entry.MTT = a.shift, r.FirstEntry
	if d.request.Rights != 0 {
		entry.Rights = d.request.Rights
	}
	if a.onDemand() {
		entry.Rights |= key.OnDemand
	}
	d.phase = regionKey
	change := msg.KeyChange{Op: op, Key: r.Key, Region: entry}
	switch {
	case r.Window == 0:
	case op == msg.KeyBind:
		change.Key, change.Under, change.Region.QP = r.Window, r.Key, d.request.QP
	case op == msg.KeyInvalidate:
		change.Key = r.Window
	case op == msg.KeyRegister: // the window gives peers their rights
		change.Region.Rights = entry.Rights&(key.LocalWrite|key.OnDemand) | key.WindowBind
	}
	k.order(now, region, msg.Command{Op: msg.CmdKey, Change: change})
}

// order posts a command of a region's change.
func (k *Kernel) order(now clocked.Time, region int, c msg.Command) {
	d := &k.registrar.regions[region]
	c.Owner, c.Adapter = uint32(refer(actorRegion, region)), uint16(k.regions[region].Adapter)
	*d.cmd = c
	k.send(now, d.cmd)
}

// stepRegion goes on with a change when its time has come.
func (k *Kernel) stepRegion(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	switch d.phase {
	case regionCall:
		k.called(now, region)
	case regionPin:
		k.pinPages(now, region)
	case regionTable:
		k.writeTable(now, region)
	case regionSnapshot:
		k.end(now, region)
	case regionUnmap:
		k.letGoRegion(now, region)
	case regionUnpin:
		k.unpinRegion(now, region)
	}
}

// called: the system call has looked at its arguments.
func (k *Kernel) called(now clocked.Time, region int) {
	d := &k.registrar.regions[region]
	switch {
	case d.request.Op == msg.DeregisterRegion:
		k.changeKey(now, region, msg.KeyDeregister)
	case !d.pinned:
		k.register(now, region)
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
func (k *Kernel) register(now clocked.Time, region int) {
	k.registrar.regions[region].serves = true
	k.changeKey(now, region, msg.KeyRegister)
}

// regionCommand goes on with a change after its command. A command that an
// adapter was cut off for can be taken as done but for a key that becomes valid.
func (k *Kernel) regionCommand(now clocked.Time, region int, timedOut bool) {
	d := &k.registrar.regions[region]
	err := d.cmd.Change.Err
	if timedOut {
		d.cmd, err = new(msg.Command), nil // the adapter may still write to the old one
		if d.request.Op != msg.DeregisterRegion {
			err = ErrGone
		}
	}
	switch d.phase {
	case regionTable:
		k.writeTable(now, region)
	case regionKey:
		k.keyChanged(now, region, err)
	case regionClear:
		k.cleared(now, region)
	}
}

// keyChanged: the adapter has changed the key, or not for the reason given.
func (k *Kernel) keyChanged(now clocked.Time, region int, err error) {
	d := &k.registrar.regions[region]
	d.refusal = err
	switch op := d.request.Op; {
	case op == msg.RegisterRegion && d.refusal != nil || op == msg.DeregisterRegion && d.refusal == nil:
		d.serves = false
		d.phase = regionQuiet
		k.registrar.quiet++
	case op == msg.RegisterRegion && k.snapshots(k.adapterOf(region)):
		r := &k.regions[region]
		d.phase = regionSnapshot
		k.prefetch(now, region, AdvisePrefetchNoFault, r.FirstPage, k.pagesOf(r), false).owner = refer(actorRegion, region)
	default:
		k.end(now, region)
	}
}
