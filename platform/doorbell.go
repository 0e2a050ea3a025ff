package platform

import (
	"rnicmmu/model"
	"rnicmmu/workload"
)

// Sizes of a send work request (mlx5, recalled: control, remote address, data or
// inline header; an atomic segment is 16 bytes more).
const (
	wqeControl = 16
	wqeRemote  = 16
	wqeData    = 16
	wqeInline  = 4
	wqeLine    = 64
	doorbell   = 8
)

// doorbellBytes is what the doorbell writes: the whole work request when it and
// its data are small enough to ride along, else 8 bytes.
func (d *driver) doorbellBytes(w *workload.Access) uint32 {
	if d.inline == 0 {
		return doorbell
	}
	n := uint32(wqeControl + wqeRemote + wqeData)
	switch {
	case w.Op.Atomic():
		n += wqeData
	case w.Op != model.OpRead:
		if w.Len > d.inline {
			return doorbell
		}
		n += wqeInline + w.Len - wqeData
	}
	return (n + wqeLine - 1) / wqeLine * wqeLine
}
