package pcie

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// A link that goes down brings nothing any more: what is on it is lost, what is
// sent later too. Reads end when their completion time-out does, with their tags
// for those that wait; writes end as ever. Then nothing is left to happen.
func TestLinkDown(t *testing.T) {
	const down, timeout = clocked.Microsecond, 50 * clocked.Microsecond
	spec := defaultSpec(t)
	spec.Inject.Down, spec.CompletionTimeout = down, timeout
	const n = 600 // reads; 256 tags
	r := newRig(t, of(spec), func(s *rigSpec) { s.clients = 2 })
	r.clients[0].todo = repeat(read1(1<<32, 64), n)
	posted := write1(1<<33, 256)
	posted.Notify = true
	r.clients[1].todo = repeat(posted, n)
	for i := range n {
		r.mmio.todo = append(r.mmio.todo, msg.Doorbell{Len: 64, Cookie: uint64(i)})
	}
	r.run(t)
	for _, m := range r.memory.got {
		if m.at >= down+hop {
			t.Errorf("%+v came at %v", m.msg, m.at)
		}
	}
	for _, b := range r.clients[0].bells {
		if b.at > down+2*cycle {
			t.Errorf("doorbell %d came at %v", b.msg.Cookie, b.at)
		}
	}
	var ends [msg.NumStatuses]int
	for _, d := range r.clients[0].dones {
		ends[d.msg.Status]++
		if late := d.msg.Status == msg.StatusTimeout; late != (d.at > timeout) {
			t.Errorf("read %d ended with %v at %v", d.msg.Cookie, d.msg.Status, d.at)
		}
	}
	lost := n - ends[msg.StatusSuccess]
	if lost == 0 || lost == n || ends[msg.StatusTimeout] != lost || len(r.clients[1].dones) != n {
		t.Errorf("%v reads by status, %d writes, want %d of each in all and some reads of both kinds", ends, len(r.clients[1].dones), n)
	}
	if s := r.Endpoint.Stats(); s.TimedOut != uint64(lost) || s.Unexpected != 0 {
		t.Errorf("%d requests timed out, %d unexpected completions, want %d and 0", s.TimedOut, s.Unexpected, lost)
	}
	// 256 at a time.
	if last := down + clocked.Time((lost+255)/256)*timeout; r.engine.Now() > last+clocked.Microsecond {
		t.Errorf("something happened at %v, the last read ended at %v", r.engine.Now(), last)
	}
	if !r.Idle() || r.engine.Pending() != 0 || len(r.Endpoint.Waits()) != 1 || len(r.Root.Waits()) != 1 {
		t.Errorf("idle %v, %d events, waits %q %q, want idle, 0 and a line of each end", r.Idle(), r.engine.Pending(), r.Endpoint.Waits(), r.Root.Waits())
	}
	if !strings.Contains(r.Endpoint.Waits()[0], "the link is down since 1000.000ns") {
		t.Errorf("waits %q", r.Endpoint.Waits())
	}
}

// What has not arrived when the link goes down does not; a read whose completion
// was on its way ends exactly in time.
func TestLinkDownExactly(t *testing.T) {
	spec := injected(t, "")
	spec.Inject.Down, spec.CompletionTimeout = 100*ns+1, 50*clocked.Microsecond
	w := ways[0]
	r := newRig(t, of(spec))
	w.load(r, 0, 40)
	r.run(t)
	c := schedule{&w, &spec}
	arrived := 0
	for c.end(arrived+1)+spec.LinkLatency < spec.Inject.Down {
		arrived++
	}
	if got := len(r.memory.got); got != arrived {
		t.Errorf("%d writes came before the link went down, want %d", got, arrived)
	}

	spec.Inject.Down = 440 * ns // the answer leaves at about that time
	r = newRig(t, of(spec))
	r.clients[0].todo = []msg.DMA{read1(1<<32, 64)}
	r.run(t)
	want := r.clock().Edge(2*cycle + spec.CompletionTimeout + cycle)
	if d := r.clients[0].dones; len(d) != 1 || d[0].at != want || d[0].msg.Status != msg.StatusTimeout {
		t.Errorf("%+v, want a time-out at %v", d, want)
	}
}

// A replay ends with the link.
func TestLinkDownInAReplay(t *testing.T) {
	for _, w := range ways {
		spec := injected(t, w.name+" 10 corrupt")
		c := schedule{&w, &spec}
		replay := c.before(c.nak(c.end(10) + spec.LinkLatency)) // TLPs before it
		spec.Inject.Down = c.end(replay+3) + 1
		r := newRig(t, of(spec))
		w.load(r, 0, 40)
		r.run(t)
		if s, _ := w.stats(r.Link); s.Replayed != 4 || s.ReplayTimeouts != 0 || !r.Idle() {
			t.Errorf("%s: %d TLPs sent again and %d time-outs, idle %v; want 4, as the fourth had begun, 0 and true", w.name, s.Replayed, s.ReplayTimeouts, r.Idle())
		}
	}
}

// Writes that wait for credits when the link goes down wait no longer.
func TestLinkDownWithoutCredits(t *testing.T) {
	spec := defaultSpec(t)
	const down = 100 * clocked.Microsecond // after all timers
	spec.Inject.Down, spec.Inject.Withhold, spec.Credits.PH = down, "posted", 4
	r := newRig(t, of(spec))
	d := write1(1<<33, 256)
	d.Notify = true
	r.clients[0].todo = repeat(d, 100)
	r.run(t)
	early := 0
	for _, d := range r.clients[0].dones {
		if d.at < down {
			early++
		}
	}
	if early != 4 || len(r.clients[0].dones) != 100 || len(r.memory.got) != 4 || !r.Idle() {
		t.Errorf("%d writes ended before the link went down and %d in all, %d came, idle %v; want 4, 100, 4, true",
			early, len(r.clients[0].dones), len(r.memory.got), r.Idle())
	}
}
