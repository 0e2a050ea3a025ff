package rc

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/model"
)

// RC-2: from an RNR NAK to the end of its delay nothing may leave, whatever
// arrives or expires meanwhile.
func TestNothingLeavesDuringRNRDelay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := NewRequester(RequesterConfig{Retry: Infinite, RNRRetry: Infinite}, 0xFFFFFE)
		if err != nil {
			t.Fatal(err)
		}
		first := r.Next
		for range 6 {
			r.Issue(1, false)
		}
		refused := first.Add(rapid.Uint32Range(0, 5).Draw(t, "refused"))
		if o := r.Acknowledge(RNRNAK(14), refused); o.Step != WaitRNR || r.Oldest != refused {
			t.Fatalf("%+v, oldest %#x", o, r.Oldest)
		}
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			p := first.Add(rapid.Uint32Range(0, 7).Draw(t, "psn"))
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				r.Timeout()
			case 1:
				r.Acknowledge(NAKSequence, p)
			case 2:
				r.Acknowledge(RNRNAK(1), p)
			case 3:
				r.Respond(p)
			}
			if r.MaySend(1) || !r.Waiting() {
				t.Fatalf("may send %v, waiting %v", r.MaySend(1), r.Waiting())
			}
		}
		if o := r.RNRTimer(); o.Step != GoBack || r.Next != r.Oldest || !r.MaySend(1) {
			t.Fatalf("%+v, next %#x, oldest %#x", o, r.Next, r.Oldest)
		}
	})
}

// RC-2: timeouts during an RNR delay are not charged.
func TestTimeoutsDuringRNRDelayAreFree(t *testing.T) {
	r := newRequester(t, 2, 2)
	r.Issue(1, false)
	r.Acknowledge(RNRNAK(1), r.Oldest)
	for range 5 {
		wantOutcome(t, "timeout", r.Timeout(), Outcome{})
	}
	if retry, rnr := r.RetriesLeft(); retry != 2 || rnr != 1 {
		t.Errorf("%d and %d left, want 2 and 1", retry, rnr)
	}
}

// RC-3: both budgets are of one standstill. Each progress, by an ACK, by what a
// NAK acknowledges or by a READ response, gives them back whole.
func TestProgressRestoresBudgets(t *testing.T) {
	for name, progress := range map[string]func(*Requester) Outcome{
		"ACK":           func(r *Requester) Outcome { return r.Acknowledge(AckUnlimited, r.Oldest) },
		"READ response": func(r *Requester) Outcome { o, _ := r.Respond(r.Oldest); return o },
	} {
		r := newRequester(t, 2, 2)
		r.Issue(4, name != "ACK")
		for range 3 { // more than a budget in all, spent one by one
			p := r.Oldest
			r.Acknowledge(RNRNAK(1), p)
			r.RNRTimer()
			r.Timeout()
			if retry, rnr := r.RetriesLeft(); retry != 1 || rnr != 1 {
				t.Fatalf("%s: %d and %d left, want 1 and 1", name, retry, rnr)
			}
			r.Issue(uint32(r.Highest.Sub(r.Next)), name != "ACK")
			if o := progress(r); o != (Outcome{Advanced: true}) {
				t.Fatalf("%s: %+v", name, o)
			}
			if retry, rnr := r.RetriesLeft(); retry != 2 || rnr != 2 {
				t.Fatalf("%s: %d and %d left, want 2 and 2", name, retry, rnr)
			}
		}
	}
	r := newRequester(t, 2, 2)
	for range 3 {
		r.Issue(1, false)
	}
	r.Acknowledge(RNRNAK(1), r.Oldest)
	r.RNRTimer()
	r.Timeout()
	r.Issue(3, false)
	r.Acknowledge(NAKSequence, r.Oldest.Add(1))
	if retry, rnr := r.RetriesLeft(); retry != 1 || rnr != 2 {
		t.Errorf("after a NAK further on: %d and %d left, want 1 and 2", retry, rnr)
	}
}

// completions books what a caller of a Requester does: requests of one PSN each
// that end before Oldest are complete, an error fails the oldest, the rest is
// flushed.
type completions struct {
	first PSN
	of    []Status // in order
	ended int      // QPError seen
}

const flushed = Status(99)

func (c *completions) note(r *Requester, o Outcome, issued int) {
	for len(c.of) < issued && c.first.Add(uint32(len(c.of))).Before(r.Oldest) {
		c.of = append(c.of, Success)
	}
	if o.Step != QPError {
		return
	}
	c.ended++
	c.of = append(c.of, o.Status)
	for len(c.of) < issued {
		c.of = append(c.of, flushed)
	}
}

