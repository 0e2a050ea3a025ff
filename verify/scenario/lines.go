package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/configs"
)

// declare reads memory, and the names of the timeline.
func (r *reader) declare(lines []statement) {
	for _, l := range lines {
		switch l.words[0] {
		case "mr":
			if err := r.mr(l); err != nil {
				r.fail(l.line, "mr: %v", err)
			}
		case "at", "after", "then":
			if _, rest := when(l.words); len(rest) > 0 {
				r.name(l, rest[0])
			}
		}
	}
}

// name notes an event by its name.
func (r *reader) name(l statement, word string) {
	name, named := strings.CutSuffix(word, ":")
	if !named {
		return
	}
	if r.s.names[name] != nil || r.s.region(name) != nil {
		r.fail(l.line, "%s: the name is taken; choose another", name)
		return
	}
	if !isName(name) {
		r.fail(l.line, "%q: a name of letters, digits, - and _ is due", name)
		return
	}
	r.s.names[name] = &event{line: l.line, name: name}
}

func isName(text string) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return text != ""
}

var mrNames = []string{"length", "va", "rights", "resident", "swapped", "dynamic", "unbound"}

// mr reads mr NAME length=… .
func (r *reader) mr(l statement) error {
	a, err := readArgs(l.words[1:], mrNames)
	if err != nil {
		return err
	}
	if len(a.words) != 1 || !isName(a.words[0]) {
		return fmt.Errorf("one name is due, as in mr m length=8KiB")
	}
	m := &region{line: l.line, name: a.words[0], dynamic: a.has("dynamic"), unbound: a.has("unbound"), paged: a.has("resident") || a.has("swapped")}
	if r.s.region(m.name) != nil || r.s.names[m.name] != nil {
		return fmt.Errorf("%s: the name is taken; choose another", m.name)
	}
	const most = 1 << 36
	if m.length, err = a.size("length", 4096); err != nil || m.length < 1 || m.length > most {
		return fmt.Errorf("length=%s: 1B to 64GiB are due", a.values["length"])
	}
	if m.va, err = a.size("va", 0); err != nil || m.va >= 1<<47-most {
		return fmt.Errorf("va=%s: an address as 0x10000 below 2^47 is due", a.values["va"])
	}
	if m.rights, err = a.rights(allRights); err != nil {
		return err
	}
	if a.has("resident") {
		if m.resident, err = a.set("resident", 1<<24); err != nil {
			return err
		}
	}
	if a.has("swapped") {
		if m.swapped, err = a.set("swapped", 1<<24); err != nil {
			return err
		}
	}
	r.s.memory = append(r.s.memory, m)
	return nil
}

// receives reads receives qp=… posted=N.
func (r *reader) receives(l statement) {
	x := receives{line: l.line}
	a, err := readArgs(l.words[1:], []string{"qp", "adapter", "posted"})
	for _, v := range []struct {
		name string
		to   *int
	}{{"qp", &x.qp}, {"adapter", &x.adapter}, {"posted", &x.posted}} {
		if err == nil {
			*v.to, err = a.number(v.name, 0, 1<<16)
		}
	}
	if err == nil && len(a.words) > 0 {
		err = fmt.Errorf("%q is too much", a.words[0])
	}
	if err != nil {
		r.fail(l.line, "receives: %v", err)
	}
	r.s.receives = append(r.s.receives, x)
}

// rule reads WHAT message=… .
func (r *reader) rule(l statement) {
	x := &rule{line: l.line, what: l.words[0], count: 1}
	if err := x.read(l.words[1:]); err != nil {
		r.fail(l.line, "%s: %v", x.what, err)
	}
	r.s.rules = append(r.s.rules, x)
}

