package tpt

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/mtt"
)

// TestTranscripts runs testdata/*: scripts of requests and commands, and what
// then leaves the unit and when. testdata/README.md explains how to read and
// extend them.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				d.Fatalf(t, "unknown command %q: the only one is run", d.Cmd)
			}
			sp, show := options(t, d)
			base := 0
			if d.HasArg("base") {
				d.ScanArgs(t, "base", &base)
			}
			mode := ""
			if d.HasArg("mode") {
				d.ScanArgs(t, "mode", &mode)
			}
			s := newSandwichAt(t, sp, baseVA+model.VA(base)<<12, map[string]Mode{"atc": ATC, "bypass": Bypass}[mode])
			if mode == "implicit" {
				s.openRoot()
			}
			for line := range strings.Lines(d.Input) {
				if f := strings.Fields(line); len(f) > 0 && f[0][0] != '#' {
					s.parse(d, f)
				}
			}
			s.run()
			if !s.unit.Idle() {
				d.Fatalf(t, "not idle at the end: %s", s.unit.Waits())
			}
			return s.log.String() + s.counters(show)
		})
	})
}

// options are the parameters of a run that differ from spec(), and the counters
// to show.
func options(t *testing.T, d *datadriven.TestData) (sp Spec, show []string) {
	sp = spec()
	numbers := map[string]*int{"levels": &sp.MTT.Levels, "line": &sp.MTT.LineEntries, "entries": &sp.MTT.Entries, "ways": &sp.MTT.Ways,
		"walks": &sp.MTT.MSHRs, "key_walks": &sp.MPT.MSHRs, "in_flight": &sp.InFlight, "lookup": &sp.LookupCycles,
		"event_queue": &sp.Fault.QueueDepth, "max_faults": &sp.Fault.MaxOutstanding, "commands": &sp.Invalidation.QueueDepth, "page_requests": &sp.PageRequests}
	cycles := map[string]*clocked.Time{"fill": &sp.Command.Fill, "invalidate": &sp.Command.Invalidate, "per_entry": &sp.Command.PerEntry,
		"trigger": &sp.Fault.Trigger, "resume": &sp.Fault.Resume, "onboard_latency": &sp.Onboard}
	words := map[string]*string{"tables": &sp.Tables, "index": &sp.MTT.Index}
	for _, a := range d.CmdArgs {
		switch {
		case a.Key == "show":
			show = a.Vals
		case a.Key == "base", a.Key == "mode":
		case words[a.Key] != nil:
			*words[a.Key] = a.Vals[0]
		default:
			n, err := strconv.Atoi(a.Vals[0])
			switch p, c := numbers[a.Key], cycles[a.Key]; {
			case err == nil && p != nil:
				*p = n
			case err == nil && c != nil:
				*c = clocked.Time(n) * cycle
			default:
				d.Fatalf(t, "unknown option %s", a.String())
			}
		}
	}
	return sp, show
}

// words are the arguments of a line: KEY=VALUE or a flag.
type words struct {
	s    *sandwich
	d    *datadriven.TestData
	vals map[string]string
}

func (w *words) number(key string, otherwise uint64) uint64 {
	v, ok := w.vals[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 0, 64)
	if err != nil {
		w.d.Fatalf(w.s.t.(*testing.T), "%s=%s is no number", key, v)
	}
	return n
}

// token is token=PLACE or, for a place that was used before, token=PLACE.USE.
func (w *words) token() (t msg.FaultToken) {
	place, use, ok := strings.Cut(w.vals["token"], ".")
	if !ok {
		use = "1"
	}
	w.vals["place"], w.vals["use"] = place, use
	return msg.FaultToken{Place: uint32(w.number("place", 0)), Use: uint32(w.number("use", 1))}
}

func (w *words) flag(key string) bool { _, ok := w.vals[key]; return ok }

func (w *words) at() clocked.Time { return clocked.Time(w.number("at", 0)) * cycle }

// pages is pages=FIRST..LAST or page=N.
func (w *words) pages() (first uint64, count uint32) {
	from, to, ok := strings.Cut(w.vals["pages"], "..")
	if !ok {
		return w.number("page", 0), 1
	}
	w.vals["from"], w.vals["to"] = from, to
	first = w.number("from", 0)
	return first, uint32(w.number("to", 0) - first + 1)
}

