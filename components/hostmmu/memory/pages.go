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
			m.schedule(pageMove{op: *op}, m.dram.access(now, pa, 1)+m.spec.DRAM.CPURead)
		case msg.PageCPUWrite:
			m.schedule(pageMove{op: *op}, m.dram.access(now, pa, 1)+m.spec.DRAM.CPUWrite)
		case msg.PageFree, msg.PageDiscard, msg.PageOrphan:
			m.finish(now, op)
		default:
			m.moveRound(now, pageMove{op: *op, next: pa, left: m.config.Shift.Bytes() >> blockShift})
		}
		m.ports.PageOp.Pop(now)
	}
	m.answerPageOps(now)
}

// moveRound moves as many blocks as there are channels.
func (m *Memory) moveRound(now clocked.Time, p pageMove) {
	const lines = 1 << (blockShift - lineShift)
	end := now + 1
	for range min(p.left, uint64(len(m.dram.channels))) {
		end = max(end, m.dram.access(now, p.next, lines)+lines*m.dram.lineTime)
		p.next += 1 << blockShift
		p.left--
	}
	m.schedule(p, end)
}

func (m *Memory) schedule(p pageMove, at clocked.Time) {
	*m.moving.insert(at) = p
	m.engine.Wake(m.id, at)
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