// RC-4, KEY-6, C5: whatever arrives, each work request ends once and in order:
// successes, then at most one error, then the rest flushed. A dead QP says and
// sends nothing more, so that an error surfaces once.
func TestEachRequestEndsOnce(t *testing.T) {
	syndromes := []Syndrome{AckUnlimited, NAKSequence, NAKInvalidRequest, NAKRemoteAccess, NAKRemoteOp, RNRNAK(1), RNRNAK(0), 0x41}
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.SampledFrom([]uint8{0, 1, 3, Infinite})
		start := PSN(rapid.SampledFrom([]uint32{5, 0xFFFFFA}).Draw(t, "start"))
		r, err := NewRequester(RequesterConfig{Retry: budget.Draw(t, "retry"), RNRRetry: budget.Draw(t, "rnr")}, start)
		if err != nil {
			t.Fatal(err)
		}
		const requests = 12
		c := &completions{first: start}
		oldest := start
		for range 80 {
			issued := int(r.Highest.Sub(start))
			var o Outcome
			p := start.Add(rapid.Uint32Range(0, requests).Draw(t, "psn"))
			switch what := rapid.IntRange(0, 9).Draw(t, "event"); {
			case what < 4 && r.MaySend(1) && (r.Next != r.Highest || issued < requests):
				r.Issue(1, issued%3 == 1)
			case what == 4:
				o = r.Timeout()
			case what == 5:
				o = r.RNRTimer()
			case what == 6:
				o, _ = r.Respond(p)
			case what > 6:
				o = r.Acknowledge(rapid.SampledFrom(syndromes).Draw(t, "syndrome"), p)
			}
			if c.ended > 0 && (o != (Outcome{}) || r.MaySend(1)) {
				t.Fatalf("after the error: %+v, may send %v", o, r.MaySend(1))
			}
			if r.Oldest.Before(oldest) || o.Advanced != (r.Oldest != oldest) {
				t.Fatalf("oldest went from %#x to %#x, outcome %+v", oldest, r.Oldest, o)
			}
			oldest = r.Oldest
			c.note(r, o, int(r.Highest.Sub(start)))
		}
		wantEnds(t, c, r, int(r.Highest.Sub(start)))
	})
}

func wantEnds(t *rapid.T, c *completions, r *Requester, issued int) {
	open := 0
	if c.ended == 0 {
		open = int(r.Outstanding())
	}
	if len(c.of)+open != issued || c.ended > 1 || r.Failed() != (c.ended == 1) {
		t.Fatalf("%d issued, %v, %d open, %d errors", issued, c.of, open, c.ended)
	}
	rank := func(s Status) int { // success, error, flushed
		switch s {
		case Success:
			return 0
		case flushed:
			return 2
		}
		return 1
	}
	for i := 1; i < len(c.of); i++ {
		if a, b := rank(c.of[i-1]), rank(c.of[i]); a > b || a == 1 && b == 1 {
			t.Fatalf("ends out of order: %v", c.of)
		}
	}
}

// C6: a WRITE with immediate finds no receive buffer. Its last packet is put off
// before its data are placed, what came before stays acknowledged, and the packet
// is executed and takes a buffer once, however often it comes.
func TestWriteImmediateWithoutReceive(t *testing.T) {
	r := newResponder(t, nil)
	first := Packet{Opcode: WriteFirst, PSN: 100, Payload: mtu, Length: 2 * mtu, VA: 0x5000, Key: 7}
	last := Packet{Opcode: WriteLastImmediate, PSN: 101, Payload: mtu, AckRequest: true}
	taken := 0
	receive := func(p Packet, ready bool) Action {
		in := good
		in.ReceiveReady = ready
		before := r.Expected
		a := r.Receive(p, in)
		if r.Expected != before && p.Opcode.TakesReceive() {
			taken++
		}
		return a
	}
	wantAction(t, "first", receive(first, false), Action{Kind: Executed})
	for range 3 {
		wantAction(t, "no buffer", receive(last, false), Action{Kind: SendRNR, Syndrome: RNRNAK(14), PSN: 101})
	}
	if r.Expected != 101 || taken != 0 {
		t.Errorf("expected %d, %d buffers taken", r.Expected, taken)
	}
	if target, ok := r.Target(last); !ok || target != (Target{model.OpWrite, 7, 0x5000 + mtu, mtu, mtu}) {
		t.Errorf("target %+v after the RNR NAKs", target)
	}
	ack := Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 101, MSN: 1}
	for _, ready := range []bool{true, true, false} {
		wantAction(t, "with a buffer, and again", receive(last, ready), ack)
	}
	if taken != 1 {
		t.Errorf("%d buffers taken, want 1", taken)
	}
	q := newRequester(t, 7, 7) // and its request ends once
	q.Issue(1, false)
	q.Issue(1, false)
	wantOutcome(t, "RNR", q.Acknowledge(RNRNAK(14), 0xFFFFFF), Outcome{Step: WaitRNR, Advanced: true, Delay: RNRDelay(14)})
	q.RNRTimer()
	if p := q.Issue(1, false); p != 0xFFFFFF {
		t.Errorf("sends %#x again, want the last packet only", p)
	}
	wantOutcome(t, "ACK", q.Acknowledge(AckUnlimited, 0xFFFFFF), Outcome{Advanced: true})
	wantOutcome(t, "ACK again", q.Acknowledge(AckUnlimited, 0xFFFFFF), Outcome{})
}

// C10 (b): two packets of a READ were placed when its region is revoked: the
// NAK in the response stream ends the request, and nothing more is placed.
func TestRevokedReadPlacesNoMore(t *testing.T) {
	q := newRequester(t, 7, 7)
	q.Issue(4, true) // FFFFFE FFFFFF 0 1
	placed := 0
	respond := func(p PSN) {
		if _, ok := q.Respond(p); ok {
			placed++
		}
	}
	respond(0xFFFFFE)
	respond(0xFFFFFF)
	respond(1) // 0 is lost: asked for again from there
	if p := q.Issue(2, true); p != 0 {
		t.Errorf("READ goes on at %#x, want 0", p)
	}
	wantOutcome(t, "NAK", q.Acknowledge(NAKRemoteAccess, 0), Outcome{Step: QPError, Status: RemoteAccessError})
	respond(0)
	respond(1)
	if placed != 2 {
		t.Errorf("%d packets placed, want 2", placed)
	}
}
