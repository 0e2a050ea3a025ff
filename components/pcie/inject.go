package pcie

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Inject is what goes wrong on a link on purpose.
type Inject struct {
	BER      float64      `key:"ber" default:"0" min:"0" max:"0.001" doc:"bit errors a bit, on both directions; in flit mode those that its correction leaves" source:"any; [PCIe] allows 1e-12"`
	Events   string       `key:"events" default:"" doc:"what happens to single TLPs: DIRECTION N WHAT, with commas between; up or down, N counts the direction's TLPs from 1, WHAT is drop, corrupt, frame, duplicate, nak, poison or delay TIME" source:"any"`
	Recovery clocked.Time `key:"recovery" default:"1us" min:"1ns" max:"100ms" doc:"time for which both directions stand still when the link retrains" source:"assumption: some hundred ordered sets on each lane"`
	Withhold string       `key:"withhold" default:"none" oneof:"none,posted,nonposted,completion" doc:"credits of this class never come back, on both directions: what has to pass must pass, and what waits for ever is a deadlock; infinite credits, as those of completions are by default (pcie.credits.cplh), run out never" source:"any"`
	Down     clocked.Time `key:"down" default:"0ns" min:"1ps" max:"3600s" zero:"never" doc:"when the link goes down for good" source:"any"`
}

// withheld are the classes by the names of Inject.Withhold; numClasses: none.
var withheld = map[string]msg.TLPType{"none": numClasses, "posted": msg.Posted, "nonposted": msg.NonPosted, "completion": msg.Completion}

// event is something that is done to one TLP of a direction.
type event struct {
	tlp   uint64 // first TLP: 1
	what  damage
	delay clocked.Time
}

var eventNames = map[string]damage{"drop": damageDrop, "corrupt": damageCorrupt, "frame": damageFraming,
	"duplicate": damageDuplicate, "nak": damageNak, "poison": damagePoison, "delay": damageDelay}

// events are those of a direction, in order; Check has seen them.
func (s *Inject) events(up bool) []event {
	both, err := s.parse()
	if err != nil {
		panic(err)
	}
	if up {
		return both[0]
	}
	return both[1]
}

func (s *Inject) check() error {
	if s.BER < 0 || s.BER > 1e-3 {
		return fmt.Errorf("pcie.inject.ber: %g: 0 to 0.001 is due", s.BER)
	}
	if _, known := withheld[s.Withhold]; !known {
		return fmt.Errorf("pcie.inject.withhold: %q: none, posted, nonposted or completion is due", s.Withhold)
	}
	if s.Recovery < 1 {
		return fmt.Errorf("pcie.inject.recovery: %v: at least 1 ps is due", s.Recovery)
	}
	_, err := s.parse()
	return err
}

// parse reads Events: those of the way up, then those of the way down.
func (s *Inject) parse() (both [2][]event, err error) {
	for text := range strings.SplitSeq(s.Events, ",") {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		e, way, err := parseEvent(words)
		if err != nil {
			return both, fmt.Errorf("pcie.inject.events: %q: %w", strings.Join(words, " "), err)
		}
		both[way] = append(both[way], e)
	}
	for way, events := range both {
		slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.tlp, b.tlp) })
		for i := 1; i < len(events); i++ {
			if events[i].tlp == events[i-1].tlp {
				return both, fmt.Errorf("pcie.inject.events: TLP %d of the way %s is named twice; one event for each is due", events[i].tlp, wayNames[way])
			}
		}
	}
	return both, nil
}

// wayNames are the names of the directions.
var wayNames = [2]string{"up", "down"}

func parseEvent(words []string) (e event, way int, err error) {
	const due = "up or down, a number from 1, and drop, corrupt, frame, duplicate, nak, poison or delay TIME are due"
	if len(words) < 3 {
		return e, 0, fmt.Errorf("%d words: %s", len(words), due)
	}
	if way = slices.Index(wayNames[:], words[0]); way < 0 {
		return e, 0, fmt.Errorf("direction %q: %s", words[0], due)
	}
	if e.tlp, err = strconv.ParseUint(words[1], 10, 63); err != nil || e.tlp == 0 {
		return e, 0, fmt.Errorf("TLP %q: %s", words[1], due)
	}
	what, known := eventNames[words[2]]
	rest := words[3:]
	if what == damageDelay && len(rest) == 1 {
		t, good := parseTime(rest[0])
		if !good {
			return e, 0, fmt.Errorf("delay %q: a time as 500ps, 100ns or 1us is due, an hour at most", rest[0])
		}
		e.delay, rest = t, nil
	} else if what == damageDelay {
		known = false
	}
	if !known || len(rest) > 0 {
		return e, 0, fmt.Errorf("%q: %s", strings.Join(words[2:], " "), due)
	}
	e.what = what
	return e, way, nil
}

// timeUnits are those of an event; a name comes before its own ending.
var timeUnits = []struct {
	name string
	unit clocked.Time
}{{"ps", clocked.Picosecond}, {"ns", clocked.Nanosecond}, {"us", clocked.Microsecond}, {"µs", clocked.Microsecond},
	{"ms", clocked.Millisecond}, {"s", clocked.Second}}

// parseTime reads a number with its unit, 0 to an hour, to the nearest picosecond.
func parseTime(text string) (clocked.Time, bool) {
	for _, u := range timeUnits {
		if number, found := strings.CutSuffix(text, u.name); found {
			v, err := strconv.ParseFloat(number, 64)
			ps := math.Round(v * float64(u.unit))
			good := err == nil && ps >= 0 && ps <= float64(3600*clocked.Second)
			return clocked.Time(ps), good
		}
	}
	return 0, false
}
