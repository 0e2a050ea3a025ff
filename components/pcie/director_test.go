package pcie

import (
	"slices"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// holder keeps the n-th message of a class on its way back for a time, and
// damages one.
type holder struct {
	up     bool
	class  msg.TLPType
	nth    int
	by     clocked.Time
	damage string
	seen   int
	left   []msg.TLPType // upwards
}

func (h *holder) Offered(now clocked.Time, m Message) clocked.Time {
	if m.Up == h.up && m.Class == h.class {
		if h.seen++; h.seen == h.nth {
			return now + h.by
		}
	}
	return 0
}

func (h *holder) Sent(_ clocked.Time, m Message, _ bool) string {
	if !m.Up {
		return ""
	}
	h.left = append(h.left, m.Class)
	if h.damage != "" && len(h.left) == h.nth {
		return h.damage
	}
	return ""
}

// order is the cookies of requests as memory takes them.
func (r *rig) order() (cookies []uint64) {
	for _, m := range r.memory.got {
		cookies = append(cookies, m.msg.Cookie)
	}
	return cookies
}

// mixed are a write, another, a read, a write and a read, told apart by cookies.
func mixed() []msg.DMA {
	all := []msg.DMA{write1(1<<32, 64), write1(1<<33, 64), read1(1<<34, 64), write1(1<<35, 64), read1(1<<36, 64)}
	for i := range all {
		all[i].Cookie = uint64(i)
	}
	return all
}

// What is kept back keeps back what may not pass it, and nothing else: behind a
// write everything waits, behind a read only reads do.
func TestHeldMessages(t *testing.T) {
	for _, c := range []struct {
		class msg.TLPType
		nth   int
		order []uint64
		late  []bool // in that order
	}{
		{msg.Posted, 2, []uint64{0, 1, 2, 3, 4}, []bool{false, true, true, true, true}},
		{msg.NonPosted, 1, []uint64{0, 1, 3, 2, 4}, []bool{false, false, false, true, true}},
	} {
		r := newRig(t)
		r.Direct(&holder{up: true, class: c.class, nth: c.nth, by: 10 * clocked.Microsecond})
		r.clients[0].todo = mixed()
		r.run(t)
		if got := r.order(); !slices.Equal(got, c.order) {
			t.Errorf("class %d: %v, want %v", c.class, got, c.order)
			continue
		}
		for i, m := range r.memory.got {
			if late := m.at > 10*clocked.Microsecond; late != c.late[i] {
				t.Errorf("class %d: request %d at %v", c.class, m.msg.Cookie, m.at)
			}
		}
	}
}

// A held completion lets doorbells pass; a held doorbell no completion.
func TestHeldDownwards(t *testing.T) {
	for _, class := range []msg.TLPType{msg.Completion, msg.Posted} {
		r := newRig(t)
		r.Direct(&holder{class: class, nth: 1, by: 10 * clocked.Microsecond})
		r.clients[0].todo = []msg.DMA{read1(1<<34, 64)}
		r.mmio.todo = []msg.Doorbell{{Len: 8}}
		r.run(t)
		rang, answered := r.clients[0].bells[0].at, r.clients[0].dones[0].at
		if early := rang < 10*clocked.Microsecond; early != (class == msg.Completion) || answered < 10*clocked.Microsecond {
			t.Errorf("class %d held: doorbell at %v, answer at %v", class, rang, answered)
		}
	}
}

// A director that does nothing changes nothing, and sees every TLP once.
func TestIdleDirector(t *testing.T) {
	plain, watched := newRig(t), newRig(t)
	h := &holder{}
	watched.Direct(h)
	for _, r := range []*rig{plain, watched} {
		r.clients[0].todo = mixed()
		r.run(t)
	}
	for i := range plain.memory.got {
		if plain.memory.got[i].at != watched.memory.got[i].at {
			t.Errorf("request %d: %v, watched %v", i, plain.memory.got[i].at, watched.memory.got[i].at)
		}
	}
	if want := []msg.TLPType{msg.Posted, msg.Posted, msg.NonPosted, msg.Posted, msg.NonPosted}; !slices.Equal(h.left, want) {
		t.Errorf("%v left, want %v", h.left, want)
	}
}

// A TLP that is damaged on the way comes once, by a replay.
func TestDirectedDamage(t *testing.T) {
	r := newRig(t, func(s *rigSpec) { s.Inject.Events = "up 1000000 drop" })
	r.Direct(&holder{damage: "corrupt", nth: 2})
	r.clients[0].todo = mixed()
	r.run(t)
	if got := r.order(); !slices.Equal(got, []uint64{0, 1, 2, 3, 4}) || r.Endpoint.Stats().Replayed == 0 {
		t.Errorf("%v, %d TLPs sent again", got, r.Endpoint.Stats().Replayed)
	}
}