func (x *rule) read(words []string) (err error) {
	names := []string{"message", "adapter", "link", "nth", "count"}
	switch x.what {
	case "delay":
		names = append(names, "by")
	case "lose":
		names = []string{"packet", "adapter", "qp", "nth", "count"}
	}
	a, err := readArgs(words, names)
	if err != nil {
		return err
	}
	if len(a.words) > 0 {
		return fmt.Errorf("%q is too much", a.words[0])
	}
	if x.message = a.values["message"]; x.what == "lose" {
		x.message = a.values["packet"]
	}
	if err := x.named(); err != nil {
		return err
	}
	switch a.values["link"] {
	case "", "host":
	case "peer":
		x.peer = true
	default:
		return fmt.Errorf("link=%s: host or peer is due", a.values["link"])
	}
	if x.by, err = a.time("by", 0); err == nil && x.what == "delay" && x.by == 0 {
		err = fmt.Errorf("by=TIME is due: how long it is held back")
	}
	x.adapter, x.qp = -1, -1
	for _, v := range []struct {
		name string
		to   *int
	}{{"adapter", &x.adapter}, {"qp", &x.qp}, {"nth", &x.nth}, {"count", &x.count}} {
		if err == nil && a.has(v.name) {
			*v.to, err = a.number(v.name, 0, 1<<30)
		}
	}
	if err == nil && x.nth == 0 && a.has("count") {
		x.nth = 1
	}
	return err
}

// named checks the name of a message or packet.
func (x *rule) named() error {
	if x.what == "lose" {
		if x.message != "request" && x.message != "response" {
			return fmt.Errorf("packet=%s: request or response is due", x.message)
		}
		return nil
	}
	if !slices.Contains(messageNames, x.message) {
		return fmt.Errorf("message=%s: one of %s is due%s", x.message, strings.Join(messageNames, ", "), configs.Suggest(x.message, messageNames))
	}
	return nil
}

// when cuts the words that say when, from a line of the timeline.
func when(words []string) (head, rest []string) {
	n := 2
	if words[0] == "then" {
		n = 1
	}
	if n < len(words) && words[0] != "at" && strings.HasPrefix(words[n], "+") {
		n++
	}
	n = min(n, len(words))
	return words[:n], words[n:]
}

// event reads WHEN [NAME:] VERB … .
func (r *reader) event(l statement) {
	head, rest := when(l.words)
	e := &event{line: l.line, at: clocked.Never}
	if len(rest) > 0 && strings.HasSuffix(rest[0], ":") {
		if named := r.s.names[strings.TrimSuffix(rest[0], ":")]; named != nil && named.line == l.line {
			e = named
			e.at = clocked.Never
		}
		rest = rest[1:]
	}
	e.number = len(r.s.timeline)
	err := r.timing(e, head)
	if err == nil {
		err = r.verb(e, rest)
	}
	if err != nil {
		r.fail(l.line, "%v", err)
	}
	r.s.timeline = append(r.s.timeline, e)
	r.last = e
}

// timing reads at TIME, after MOMENT [+TIME] or then [+TIME].
func (r *reader) timing(e *event, head []string) (err error) {
	offset := func(words []string) error {
		if len(words) == 0 {
			return nil
		}
		t, err := configs.ParseTime(strings.TrimPrefix(words[0], "+"))
		if err != nil || t < 0 {
			return fmt.Errorf("%s: a time as +10us is due", words[0])
		}
		e.delay = t
		return nil
	}
	switch {
	case head[0] == "then" && r.last == nil:
		return fmt.Errorf("then: nothing stands before it; at TIME is due")
	case head[0] == "then":
		e.after = &moment{event: r.last}
		return offset(head[1:])
	case len(head) < 2:
		return fmt.Errorf("%s: at TIME or after MOMENT is due", head[0])
	case head[0] == "at":
		if e.at, err = configs.ParseTime(head[1]); err != nil || e.at < 0 {
			e.at = 0
			return fmt.Errorf("at %s: a time as 10us is due", head[1])
		}
		return nil
	}
	if e.after, err = r.moment(head[1]); err != nil {
		return err
	}
	return offset(head[2:])
}

// eventNames are the names of the timeline.
func (s *Scenario) eventNames() []string { return slices.Sorted(maps.Keys(s.names)) }
