package tpt

import (
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
)

// parseScheme is a line of the schemes beyond paging by the adapter's table.
func (s *sandwich) parseScheme(w *words, verb string, first uint64, count uint32) bool {
	tableOps := map[string]msg.CommandOp{"suspend": msg.CmdSuspend, "unsuspend": msg.CmdUnsuspend, "protect": msg.CmdProtect}
	switch verb {
	case "pte":
		s.script = append(s.script, step{at: w.at(), act: func() { s.parseEntry(w, first, count) }})
	case "suspend", "unsuspend", "protect":
		c := &msg.Command{Op: tableOps[verb], Entry: first, Count: count, Posts: 1, Moving: w.flag("moving"), Record: new(measure.Invalidation)}
		if c.Whole = w.flag("region"); c.Whole {
			c.Entry, c.Count, c.Key = 0, 0, s.key
		}
		s.command(w.at(), c)
	case "key":
		s.parseKey(w, first, count)
	case "kill":
		m := s.kill(w.at(), uint32(w.number("qp", 0)))
		m.Key ^= uint32(w.number("variant", 0))
		m.PD = uint32(w.number("pd", 1))
	case "drop":
		m := s.dropPages(w.at(), uint8(w.number("itag", 0)), first, count)
		m.PASID, m.Global = uint32(w.number("pasid", process)), w.flag("global")
		if w.flag("all") {
			m.Range = ats.Cover(0, 0)
		}
	case "respond":
		r := &msg.PageResponse{PageResponse: ats.PageResponse{Group: uint16(w.number("group", 0)), PASID: uint32(w.number("pasid", process))}}
		switch {
		case w.flag("invalid"):
			r.Code = ats.ResponseInvalid
		case w.flag("failure"):
			r.Code = ats.ResponseFailure
		}
		s.ring(w.at(), r)
	default:
		return false
	}
	return true
}

// parseEntry writes pages of the IOMMU's page table.
func (s *sandwich) parseEntry(w *words, first uint64, count uint32) {
	for i := range uint64(count) {
		x := pte{Translation: ats.Translation{Shift: model.PageShift(w.number("shift", 12))}}
		if !w.flag("absent") {
			x.PA, x.Read, x.Write = model.PA(w.number("frame", 0)+i)<<12, true, !w.flag("ro")
		}
		x.status = map[string]msg.Status{"ur": msg.StatusUnsupported, "ca": msg.StatusAbort}[w.vals["status"]]
		s.space[first+i] = x
	}
}

// parseKey is a change of the key; pages are those of the new region.
func (s *sandwich) parseKey(w *words, first uint64, count uint32) {
	ops := map[string]msg.KeyOp{"register": msg.KeyRegister, "deregister": msg.KeyDeregister, "fast": msg.KeyFastRegister,
		"invalidate": msg.KeyInvalidate, "bind": msg.KeyBind, "entry": msg.KeyEntry}
	c := &msg.Command{Op: msg.CmdKey}
	c.Change = msg.KeyChange{Op: ops[w.vals["op"]], Key: s.key ^ key.Key(w.number("variant", 0))}
	c.Change.Region = key.Region{PD: 1, Base: s.base + model.VA(first<<12), Length: uint64(count) << 12, PageShift: model.Shift4K,
		Rights: key.LocalWrite | key.RemoteRead | key.RemoteWrite, MTT: first}
	if w.flag("child") {
		s.childChange(&c.Change, w.number("child", 0), w.flag("null"))
	}
	s.command(w.at(), c)
}
