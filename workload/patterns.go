package workload

import "rnicmmu/model"

// steps holds one function a pattern, bound once by target.build.
var steps = map[string]func(*target, *Access){
	Sequential:   (*target).sequential,
	Strided:      (*target).strided,
	Uniform:      (*target).uniform,
	Zipf:         (*target).zipfPages,
	PointerChase: (*target).chase,
	HotSet:       (*target).hotSet,
	KeyValue:     (*target).keyValue,
}

func (t *target) sequential(a *Access) {
	a.VA = t.slots.va(t.pos)
	if t.pos++; t.pos == t.slots.count {
		t.pos = 0
	}
}

// strided starts each round one slot later, so that it comes to every slot
// once before it comes to any slot again.
func (t *target) strided(a *Access) {
	a.VA = t.slots.va(t.pos)
	if t.pos += t.stride; t.pos < t.slots.count {
		return
	}
	if t.lane++; t.lane == t.stride {
		t.lane = 0
	}
	t.pos = t.lane
}

func (t *target) uniform(a *Access) { a.VA = t.slots.va(t.draws.below(t.slots.count)) }

// zipfPages ranks the pages, scatters the ranks over the working set, and is
// uniform within the page.
func (t *target) zipfPages(a *Access) {
	page := t.shuffle.at(t.zipf.draw(&t.draws))
	a.VA = t.items.va(page) + model.VA(t.draws.below(t.inner)*t.slots.size)
}

// chase follows a list with one node a page, in an order that is one cycle
// through all pages. A node keeps its place in its page.
func (t *target) chase(a *Access) {
	page := t.shuffle.at(t.pos)
	if t.pos++; t.pos == t.items.count {
		t.pos = 0
	}
	a.VA = t.items.va(page) + model.VA(mix64(page^t.salt)%t.inner*t.slots.size)
}

func (t *target) hotSet(a *Access) {
	cold := t.slots.count - t.hotSlots
	if cold == 0 || t.draws.chance() < t.hot {
		a.VA = t.slots.va(t.draws.below(t.hotSlots))
		return
	}
	a.VA = t.slots.va(t.hotSlots + t.draws.below(cold))
}

// keyValue ranks the keys; a key has its slot by hashing (a bijection, so two
// keys never share one) and a value of its own length, uniform between the
// shortest and the longest. An access moves the whole value.
func (t *target) keyValue(a *Access) {
	key := t.zipf.draw(&t.draws)
	a.VA = t.items.va(t.shuffle.at(key))
	span := uint64(t.valueMax-t.valueMin) + 1
	a.Len = t.valueMin + uint32(mix64(key^t.salt)%span)
}
