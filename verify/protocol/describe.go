package protocol

import (
	"fmt"
	"strings"

	"rnicmmu/verify/protocol/explore"
)

var (
	pageNames   = [...]string{"absent", "resident", "leaving"}
	whyNames    = [...]string{"to swap", "to another frame", "right to store"}
	accessNames = [...]string{"idle", "waits for its translation", "waits for its fault", "waits to come again", "has a translation", "write under way", "read under way"}
	faultNames  = [...]string{"event under way", "handler waits for the page", "looked up", "fill under way", "filled", "resume under way"}
	groupNames  = [...]string{"waits for a credit", "page request under way", "page request in the ring", "handler waits for the page", "response under way"}
	opNames     = [...]string{"fill", "fill", "zap", "zap", "protect", "suspend", "suspend", "end of suspension", "resume"}
)

// describe is a line for each actor.
func (t *Tables) describe(k explore.Key) (lines []string) {
	s := t.unpack(k)
	for p := range t.Pages {
		x := &s.pages[p]
		line := fmt.Sprintf("page %d: %s", p, pageNames[x.state])
		if x.state == pageLeaving {
			line += fmt.Sprintf(" (%s), waits for adapters %s", whyNames[x.why], set(x.acks))
		}
		if x.frame != 0 {
			line += fmt.Sprintf(", frame %d, in tables %s, to store %s", x.frame, set(x.mapped), set(x.writable))
		}
		if x.target != 0 {
			line += fmt.Sprintf(", to frame %d", x.target)
		}
		if x.hold != holdNone {
			line += ", suspended for a while"
		}
		lines = append(lines, line+flags(x.store, "storable", x.dirty, "dirty", !x.kept, "newer than swap"))
	}
	for i := range t.Accesses {
		x := &s.accesses[i]
		line := x.text(i)
		if x.phase == accessFaulted {
			line += ": " + faultNames[x.fault] + flags(x.changed, "sequence changed", x.noted != 0, fmt.Sprintf("frame %d noted", x.noted))
		}
		lines = append(lines, line)
	}
	for a := range t.Adapters {
		lines = append(lines, t.describeAdapter(&s.adapters[a], a)...)
	}
	return lines
}

func (t *Tables) describeAdapter(d *tableAdapter, a int) (lines []string) {
	for p := range t.Pages {
		line := fmt.Sprintf("adapter %d: entry %d %s, cached %s", a, p, d.entries[p], d.cached[p])
		if w := &d.walks[p]; w.busy {
			line += fmt.Sprintf(", read under way of %s%s", w.value, flags(w.stale, "void"))
		}
		if d.held[p] > 0 {
			line += fmt.Sprintf(", %d suspensions", d.held[p])
		}
		lines = append(lines, line)
	}
	var queue, up []string
	for _, c := range d.queue[:d.queued] {
		queue = append(queue, fmt.Sprintf("%s %d", opNames[c.op], c.which))
	}
	for _, m := range d.up.list[:d.up.n] {
		up = append(up, fmt.Sprintf("%s %d", [...]string{"write", "read", "acknowledgement", "acknowledgement"}[m.what], m.which))
	}
	return append(lines, fmt.Sprintf("adapter %d: queue [%s]%s", a, strings.Join(queue, ", "), flags(d.draining, "draining")),
		fmt.Sprintf("adapter %d: on the way [%s]", a, strings.Join(up, ", ")))
}

// describe is a line for each actor.
func (t *ATS) describe(k explore.Key) (lines []string) {
	s := t.unpack(k)
	for p := range t.Pages {
		x := &s.pages[p]
		line := fmt.Sprintf("page %d: %s", p, pageNames[x.state])
		if x.state == pageLeaving {
			line += " (" + whyNames[x.why] + ")"
		}
		if x.frame != 0 {
			line += fmt.Sprintf(", frame %d", x.frame)
		}
		lines = append(lines, line+flags(x.store, "storable", x.dirty, "dirty", !x.kept, "newer than swap", x.fenced, "fence waits", x.timedOut, "timed out"),
			fmt.Sprintf("IOMMU: IOTLB %d %s", p, s.iotlb[p]),
			fmt.Sprintf("adapter: copy %d %s%s", p, s.copies[p].value, flags(s.requests[p].busy, "translation request under way", s.requests[p].stale, "void")))
	}
	for i := range t.Accesses {
		x := &s.accesses[i]
		line := x.text(i)
		if x.phase == accessFaulted {
			line += ": " + groupNames[x.fault]
		}
		lines = append(lines, line)
	}
	for n := range t.ITags {
		g := &s.tags[n]
		lines = append(lines, fmt.Sprintf("ITag %d: %s", n, [...]string{"free", fmt.Sprintf("busy for page %d, %d completions", g.page, g.came), "quarantined"}[g.state]))
	}
	return append(lines, "adapter:"+flags(s.dead, "cut off", s.draining, "draining"))
}

func (x *access) text(i int) string {
	if x.phase == accessIdle {
		return fmt.Sprintf("access %d: idle", i)
	}
	line := fmt.Sprintf("access %d to page %d: %s", i, x.page, accessNames[x.phase])
	if x.frame != 0 {
		line += fmt.Sprintf(", frame %d", x.frame)
	}
	return line + flags(x.marked, "called back")
}

// String is an entry for people.
func (e entry) String() string {
	w := e.word()
	switch {
	case w.Present() && w.Suspended():
		return fmt.Sprintf("suspended (frame %d)", e.frame())
	case w.Suspended():
		return "moving"
	case w.Allows(true):
		return fmt.Sprintf("frame %d to store", e.frame())
	case w.Allows(false):
		return fmt.Sprintf("frame %d to load", e.frame())
	}
	return "absent"
}

// set names the adapters of a mask.
func set(mask uint8) string {
	var names []string
	for a := range maxAdapters {
		if mask>>a&1 != 0 {
			names = append(names, fmt.Sprint(a))
		}
	}
	return "{" + strings.Join(names, " ") + "}"
}

// flags are the texts behind what is true, in pairs.
func flags(pairs ...any) (text string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i].(bool) {
			text += ", " + pairs[i+1].(string)
		}
	}
	return text
}