// parse adds a line of a script.
func (s *sandwich) parse(d *datadriven.TestData, fields []string) {
	w := &words{s: s, d: d, vals: map[string]string{}}
	for _, f := range fields[1:] {
		k, v, _ := strings.Cut(f, "=")
		w.vals[k] = v
	}
	switch first, count := w.pages(); fields[0] {
	case "map":
		s.parseEntry(w, first, count)
		s.openChild(first >> 18)
		for i := range uint64(count) {
			e := mtt.Entry{PA: model.PA(w.number("frame", 0)+i) << 12, Read: true, Write: !w.flag("ro"), Present: true, Suspended: w.flag("suspended")}
			s.unit.Table().Set(first+i, e.Encode())
		}
	case "read", "write":
		s.parseRequest(w, fields[0] == "write", first)
	case "release":
		s.script = append(s.script, step{at: w.at(), release: true})
	case "invalidate":
		s.command(w.at(), &msg.Command{Op: msg.CmdInvalidate, Entry: first, Count: count, Posts: 1, Moving: w.flag("moving"), Record: new(measure.Invalidation)})
	case "fill":
		c := &msg.Command{Op: msg.CmdFill, Entry: first, Count: count, Posts: 1, Write: !w.flag("ro")}
		for i := range uint64(count) {
			c.PA = append(c.PA, model.PA(w.number("frame", 0)+i)<<12)
		}
		s.command(w.at(), c)
	case "resume":
		s.command(w.at(), &msg.Command{Op: msg.CmdResume, Token: w.token(), Count: 1, Failed: w.flag("failed")})
	default:
		if !s.parseScheme(w, fields[0], first, count) {
			d.Fatalf(s.t.(*testing.T), "unknown line %q", fields[0])
		}
	}
}

// parseRequest is a read or write; pd, variant, length and below break its key
// check.
func (s *sandwich) parseRequest(w *words, write bool, page uint64) {
	m := s.read(w.at(), uint32(w.number("qp", 0)), page)
	if write {
		m.Op, m.Write = model.OpWrite, true
	}
	m.Hold = w.flag("hold")
	s.requests[m.Cookie].keep = w.flag("keep")
	m.PD = uint32(w.number("pd", 1))
	m.Key ^= uint32(w.number("variant", 0))
	m.CheckLen = uint32(w.number("length", 64))
	m.CheckVA -= model.VA(w.number("below", 0))
}

// counters prints the chosen groups of counters.
func (s *sandwich) counters(show []string) string {
	var b strings.Builder
	st := &s.unit.Stats
	cache := func(name string, c *CacheStats) {
		fmt.Fprintf(&b, "%s: lookups=%d hits=%d misses=%d walks=%d merged=%d replays=%d fills=%d evictions=%d read_again=%d\n",
			name, c.Lookups, c.Hits, c.Misses, c.Walks, c.Merged, c.Replays, c.Fills, c.Evictions, c.Stales)
	}
	for _, group := range show {
		switch group {
		case "mpt":
			cache("mpt", &st.MPT)
		case "mtt":
			cache("mtt", &st.MTT)
		case "faults":
			fmt.Fprintf(&b, "faults: raised=%d resumed=%d failed=%d muted=%d\n", st.FaultsRaised, st.FaultsResumed, st.FaultsFailed, st.FaultsMuted)
		case "commands":
			fmt.Fprintf(&b, "commands: fills=%d invalidates=%d zapped=%d revoked=%d\n", st.Fills, st.Invalidates, st.EntriesZapped, st.Revoked)
		case "ats":
			fmt.Fprintf(&b, "ats: requests=%d errors=%d asked=%d stray=%d invalidates=%d revoked=%d\n", st.TranslationRequests, st.TranslationErrors,
				st.PageRequests, st.StrayResponses, st.DevTLBInvalidates, st.Revoked)
		case "keys":
			fmt.Fprintf(&b, "keys: changes=%d kills=%d refused=%d suspends=%d unsuspends=%d protects=%d revoked=%d\n", st.KeyChanges, st.Kills, st.Refused,
				st.Suspends, st.Unsuspends, st.Protects, st.Revoked)
		case "ledgers":
			for _, r := range s.requests {
				fmt.Fprintf(&b, "ledger %s:", r)
				for c, t := range r.Ledger.Causes {
					if t != 0 {
						fmt.Fprintf(&b, " %s=%d", measure.Cause(c), t/cycle)
					}
				}
				fmt.Fprintln(&b)
			}
		}
	}
	return b.String()
}
