package rc

// Acknowledge takes an ACK, NAK or RNR NAK packet. One for a PSN that is not
// outstanding is a ghost and does nothing, as is one with a reserved syndrome.
func (r *Requester) Acknowledge(s Syndrome, p PSN) Outcome {
	if r.failed || !r.sent(p) {
		return Outcome{}
	}
	switch {
	case s.Ack():
		advanced, implied := r.moveTo(p.Add(1))
		if implied {
			return r.sequenceError(advanced)
		}
		return Outcome{Advanced: advanced}
	case s.RNR():
		return r.notReady(s.Value(), p)
	case s.NAK():
		advanced, _ := r.moveTo(p) // a NAK acknowledges what is before it
		if s == NAKSequence {
			return r.sequenceError(advanced)
		}
		return r.fail(fatalStatus[s-NAKSequence], advanced)
	}
	return Outcome{}
}

var fatalStatus = [...]Status{
	NAKInvalidRequest - NAKSequence: RemoteInvalidRequest,
	NAKRemoteAccess - NAKSequence:   RemoteAccessError,
	NAKRemoteOp - NAKSequence:       RemoteOpError,
	NAKInvalidRD - NAKSequence:      BadResponse,
}

// Respond takes a READ response packet or an atomic's. In order it
// acknowledges itself and all before it; ahead of the one expected it is an
// implied NAK; behind, or for no READ or atomic, it does nothing. placed tells
// whether its data are to be used.
func (r *Requester) Respond(p PSN) (o Outcome, placed bool) {
	if r.failed || !r.sent(p) || len(r.reads) == 0 {
		return Outcome{}, false
	}
	next := r.reads[0].first
	if next.Before(r.Oldest) {
		next = r.Oldest
	}
	switch d := p.Sub(next); {
	case d < 0:
		return Outcome{}, false
	case d > 0:
		return r.sequenceError(r.progress(next)), false
	}
	return Outcome{Advanced: r.progress(p.Add(1))}, true
}

// notReady is an RNR NAK: all before it is acknowledged, the RNR budget is
// spent, and nothing leaves until the delay is over. While a delay runs,
// another for the same PSN is an echo of packets sent before.
func (r *Requester) notReady(code uint8, p PSN) Outcome {
	advanced, _ := r.moveTo(p)
	if r.waiting && !advanced {
		return Outcome{}
	}
	if r.rnr == 0 {
		return r.fail(RNRRetryExceeded, advanced)
	}
	if r.config.RNRRetry != Infinite {
		r.rnr--
	}
	r.waiting = true
	r.Next = r.Oldest
	return Outcome{Step: WaitRNR, Advanced: advanced, Delay: RNRDelay(code)}
}

// sequenceError goes back once for a loss: further signs of the same loss do
// nothing until there is progress, and during an RNR delay they tell only of
// packets that are sent again anyway.
func (r *Requester) sequenceError(advanced bool) Outcome {
	if r.started || r.waiting {
		return Outcome{Advanced: advanced}
	}
	return r.tryAgain(advanced)
}

func (r *Requester) tryAgain(advanced bool) Outcome {
	if r.retry == 0 {
		return r.fail(RetryExceeded, advanced)
	}
	if r.config.Retry != Infinite {
		r.retry--
	}
	r.started = true
	r.Next = r.Oldest
	return Outcome{Step: GoBack, Advanced: advanced}
}

func (r *Requester) fail(s Status, advanced bool) Outcome {
	r.Fail()
	return Outcome{Step: QPError, Status: s, Advanced: advanced}
}

// Fail puts the QP in error for a reason of its own side: the caller fails the
// oldest work request and flushes the rest.
func (r *Requester) Fail() { r.failed, r.waiting = true, false }

// Timeout is the end of the local ACK timeout. During an RNR delay it does
// nothing: that time is not charged to retry_cnt.
func (r *Requester) Timeout() Outcome {
	if r.failed || r.waiting || r.Outstanding() == 0 {
		return Outcome{}
	}
	return r.tryAgain(false)
}

// RNRTimer is the end of an RNR delay: sending goes on from Next.
func (r *Requester) RNRTimer() Outcome {
	if r.failed || !r.waiting {
		return Outcome{}
	}
	r.waiting = false
	return Outcome{Step: GoBack}
}
