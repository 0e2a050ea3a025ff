package protocol

import (
	"fmt"
	"slices"
	"strings"

	"rnicmmu/verify/protocol/explore"
)

// pending is what waits in a state: table reads or translation requests, by adapter
// and page, and translations in use, by access.
type pending struct {
	reads [maxAdapters][maxPages]bool
	given [maxAccesses]bool
}

func (t *Tables) pending(k explore.Key) (w pending) {
	s := t.unpack(k)
	for a := range s.adapters {
		for p := range s.adapters[a].walks {
			w.reads[a][p] = s.adapters[a].walks[p].busy
		}
	}
	for i := range s.accesses {
		w.given[i] = s.accesses[i].phase >= accessGiven
	}
	return w
}

func (t *ATS) pending(k explore.Key) (w pending) {
	s := t.unpack(k)
	for p := range s.requests {
		w.reads[0][p] = s.requests[p].busy
	}
	for i := range s.accesses {
		w.given[i] = s.accesses[i].phase >= accessGiven
	}
	return w
}

// wire is how a scenario names the messages of a system.
type wire struct {
	scheme             string
	asks, answer       string // a table's entry, or a translation
	event, done        string // of a fault
	take, protect, ack string // of an invalidation
}

func (t *Tables) wire() wire {
	w := wire{"odp", "mtt-read", "mtt-completion", "eqe", "resume-done", "zap", "write-protect", "-done"}
	if t.Suspend {
		w.scheme, w.take = "suspend", "suspend"
	}
	return w
}

func (t *ATS) wire() wire {
	return wire{"sva", "translation-request", "translation-completion", "page-request", "prg-response", "invalidate", "invalidate", "-completion"}
}

// Times of a saved scenario. A message that others overtake is held for longer than
// an invalidation takes, a handler stays at its check for so long that what comes
// between look-up and check does; the probes come when all is over.
const (
	heldFor     = 200  // µs
	faultTakes  = 1000 // µs more for each fault meanwhile, with the RNR delay behind it
	checking    = "60us"
	intoCheck   = " +20us"
	probesAfter = "20ms"
)

// held is a message that may have to be held: the nth of its name.
type held struct {
	open      bool
	name      string
	nth       int
	adapter   uint16
	page      uint32
	overtaken string // by this message
	faults    int    // there were before it
}

// saver writes a trace as a scenario of the cycle model.
type saver struct {
	wire
	adapters  int
	last      string // moment of the step before
	faults    int
	noted     [maxAccesses]bool // faults between look-up and check
	count     map[string]int
	reads     [maxAdapters][maxPages]held
	uses      [maxAccesses]held
	who       [maxAccesses]Event // their accesses
	told      [maxPages]uint8    // adapters that an invalidation has reached
	mapped    [maxPages]uint8    // adapters with the page in their table
	why       [maxPages]Kind
	stored    [maxPages][]string
	pages     uint32
	changes   int
	accesses  int
	evictions int
	moves     int
	delays    []string
	timeline  []string
	expect    []string
	alone     string // why the cycle model has no such interleaving
}

// scenario writes a trace in the language of verify/scenario; err: the cycle model
// has no counterpart.
func scenario(s System, name string, v *explore.Violation[[]Event]) (text string, err error) {
	x := &saver{wire: s.wire(), adapters: s.adapters(), count: map[string]int{}}
	before := s.pending(v.Start)
	for i := range v.Trace {
		after := s.pending(v.Trace[i].To)
		for _, e := range v.Trace[i].Event {
			x.pages = max(x.pages, e.Page+1)
			x.step(e)
		}
		x.begun(&before, &after)
		before = after
	}
	if x.alone != "" {
		return "", fmt.Errorf("no scenario: %s", x.alone)
	}
	x.close()
	return x.text(name, v), nil
}

// begun notes reads and uses that a step has begun.
func (x *saver) begun(before, after *pending) {
	for a := range x.reads {
		for p := range x.reads[a] {
			if r := &x.reads[a][p]; after.reads[a][p] && !r.open {
				n := x.next(x.asks, uint16(a))
				x.last = fmt.Sprintf("%s#%d@%d", x.asks, n, a)
				*r = held{open: true, name: x.answer, nth: n, adapter: uint16(a), page: uint32(p), faults: x.faults}
			}
		}
	}
	for i := range x.uses {
		if u := &x.uses[i]; after.given[i] && !before.given[i] && !u.open {
			e := x.who[i]
			name := "data-read"
			if e.Write {
				name = "data-write"
			}
			*u = held{open: true, name: name, nth: x.next(name, e.Adapter), adapter: e.Adapter, page: e.Page, faults: x.faults}
		}
	}
}

// next numbers the messages of a name on an adapter's link.
func (x *saver) next(name string, adapter uint16) int {
	key := fmt.Sprintf("%s@%d", name, adapter)
	x.count[key]++
	return x.count[key]
}

// sight makes the next message of a name the moment that what follows waits for.
func (x *saver) sight(name string, adapter uint16) string {
	x.last = fmt.Sprintf("%s#%d@%d", name, x.next(name, adapter), adapter)
	return x.last
}

// text is the file.
func (x *saver) text(name string, v *explore.Violation[[]Event]) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s: %s", v.Kind, v.Rule)
	line("# The shortest way there, in the cycle model: no rule is broken, unless by the same fault.\n")
	line("scenario %s", name)
	line("scheme: %s\nadapters: %d\npcie.pass: always", x.scheme, x.adapters)
	line("host.pager.grace: 0ns\nhost.pager.snapshot: false\nhost.pager.read_faults_write: false\nhost.fault.update: %s", checking)
	for p := range x.pages {
		line("mr m%d length=4KiB", p)
	}
	slices.Sort(x.delays)
	for _, d := range slices.Compact(x.delays) {
		line("%s", d)
	}
	for _, t := range x.timeline {
		line("%s", t)
	}
	for a := range x.adapters {
		for p := range x.pages {
			line("at %s p%d-%d: read m%d length=8B adapter=%d qp=%d", probesAfter, a, p, p, a, x.accesses+int(p))
		}
	}
	line("expect kernel.migrations = %d\nexpect faults.evictions = %d\nexpect faults.raised >= 1", x.moves, x.evictions)
	for _, e := range x.expect {
		line("%s", e)
	}
	for p := range x.pages {
		if len(x.stored[p]) == 1 {
			line("expect content m%d page=0 = %s", p, x.stored[p][0])
		}
	}
	line("----\nok")
	return b.String()
}
