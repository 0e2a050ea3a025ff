package explore

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Options limit and watch an exploration; the zero value explores all, on all
// processors.
type Options struct {
	Workers   int         // 0: one a processor
	MaxStates int         // stop behind the batch that reaches so many; 0: no limit
	MaxDepth  int         // states that far from the first are not expanded; 0: no limit
	Progress  func(Stats) // called between batches
}

// Stats are how far an exploration has come.
type Stats struct {
	States      int
	Transitions int // also those to known states
	Depth       int // steps from the first state to the furthest
}

// Kind is what is wrong.
type Kind string

// Kinds of violations.
const (
	Safety   Kind = "safety"
	Deadlock Kind = "deadlock"
	Livelock Kind = "livelock"
)

// Violation is a state that should not be, with a shortest way to it.
type Violation[E any] struct {
	Kind  Kind
	Rule  string
	Start Key
	Trace []Step[E] // actors keep their names
}

// Result is what an exploration found.
type Result[E any] struct {
	Stats
	Complete  bool // all states were seen, or a violation was found
	Violation *Violation[E]
}

const (
	chunkStates = 512
	batchChunks = 64
	noParent    = ^uint32(0)
)

// record is a step found in a chunk.
type record struct {
	key         Key
	hash        uint64
	from, to    uint32
	environment bool
}

// chunk is a run of states of the frontier, and the steps from them.
type chunk struct {
	from    []uint32
	records []record
	byShard [shards][]uint32
	stuck   uint32 // state without a step of the protocol's own that is not at rest
}

type edge struct{ from, to uint32 }

// explorer is an exploration under way.
type explorer[E any] struct {
	system  System[E]
	options Options
	stats   Stats
	shards  [shards]shard
	chunks  [batchChunks]chunk
	edges   [][]edge
	bad     [shards]struct {
		at    uint64 // order in the batch
		state uint32
		found bool
	}
}

// Explore visits the states of a system until all are seen, one breaks a rule, a
// limit is reached or the context ends, whose error it returns.
func Explore[E any](ctx context.Context, system System[E], options Options) (Result[E], error) {
	if options.Workers < 1 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	x := &explorer[E]{system: system, options: options}
	return x.run(ctx)
}

func (x *explorer[E]) run(ctx context.Context) (Result[E], error) {
	first := x.system.Canonical(x.system.Initial())
	h := first.hash()
	s := h % shards
	at, _ := x.shards[s].add(&first, h, noParent)
	x.stats.States = 1
	if rule := x.system.Broken(first); rule != "" {
		return x.violation(Safety, rule, at<<shardBits|uint32(s))
	}
	for x.endLevel() {
		if x.options.MaxDepth > 0 && x.stats.Depth == x.options.MaxDepth {
			return Result[E]{Stats: x.stats}, nil
		}
		var cursor frontier
		cursor.start(&x.shards)
		deeper := false
		for n := cursor.fill(&x.chunks); n > 0; n = cursor.fill(&x.chunks) {
			if err := ctx.Err(); err != nil {
				return Result[E]{Stats: x.stats}, err
			}
			fresh := x.batch(x.chunks[:n])
			if fresh > 0 && !deeper {
				deeper = true
				x.stats.Depth++
			}
			if kind, rule, state := x.wrong(x.chunks[:n]); kind != "" {
				return x.violation(kind, rule, state)
			}
			if x.options.Progress != nil {
				x.options.Progress(x.stats)
			}
			if x.options.MaxStates > 0 && x.stats.States >= x.options.MaxStates {
				return Result[E]{Stats: x.stats}, nil
			}
		}
	}
	if state, found := x.trapped(); found {
		return x.violation(Livelock, "rest cannot be reached any more", state)
	}
	return Result[E]{Stats: x.stats, Complete: true}, nil
}

// endLevel closes a level and tells whether it had states.
func (x *explorer[E]) endLevel() (more bool) {
	for i := range x.shards {
		s := &x.shards[i]
		last := 0
		if n := len(s.levels); n > 0 {
			last = s.levels[n-1]
		}
		more = more || len(s.keys) > last
		s.levels = append(s.levels, len(s.keys))
	}
	return more
}

// batch expands some chunks and adds what they have found; it returns the number
// of new states.
func (x *explorer[E]) batch(chunks []chunk) (fresh int) {
	x.parallel(len(chunks), func(i int) { x.expand(&chunks[i]) })
	before := 0
	for i := range x.shards {
		before += len(x.shards[i].keys)
	}
	x.parallel(shards, func(i int) { x.insert(i, chunks) })
	for i := range x.shards {
		fresh += len(x.shards[i].keys)
	}
	fresh -= before
	x.stats.States += fresh
	lists := make([][]edge, len(chunks))
	x.parallel(len(chunks), func(i int) { lists[i] = chunks[i].edges() })
	for i := range chunks {
		x.stats.Transitions += len(chunks[i].records)
	}
	x.edges = append(x.edges, lists...)
	return fresh
}

func (x *explorer[E]) parallel(n int, do func(int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, x.options.Workers) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}

func (x *explorer[E]) expand(c *chunk) {
	c.records = c.records[:0]
	c.stuck = noParent
	for i := range c.byShard {
		c.byShard[i] = c.byShard[i][:0]
	}
	for _, from := range c.from {
		key := x.shards[from%shards].keys[from>>shardBits]
		own := false
		x.system.Expand(key, true, func(s *Step[E]) {
			h := s.To.hash()
			c.byShard[h%shards] = append(c.byShard[h%shards], uint32(len(c.records)))
			c.records = append(c.records, record{s.To, h, from, 0, s.Environment})
			own = own || !s.Environment
		})
		if !own && c.stuck == noParent && !x.system.Rest(key) {
			c.stuck = from
		}
	}
}

// insert adds the new states of one shard.
func (x *explorer[E]) insert(i int, chunks []chunk) {
	s, bad := &x.shards[i], &x.bad[i]
	bad.found = false
	for n := range chunks {
		c := &chunks[n]
		for _, r := range c.byShard[i] {
			rec := &c.records[r]
			at, fresh := s.add(&rec.key, rec.hash, rec.from)
			rec.to = at<<shardBits | uint32(i)
			if fresh && !bad.found && x.system.Broken(rec.key) != "" {
				bad.found, bad.at, bad.state = true, uint64(n)<<32|uint64(r), rec.to
			}
		}
	}
}

// edges are the protocol's own steps of a chunk.
func (c *chunk) edges() []edge {
	n := 0
	for i := range c.records {
		if r := &c.records[i]; !r.environment && r.from != r.to {
			n++
		}
	}
	list := make([]edge, 0, n)
	for i := range c.records {
		if r := &c.records[i]; !r.environment && r.from != r.to {
			list = append(list, edge{r.from, r.to})
		}
	}
	return list
}

// wrong is the first of what a batch has found wrong. A state in which nothing
// goes on is nearer than any that was added.
func (x *explorer[E]) wrong(chunks []chunk) (kind Kind, rule string, state uint32) {
	for i := range chunks {
		if chunks[i].stuck != noParent {
			return Deadlock, "nothing can go on, and not all is at rest", chunks[i].stuck
		}
	}
	first := ^uint64(0)
	for i := range x.bad {
		if b := &x.bad[i]; b.found && b.at < first {
			first, kind, state = b.at, Safety, b.state
		}
	}
	if kind != "" {
		rule = x.system.Broken(*x.key(state))
	}
	return kind, rule, state
}

func (x *explorer[E]) key(state uint32) *Key { return &x.shards[state%shards].keys[state>>shardBits] }
