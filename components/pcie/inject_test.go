package pcie

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// oneWay is a direction that carries TLPs of one size back to back from a known
// instant on, and shows when each has arrived.
type oneWay struct {
	name  string
	start clocked.Time
	bytes int64
	load  func(r *rig, first, n int)
	seen  func(r *rig) []clocked.Time
	shown func(arrival clocked.Time) clocked.Time // when an arrival is seen
	stats func(l *Link) (sender, receiver Stats)
	line  func(l *Link) *line
}

// ways are writes of 256 B, which are there two cycles after the start, and MMIO
// writes of 64 B, a hop after it.
var ways = []oneWay{
	{"up", 2 * cycle, 256 + 24,
		func(r *rig, first, n int) { r.clients[0].todo = repeat(write1(1<<32, 256), first+n)[first:] },
		func(r *rig) (at []clocked.Time) {
			for i, m := range r.memory.got {
				if m.msg.Cookie != uint64(i) {
					at = append(at, -1)
				}
				at = append(at, m.at)
			}
			return at
		},
		func(arrival clocked.Time) clocked.Time { return arrival + hop },
		func(l *Link) (Stats, Stats) { return l.Endpoint.Stats(), l.Root.Stats() },
		func(l *Link) *line { return l.Endpoint.tx.out }},
	{"down", 1 + hop, 64 + 24,
		func(r *rig, first, n int) {
			for i := range n {
				r.mmio.todo = append(r.mmio.todo, msg.Doorbell{Len: 64, Cookie: uint64(first + i)})
			}
		},
		func(r *rig) (at []clocked.Time) {
			for i, m := range r.clients[0].bells {
				if m.msg.Cookie != uint64(i) {
					at = append(at, -1)
				}
				at = append(at, m.at)
			}
			return at
		},
		func(arrival clocked.Time) clocked.Time { return clocked.NewDomain(800_000_000).Edge(arrival + cycle) },
		func(l *Link) (Stats, Stats) { return l.Root.Stats(), l.Endpoint.Stats() },
		func(l *Link) *line { return l.Root.tx.out }},
}

// injected is a Gen4 x16 link on which something happens, and Acks and UpdateFC
// take their time so that none is in the way.
func injected(t tb, events string) Spec {
	s := defaultSpec(t)
	s.SKP, s.Inject.Events = false, events
	s.Ack.Delay, s.Update.Delay = 5*clocked.Microsecond, 5*clocked.Microsecond
	return s
}

// of is a rig's link.
func of(s Spec) option { return func(r *rigSpec) { r.Spec = s } }

// schedule is when TLPs that are sent back to back end and start.
type schedule struct {
	w *oneWay
	s *Spec
}

// end is when the i-th TLP on the line, from 1, has left.
func (c schedule) end(i int) clocked.Time { return c.w.start + serial(c.s, int64(i)*c.w.bytes) }

// before is how many TLPs have started before an instant.
func (c schedule) before(at clocked.Time) (n int) {
	for c.end(n) < at {
		n++
	}
	return n
}

// nak is when the sender has the Nak of what its peer sees at an instant.
func (c schedule) nak(seen clocked.Time) clocked.Time { return seen + serial(c.s, 8) + c.s.LinkLatency }

// What each event does to one of 40 TLPs, either way: which TLP arrives in
// which turn of the line, and what is counted.
func TestInjectedEvents(t *testing.T) {
	const total = 40
	for _, w := range ways {
		for _, what := range []string{"corrupt", "drop", "duplicate", "nak", "poison", "delay 300ns"} {
			n := 10
			if what == "delay 300ns" {
				n = total - 1 // two that come at once
			}
			spec := injected(t, fmt.Sprintf("%s %d %s", w.name, n, what))
			r := newRig(t, of(spec))
			w.load(r, 0, total)
			r.run(t)
			c := schedule{&w, &spec}
			// turn is that of a TLP which arrives; those from n on have to wait.
			turn := func(i int) int { return i }
			var replayed, naks int
			late := clocked.Time(0)
			switch what {
			case "corrupt", "drop":
				seen := n
				if what == "drop" {
					seen = n + 1 // it is missed when the next one comes
				}
				sent := c.before(c.nak(c.end(seen) + spec.LinkLatency))
				replayed, naks = sent-n+1, 1
				turn = func(i int) int { return i + replayed }
			case "duplicate":
				turn = func(i int) int { return i + 1 }
			case "nak":
				sent := c.before(c.nak(c.end(n) + spec.LinkLatency))
				replayed, naks = sent-n, 1
				turn = func(i int) int {
					if i <= sent {
						return i // it came before it was sent again
					}
					return i + replayed
				}
			case "delay 300ns":
				late = c.end(n) + spec.LinkLatency + 300*ns
			}
			var want []clocked.Time
			for i := 1; i <= total; i++ {
				at := c.end(i)
				if i > n || i == n && what != "duplicate" {
					at = max(c.end(turn(i)), late-spec.LinkLatency)
				}
				want = append(want, w.shown(at+spec.LinkLatency))
			}
			if got := w.seen(r); !slices.Equal(got, want) {
				t.Errorf("%s %s: seen at\n%v, want\n%v", w.name, what, got, want)
			}
			sender, receiver := w.stats(r.Link)
			if sender.Replayed != uint64(replayed) || sender.ReplayedBytes != uint64(replayed)*uint64(w.bytes) || sender.Naks != uint64(naks) ||
				sender.ReplayTimeouts+sender.Rollovers+sender.Recoveries+receiver.Recoveries != 0 {
				t.Errorf("%s %s: %+v, want %d replayed and %d Naks", w.name, what, sender, replayed, naks)
			}
			conserved(t, r)
		}
	}
}

