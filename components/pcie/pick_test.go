package pcie

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	rules "rnicmmu/model/pcie"
)

// bench is a transmitter without a unit.
type bench struct {
	tx transmitter
	rx receiver
}

func newBench(t tb, change func(*Spec)) *bench {
	s := defaultSpec(t)
	s.Credits = Credits{PH: 1, PD: 16, NPH: 1, NPD: 1, CPLH: 1, CPLD: 16}
	change(&s)
	e := clocked.NewEngine()
	id := e.Register(&mockMemory{})
	var b bench
	var other bench
	join(e, &s, "link", end{id, "other", 1, &other.tx, &other.rx}, end{id, "bench", 1, &b.tx, &b.rx})
	return &b
}

// waiting lists the offers that a transmitter looks at, the oldest first: so many
// of each class.
func (b *bench) waiting(window int) (out []*offer) {
	for c := range b.tx.offers {
		f := &b.tx.offers[c]
		for n := range min(window, f.Len()) {
			out = append(out, f.At(f.Head()+uint32(n)))
		}
	}
	slices.SortFunc(out, func(a, b *offer) int { return int(a.since) - int(b.since) })
	return out
}

// lacks is what an offer misses, said anew: a read a tag or space, then headers,
// data, a place in the replay buffer. Credits are those left of each pool.
func (b *bench) lacks(o *offer, credits *[rules.NumPools]uint32) Stall {
	c := o.packet.Class
	switch {
	case c == rules.NonPosted && b.tx.tags == 0:
		return StallTag
	case c == rules.NonPosted && o.bytes > b.tx.space:
		return StallBuffer
	case credits[c.Headers()] < 1:
		return Stall(c.Headers())
	case 16*credits[c.Data()] < carries(o):
		return Stall(c.Data())
	case b.tx.sequence.Outstanding() == b.tx.maxTLPs:
		return StallReplay
	}
	return stallNone
}

// carries is the payload that travels with an offer, in bytes.
func carries(o *offer) uint32 {
	if o.packet.Class == rules.NonPosted {
		return 0
	}
	return o.bytes
}

// drawOffers offers up to 8 TLPs of all classes and attributes.
func (b *bench) drawOffers(t *rapid.T, attributes bool) {
	payload := rapid.SampledFrom([]uint32{0, 64, 256})
	for i := range rapid.IntRange(0, 8).Draw(t, "offers") {
		class := msg.TLPType(rapid.IntRange(0, numClasses-1).Draw(t, "class"))
		o := b.tx.submit(class, int32(i))
		o.packet.Tag = uint16(i)
		if attributes {
			o.packet.Relaxed, o.packet.IDOrdered = rapid.Bool().Draw(t, "ro"), rapid.Bool().Draw(t, "ido")
			o.packet.PASID = rapid.Uint32Range(0, 2).Draw(t, "pasid")
			o.packet.Tag = uint16(rapid.IntRange(0, 1).Draw(t, "tag"))
		}
		o.bytes = payload.Draw(t, "bytes")
		shaping{gen: 4}.completion(o, 0, carries(o))
	}
}

// drawRest takes some of what TLPs need away, and returns the credits that are left.
func (b *bench) drawRest(t *rapid.T) (credits [rules.NumPools]uint32) {
	b.tx.tags = int32(rapid.IntRange(0, 1).Draw(t, "tags"))
	b.tx.space = rapid.SampledFrom([]uint32{0, 64, 256}).Draw(t, "space")
	for p := range credits {
		all := b.tx.credits[p].Free()
		credits[p] = rapid.Uint32Range(0, all).Draw(t, "credits")
		b.tx.credits[p].Take(all - credits[p])
	}
	if b.tx.maxTLPs = 512; rapid.IntRange(0, 9).Draw(t, "full") == 0 {
		b.tx.maxTLPs = 0
	}
	return credits
}

// A transmitter that has many TLPs of all classes and attributes on offer, against
// the ordering table asked for each pair: what can go lacks nothing and may pass all
// that are older. Of those the oldest goes, the youngest, or any, by the policy;
// without policy and attributes only the first of each class is looked at. What
// remains stays in order. If nothing can go, the oldest one's want is told.
func TestPickFollowsTheOrderingTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]string{PassBlocked, PassAlways, PassRandom}).Draw(t, "policy")
		attributes := rapid.Bool().Draw(t, "attributes")
		b := newBench(t, func(s *Spec) { s.Pass, s.Relaxed, s.Seed = policy, attributes, rapid.Uint64().Draw(t, "seed") })
		b.drawOffers(t, attributes)
		credits := b.drawRest(t)
		depth := window
		if policy == PassBlocked && !attributes {
			depth = 1
		}
		for {
			offers := b.waiting(depth)
			if len(offers) == 0 {
				return
			}
			var can []int32
			for i, o := range offers {
				free := b.lacks(o, &credits) == stallNone
				for _, older := range offers[:i] {
					free = free && rules.MayPass(&o.packet, &older.packet) != rules.No
				}
				if free {
					can = append(can, o.place)
				}
			}
			c, lack := b.tx.pick(0)
			if len(can) == 0 {
				if want := b.lacks(offers[0], &credits); lack != want {
					t.Fatalf("nothing can go: lack %d, want %d", lack, want)
				}
				return
			}
			if lack != stallNone {
				t.Fatalf("lack %v, but %v can go", lack, can)
			}
			b.check(t, policy, c, can)
		}
	})
}

// check checks one choice against those that can go, and takes it away.
func (b *bench) check(t *rapid.T, policy string, c choice, can []int32) {
	got := b.tx.chosen(c).place
	ok := slices.Contains(can, got)
	switch policy {
	case PassBlocked:
		ok = got == can[0]
	case PassAlways:
		ok = got == can[len(can)-1]
	}
	if !ok {
		t.Fatalf("%s: %d goes, of %v that can", policy, got, can)
	}
	want := places(b.waiting(window))
	want = slices.DeleteFunc(want, func(place int32) bool { return place == got })
	b.tx.done(c)
	if rest := places(b.waiting(window)); !slices.Equal(rest, want) {
		t.Fatalf("%d has gone, %v remain, want %v", got, rest, want)
	}
	for k := range b.tx.offers {
		f := &b.tx.offers[k]
		for n := f.Head(); f.Holds(n + 1); n++ {
			if f.At(n).since > f.At(n+1).since {
				t.Fatalf("class %d is out of order after %d has gone", k, got)
			}
		}
	}
}

func places(offers []*offer) (out []int32) {
	for _, o := range offers {
		out = append(out, o.place)
	}
	return out
}

// Each of those that can go is as likely as the others.
func TestRandomPassingIsFair(t *testing.T) {
	b := newBench(t, func(s *Spec) { s.Pass = PassRandom })
	for i := range 5 {
		b.tx.submit(msg.Completion, int32(i)).packet.Tag = uint16(i % 4)
	}
	b.tx.submit(msg.NonPosted, 5)
	b.tx.tags = 0
	const n = 40000
	var picked [6]float64
	for range n {
		c, _ := b.tx.pick(0)
		picked[b.tx.chosen(c).place]++
	}
	for i, got := range picked {
		want := n / 4. // the fifth is of the first one's transaction, the read has no tag
		if i > 3 {
			want = 0
		}
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("offer %d goes %v times, want %v", i, got, want)
		}
	}
}
