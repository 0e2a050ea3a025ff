package tpt

import (
	"errors"
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// A window that a command binds opens its pages to its QP by its region's
// entries; another QP, and a page beside it, are refused.
func TestWindowBoundByCommand(t *testing.T) {
	s, w := bound(t)
	inside, other, beside := s.read(quiet, 4, 3), s.read(2*quiet, 5, 3), s.read(3*quiet, 4, 5)
	inside.Key, other.Key, beside.Key = w, w, w
	s.run()
	for i, want := range []msg.Outcome{msg.OutcomeOK, msg.OutcomeRemoteAccess, msg.OutcomeRemoteAccess} {
		if got := s.answers[i].msg; got.Outcome != want || want == msg.OutcomeOK && got.PA != frame(3)+64 {
			t.Errorf("request %d: outcome %d, %#x", i, got.Outcome, got.PA)
		}
	}
}

// FRW-1: the invalidation of a window calls back what was given out under it and
// waits; its region stays open, and can go when the window is free.
func TestWindowInvalidationDrains(t *testing.T) {
	s, w := bound(t)
	s.read(quiet, 4, 3).Key = w
	s.requests[0].keep = true
	drop := func(k key.Key, op msg.KeyOp) *msg.Command {
		return &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: op, Key: k}}
	}
	early, kill, late := drop(s.key, msg.KeyDeregister), drop(key.Key(w), msg.KeyInvalidate), drop(s.key, msg.KeyDeregister)
	s.command(2*quiet, early)
	s.command(3*quiet, kill)
	s.script = append(s.script, step{at: 4 * quiet, release: true})
	s.read(5*quiet, 4, 3).Key = w
	s.read(6*quiet, 4, 3) // by the region
	s.command(7*quiet, late)
	s.run()
	if !errors.Is(early.Change.Err, key.ErrBound) || kill.Change.Err != nil || late.Change.Err != nil {
		t.Errorf("region %v, window %v, region %v", early.Change.Err, kill.Change.Err, late.Change.Err)
	}
	if a := s.acks[2]; a.cmd != kill || a.at < 4*quiet {
		t.Errorf("acknowledged at %v, before the release at %v", a.at, 4*quiet)
	}
	var got []msg.Outcome
	for _, a := range s.answers {
		got = append(got, a.msg.Outcome)
	}
	want := []msg.Outcome{msg.OutcomeOK, msg.OutcomeRevoke, msg.OutcomeRemoteAccess, msg.OutcomeOK}
	if len(got) != len(want) {
		t.Fatalf("outcomes %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("answer %d: outcome %d, want %d", i, got[i], want[i])
		}
	}
}

// bound has a window of type 2B over pages 2 to 4, which a command binds at time
// 0 to QP 4.
func bound(t *testing.T) (*sandwich, uint32) {
	t.Helper()
	s := newSandwich(t, spec()).mapAll()
	keys := s.unit.Keys()
	keys.Lookup(s.key).Rights |= key.WindowBind
	w, err := keys.Register(key.Region{PD: 1, Kind: key.Window2B})
	if err != nil {
		t.Fatal(err)
	}
	s.command(0, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyBind, Key: w + 1, Under: s.key,
		Region: key.Region{PD: 1, QP: 4, Rights: key.RemoteRead, Base: s.base + model.VA(2<<12), Length: 3 << 12}}})
	return s, uint32(w + 1)
}
