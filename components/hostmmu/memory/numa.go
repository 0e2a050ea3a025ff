package memory

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
	"rnicmmu/model/cache"
)

// socket is the memory of a socket and what its devices' writes fill of its LLC.
type socket struct {
	dram controller
	ddio *cache.Cache // nil: device writes go to DRAM
}

// cpuSocket is where the kernel and the CPU's program run.
const cpuSocket = 0

// pagesInterleave has even frames on socket 0 and odd ones on socket 1; else all
// are on socket 0.
const pagesInterleave = "interleave"

// buildSockets makes what each socket has, and the link between them.
func (m *Memory) buildSockets(newController func(socket int) controller) error {
	for i := range m.spec.NUMA.Sockets {
		s := socket{dram: newController(i)}
		if n := m.spec.LLC.DDIOLines; n > 0 {
			var err error
			if s.ddio, err = cache.New(cache.Geometry{Entries: n, Ways: m.spec.LLC.DDIOWays, Line: 1, Policy: cache.LRU}); err != nil {
				return fmt.Errorf("host.llc: %w", err)
			}
		}
		m.sockets = append(m.sockets, s)
	}
	for i := range m.links {
		m.links[i] = clocked.NewSerializer(8*int64(clocked.Second), int64(m.spec.NUMA.Bandwidth))
	}
	return nil
}

// home is the socket at whose controllers an address lies, and the address among
// those. What is no frame, tables and queues, is where its user is.
func (m *Memory) home(pa model.PA, user int) (socket int, within model.PA) {
	if len(m.sockets) == 1 {
		return 0, pa
	}
	frame := uint64(pa) >> m.config.Shift
	switch {
	case frame >= uint64(m.config.Frames):
		return user, pa
	case m.spec.NUMA.Pages == pagesInterleave:
		offset := uint64(pa) & (m.config.Shift.Bytes() - 1)
		return int(frame & 1), model.PA(frame>>1<<m.config.Shift | offset)
	}
	return 0, pa
}

// cross is by how much data are late that go over the link: a way each for
// request and answer, their turn on it and their own time. The turn is taken now,
// not when the data are there: it only delays who comes after.
func (m *Memory) cross(now clocked.Time, to, lines int) clocked.Time {
	_, end := m.links[to].Send(now, int64(lines)<<lineShift)
	return 2*m.spec.NUMA.Latency + end - now
}

// start gives a transfer of a user at a socket to the controller of its address.
// What is not known yet comes on top of late.
func (m *Memory) start(now clocked.Time, user int, t transfer) (late clocked.Time, known bool) {
	home, pa := m.home(t.pa, user)
	if home != user {
		to := user
		if t.write {
			to = home
		}
		late = m.cross(now, to, t.lines)
	}
	t.pa = pa
	more, known := m.sockets[home].dram.start(now, t)
	return late + more, known
}

// store is how late a write of a device at a socket is, beside the latency of
// writes. The LLC of that socket takes it, wherever its memory is, with the lines
// that it pushes out charged to their channels.
func (m *Memory) store(now clocked.Time, user int, pa model.PA, lines int) (late clocked.Time, known bool) {
	llc := m.sockets[user].ddio
	if llc == nil {
		return m.start(now, user, transfer{pa: pa, lines: lines, write: true, ticket: m.waiting.next()})
	}
	first := uint64(pa) >> lineShift
	for line := first; line < first+uint64(lines); line++ {
		if len(m.sockets) > 1 && m.foreign(user, line) {
			late = 2 * m.spec.NUMA.Latency
		}
		if _, out, evicted := llc.Fill(line, line); evicted {
			m.start(now, user, transfer{pa: model.PA(out << lineShift), lines: 1, write: true, ticket: nobody})
			m.stats.Writebacks++
		}
	}
	return late, true
}

// foreign tells whether a line has to be asked of the other socket before it is
// written, and takes it: the other LLC had it, or this one has it not and its
// memory is there.
func (m *Memory) foreign(user int, line uint64) bool {
	if m.sockets[1-user].ddio.Invalidate(line, line) {
		return true
	}
	if _, here := m.sockets[user].ddio.Peek(line, line); here {
		return false
	}
	home, _ := m.home(model.PA(line<<lineShift), user)
	return home != user
}

// load is how late a read of a device at a socket is, beside its service and line
// times: early where the LLC of that socket has all of it. The other LLC's lines
// come no sooner than its DRAM's ([pcie-bench]: 661 and 664 ns).
func (m *Memory) load(now clocked.Time, user int, pa model.PA, lines int) (late clocked.Time, known bool) {
	switch {
	case m.inLLC(user, pa, lines):
		m.stats.LLCHits++
		return -m.spec.LLC.Saving, true
	case len(m.sockets) > 1 && m.inLLC(1-user, pa, lines):
		m.stats.LLCHits++
		return m.cross(now, user, lines), true
	}
	return m.start(now, user, transfer{pa: pa, lines: lines, ticket: m.waiting.next()})
}

func (m *Memory) inLLC(at int, pa model.PA, lines int) bool {
	llc := m.sockets[at].ddio
	if llc == nil {
		return false
	}
	first := uint64(pa) >> lineShift
	for line := first; line < first+uint64(lines); line++ {
		if _, hit := llc.Lookup(line, line); !hit {
			return false
		}
	}
	return true
}
