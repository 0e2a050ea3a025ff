package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
)

// expectation is a line expect.
type expectation struct {
	line int
	text string

	compare       *comparison
	before, after *moment  // in this order
	event         *event   // ends with one of status
	status        []string // or, where event is nil, rules
	outcome       string   // violation, refused or stuck
	says          string   // of refused and stuck: part of why
	content       *content
}

// content is what a page holds: the stores of accesses, in order.
type content struct {
	region *region
	page   uint32
	events []*event
}

// statuses are those of accesses, and of other events.
var statuses = func() (names []string) {
	for s := range measure.NumStatuses {
		names = append(names, s.String())
	}
	return append(names, statusDone, statusRefused, statusFailed)
}()

// expect reads expect … .
func (r *reader) expect(l statement) {
	x := &expectation{line: l.line, text: strings.Join(l.words[1:], " ")}
	if err := r.read(x, l.words[1:]); err != nil {
		r.fail(l.line, "expect: %v", err)
	}
	r.s.expects = append(r.s.expects, x)
}

func (r *reader) read(x *expectation, words []string) (err error) {
	if len(words) == 0 {
		return errors.New("what is not said; a comparison, A before B, NAME = STATUS, content, violation, refused or stuck is due")
	}
	switch first := words[0]; {
	case first == "violation":
		x.outcome, x.status = first, words[1:]
		if len(x.status) == 0 {
			return errors.New("violation: the rule's name is due")
		}
		return nil
	case first == "refused" || first == "stuck":
		x.outcome, x.says = first, strings.Trim(strings.Join(words[1:], " "), `"`)
		r.counts++ // there are no figures
		return nil
	case first == "content":
		x.content, err = r.content(words[1:])
		return err
	case len(words) == 3 && words[1] == "before":
		if x.before, err = r.moment(words[0]); err == nil {
			x.after, err = r.moment(words[2])
		}
		return err
	case len(words) >= 3 && words[1] == "=" && r.s.names[first] != nil:
		x.event, x.status = r.s.names[first], words[2:]
		for _, status := range x.status {
			if !slices.Contains(statuses, status) {
				return fmt.Errorf("%s: one of %s is due%s", status, strings.Join(statuses, ", "), configs.Suggest(status, statuses))
			}
		}
		return nil
	}
	if x.compare, err = r.compare(words); err != nil {
		return err
	}
	if x.compare.left.counted() || x.compare.right.counted() {
		r.counts++
	}
	return nil
}

// content reads content REGION page=N = NAMES, or = none.
func (r *reader) content(words []string) (*content, error) {
	if len(words) < 4 || words[2] != "=" {
		return nil, errors.New("content: REGION page=N = the names of its stores, in order, or none, is due")
	}
	c := &content{region: r.s.region(words[0])}
	a, err := readArgs(words[1:2], []string{"page"})
	if err != nil {
		return nil, err
	}
	page, err := a.number("page", 0, mostPages)
	if err != nil || c.region == nil {
		return nil, fmt.Errorf("content %s %s: an mr and a page of it are due", words[0], words[1])
	}
	c.page = uint32(page)
	for _, name := range words[3:] {
		e := r.s.names[name]
		if e == nil && name != "none" {
			return nil, fmt.Errorf("content: %s: no event of the timeline has that name%s", name, configs.Suggest(name, r.s.eventNames()))
		}
		if e != nil {
			c.events = append(c.events, e)
		}
	}
	return c, nil
}

// columns are what can be asked of an access, besides its status.
var columns = map[string]func(*measure.Access) float64{
	"pages":        func(a *measure.Access) float64 { return float64(a.Counts.Pages) },
	"mpt_hits":     func(a *measure.Access) float64 { return float64(a.Counts.MPTHits) },
	"mpt_misses":   func(a *measure.Access) float64 { return float64(a.Counts.MPTMisses) },
	"mtt_hits":     func(a *measure.Access) float64 { return float64(a.Counts.MTTHits) },
	"mtt_misses":   func(a *measure.Access) float64 { return float64(a.Counts.MTTMisses) },
	"mtt_merged":   func(a *measure.Access) float64 { return float64(a.Counts.MTTMerged) },
	"iotlb_misses": func(a *measure.Access) float64 { return float64(a.Counts.IOTLBMisses) },
	"table_reads":  func(a *measure.Access) float64 { return float64(a.Counts.TableReads) },
	"faults":       func(a *measure.Access) float64 { return float64(a.Counts.Faults) },
	"rnr_naks":     func(a *measure.Access) float64 { return float64(a.Counts.RNRNaks) },
	"tcp_drops":    func(a *measure.Access) float64 { return float64(a.Counts.TCPDrops) },
	"resends":      func(a *measure.Access) float64 { return float64(a.Counts.Resends) },
	"placed":       func(a *measure.Access) float64 { return float64(a.Placed) },
}

// column is the sum of a column over an event's accesses; or how many ended with
// a status.
func (r *reader) column(e *event, name string) (func(*view) (float64, error), error) {
	if name == "mapping" && verbs[e.verb] == kindRegister {
		return func(v *view) (float64, error) { return float64(v.p.events[e.number].mapping), nil }, nil
	}
	get := columns[name]
	if i := slices.Index(statuses, name); get == nil && i >= 0 {
		get = func(a *measure.Access) float64 {
			if a.Status.String() == name {
				return 1
			}
			return 0
		}
	}
	if get == nil {
		var names []string
		for n := range columns {
			names = append(names, n)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("%s.%s: one of %s, or a status, is due%s", e.name, name, strings.Join(names, ", "), configs.Suggest(name, names))
	}
	return func(v *view) (total float64, err error) {
		for i := range v.p.events[e.number].accesses {
			total += get(&v.p.events[e.number].accesses[i])
		}
		return total, nil
	}, nil
}

// functions that a comparison may have.
var functionNames = []string{"latency", "time", "count", "resident", "mapping"}

// function reads latency(NAME), time(MOMENT), count(MESSAGE) or resident(REGION).
func (r *reader) function(name, inside string) (func(*view) (float64, error), error) {
	switch name {
	case "count":
		if _, err := r.moment(inside + "#1"); err != nil {
			return nil, err
		}
		return func(v *view) (float64, error) { return float64(len(v.p.watch.sightings[inside])), nil }, nil
	case "resident":
		m := r.s.region(inside)
		if m == nil {
			return nil, fmt.Errorf("resident(%s): no mr has that name", inside)
		}
		return func(v *view) (float64, error) { return float64(v.p.resident(m)), nil }, nil
	case "mapping":
		m := r.s.region(inside)
		if m == nil {
			return nil, fmt.Errorf("mapping(%s): no mr has that name", inside)
		}
		return func(v *view) (float64, error) { return float64(v.p.mapping[v.p.index[m]]), nil }, nil
	case "latency", "time":
		m, err := r.moment(inside)
		if err != nil {
			return nil, err
		}
		if name == "latency" && m.event == nil {
			return nil, fmt.Errorf("latency(%s): the name of an event is due", inside)
		}
		return func(v *view) (float64, error) { return v.p.timeOf(m, name == "latency") }, nil
	}
	return nil, fmt.Errorf("%s(): one of %s is due%s", name, strings.Join(functionNames, ", "), configs.Suggest(name, functionNames))
}

// isStore tells whether an event's accesses store.
func (e *event) isStore() bool { return verbs[e.verb] == kindAccess && e.op != model.OpRead }
