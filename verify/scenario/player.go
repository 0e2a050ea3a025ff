package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/frame"
	"rnicmmu/model/key"
	"rnicmmu/platform"
)

// state of an event.
type state uint8

const (
	stateWaits state = iota
	stateStarted
	stateDone
)

// Statuses of events that are no accesses.
const (
	statusDone    = "done"
	statusRefused = "refused"
	statusFailed  = "failed"
)

// played is an event in a run.
type played struct {
	*event
	state         state
	started, done clocked.Time
	status        string
	why           string
	accesses      []measure.Access // in order of their ends
	issued, open  int
	next          clocked.Time // of repetitions
	mapping       uint32       // of a change of a region: number of the memory's mapping
	changing      []uint32     // pages
}

// player plays a scenario on a system, between its instants.
type player struct {
	s        *Scenario
	sys      *platform.System
	adapters int
	watch    *watcher
	events   []played
	now      clocked.Time
	index    map[*region]int
	keys     [][][]key.Key // of each adapter and region, one after the other

	mapping   []uint32                // of each region, as the last notice has it
	owners    map[uint64]int          // accesses, by number: their event; only looked up
	counts    map[*measure.Counts]int // likewise, while they are open
	pageBytes uint64                  // host.page
	used      []int                   // of rules: times

	instant, lines []string // of the log
}

// qp is the number of an adapter's queue pair among all.
func (p *player) qp(adapter, n int) int { return n*p.adapters + adapter }

// Play implements platform.Player.
func (p *player) Play(now clocked.Time) (next clocked.Time, over bool) {
	p.now = now
	slices.Sort(p.instant)
	for i := range p.events {
		p.look(&p.events[i])
	}
	p.flush(now)
	for moved := true; moved; {
		moved = false
		for i := range p.events {
			e := &p.events[i]
			if e.state == stateWaits && p.due(e) || e.state == stateStarted && e.issued < e.total() && p.reached(e.next) {
				p.start(e)
				moved = true
			}
		}
	}
	p.flush(now + min(now, 1)) // what is done now is seen then
	next, over = clocked.Never, true
	for i := range p.events {
		e := &p.events[i]
		over = over && e.state == stateDone
		next = min(next, p.wakes(e))
	}
	return next, over
}

// reached tells whether what happens now is seen at or after a time.
func (p *player) reached(at clocked.Time) bool { return at <= p.now+1 || at == 0 }

// due tells whether an event is to begin now.
func (p *player) due(e *played) bool {
	if e.after == nil {
		return p.reached(e.at)
	}
	at, ok := e.after.of(p)
	if ok && e.after.figure != nil && e.at == clocked.Never {
		e.at = at // it need not hold for long
	}
	if e.after.figure != nil {
		at, ok = e.at, e.at != clocked.Never
	}
	return ok && (e.delay == 0 || p.reached(at+e.delay))
}

// wakes is when an event next needs the player; Never: not by time.
func (p *player) wakes(e *played) clocked.Time {
	switch {
	case e.state == stateStarted && e.issued < e.total():
		return e.next
	case e.state != stateWaits:
		return clocked.Never
	case e.after == nil:
		return e.at
	case e.after.figure != nil:
		return e.at + min(e.delay, clocked.Never-e.at)
	}
	if at, ok := e.after.of(p); ok {
		return at + e.delay
	}
	return clocked.Never
}

// total is the accesses of an event.
func (e *played) total() int {
	if verbs[e.verb] != kindAccess {
		return 1
	}
	return e.repeat * len(e.qps)
}

// start begins an event, or goes on with its repetitions.
func (p *player) start(e *played) {
	if e.state == stateWaits {
		e.state, e.started = stateStarted, p.now+1
	}
	if verbs[e.verb] == kindAccess {
		p.access(e)
		return
	}
	e.issued = 1
	p.log("events", "%s: %s", e.name, e.verb)
	p.act(e)
}

// end ends an event.
func (p *player) end(e *played, status, format string, args ...any) {
	e.state, e.done, e.status, e.why = stateDone, max(p.now, e.started), status, fmt.Sprintf(format, args...)
	p.log("events", "%s: %s", e.name, status)
}

// access posts the accesses of an event that are due.
func (p *player) access(e *played) {
	for e.issued < e.total() && p.reached(e.next) {
		q := e.qps[e.issued%len(e.qps)]
		w, err := p.post(e, e.issued/len(e.qps), q)
		if err != nil {
			p.end(e, statusFailed, "%v", err)
			e.issued = e.total()
			return
		}
		a := p.sys.Post(p.now, w)
		p.owners[a.ID], p.counts[&a.Counts] = e.number, e.number
		e.open++
		e.issued++
		p.log("accesses", "%s: %v posted, QP %d", e.name, w.Op, q)
		e.next = p.now + 1 + e.every
		if e.every == 0 {
			e.next = 0
		}
	}
}

