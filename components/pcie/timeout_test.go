package pcie

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

const timeout = 50 * clocked.Microsecond

// patient is a link whose reads time out, with few tags and without SKP, and a
// memory that takes so long.
func patient(latency clocked.Time, tags int) option {
	return func(s *rigSpec) {
		s.SKP, s.CompletionTimeout, s.Tags, s.latency = false, timeout, tags, latency
	}
}

// sent is when the i-th read of a client goes, if it has a tag: a request takes
// the line for less than a cycle.
func sent(i int) clocked.Time { return clocked.Time(2+i) * cycle }

// answeredAt is when the completion of a read of 64 bytes, sent at an instant, has
// arrived.
func answeredAt(s *Spec, sent, latency clocked.Time) clocked.Time {
	return sent + serial(s, 24) + s.LinkLatency + hop + latency + serial(s, 20+64) + s.LinkLatency
}

// Memory does not answer: each read ends when its time is over, counted from when
// its request was sent; its tag rests, and what has none waits, which the dump
// says.
func TestMemoryThatNeverAnswers(t *testing.T) {
	const tags, n = 4, 6
	r := newRig(t, patient(clocked.Second, tags))
	r.clients[0].todo = repeat(read1(1<<32, 64), n)
	r.runUntil(t, clocked.Millisecond)
	if len(r.clients[0].dones) != tags {
		t.Fatalf("%d reads ended, want %d", len(r.clients[0].dones), tags)
	}
	for i, d := range r.clients[0].dones {
		if want := sent(i) + timeout + cycle; d.at != want || d.msg.Status != msg.StatusTimeout || d.msg.Cookie != uint64(i) {
			t.Errorf("read %d ended as %+v at %v, want a time-out at %v", i, d.msg, d.at, want)
		}
	}
	if s := r.Endpoint.Stats(); s.TimedOut != tags || s.Unexpected != 0 || s.TLPs[msg.NonPosted] != tags {
		t.Errorf("%+v, want %d requests, all timed out", s, tags)
	}
	if w := strings.Join(r.Endpoint.Waits(), "\n"); r.Endpoint.Idle() || !strings.Contains(w, "lacks tag") || !strings.Contains(w, "4 tags rest") {
		t.Errorf("idle %v, waits %q, want the reads without a tag and the tags that rest", r.Endpoint.Idle(), w)
	}
}

// A completion that comes late is unexpected: counted and dropped. Its tag has
// rested until then and serves the next read.
func TestLateCompletions(t *testing.T) {
	const tags, n, latency = 4, 6, 80 * clocked.Microsecond
	r := newRig(t, patient(latency, tags))
	spec := defaultSpec(t)
	r.clients[0].todo = repeat(read1(1<<32, 64), n)
	r.run(t)
	if len(r.clients[0].dones) != n {
		t.Fatalf("%d reads ended, want %d", len(r.clients[0].dones), n)
	}
	for i, d := range r.clients[0].dones {
		from := sent(i)
		if i >= tags {
			// Completions follow the first one without a gap.
			from = answeredAt(&spec, sent(0), latency) - serial(&spec, 84) + serial(&spec, int64(i-tags+1)*84)
		}
		if want := r.clock().Edge(from + timeout + cycle); d.at != want || d.msg.Status != msg.StatusTimeout {
			t.Errorf("read %d ended as %+v at %v, want a time-out at %v", i, d.msg, d.at, want)
		}
	}
	if s := r.Endpoint.Stats(); s.TimedOut != n || s.Unexpected != n {
		t.Errorf("%d time-outs and %d unexpected completions, want %d", s.TimedOut, s.Unexpected, n)
	}
	conserved(t, r)
}

// A request is late when its last completion is: those before were of use, those
// after are unexpected, and only the last one frees the tag.
func TestLateInPart(t *testing.T) {
	spec := defaultSpec(t)
	// Eight completions of 64 bytes for a read of 512, a picosecond late from the
	// fourth on.
	three := serial(&spec, 3*84)
	way := serial(&spec, 24) + 2*spec.LinkLatency + hop
	latency := timeout - way - three - 1
	r := newRig(t, patient(latency, 1), func(s *rigSpec) { s.SplitPolicy = "rcb" })
	r.clients[0].todo = repeat(read1(1<<32, 512), 2)
	r.run(t)
	free := sent(0) + way + latency + serial(&spec, 8*84)
	for i, from := range []clocked.Time{sent(0), free} {
		d := r.clients[0].dones[i]
		if want := r.clock().Edge(from + timeout + cycle); d.at != want || d.msg.Status != msg.StatusTimeout {
			t.Errorf("read %d ended as %+v at %v, want a time-out at %v", i, d.msg, d.at, want)
		}
	}
	if s := r.Endpoint.Stats(); s.TimedOut != 2 || s.Unexpected != 2*5 || len(r.clients[0].dones) != 2 {
		t.Errorf("%d time-outs and %d unexpected completions, want 2 and 10", s.TimedOut, s.Unexpected)
	}
	conserved(t, r)
}

