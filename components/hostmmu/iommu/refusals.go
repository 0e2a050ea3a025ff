package iommu

import "rnicmmu/components/msg"

// refusals are the writers of an adapter of whose posted writes one was dropped
// since their last proof. A writer has one proof out, so there are never more of
// them than writers.
type refusals []dropped

type dropped struct {
	writer uint32
	status msg.Status
}

// add notes that a write was dropped.
func (r *refusals) add(writer uint32, status msg.Status) {
	for i := range *r {
		if f := &(*r)[i]; f.writer == writer {
			f.status = status
			return
		}
	}
	*r = append(*r, dropped{writer, status})
}

// take is what a proof is answered with; it ends the note.
func (r *refusals) take(writer uint32) msg.Status {
	for i, f := range *r {
		if f.writer == writer {
			last := len(*r) - 1
			(*r)[i] = (*r)[last]
			*r = (*r)[:last]
			return f.status
		}
	}
	return msg.StatusSuccess
}
