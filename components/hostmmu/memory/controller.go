package memory

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Controllers, by name.
const (
	controllerIdeal = "ideal"
	controllerBanks = "banks"
	controllerAkita = "akita"
)

// Shifts of what the host fixes.
const (
	lineShift  = 6  // cache line
	blockShift = 12 // channel interleave; no transfer is longer
)

const linesOfBlock = 1 << (blockShift - lineShift)

// transfer is cache lines that follow each other within a 4 KiB block.
type transfer struct {
	pa     model.PA
	lines  int
	write  bool
	ticket int // names who waits for it, or nobody
}

// nobody waits for a line that the LLC pushed out.
const nobody = -1

// controller is DRAM and what schedules it, at the end of the path. Times of an
// unloaded access are those of IIO, root port and CPU and contain it: what it
// tells is by how much a transfer is later than a line alone on memory at rest.
type controller interface {
	// start takes a transfer and tells how late it is, beside Memory.lineTime for
	// each further line; or that this is not known yet.
	start(now clocked.Time, t transfer) (late clocked.Time, known bool)
	// finished tells of a transfer that start did not know of, once, when it has
	// been served.
	finished(now clocked.Time) (ticket int, late clocked.Time, ok bool)
}

// build registers the unit and makes what Spec.Controller names on each socket.
func (m *Memory) build() error {
	s := m.spec.DRAM
	if s.Controller == controllerAkita {
		owner := clocked.NewComponent(m.engine, m.name, m, clocked.Domain{})
		m.id = owner.ID()
		return m.buildSockets(func(socket int) controller { return newAkita(m.engine, owner, s, socket) })
	}
	m.id = m.engine.Register(m)
	if s.Controller == controllerIdeal {
		return m.buildSockets(func(int) controller { return ideal{} })
	}
	m.lineTime = s.LineTime
	return m.buildSockets(func(int) controller { return newBanks(s) })
}

// ideal is memory that serves any number of lines at once.
type ideal struct{}

func (ideal) start(clocked.Time, transfer) (clocked.Time, bool) { return 0, true }

func (ideal) finished(clocked.Time) (int, clocked.Time, bool) { return 0, 0, false }

// place divides an address among channels that interleave by block: the
// channel, and the address within it.
func place(pa model.PA, channels int) (channel int, within uint64) {
	block := uint64(pa) >> blockShift
	shift := bits.TrailingZeros(uint(channels))
	return int(block & uint64(channels-1)), block>>shift<<blockShift | uint64(pa)&(1<<blockShift-1)
}

// linesOf counts the cache lines of a transfer, at least one.
func linesOf(pa model.PA, length uint32) int {
	if length == 0 {
		return 1
	}
	return int((uint64(pa)+uint64(length)-1)>>lineShift - uint64(pa)>>lineShift + 1)
}