// A completion that has arrived by the end of the time is in time.
func TestCompletionsJustInTime(t *testing.T) {
	spec := defaultSpec(t)
	for _, late := range []clocked.Time{-1, 0, 1} {
		r := newRig(t, patient(timeout-answeredAt(&spec, 0, 0)+late, 1))
		r.clients[0].todo = []msg.DMA{read1(1<<32, 64)}
		r.run(t)
		want, n := msg.StatusSuccess, uint64(0)
		if late > 0 {
			want, n = msg.StatusTimeout, 1
		}
		if d, s := r.clients[0].dones, r.Endpoint.Stats(); len(d) != 1 || d[0].msg.Status != want || s.TimedOut != n || s.Unexpected != n {
			t.Errorf("%d ps late: %+v, %+v, want %v", late, d, s, want)
		}
		conserved(t, r)
	}
}

// Answers around the limit: each read ends once, those answered in time with
// success, the others exactly when their time is over, and no tag or space leaks.
func TestTimeoutsLeakNothing(t *testing.T) {
	spec := defaultSpec(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		times := rapid.SliceOfN(rapid.IntRange(30_000, 70_000), n, n).Draw(t, "latencies")
		r := newRig(t, patient(clocked.Time(times[0])*ns, rapid.IntRange(1, 8).Draw(t, "tags")), func(s *rigSpec) {
			s.CompletionBuffer = 512
			s.shuffle = rapid.Uint64Range(1, 1<<40).Draw(t, "shuffle")
		})
		asked := make([]clocked.Time, n) // when each request was sent
		r.memory.status = func(q *msg.MemReq) msg.Status {
			i := int((q.PA - 1<<32) >> 12)
			asked[i] = r.engine.Now() - hop - spec.LinkLatency - serial(&spec, 24)
			r.memory.latency = clocked.Time(times[(i+1)%n]) * ns
			return msg.StatusSuccess
		}
		r.clients[0].todo = repeat(read1(1<<32, 64), n)
		r.run(t)
		ended := make([]int, n)
		var lost uint64
		for _, d := range r.clients[0].dones {
			i := d.msg.Cookie
			ended[i]++
			end := r.clock().Edge(asked[i] + timeout + cycle)
			if late := d.msg.Status == msg.StatusTimeout; late && d.at != end || !late && d.at > end {
				t.Errorf("read %d, sent at %v, ended with %v at %v", i, asked[i], d.msg.Status, d.at)
			} else if late {
				lost++
			}
		}
		for i, k := range ended {
			if k != 1 {
				t.Errorf("read %d ended %d times", i, k)
			}
		}
		if s := r.Endpoint.Stats(); s.TimedOut != lost || s.Unexpected != lost {
			t.Errorf("%d time-outs, %d unexpected completions, want %d", s.TimedOut, s.Unexpected, lost)
		}
		conserved(t, r)
	})
}

// Without a limit a read waits as long as it takes, and no timer is left.
func TestNoCompletionTimeout(t *testing.T) {
	r := newRig(t, patient(100*clocked.Second, 1), func(s *rigSpec) { s.CompletionTimeout = 0 })
	r.clients[0].todo = []msg.DMA{read1(1<<32, 64)}
	r.run(t)
	if d := r.clients[0].dones; len(d) != 1 || d[0].msg.Status != msg.StatusSuccess || r.engine.Now() > d[0].at {
		t.Errorf("%+v at %v, want success and nothing after it", d, r.engine.Now())
	}
}

// The data of a poisoned completion are not used: its read ends so, whatever the
// others bring. A poisoned write reaches memory as such, it alone.
func TestPoison(t *testing.T) {
	spec := injected(t, "down 2 poison, up 6 poison")
	r := newRig(t, of(spec))
	reads := repeat(read1(1<<32, 512), 2) // two completions each
	r.clients[0].todo = append(reads, repeat(write1(1<<33, 256), 4)...)
	r.run(t)
	for i, want := range []msg.Status{msg.StatusPoisoned, msg.StatusSuccess} {
		if d := r.clients[0].dones[i].msg; d.Status != want || d.Cookie != uint64(i) {
			t.Errorf("read %d: %+v, want %v", i, d, want)
		}
	}
	for i, m := range r.memory.got { // 2 requests, 4 writes
		if m.msg.Poisoned != (i == 5) {
			t.Errorf("request %d at memory: %+v", i, m.msg)
		}
	}
	if len(r.memory.got) != 6 || len(r.clients[0].dones) != 2 {
		t.Errorf("%d requests and %d answers, want 6 and 2", len(r.memory.got), len(r.clients[0].dones))
	}
	conserved(t, r)
}

// A request has no data to be marked bad.
func TestPoisonNeedsData(t *testing.T) {
	spec := injected(t, "up 1 poison")
	r := newRig(t, of(spec))
	r.clients[0].todo = []msg.DMA{read1(1<<32, 64)}
	r.run(t)
	if r.memory.got[0].msg.Poisoned || r.clients[0].dones[0].msg.Status != msg.StatusSuccess {
		t.Errorf("%+v, %+v", r.memory.got, r.clients[0].dones)
	}
}
