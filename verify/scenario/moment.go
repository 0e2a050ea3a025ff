package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/configs"
)

// moment is an instant that a scenario names.
type moment struct {
	event   *event // its end, or with posted its beginning
	posted  bool
	message string // the nth of it on an adapter's link, leaving; adapter below 0: on any
	nth     int
	adapter int
	figure  *comparison // the first instant at which it holds
}

func (m *moment) String() string {
	switch {
	case m.event != nil && m.posted:
		return m.event.name + ".posted"
	case m.event != nil:
		return m.event.name
	case m.figure != nil:
		return m.figure.text
	case m.adapter >= 0:
		return fmt.Sprintf("%s#%d@%d", m.message, m.nth, m.adapter)
	}
	return fmt.Sprintf("%s#%d", m.message, m.nth)
}

// moment reads NAME, NAME.posted, [peer:]MESSAGE#N[@ADAPTER] or FIGURE>=N.
func (r *reader) moment(text string) (*moment, error) {
	if strings.ContainsAny(text, "<>=") {
		c, err := r.compare([]string{text})
		if err == nil && c.op != ">=" && c.op != ">" {
			err = fmt.Errorf("%s: FIGURE>=N is due, without spaces", text)
		}
		return &moment{figure: c}, err
	}
	if name, which, ok := strings.Cut(text, "#"); ok {
		m := &moment{message: name, adapter: -1}
		nth, adapter, on := strings.Cut(which, "@")
		var err error
		if m.nth, err = strconv.Atoi(nth); err != nil || m.nth < 1 {
			return nil, fmt.Errorf("%s: which of the messages is due, from 1, as in fill#1", text)
		}
		if on {
			if m.adapter, err = strconv.Atoi(adapter); err != nil || m.adapter < 0 || m.adapter >= mostAdapters {
				return nil, fmt.Errorf("%s: an adapter's number is due behind @", text)
			}
		}
		if !slices.Contains(messageNames, strings.TrimPrefix(name, peerPrefix)) {
			return nil, fmt.Errorf("%s: no message has that name%s", name, configs.Suggest(name, messageNames))
		}
		return m, nil
	}
	name, posted := strings.CutSuffix(text, ".posted")
	if e := r.s.names[name]; e != nil {
		return &moment{event: e, posted: posted}, nil
	}
	return nil, fmt.Errorf("%s: no event of the timeline has that name%s", name, configs.Suggest(name, r.s.eventNames()))
}

// of is when it was, in a run; ok is false while it has not been.
func (m *moment) of(p *player) (at clocked.Time, ok bool) {
	switch {
	case m.event != nil && m.posted:
		e := &p.events[m.event.number]
		return e.started, e.state >= stateStarted
	case m.event != nil:
		e := &p.events[m.event.number]
		return e.done, e.state == stateDone
	case m.figure != nil:
		return p.now, m.figure.holds(p.live()) == nil
	}
	return p.watch.sent(m)
}
