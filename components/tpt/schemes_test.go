package tpt

import (
	"errors"
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/key"
	"rnicmmu/model/mtt"
)

// Times of an Invalidate Request: the doorbell's hop, the adapter's time to the
// next edge, and where a translation is out, its release.
func TestDevTLBInvalidationSteps(t *testing.T) {
	s := newSandwichIn(t, spec(), ATC).mapAll()
	s.read(0, 0, 3)
	s.requests[0].keep = true
	m := s.dropPages(2000*cycle, 4, 3, 1)
	s.script = append(s.script, step{at: 3000 * cycle, release: true})
	s.run()
	r, received := m.Record, 2001*cycle
	marked := received + 50*clocked.Nanosecond + cycle
	if r.Received != received || r.Marked != marked || r.Drained != 3001*cycle {
		t.Errorf("received %v marked %v drained %v, want %v, %v, %v", r.Received, r.Marked, r.Drained, received, marked, 3001*cycle)
	}
	if len(s.done) != 1 || s.done[0].at != 3002*cycle {
		t.Errorf("completed %v, want at %v", s.done, 3002*cycle)
	}
}

// B10: 34 Invalidate Requests at once, for a page that is in use. The adapter
// executes one and holds 32; the 34th waits in front until there is room. Each
// is completed once, in order, and only when the page is given back.
func TestInvalidateRequestsAtOnce(t *testing.T) {
	sp := spec()
	sp.Invalidation.QueueDepth = 32
	s := newSandwichIn(t, sp, ATC).mapAll()
	s.read(0, 0, 3)
	s.requests[0].keep = true
	var sent []*msg.Invalidate
	for i := range 34 {
		sent = append(sent, s.dropPages(2000*cycle, uint8(i%ats.MaxTags), 3, 1))
	}
	release := 5000 * cycle
	s.script = append(s.script, step{at: release, release: true})
	s.run()
	each := 50*clocked.Nanosecond + cycle
	for i, m := range sent {
		received := 2001 * cycle
		if i == 33 {
			received = release + cycle
		}
		if m.Record.Received != received {
			t.Errorf("request %d received %v, want %v", i, m.Record.Received, received)
		}
		if at := release + 2*cycle + clocked.Time(i)*each; s.done[i].at != at {
			t.Errorf("request %d completed %v, want %v", i, s.done[i].at, at)
		}
	}
	if len(s.done) != len(sent) {
		t.Errorf("%d completions", len(s.done))
	}
}

// ATS-7: invalidations and page responses go on while the kernel's share of the
// command queue is full, and its commands while the IOMMU's is.
func TestSharesOfTheQueue(t *testing.T) {
	sp := spec()
	sp.Invalidation.QueueDepth = 2
	s := newSandwichIn(t, sp, ATC)
	s.read(0, 0, 4).Hold = true // its page request is group 0
	at := 2000 * cycle
	for range 3 { // one is executed, two wait
		s.command(at, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyInvalidate, Key: key.Make(9, 0)}})
	}
	s.dropPages(at, 0, 3, 1)
	second := s.dropPages(at, 1, 3, 1)
	s.ring(at, &msg.PageResponse{PageResponse: ats.PageResponse{Code: ats.ResponseInvalid}})
	last := s.dropPages(at, 2, 3, 1) // finds the IOMMU's share full
	s.run()
	// Commands take a fetch of 402 cycles and 40 + 1; the first request starts
	// behind the third command and makes room for the last.
	seen := 2001 * cycle
	began := seen + 3*(readDelay+2*cycle+50*clocked.Nanosecond+cycle)
	if second.Record.Received != seen || last.Record.Received != began {
		t.Errorf("Invalidate Requests received %v and %v, want %v and %v", second.Record.Received, last.Record.Received, seen, began)
	}
	if got, want := s.answers[0].at, seen+25*clocked.Nanosecond+cycle+4*cycle; got != want || s.answers[0].msg.Outcome != msg.OutcomeRemoteOp {
		t.Errorf("held request answered %v with %v, want %v", got, s.answers[0].msg.Outcome, want)
	}
	if len(s.acks) != 3 || len(s.done) != 3 {
		t.Errorf("%d acknowledgements, %d completions", len(s.acks), len(s.done))
	}
}