// A duplicate is acknowledged at once, whatever the pace: a replay buffer of four
// TLPs has room again when that Ack has come.
func TestDuplicateIsAcknowledgedAtOnce(t *testing.T) {
	for _, w := range ways {
		spec := injected(t, w.name+" 4 duplicate")
		spec.ReplayBuffer.TLPs = 4
		r := newRig(t, of(spec))
		w.load(r, 0, 5)
		r.run(t)
		c := schedule{&w, &spec}
		want := w.shown(c.nak(c.end(5)+spec.LinkLatency) + serial(&spec, w.bytes) + spec.LinkLatency)
		if got := w.seen(r); len(got) != 5 || got[4] != want {
			t.Errorf("%s: seen at %v, the last is due at %v", w.name, got, want)
		}
		conserved(t, r)
	}
}

// Events count the TLPs of their way, each once: what is sent again is not counted.
func TestEventsCountNewTLPs(t *testing.T) {
	r := newRig(t, of(injected(t, "up 3 corrupt, up 20 corrupt, up 30 poison")))
	ways[0].load(r, 0, 40)
	r.run(t)
	for i, m := range r.memory.got {
		if m.msg.Poisoned != (i == 29) {
			t.Errorf("write %d is poisoned: %v", i+1, m.msg.Poisoned)
		}
	}
	if s := r.Endpoint.Stats(); s.Naks != 2 || len(r.memory.got) != 40 {
		t.Errorf("%d Naks and %d writes, want 2 and 40", s.Naks, len(r.memory.got))
	}
}

// An error of pcie.inject.events is one line, with the key, what is wrong and
// what is due.
func TestInjectedEventsAreChecked(t *testing.T) {
	for _, c := range []struct{ events, want string }{
		{"sideways 1 drop", `"sideways 1 drop": direction "sideways": up or down`},
		{"up", `"up": 1 words: up or down`},
		{"up 1", `"up 1": 2 words`},
		{"up 0 drop", `TLP "0": up or down, a number from 1`},
		{"up -1 drop", `TLP "-1"`},
		{"up x drop", `TLP "x"`},
		{"up 99999999999999999999 drop", `TLP "99999999999999999999"`},
		{"down 3 melt", `"melt": up or down, a number from 1, and drop, corrupt, frame, duplicate, nak, poison or delay TIME are due`},
		{"down 3 drop 1us", `"drop 1us"`},
		{"down 3 delay", `"delay": up or down`},
		{"down 3 delay 1us 2us", `"delay 1us 2us"`},
		{"down 3 delay soon", `delay "soon": a time as 500ps, 100ns or 1us is due, an hour at most`},
		{"down 3 delay -1us", `delay "-1us"`},
		{"down 3 delay 2h", `delay "2h"`},
		{"down 3 delay NaNs", `delay "NaNs"`},
		{"up 1 drop, up 2 nak, up 1 corrupt", "TLP 1 of the way up is named twice; one event for each is due"},
		{"up 1 drop, down 1 nak, down 1 corrupt", "TLP 1 of the way down is named twice; one event for each is due"},
		{"up 1 drop,, down 1 dorp", `"down 1 dorp": "dorp"`},
	} {
		s := defaultSpec(t)
		s.Inject.Events = c.events
		err := s.Check()
		if err == nil || !strings.HasPrefix(err.Error(), "pcie.inject.events: ") || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "due") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one line of pcie.inject.events with %q", c.events, err, c.want)
		}
	}
	for _, events := range []string{"", " , ", "up 1 delay 23800ps", "up 1 drop,down 1 nak", " up  2 delay 1.5us ,\tup 1 poison,"} {
		s := defaultSpec(t)
		s.Inject.Events = events
		if err := s.Check(); err != nil {
			t.Errorf("%q: %v", events, err)
		}
	}
}

// Events are done in the order of their TLPs, whatever that of their list, and
// each on its own way.
func TestEventsAreInOrder(t *testing.T) {
	s := Inject{Events: "down 5 nak, up 7 drop, up 2 delay 1.5us, up 3 frame, down 6 delay 23.8ns, down 8 delay 500ps"}
	up, down := s.events(true), s.events(false)
	if want := []event{{tlp: 2, what: damageDelay, delay: 1500 * ns}, {tlp: 3, what: damageFraming}, {tlp: 7, what: damageDrop}}; !slices.Equal(up, want) {
		t.Errorf("up: %v, want %v", up, want)
	}
	if want := []event{{tlp: 5, what: damageNak}, {tlp: 6, what: damageDelay, delay: 23800}, {tlp: 8, what: damageDelay, delay: 500}}; !slices.Equal(down, want) {
		t.Errorf("down: %v, want %v", down, want)
	}
}
