package tpt

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// FRW-2: the invalidation of a key waits behind a fill and behind a zap that
// drains until 6001; until it is applied, at 6001 + 402 + 40 and the next edge =
// 6444, the key serves, and page 5 with the frame of the fill from 3484 on. It
// then waits for what the key had granted, until 8001. All the while a QP with a
// key of its own goes on as fast as ever: a hit takes 5 cycles.
func TestInvalidationTakesItsTurn(t *testing.T) {
	const moved = model.PA(900) << 12
	s := newSandwich(t, spec()).mapAll()
	var own key.Key
	for half, k := range []*key.Key{&s.key, &own} {
		var err error
		first := uint64(half) * pages / 2
		if *k, err = s.unit.Keys().Register(key.Region{PD: 1, Base: s.base + model.VA(first<<12), Length: pages / 2 << 12, MTT: first,
			PageShift: model.Shift4K, FastReg: true, Rights: key.LocalWrite | key.RemoteRead | key.OnDemand}); err != nil {
			t.Fatal(err)
		}
	}
	s.read(0, 0, 5)
	s.keep(1000*cycle, 7)
	s.command(3000*cycle, &msg.Command{Op: msg.CmdFill, Entry: 5, Count: 1, Posts: 1, PA: []model.PA{moved}})
	s.command(3001*cycle, &msg.Command{Op: msg.CmdInvalidate, Entry: 7, Count: 1, Posts: 1})
	s.command(3002*cycle, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyInvalidate, Key: s.key}})
	s.script = append(s.script, step{at: 6000 * cycle, release: true}, step{at: 8000 * cycle, release: true})
	s.keep(6200*cycle, 9)
	s.read(1500*cycle, 1, 40).Key = uint32(own) // brings key and page in
	s.read(2000*cycle, 0, 9)
	sent := map[uint64]clocked.Time{}
	for at := 2510 * cycle; at < 9000*cycle; at += 20 * cycle {
		sent[s.read(at, 0, 5).Cookie] = at
		x := s.read(at+cycle, 1, 40)
		x.Key = uint32(own)
		sent[x.Cookie] = at + cycle
	}
	s.run()
	for i, want := range []clocked.Time{3485, 6002, 8002} {
		if a := s.acks[i]; a.at != want*cycle || a.cmd.Change.Err != nil {
			t.Errorf("command %d acknowledged %v (%v), want %v", i, a.at, a.cmd.Change.Err, want*cycle)
		}
	}
	for _, a := range s.answers {
		at, mine := sent[a.msg.Cookie]
		if a.msg.Outcome == msg.OutcomeRevoke || !mine {
			continue
		}
		switch {
		case s.requests[a.msg.Cookie].QP == 1:
			if a.msg.Outcome != msg.OutcomeOK || a.at != at+5*cycle {
				t.Errorf("another QP's request of %v: %v at %v", at, a.msg.Outcome, a.at)
			}
		case at > 6443*cycle:
			if a.msg.Outcome != msg.OutcomeRemoteAccess {
				t.Errorf("asked %v: %v by an invalidated key", at, a.msg.Outcome)
			}
		case a.msg.Outcome != msg.OutcomeOK || at > 3483*cycle && a.msg.PA != moved+64:
			t.Errorf("asked %v: %v, %#x", at, a.msg.Outcome, a.msg.PA)
		}
	}
}

// keep is a read of QP 0 whose translation is kept until a release.
func (s *sandwich) keep(at clocked.Time, page uint64) {
	s.requests[s.read(at, 0, page).Cookie].keep = true
}
