package link

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/model"
)

// request is one that is not posted and waits for completions.
type request struct {
	open    bool
	dropped bool // the host takes nothing from its adapter any more
	relaxed bool
	kind    msg.Kind
	pa      model.PA
	len     uint32
	got     uint32
	at      clocked.Time
}

// requests are those of an endpoint, by tag.
type requests struct {
	first    int
	tags     []request
	open     int
	most     int          // outstanding at once
	reserved uint64       // bytes that are still to come
	freed    clocked.Time // a tag, or space: when last
}

func newRequests(s *pcie.Spec) requests {
	first, n := tagRange(s.TagBits)
	r := requests{first: first, most: n, tags: make([]request, n)}
	if s.Tags > 0 {
		r.most = min(n, s.Tags)
	}
	return r
}

// tagRange are the tags of a width: those of 10 bits leave out what 8 bits can
// tell, those of 14 what 10 bits can.
func tagRange(bits int) (first, count int) {
	switch bits {
	case 10:
		return 256, 768
	case 14:
		return 1024, 15360
	}
	return 0, 1 << bits
}

// ask checks the tag of a new request and the room for its completions.
func (r *requests) ask(now clocked.Time, d *direction, p *pcie.Shown) {
	i := int(p.Tag) - r.first
	if i < 0 || i >= len(r.tags) {
		d.log.Report(TagRange, now, "%s: request %d has tag %d; %d tags from %d on are there", d.name, p.Seq, p.Tag, len(r.tags), r.first)
		return
	}
	t := &r.tags[i]
	if t.open {
		d.log.Report(TagBusy, now, "%s: request %d takes tag %d, whose request of %v waits for %d bytes", d.name, p.Seq, p.Tag, t.at, t.len-t.got)
		r.close(t)
	}
	*t = request{open: true, relaxed: p.Relaxed, kind: p.Kind, pa: p.PA, len: p.Len, at: now}
	r.open++
	r.reserved += uint64(p.Len)
	if r.open > r.most {
		d.log.Report(TagRange, now, "%s: %d requests are outstanding; there are %d tags", d.name, r.open, r.most)
	}
	if space := uint64(d.spec.CompletionBuffer); r.reserved > space && r.live(now, d) > space {
		d.log.Report(Reserve, now, "%s: %d bytes are asked for; the completion buffer has %d", d.name, r.live(now, d), space)
	}
}

// live is what is still to come of requests that have not timed out.
func (r *requests) live(now clocked.Time, d *direction) (n uint64) {
	for i := range r.tags {
		if t := &r.tags[i]; t.open && (d.spec.CompletionTimeout == 0 || now < t.at+d.spec.CompletionTimeout) {
			n += uint64(t.len - t.got)
		}
	}
	return n
}

func (r *requests) close(t *request) {
	r.open--
	r.reserved -= uint64(t.len - t.got)
	t.open = false
}

// complete checks a completion that the endpoint takes.
func (r *requests) complete(now clocked.Time, d *direction, p *pcie.Shown, adapter uint16, rcb uint64) {
	i := int(p.Tag) - r.first
	if p.Rule.Requester != adapter || p.Rule.Tag != p.Tag || i < 0 || i >= len(r.tags) || !r.tags[i].open {
		d.log.Report(NoRequest, now, "%s: completion %d is for tag %d of requester %d, which waits for nothing here", d.name, p.Seq, p.Tag, p.Rule.Requester)
		return
	}
	t := &r.tags[i]
	r.content(now, d, p, t)
	end := uint64(p.PA) + uint64(p.Len)
	if !p.Last && end%rcb != 0 {
		d.log.Report(Boundary, now, "%s: completion %d of tag %d ends at %#x, which is no multiple of %d", d.name, p.Seq, p.Tag, end, rcb)
	}
	r.freed = now
	n := min(p.Len, t.len-t.got)
	t.got += n
	r.reserved -= uint64(n)
	if p.Last {
		r.close(t)
	}
}

// content checks that a completion brings what is due: the bytes after those that
// came, the last of them with the last one; without success none.
func (r *requests) content(now clocked.Time, d *direction, p *pcie.Shown, t *request) {
	if p.Kind != t.kind || p.Relaxed != t.relaxed {
		d.log.Report(Alike, now, "%s: completion %d of tag %d is of a request of kind %v (relaxed: %v); %v (%v) was asked for", d.name, p.Seq, p.Tag, p.Kind, p.Relaxed, t.kind, t.relaxed)
	}
	if p.Status != msg.StatusSuccess {
		if p.Len > 0 || p.Payload || !p.Last || p.Status > msg.StatusRetry {
			d.log.Report(Status, now, "%s: completion %d of tag %d says %v and has %d bytes (last: %v)", d.name, p.Seq, p.Tag, p.Status, p.Len, p.Last)
		}
		return
	}
	if p.Len == 0 || !p.Payload {
		d.log.Report(Status, now, "%s: completion %d of tag %d says success and has no data", d.name, p.Seq, p.Tag)
	}
	if (p.PA-t.pa-model.PA(t.got))%block != 0 { // an IOMMU gives another page
		d.log.Report(Address, now, "%s: completion %d of tag %d begins at %#x; %#x is due", d.name, p.Seq, p.Tag, uint64(p.PA), uint64(t.pa)+uint64(t.got))
	}
	if left := t.len - t.got; p.Len > left || p.Last != (p.Len == left) {
		d.log.Report(Bytes, now, "%s: completion %d of tag %d brings %d bytes (last: %v); %d are left", d.name, p.Seq, p.Tag, p.Len, p.Last, left)
	}
}

// drop marks a request that nobody will answer.
func (r *requests) drop(tag uint16) {
	if i := int(tag) - r.first; i >= 0 && i < len(r.tags) {
		r.tags[i].dropped = true
	}
}

// finish reports what nobody will answer any more.
func (r *requests) finish(now clocked.Time, d *direction) {
	for i := range r.tags {
		if t := &r.tags[i]; t.open && !t.dropped {
			d.log.Report(TagRest, now, "%s: the request of tag %d (%v, %d bytes at %#x), sent at %v, has %d bytes to come for ever",
				d.name, r.first+i, t.kind, t.len, uint64(t.pa), t.at, t.len-t.got)
		}
	}
}