// An answer that the adapter cannot use, for untranslated requests only or of a
// page smaller than its own, is an error and no reason to ask again.
func TestUnusableTranslations(t *testing.T) {
	for name, x := range map[string]ats.Translation{
		"untranslated": {PA: frame(3), Shift: model.Shift64K, Read: true, Untranslated: true},
		"small":        {PA: frame(3), Shift: model.Shift4K, Read: true},
	} {
		sp := spec()
		sp.Page = "64KiB"
		s := newSandwichIn(t, sp, ATC)
		s.space[0] = pte{Translation: x}
		s.read(0, 0, 0)
		s.run()
		if o := s.answers[0].msg.Outcome; o != msg.OutcomeRemoteOp || s.unit.Stats.TranslationErrors != 1 || s.unit.Stats.TranslationRequests != 1 {
			t.Errorf("%s: outcome %v, stats %+v", name, o, s.unit.Stats)
		}
	}
}

// FRW-1, SUS-4: a later look-up of a message whose key was checked before meets
// the key as it is now: refused once it is invalidated, put off while the region
// is suspended.
func TestLookUpInMidMessage(t *testing.T) {
	for _, c := range []struct {
		command msg.Command
		want    msg.Outcome
	}{
		{msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyInvalidate}}, msg.OutcomeRemoteAccess},
		{msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyDeregister}}, msg.OutcomeRemoteAccess},
		{msg.Command{Op: msg.CmdSuspend, Whole: true}, msg.OutcomeMoving},
	} {
		s := newSandwich(t, spec()).mapAll()
		s.read(0, 0, 3).CheckLen = 8192
		c.command.Key, c.command.Change.Key = s.key, s.key
		for _, at := range []clocked.Time{900, 3000} {
			m := s.read(at*cycle, 0, 4)
			m.CheckKey, m.CheckVA, m.CheckLen = false, 0, 0
			if at == 900 {
				s.command(1000*cycle, &c.command)
			}
		}
		s.run()
		if first, later := s.answers[1].msg.Outcome, s.answers[2].msg.Outcome; first != msg.OutcomeOK || later != c.want {
			t.Errorf("%+v: %v before, %v after, want %v", c.command.Op, first, later, c.want)
		}
	}
}

// D5: of writes that come in steadily while the key is invalidated, those
// translated before are taken back before the acknowledgement, and the others
// are refused. None is lost.
//
// D7: the same for a region that is deregistered after the fourth of 16.
func TestKeyTakenAwayUnderLoad(t *testing.T) {
	for _, op := range []msg.KeyOp{msg.KeyInvalidate, msg.KeyDeregister} {
		s := newSandwich(t, spec()).mapAll()
		for i := range uint64(16) {
			s.read(clocked.Time(3000+50*i)*cycle, 0, 5).Write = true
			s.requests[i].Op, s.requests[i].keep = model.OpWrite, true
		}
		s.read(0, 0, 5)
		// Fetched 402 cycles after the doorbell is seen; then the firmware.
		at := (3150 - 403 - 40 - 1) * cycle
		if op == msg.KeyDeregister {
			at = (3175 - 403 - 160 - 1) * cycle
		}
		c := &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: op, Key: s.key}}
		s.command(at, c)
		s.script = append(s.script, step{at: 9000 * cycle, release: true})
		s.run()
		granted, refused, revoked := 0, 0, 0
		for _, a := range s.answers[1:] {
			switch a.msg.Outcome {
			case msg.OutcomeOK:
				granted++
			case msg.OutcomeRemoteAccess:
				refused++
			case msg.OutcomeRevoke:
				revoked++
			}
		}
		// Accepted a cycle after it is sent: the writes at 3000, 3050 and 3100
		// before 3150, the one at 3150 too before 3175.
		before := map[msg.KeyOp]int{msg.KeyInvalidate: 3, msg.KeyDeregister: 4}[op]
		if granted != before || refused != 16-before || revoked != before {
			t.Errorf("change %d: %d granted, %d refused, %d called back, want %d granted", op, granted, refused, revoked, before)
		}
		if s.acks[0].at != 9002*cycle || c.Change.Err != nil {
			t.Errorf("change %d acknowledged %v with %v, want when all are back", op, s.acks[0].at, c.Change.Err)
		}
	}
}

