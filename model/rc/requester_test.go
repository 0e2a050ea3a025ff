package rc

import "testing"

func newRequester(t testing.TB, retry, rnr uint8) *Requester {
	t.Helper()
	r, err := NewRequester(RequesterConfig{Retry: retry, RNRRetry: rnr}, 0xFFFFFE) // wraps at once
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantOutcome(t *testing.T, what string, got, want Outcome) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestRequesterConfig(t *testing.T) {
	for _, c := range []RequesterConfig{{Retry: 8}, {RNRRetry: 8}} {
		if _, err := NewRequester(c, 0); err == nil {
			t.Errorf("%+v accepted", c)
		}
	}
}

func TestAcknowledge(t *testing.T) {
	r := newRequester(t, 3, 3)
	for range 4 {
		r.Issue(1, false)
	}
	wantOutcome(t, "ghost ahead", r.Acknowledge(AckUnlimited, 2), Outcome{})
	wantOutcome(t, "coalesced", r.Acknowledge(AckUnlimited, 0), Outcome{Advanced: true})
	wantOutcome(t, "ghost behind", r.Acknowledge(AckUnlimited, 0xFFFFFF), Outcome{})
	wantOutcome(t, "reserved", r.Acknowledge(0x41, 1), Outcome{})
	if r.Oldest != 1 || r.Next != 2 || r.Outstanding() != 1 {
		t.Errorf("%+v", r)
	}
}

// RC-5, RC-3: a sequence NAK goes back once; more signs of the same loss do
// nothing, and any progress gives the budgets back.
func TestSequenceNAK(t *testing.T) {
	r := newRequester(t, 2, 3)
	for range 5 {
		r.Issue(1, false) // FFFFFE … 2
	}
	wantOutcome(t, "NAK", r.Acknowledge(NAKSequence, 0), Outcome{Step: GoBack, Advanced: true})
	if r.Oldest != 0 || r.Next != 0 || r.Outstanding() != 3 {
		t.Errorf("%+v", r)
	}
	wantOutcome(t, "again", r.Acknowledge(NAKSequence, 0), Outcome{})
	if retry, _ := r.RetriesLeft(); retry != 1 {
		t.Errorf("%d retries left, want 1", retry)
	}
	wantOutcome(t, "ACK of what was sent before", r.Acknowledge(AckUnlimited, 1), Outcome{Advanced: true})
	if retry, _ := r.RetriesLeft(); retry != 2 || r.Next != 2 {
		t.Errorf("%d retries left, next %d", retry, r.Next)
	}
}

func TestTimeoutBudget(t *testing.T) {
	for retry := range uint8(Infinite) {
		r := newRequester(t, retry, 0)
		wantOutcome(t, "nothing sent", r.Timeout(), Outcome{})
		r.Issue(1, false)
		n := 0
		for r.Timeout().Step == GoBack {
			r.Issue(1, false)
			n++
		}
		if n != int(retry) || !r.Failed() || r.MaySend(1) {
			t.Errorf("retry %d: %d go-backs, failed %v", retry, n, r.Failed())
		}
	}
	r := newRequester(t, 0, 0)
	r.Issue(1, false)
	wantOutcome(t, "no budget", r.Timeout(), Outcome{Step: QPError, Status: RetryExceeded})
	r = newRequester(t, Infinite, 0)
	r.Issue(1, false)
	for range 1000 {
		wantOutcome(t, "without end", r.Timeout(), Outcome{Step: GoBack})
	}
}

// rnr plays a receiver that becomes ready some time after its first RNR NAK:
// how many NAKs it sends, when the last came after the first, and whether the
// request succeeded. Times in picoseconds.
func rnr(t *testing.T, code, budget uint8, ready, roundTrip int64) (naks int, last int64, ok bool) {
	r := newRequester(t, 7, budget)
	p := r.Issue(1, false)
	for now := int64(0); ; {
		if naks > 0 && now >= ready {
			return naks, last, r.Acknowledge(AckUnlimited, p).Advanced
		}
		o := r.Acknowledge(RNRNAK(code), p)
		naks++
		last = now
		if o.Step == QPError {
			return naks, last, o.Status != RNRRetryExceeded
		}
		if r.MaySend(1) {
			t.Fatal("may send during the RNR delay (RC-2)")
		}
		now += o.Delay + roundTrip
		wantOutcome(t, "RNR timer", r.RNRTimer(), Outcome{Step: GoBack})
		if got := r.Issue(1, false); got != p {
			t.Fatalf("went back to %d, want %d", got, p)
		}
	}
}

// C3, C4: RNR budgets in closed form. With delay d (round trip included) and a
// buffer ready at tr, NAKs = max(1, ceil(tr/d)).
func TestRNRBudgets(t *testing.T) {
	const us = int64(microsecond)
	for _, tc := range []struct {
		name         string
		code, budget uint8
		ready        int64
		naks         int
		last         int64
		ok           bool
	}{
		{"C4 budget 0", 1, 0, 1000 * us, 1, 0, false},
		{"C4 budget 6", 1, 6, 1000 * us, 7, 72 * us, false},
		{"C4 without end", 1, 7, 1000 * us, 84, 83 * 12 * us, true},
		{"C3 code 0 is the longest", 0, 7, 10 * us, 1, 0, true},
		{"C3 code 1", 1, 7, 10 * us, 1, 0, true},
		{"budget just enough", 1, 6, 72 * us, 6, 60 * us, true},
		{"one too few", 1, 5, 72 * us, 6, 60 * us, false},
	} {
		naks, last, ok := rnr(t, tc.code, tc.budget, tc.ready, 2*us)
		if naks != tc.naks || last != tc.last || ok != tc.ok {
			t.Errorf("%s: %d NAKs, last after %d ps, success %v; want %d, %d, %v",
				tc.name, naks, last, ok, tc.naks, tc.last, tc.ok)
		}
	}
}

// During an RNR delay: timeouts and sequence NAKs are free, nothing is sent,
// and one go-back follows.
func TestEventsDuringRNRDelay(t *testing.T) {
	r := newRequester(t, 2, 3)
	for range 3 {
		r.Issue(1, false) // FFFFFE FFFFFF 0
	}
	wantOutcome(t, "RNR", r.Acknowledge(RNRNAK(1), 0xFFFFFF),
		Outcome{Step: WaitRNR, Advanced: true, Delay: 10 * microsecond})
	wantOutcome(t, "echo", r.Acknowledge(RNRNAK(1), 0xFFFFFF), Outcome{})
	wantOutcome(t, "timeout", r.Timeout(), Outcome{})
	wantOutcome(t, "NAK", r.Acknowledge(NAKSequence, 0xFFFFFF), Outcome{})
	wantOutcome(t, "NAK again", r.Acknowledge(NAKSequence, 0xFFFFFF), Outcome{})
	if retry, rnr := r.RetriesLeft(); retry != 2 || rnr != 2 || !r.Waiting() || r.MaySend(1) {
		t.Errorf("retries %d and %d, waiting %v", retry, rnr, r.Waiting())
	}
	wantOutcome(t, "RNR timer", r.RNRTimer(), Outcome{Step: GoBack})
	wantOutcome(t, "RNR timer again", r.RNRTimer(), Outcome{})
	if r.Next != 0xFFFFFF || !r.MaySend(1) {
		t.Errorf("next %#x", r.Next)
	}
}

func TestFatalNAKs(t *testing.T) {
	for s, want := range map[Syndrome]Status{NAKInvalidRequest: RemoteInvalidRequest,
		NAKRemoteAccess: RemoteAccessError, NAKRemoteOp: RemoteOpError, NAKInvalidRD: BadResponse} {
		r := newRequester(t, 7, 7)
		r.Issue(1, false)
		r.Issue(1, false)
		wantOutcome(t, s.String(), r.Acknowledge(s, 0xFFFFFF), Outcome{Step: QPError, Status: want, Advanced: true})
		wantOutcome(t, "afterwards", r.Acknowledge(AckUnlimited, 0xFFFFFF), Outcome{})
		if r.Oldest != 0xFFFFFF || r.Timeout() != (Outcome{}) || r.RNRTimer() != (Outcome{}) {
			t.Errorf("%v: %+v", s, r)
		}
	}
}

// C10 (a): READ responses in order advance; a hole is an implied NAK; an ACK that
// skips a READ too. The READ restarts at its first missing packet.
func TestReadResponses(t *testing.T) {
	r := newRequester(t, 7, 7)
	r.Issue(1, false) // WRITE FFFFFE
	r.Issue(4, true)  // READ FFFFFF 0 1 2
	r.Issue(1, false) // WRITE 3
	respond := func(p PSN, want Outcome, placed bool) {
		t.Helper()
		o, got := r.Respond(p)
		wantOutcome(t, "response", o, want)
		if got != placed {
			t.Errorf("response %#x placed %v", p, got)
		}
	}
	respond(0xFFFFFE, Outcome{}, false)
	respond(0xFFFFFF, Outcome{Advanced: true}, true) // acknowledges the WRITE as well
	respond(0, Outcome{Advanced: true}, true)
	respond(2, Outcome{Step: GoBack}, false)
	if p := r.Issue(2, true); p != 1 {
		t.Errorf("READ restarts at %#x, want 1", p)
	}
	r.Issue(1, false)
	respond(0, Outcome{}, false)
	respond(1, Outcome{Advanced: true}, true)
	wantOutcome(t, "ACK past the READ", r.Acknowledge(AckUnlimited, 3), Outcome{Step: GoBack})
	respond(2, Outcome{Advanced: true}, true)
	wantOutcome(t, "ACK", r.Acknowledge(AckUnlimited, 3), Outcome{Advanced: true})
	if r.Outstanding() != 0 || r.Next != 4 {
		t.Errorf("%+v", r)
	}
}

// The window never exceeds half the PSN space.
func TestWindow(t *testing.T) {
	r := newRequester(t, 7, 7)
	if r.MaySend(MaxOutstanding) || !r.MaySend(MaxOutstanding-1) {
		t.Error("window of an idle QP")
	}
	r.Issue(MaxOutstanding-1, true)
	if r.MaySend(1) || r.Outstanding() != MaxOutstanding-1 {
		t.Errorf("%d outstanding", r.Outstanding())
	}
}

// An error of the requester's own side ends the QP, in an RNR delay too: nothing
// leaves any more, and no answer or timer does anything.
func TestFail(t *testing.T) {
	r := newRequester(t, 3, 3)
	r.Issue(2, false)
	r.Acknowledge(RNRNAK(1), 0xFFFFFE)
	r.Fail()
	if !r.Failed() || r.Waiting() || r.MaySend(1) {
		t.Errorf("failed %v, waiting %v, may send %v", r.Failed(), r.Waiting(), r.MaySend(1))
	}
	wantOutcome(t, "ACK", r.Acknowledge(AckUnlimited, 0xFFFFFE), Outcome{})
	wantOutcome(t, "time-out", r.Timeout(), Outcome{})
	wantOutcome(t, "timer", r.RNRTimer(), Outcome{})
}
