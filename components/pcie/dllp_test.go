package pcie

import (
	"fmt"
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// packets is how many Acks, or UpdateFC, are sent for TLPs that arrive at the given
// times: each a delay after the first TLP that it is for, or with the every-th one;
// what comes before it leaves is told by it too.
func packets(arrivals []clocked.Time, delay clocked.Time, every int) (n int) {
	for first := 0; first < len(arrivals); n++ {
		next := first + 1
		for next < len(arrivals) && arrivals[next] < arrivals[first]+delay && next-first != every {
			next++
		}
		first = next
	}
	return n
}

// The timers of Ack and UpdateFC: how many there are of a stream of writes, by
// time, by count and by what comes first. By default both are those of the formula.
func TestPaceOfAcksAndUpdates(t *testing.T) {
	const n = 2000
	for _, c := range []struct{ ack, update Timer }{
		{Timer{}, Timer{}},
		{Timer{Every: 1}, Timer{Every: 1}},
		{Timer{Every: 7}, Timer{Delay: 300 * ns}},
		{Timer{Delay: 100 * ns, Every: 5}, Timer{Delay: 20 * ns, Every: 5}},
		{Timer{Delay: 30 * clocked.Microsecond}, Timer{Delay: 1}},
	} {
		spec := injected(t, "")
		spec.Ack, spec.Update, spec.Credits, spec.ReplayBuffer = c.ack, c.update, Credits{PH: 127}, ReplayBuffer{TLPs: 2047, Bytes: 16 << 20}
		r := newRig(t, of(spec))
		ways[0].load(r, 0, n)
		r.run(t)
		arrivals := make([]clocked.Time, n)
		for i := range arrivals {
			arrivals[i] = schedule{&ways[0], &spec}.end(i+1) + spec.LinkLatency
		}
		of := func(timer Timer) int {
			if timer.Delay == 0 {
				timer.Delay = 85_313 // (256 + 28) × 3 ÷ 16 + 115 = 168 symbols of 507.8125 ps
			}
			return packets(arrivals, timer.Delay, timer.Every)
		}
		down := r.Root.tx.out
		down.settle(r.engine.Now() + clocked.Millisecond)
		acks := of(c.ack)
		if sent, want := int(down.left.Tail()), acks+of(c.update); sent != want {
			t.Errorf("%+v: %d packets of the data link layer, want %d Acks and %d UpdateFC", c, sent, acks, want-acks)
		}
		conserved(t, r)
	}
}

// What the data link layer sends it takes from TLPs of its own direction: with one
// Ack and one UpdateFC for every k writes up, x of them in a second leave doorbells
// what is left of the line down by 16·x/k bytes. A doorbell is shorter than a write,
// so that what is due leaves before it is due again.
func TestAcksTakeFromTheOtherDirection(t *testing.T) {
	const n = 4000
	up, down := &ways[0], &ways[1]
	for _, every := range []int{1, 2, 8} {
		r := newRig(t, withoutSKP, func(s *rigSpec) {
			s.Ack = Timer{Delay: 30 * clocked.Microsecond, Every: every}
			s.Update, s.AdapterCredits = s.Ack, Credits{}
		})
		up.load(r, 0, n)
		down.load(r, 0, 3*n) // they end later
		r.run(t)
		writes, bells := up.seen(r), down.seen(r)
		x := rate(writes, writes[n-1])
		want := (bytesPerSecond(4, 16) - 2*rules.DLLPBytes*x/float64(every)) / float64(down.bytes)
		within(t, fmt.Sprintf("every %d", every), rate(bells, writes[n-1]), want, 3e-4)
	}
}

// rate is the TLPs a second that are seen from the hundredth on until an instant.
func rate(at []clocked.Time, until clocked.Time) float64 {
	at = at[100:]
	n := 0
	for n+1 < len(at) && at[n+1] <= until {
		n++
	}
	return float64(n) / float64(at[n]-at[0]) * 1e12
}

// A packet of the data link layer waits for the TLP on the line, and goes before
// those that wait: Ack and UpdateFC of one write stand between two doorbells.
func TestAcksGoBeforeTLPs(t *testing.T) {
	const n = 100
	w := &ways[1]
	for start := range clocked.Time(10) { // of the write, in cycles
		spec := injected(t, "")
		spec.Ack.Every, spec.Update.Every = 1, 1
		spec.AdapterCredits = Credits{} // nothing goes back for doorbells but Acks
		r := newRig(t, of(spec))
		r.clients[0].start = 20*ns + start*cycle
		ways[0].load(r, 0, 1)
		w.load(r, 0, n)
		r.run(t)
		c := schedule{w, &spec}
		due := r.memory.got[0].at - hop
		k := c.before(due) // doorbells that are on the line or have been
		var want []clocked.Time
		for i := 1; i <= n; i++ {
			at := c.end(i)
			if i > k {
				at = w.start + serial(&spec, int64(i)*w.bytes+2*rules.DLLPBytes)
			}
			want = append(want, w.shown(at+spec.LinkLatency))
		}
		if got := w.seen(r); !slices.Equal(got, want) {
			t.Errorf("write at %v: doorbells seen at\n%v, want\n%v", due, got, want)
		}
	}
}

// Of what is due together a Nak goes first, then an Ack, then the UpdateFC of
// posted, non-posted and completion credits, and nothing is sent twice.
func TestOrderOfDLLPs(t *testing.T) {
	e := clocked.NewEngine()
	id := e.Register(&mockMemory{})
	spec := injected(t, "")
	l := newLine(e, &spec, "x", true, &end{unit: id}, &end{unit: id})
	busy := 100 * ns
	l.hold(0, busy)
	for i, k := range []dllpKind{dllpUpdate + 2, dllpAck, dllpUpdate, dllpNak, dllpUpdate + 1, dllpAck} {
		l.owe(clocked.Time(i)*ns, k, &pace{}, dllpBody{seq: uint16(i)})
	}
	l.settle(busy - 1)
	if l.left.Len() > 0 {
		t.Errorf("%d packets have left a line that stands still", l.left.Len())
	}
	l.settle(clocked.Microsecond)
	want := []dllp{{kind: dllpNak}, {kind: dllpAck}, {kind: dllpUpdate}, {kind: dllpUpdate + 1}, {kind: dllpUpdate + 2}}
	for i, seq := range []uint16{3, 5, 2, 4, 0} { // of the two Acks the later one
		want[i].at, want[i].body.seq = busy+serial(&spec, int64(i+1)*rules.DLLPBytes)+spec.LinkLatency, seq
	}
	var got []dllp
	for l.left.Len() > 0 {
		got = append(got, l.left.Pop())
	}
	if !slices.Equal(got, want) {
		t.Errorf("left: %+v, want %+v", got, want)
	}
}

// A link at rest costs nothing: when the last TLP has arrived there is no event any
// more, although Acks and UpdateFC are due and SKP ordered sets come and go. The
// completion timeout looks once whether a request is late.
func TestQuietLink(t *testing.T) {
	for _, gen := range []int{1, 4, 6} {
		r := newRig(t, func(s *rigSpec) { s.Gen = gen })
		r.clients[0].todo = append(repeat(read1(high, 512), 50), repeat(write1(high, 256), 50)...)
		r.mmio.todo = []msg.Doorbell{{Len: 64}}
		r.runUntil(t, clocked.Millisecond)
		last := r.clients[0].dones[49].at
		for _, m := range r.memory.got {
			last = max(last, m.at)
		}
		if now := r.engine.Now(); now > last+2*cycle { // a freed place of a wire is told
			t.Errorf("Gen%d: the last arrival is at %v, the last event at %v", gen, last, now)
		}
		var ticks tickCounter
		r.engine.AcceptHook(&ticks)
		r.runUntil(t, clocked.Never)
		if ticks.endpoint != 1 || ticks.root != 0 || r.engine.Now() > r.spec.CompletionTimeout+clocked.Microsecond {
			t.Errorf("Gen%d: %d ticks of the endpoint and %d of the root port until %v, want 1 and 0 until %v",
				gen, ticks.endpoint, ticks.root, r.engine.Now(), r.spec.CompletionTimeout)
		}
		conserved(t, r)
	}
}

// One that loses things is at rest when all is acknowledged and a replay timer that
// was set has ended: no later than that after the last arrival.
func TestQuietLossyLink(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.Inject.BER, s.CompletionTimeout = 1e-9, 0 })
	r.clients[0].todo = repeat(write1(high, 256), 1000)
	r.run(t)
	end := r.engine.Now()
	last := r.memory.got[999].at
	if end > last+replayTimer {
		t.Errorf("the last arrival is at %v, the last event at %v, which is more than the replay timer later", last, end)
	}
	conserved(t, r)
}