// KEY-3: a key whose index serves another region stays refused, and the new one
// serves. The index of a region comes back once all others have been used.
func TestKeyIndexReused(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	r := *s.unit.Keys().Lookup(s.key)
	s.command(0, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyDeregister, Key: s.key}})
	var last *msg.Command
	for i := range clocked.Time(15) { // of 16 indexes 0 is never used
		last = &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyRegister, Region: r}}
		s.command((1000+i*1000)*cycle, last)
	}
	s.read(20_000*cycle, 0, 3)
	m := s.read(21_000*cycle, 0, 3)
	s.script = append(s.script, step{at: 20_500 * cycle, act: func() { m.Key = uint32(last.Change.Key) }})
	s.run()
	if k := last.Change.Key; k.Index() != s.key.Index() || k == s.key || last.Change.Err != nil {
		t.Fatalf("key %#x after %#x: %v", uint32(k), uint32(s.key), last.Change.Err)
	}
	if s.answers[0].msg.Outcome != msg.OutcomeRemoteAccess || s.answers[1].msg.Outcome != msg.OutcomeOK {
		t.Errorf("old key: %v, new key: %v", s.answers[0].msg.Outcome, s.answers[1].msg.Outcome)
	}
}

// KEY-3: a kernel that allots keys itself registers a region anew at its index
// with another variant: the old key stays refused, the new one serves, and an
// index in use is refused.
func TestKeyAllottedByTheKernel(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	r := *s.unit.Keys().Lookup(s.key)
	next := key.Make(s.key.Index(), s.key.Variant()+7)
	taken := &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyRegister, Key: next, Region: r}}
	again := &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyRegister, Key: next, Region: r}}
	s.command(0, taken)
	s.command(1000*cycle, &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: msg.KeyDeregister, Key: s.key}})
	s.command(2000*cycle, again)
	s.read(20_000*cycle, 0, 3)
	m := s.read(21_000*cycle, 0, 3)
	m.Key = uint32(next)
	s.run()
	if !errors.Is(taken.Change.Err, key.ErrInUse) || again.Change.Err != nil {
		t.Fatalf("index in use: %v; free: %v", taken.Change.Err, again.Change.Err)
	}
	if s.answers[0].msg.Outcome != msg.OutcomeRemoteAccess || s.answers[1].msg.Outcome != msg.OutcomeOK {
		t.Errorf("old key: %v, new key: %v", s.answers[0].msg.Outcome, s.answers[1].msg.Outcome)
	}
}

// FRW-6: what the protection table does not know is refused by name.
func TestRefusedKeyChanges(t *testing.T) {
	s := newSandwich(t, spec()).mapAll()
	bad := *s.unit.Keys().Lookup(s.key)
	bad.Rights = key.RemoteWrite
	for op, want := range map[msg.KeyOp]string{msg.KeyBind: "not of the kind", 99: "no such change", msg.KeyRegister: "LOCAL_WRITE"} {
		c := &msg.Command{Op: msg.CmdKey, Change: msg.KeyChange{Op: op, Key: s.key, Region: bad}}
		before := *s.unit.Keys().Lookup(s.key)
		s.script, s.next = nil, 0
		s.command(s.engine.Now()+1000*cycle, c)
		s.run()
		if c.Change.Err == nil || !strings.Contains(c.Change.Err.Error(), want) || *s.unit.Keys().Lookup(s.key) != before || s.unit.Keys().Len() != 1 {
			t.Errorf("change %d: %v", op, c.Change.Err)
		}
	}
}

// What is impossible in a mode is said when the unit is built.
func TestModeErrors(t *testing.T) {
	sp := spec()
	sp.MTT.LineEntries = 4
	config := Config{Place: Place{MTT: 1 << 41, Keys: 4, Entries: 1}, Mode: ATC, PASID: 1}
	_, err := New(clocked.NewEngine(), "tpt0", sp, config)
	if err == nil || !strings.Contains(err.Error(), "tpt.mtt.line_entries") {
		t.Errorf("four entries a line under ATC: %v", err)
	}
	config.Mode = Table
	if _, err := New(clocked.NewEngine(), "tpt0", sp, config); err != nil {
		t.Error(err)
	}
}

// A16: of a region of 32 pages two are present, 16 apart. One command zaps two.
func TestZapCount(t *testing.T) {
	s := newSandwich(t, spec())
	for _, i := range []uint64{0, 16} {
		s.unit.Table().Set(i, mtt.Entry{PA: frame(i), Read: true, Present: true}.Encode())
	}
	s.command(0, &msg.Command{Op: msg.CmdInvalidate, Entry: 0, Count: 32, Posts: 1})
	s.run()
	if u := &s.unit.Stats; u.EntriesZapped != 2 || u.Invalidates != 1 || len(s.acks) != 1 {
		t.Errorf("%d zapped by %d commands, %d acknowledged", u.EntriesZapped, u.Invalidates, len(s.acks))
	}
}