// post is the n-th access of an event on a queue pair.
func (p *player) post(e *played, n, q int) (w platform.Post, err error) {
	w = platform.Post{Op: e.op, QP: uint32(p.qp(e.adapter, q)), Region: -1, Len: uint32(e.length), Fence: e.fence, VA: model.VA(e.va)}
	if e.region != nil && e.op != model.OpSend {
		i := p.index[e.region]
		w.Region, w.Key = i, uint32(p.key(e.adapter, i, ""))
		w.VA = p.sys.Region(i).Placed + model.VA(e.offset+uint64(n)*e.step)
	}
	if e.invalidate != nil {
		w.Invalidate = p.key(e.adapter, p.index[e.invalidate], e.victim)
	}
	if e.key == "" {
		return w, nil
	}
	name, use, _ := strings.Cut(e.key, "#")
	if m := p.s.region(name); m != nil {
		if w.Key = uint32(p.key(e.adapter, p.index[m], use)); w.Key == 0 {
			return w, errors.New("key=" + e.key + ": the region has not had so many keys")
		}
		return w, nil
	}
	x, err := strconv.ParseUint(e.key, 0, 32)
	w.Key = uint32(x)
	return w, err
}

// key is a region's last key on an adapter, or the n-th.
func (p *player) key(adapter, region int, nth string) key.Key {
	all := p.keys[adapter][region]
	n := len(all)
	if nth != "" {
		n, _ = strconv.Atoi(nth)
	}
	if n < 1 || n > len(all) {
		return 0
	}
	return all[n-1]
}

// Done implements platform.Player.
func (p *player) Done(now clocked.Time, a *measure.Access) {
	i, ours := p.owners[a.ID]
	if !ours {
		return
	}
	e := &p.events[i]
	e.accesses = append(e.accesses, *a)
	p.log("accesses", "%s: %v, QP %d", e.name, a.Status, int(a.QP)/p.adapters)
	if e.open--; e.open == 0 && e.issued == e.total() && e.state == stateStarted {
		e.state, e.done, e.status = stateDone, now, a.Status.String()
		for j := range e.accesses {
			if s := e.accesses[j].Status; s != measure.StatusOK {
				e.status = s.String()
			}
		}
	}
}

// Registered implements platform.Player.
func (p *player) Registered(m *msg.Registered) {
	if m.Cookie == 0 {
		p.log("events", "notice: region %d was unmapped", m.Region)
		p.mapping[m.Region%len(p.s.memory)] = m.Allocation
		return
	}
	e := &p.events[m.Cookie-1]
	p.now = max(p.now, p.sys.Now())
	if m.Err != nil {
		p.end(e, statusFailed, "%v", m.Err)
		return
	}
	if m.Op == msg.RegisterRegion || m.Op == msg.FastRegister {
		p.keys[e.adapter][p.index[e.region]] = append(p.keys[e.adapter][p.index[e.region]], m.Key)
	}
	e.mapping = m.Allocation
	p.end(e, statusDone, "")
}

// resident counts a region's pages that are in frames.
func (p *player) resident(m *region) (n int) {
	r := p.sys.Region(p.index[m])
	for i := range r.Pages {
		if _, resident, _ := p.sys.Kernel().Locate(r.FirstPage + i); resident {
			n++
		}
	}
	return n
}

// timeOf is when a moment was, or how long after its begin an event ended.
func (p *player) timeOf(m *moment, latency bool) (float64, error) {
	at, ok := m.of(p)
	if !ok {
		return 0, fmt.Errorf("%s has not been", m)
	}
	if latency {
		at -= p.events[m.event.number].started
	}
	return float64(at), nil
}

// holds tells whether a page has the content that the stores of some events, one
// after the other, leave.
func (p *player) holds(c *content) error {
	page := p.sys.Region(p.index[c.region]).FirstPage + c.page
	f, resident, swapped := p.sys.Kernel().Locate(page)
	want := frame.Tag(0)
	for _, e := range c.events {
		n := 0
		for _, st := range p.watch.stores[page] {
			if st.event == e.number {
				want = frame.Mix(want, st.id, st.offset)
				n++
			}
		}
		if n == 0 {
			return fmt.Errorf("%s has not stored to the page", e.name)
		}
	}
	if got := p.sys.Memory().Tag(page, f, resident, swapped); got != want {
		return errors.New("the page holds something else")
	}
	return nil
}
