package memory

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// pageMove is a page operation on its way: a round of blocks at a time, so that
// a large page shares the channels with devices.
type pageMove struct {
	op   msg.PageOp
	next model.PA
	left uint64 // blocks not yet moved
}

// acceptPageOps starts the page operations that have arrived.
func (m *Memory) acceptPageOps(now clocked.Time) {
	if m.ports.PageOp == nil {
		return
	}
	for op := m.ports.PageOp.Peek(now); op != nil; op = m.ports.PageOp.Peek(now) {
		pa := msg.FramePA(op.Frame, m.config.Shift)
		switch op.Kind {
		case msg.PageCPURead:
			m.cpu(now, op, pa, m.spec.DRAM.CPURead)
		case msg.PageCPUWrite:
			m.cpu(now, op, pa, m.spec.DRAM.CPUWrite)
		case msg.PageFree, msg.PageDiscard, msg.PageOrphan:
			m.finish(now, op)
		default:
			m.moveRound(now, pageMove{op: *op, next: pa, left: m.config.Shift.Bytes() >> blockShift})
		}
		m.ports.PageOp.Pop(now)
	}
	m.answerPageOps(now)
}

// cpu starts a load or store of the CPU, of so much unloaded latency.
func (m *Memory) cpu(now clocked.Time, op *msg.PageOp, pa model.PA, latency clocked.Time) {
	write := op.Kind == msg.PageCPUWrite
	late, known := m.start(now, cpuSocket, transfer{pa: pa, lines: 1, write: write, ticket: m.waiting.next()})
	if known {
		m.schedule(now, pageMove{op: *op}, now+late+latency)
		return
	}
	m.waiting.put(waiter{kind: waitCPU, at: now + late + latency, op: *op})
}

// round is blocks of a page that a controller has yet to serve.
type round struct {
	move pageMove
	left int          // blocks; 0: the place is free
	end  clocked.Time // of those served
}

// moveRound moves as many blocks as a socket has channels.
func (m *Memory) moveRound(now clocked.Time, p pageMove) {
	place := m.roundPlace()
	r := round{move: p, end: now + 1}
	for range min(p.left, uint64(m.spec.DRAM.Channels)) {
		t := transfer{pa: r.move.next, lines: linesOfBlock, write: p.op.Kind != msg.PageOut, ticket: m.waiting.next()}
		late, known := m.start(now, cpuSocket, t)
		done := now + linesOfBlock*m.lineTime + late
		if known {
			r.end = max(r.end, done)
		} else {
			m.waiting.put(waiter{kind: waitRound, number: uint32(place), at: done})
			r.left++
		}
		r.move.next += 1 << blockShift
		r.move.left--
	}
	m.rounds[place] = r
	if r.left == 0 {
		m.schedule(now, r.move, r.end)
	}
}

// roundPlace is a free place for a round.
func (m *Memory) roundPlace() int {
	for i := range m.rounds {
		if m.rounds[i].left == 0 {
			return i
		}
	}
	m.rounds = append(m.rounds, round{})
	return len(m.rounds) - 1
}

// blockServed goes on with a round when its last block is served.
func (m *Memory) blockServed(now clocked.Time, place int, at clocked.Time) {
	r := &m.rounds[place]
	r.end = max(r.end, at)
	if r.left--; r.left == 0 {
		m.schedule(now, r.move, r.end)
	}
}

func (m *Memory) schedule(now clocked.Time, p pageMove, at clocked.Time) {
	*m.moving.insert(at) = p
	m.wake(now, at)
}

// finishPageOps goes on with, or ends, what is due.
func (m *Memory) finishPageOps(now clocked.Time) {
	for p := m.moving.due(now); p != nil; p = m.moving.due(now) {
		move := *p
		m.moving.pop()
		if move.left > 0 {
			m.moveRound(now, move)
		} else {
			m.finish(now, &move.op)
		}
	}
	m.answerPageOps(now)
}

// finish applies an operation to the content and answers it.
func (m *Memory) finish(now clocked.Time, op *msg.PageOp) {
	same := op.Kind == msg.PageOut && m.swapHas(op)
	lost := m.apply(op)
	if lost {
		m.stats.LostWrites++
	}
	*m.answers.insert(now) = msg.PageDone{Kind: op.Kind, Lost: lost, Same: same, Cookie: op.Cookie}
}

func (m *Memory) answerPageOps(now clocked.Time) {
	for d := m.answers.due(now); d != nil && m.ports.PageDone.Ready(now); d = m.answers.due(now) {
		*m.ports.PageDone.Push(now) = *d
		m.answers.pop()
	}
}
