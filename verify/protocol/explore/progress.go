package explore

import (
	"errors"
	"slices"
)

// bitset holds a bit a state number.
type bitset []uint64

func (b bitset) has(i uint32) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) set(i uint32)      { b[i/64] |= 1 << (i % 64) }

// trapped is a state from which no state at rest is reached by the protocol's own
// steps, one of those nearest to the first state.
//
// Most steps lead to a state that was found later, so that going through them
// backwards settles most states at once.
func (x *explorer[E]) trapped() (state uint32, found bool) {
	most := 0
	for i := range x.shards {
		most = max(most, len(x.shards[i].keys))
	}
	free := make(bitset, (most<<shardBits+63)/64)
	for i := range x.shards {
		for at := range x.shards[i].keys {
			if x.system.Rest(x.shards[i].keys[at]) {
				free.set(uint32(at)<<shardBits | uint32(i))
			}
		}
	}
	for again := true; again; {
		again = false
		for _, list := range slices.Backward(x.edges) {
			for _, e := range slices.Backward(list) {
				if free.has(e.to) && !free.has(e.from) {
					free.set(e.from)
					again = true
				}
			}
		}
	}
	return x.nearest(free)
}

// nearest is a state of the lowest level that is not in a set.
func (x *explorer[E]) nearest(set bitset) (state uint32, found bool) {
	for level := range x.shards[0].levels {
		for i := range x.shards {
			from := 0
			if level > 0 {
				from = x.shards[i].levels[level-1]
			}
			for at := from; at < x.shards[i].levels[level]; at++ {
				if state = uint32(at)<<shardBits | uint32(i); !set.has(state) {
					return state, true
				}
			}
		}
	}
	return 0, false
}

// errNoWay says that a system's canonical states do not stand for their likes.
var errNoWay = errors.New("explore: a step from a canonical state is none from a state that it stands for")

// violation is the result that a state makes, with the way to it.
func (x *explorer[E]) violation(kind Kind, rule string, state uint32) (Result[E], error) {
	v := &Violation[E]{Kind: kind, Rule: rule, Start: x.system.Initial()}
	var way []Key
	for n := state; ; {
		way = append(way, *x.key(n))
		p := x.shards[n%shards].parents[n>>shardBits]
		if p == noParent {
			break
		}
		n = p
	}
	at := v.Start
	for i := len(way) - 2; i >= 0; i-- {
		step, ok := x.follow(at, &way[i])
		if !ok {
			return Result[E]{Stats: x.stats}, errNoWay
		}
		v.Trace = append(v.Trace, step)
		at = step.To
	}
	return Result[E]{Stats: x.stats, Complete: true, Violation: v}, nil
}

// follow is the step from a state, under its actors' own names, to one that a
// canonical state stands for.
func (x *explorer[E]) follow(from Key, to *Key) (step Step[E], ok bool) {
	x.system.Expand(from, false, func(s *Step[E]) {
		if !ok && x.system.Canonical(s.To) == *to {
			step, ok = *s, true
		}
	})
	return step, ok
}
