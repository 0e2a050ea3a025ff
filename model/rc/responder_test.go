package rc

import (
	"testing"

	"rnicmmu/model"
	"rnicmmu/model/key"
)

const (
	mtu       = 1024
	allRights = key.RemoteWrite | key.RemoteRead | key.RemoteAtomic
)

// good are the inputs with which every legal packet executes.
var good = Inputs{ReceiveReady: true, Key: key.OK, Present: true}

func newResponder(t testing.TB, change func(*ResponderConfig)) *Responder {
	t.Helper()
	c := ResponderConfig{MTU: mtu, Rights: allRights, Resources: 4, RNRTimer: 14}
	if change != nil {
		change(&c)
	}
	r, err := NewResponder(c, 100)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func write(psn PSN, n uint32) Packet {
	return Packet{Opcode: WriteOnly, PSN: psn, Payload: n, Length: n, VA: 0x1000, Key: 0x100, AckRequest: true}
}

func read(psn PSN, va model.VA, n uint32) Packet {
	return Packet{Opcode: ReadRequest, PSN: psn, Length: n, VA: va, Key: 0x100}
}

func wantAction(t *testing.T, what string, got, want Action) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestResponderConfig(t *testing.T) {
	for _, c := range []ResponderConfig{{MTU: 1000}, {MTU: mtu, Resources: -1},
		{MTU: mtu, Resources: MaxResources + 1}, {MTU: mtu, RNRTimer: 32}} {
		if _, err := NewResponder(c, 0); err == nil {
			t.Errorf("%+v accepted", c)
		}
	}
}

// Each step's refusal and its code, semantics §5.1. Every packet also fails
// what comes later (the inputs refuse everything not named), so the order is
// checked with it.
func TestRefusalsInOrder(t *testing.T) {
	bad := Inputs{Key: key.NoRegion, Execution: CopyFault}
	with := func(change func(*Inputs)) Inputs {
		in := bad
		change(&in)
		return in
	}
	keyed := with(func(in *Inputs) { in.ReceiveReady, in.Key = true, key.OK })
	for _, tc := range []struct {
		name   string
		config func(*ResponderConfig)
		p      Packet
		in     Inputs
		want   Syndrome
	}{
		{"2 ahead", nil, write(101, 2000), bad, NAKSequence},
		{"3 middle without first", nil, Packet{Opcode: WriteMiddle, PSN: 100, Payload: 2000}, bad, NAKInvalidRequest},
		{"4 QP forbids WRITE", func(c *ResponderConfig) { c.Rights = key.RemoteRead },
			Packet{Opcode: WriteOnlyImmediate, PSN: 100, Payload: 2000}, bad, NAKInvalidRequest},
		{"4 READ right is no atomic right", func(c *ResponderConfig) { c.Rights = key.RemoteRead },
			Packet{Opcode: FetchAdd, PSN: 100}, bad, NAKInvalidRequest},
		{"5 no read resources", func(c *ResponderConfig) { c.Resources = 0 }, read(100, 0, 8), bad, NAKInvalidRequest},
		{"5 no receive", nil, Packet{Opcode: SendOnly, PSN: 100, Payload: 2000}, bad, RNRNAK(14)},
		{"5 no receive for immediate", nil, Packet{Opcode: WriteOnlyImmediate, PSN: 100, Payload: 2000}, bad, RNRNAK(14)},
		{"6 payload over MTU", nil, write(100, 2000), bad, NAKInvalidRequest},
		{"6 short first", nil, Packet{Opcode: WriteFirst, PSN: 100, Payload: 10, Length: 20}, bad, NAKInvalidRequest},
		{"6 READ over 2 GiB", nil, read(100, 0, MaxMessage+1), bad, NAKInvalidRequest},
		{"6 WRITE over 2 GiB", nil, Packet{Opcode: WriteFirst, PSN: 100, Payload: mtu, Length: MaxMessage + 1}, bad, NAKInvalidRequest},
		{"7 key", nil, Packet{Opcode: WriteOnly, PSN: 100, Payload: 8, Length: 9}, bad, NAKRemoteAccess},
		{"7 bounds", nil, read(100, 0, 8), with(func(in *Inputs) { in.Key = key.OutOfBounds }), NAKRemoteAccess},
		{"8 payload is not the RETH length", nil, Packet{Opcode: WriteOnly, PSN: 100, Payload: 8, Length: 9}, keyed, NAKInvalidRequest},
		{"8 first longer than the message", nil, Packet{Opcode: WriteFirst, PSN: 100, Payload: mtu, Length: mtu}, keyed, NAKInvalidRequest},
		{"9 suspended", nil, write(100, 8), with(func(in *Inputs) { in.Key = key.SuspendedNow }), RNRNAK(14)},
		{"9 absent", nil, Packet{Opcode: FetchAdd, PSN: 100, VA: 1}, keyed, RNRNAK(14)},
		{"10 memory refuses", nil, write(100, 8), Inputs{Key: key.OK, Present: true, Execution: CopyFault}, NAKRemoteAccess},
		{"10 misaligned atomic", nil, Packet{Opcode: FetchAdd, PSN: 100, VA: 4}, good, NAKInvalidRequest},
		{"10 buffer too small", nil, Packet{Opcode: SendOnly, PSN: 100, Payload: 8},
			Inputs{ReceiveReady: true, Present: true, Execution: ReceiveTooSmall}, NAKInvalidRequest},
		{"10 bad receive", nil, Packet{Opcode: SendOnly, PSN: 100, Payload: 8},
			Inputs{ReceiveReady: true, Present: true, Execution: ReceiveMalformed}, NAKRemoteOp},
	} {
		r := newResponder(t, tc.config)
		got := r.Receive(tc.p, tc.in)
		want := Action{Kind: SendNAK, Syndrome: tc.want, PSN: 100}
		if tc.want.RNR() {
			want.Kind = SendRNR
		}
		wantAction(t, tc.name, got, want)
		if (r.State == Error) != tc.want.Fatal() {
			t.Errorf("%s: QP in error %v, fatal %v", tc.name, r.State == Error, tc.want.Fatal())
		}
		if r.Expected != 100 || r.MSN != 0 {
			t.Errorf("%s: expected PSN moved to %d, MSN to %d", tc.name, r.Expected, r.MSN)
		}
	}
}

// D8: a SEND with an invalidate that fails kills the QP without a NAK.
func TestInvalidateRefused(t *testing.T) {
	r := newResponder(t, nil)
	in := good
	in.Execution = InvalidateRefused
	wantAction(t, "refused", r.Receive(Packet{Opcode: SendOnlyInvalidate, PSN: 100, Payload: 8}, in), Action{Kind: Fail})
	wantAction(t, "afterwards", r.Receive(write(100, 8), good), Action{Kind: Drop})
}

// D2: READ and WRITE of no bytes are acknowledged whatever key and address.
func TestZeroLengthNeedsNothing(t *testing.T) {
	r := newResponder(t, nil)
	in := Inputs{Key: key.ZeroLength}
	wantAction(t, "WRITE", r.Receive(write(100, 0), in), Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 100, MSN: 1})
	wantAction(t, "READ", r.Receive(read(101, 0, 0), in), Action{Kind: SendResponse, Syndrome: AckUnlimited, PSN: 101, MSN: 2})
}

// F10: an atomic on a read-only region is refused before it executes.
func TestAtomicOnReadOnlyRegion(t *testing.T) {
	region := key.Region{Key: 0x100, PD: 1, State: key.Valid, Rights: key.RemoteRead, Length: 64}
	r := newResponder(t, nil)
	p := Packet{Opcode: FetchAdd, PSN: 100, Key: 0x100, VA: 8}
	target, _ := r.Target(p)
	in := good
	in.Key = key.Check(&region, target.Key, 1, 0, target.Op, target.VA, target.Remaining)
	wantAction(t, "FETCH_ADD", r.Receive(p, in), Action{Kind: SendNAK, Syndrome: NAKRemoteAccess, PSN: 100})
}

// A WRITE of three packets: targets, PSNs, and one MSN at its end.
func TestMultiPacketWrite(t *testing.T) {
	r := newResponder(t, nil)
	for i, tc := range []struct {
		p         Packet
		va        model.VA
		remaining uint64
		want      Action
	}{
		{Packet{Opcode: WriteFirst, PSN: 100, Payload: mtu, Length: 2500, VA: 0x5000, Key: 7}, 0x5000, 2500, Action{Kind: Executed}},
		{Packet{Opcode: WriteMiddle, PSN: 101, Payload: mtu, AckRequest: true}, 0x5400, 1476,
			Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 101}},
		{Packet{Opcode: WriteLast, PSN: 102, Payload: 452, AckRequest: true}, 0x5800, 452,
			Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 102, MSN: 1}},
	} {
		target, ok := r.Target(tc.p)
		if want := (Target{model.OpWrite, 7, tc.va, uint64(tc.p.Payload), tc.remaining}); !ok || target != want {
			t.Errorf("packet %d: target %+v, want %+v", i, target, want)
		}
		wantAction(t, "packet", r.Receive(tc.p, good), tc.want)
	}
	if _, ok := r.Target(Packet{Opcode: SendOnly}); ok {
		t.Error("a SEND has no target by key")
	}
}

func TestOpcodeSequence(t *testing.T) {
	full := func(o Opcode, psn PSN) Packet {
		return Packet{Opcode: o, PSN: psn, Payload: mtu, Length: 3 * mtu}
	}
	for _, tc := range []struct {
		before []Opcode
		next   Opcode
		ok     bool
	}{
		{nil, SendLast, false}, {nil, SendFirst, true},
		{[]Opcode{SendFirst}, SendMiddle, true}, {[]Opcode{SendFirst}, SendLast, true},
		{[]Opcode{SendFirst}, WriteMiddle, false}, {[]Opcode{SendFirst}, SendOnly, false},
		{[]Opcode{SendFirst}, ReadRequest, false}, {[]Opcode{WriteFirst}, SendLast, false},
		{[]Opcode{WriteFirst}, WriteFirst, false}, {[]Opcode{SendFirst, SendLast}, SendLast, false},
		{[]Opcode{SendFirst, SendLast}, ReadRequest, true},
	} {
		r := newResponder(t, nil)
		psn := PSN(100)
		for _, o := range tc.before {
			r.Receive(full(o, psn), good)
			psn++
		}
		a := r.Receive(full(tc.next, psn), good)
		if ok := a.Kind != SendNAK; ok != tc.ok {
			t.Errorf("%v after %v: %+v", tc.next, tc.before, a)
		}
	}
}

// RC-5: one NAK a gap, then silence until the gap is filled.
func TestOneNAKPerGap(t *testing.T) {
	r := newResponder(t, nil)
	nak := Action{Kind: SendNAK, Syndrome: NAKSequence, PSN: 100}
	wantAction(t, "first ahead", r.Receive(write(101, 8), good), nak)
	wantAction(t, "second ahead", r.Receive(write(102, 8), good), Action{Kind: Drop})
	wantAction(t, "gap filled", r.Receive(write(100, 8), good), Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 100, MSN: 1})
	nak.PSN, nak.MSN = 101, 1
	wantAction(t, "next gap", r.Receive(write(105, 8), good), nak)
}

// What follows an RNR NAK: silence, or one sequence NAK, by mode.
func TestNAKAfterRNR(t *testing.T) {
	for _, mode := range []bool{false, true} {
		r := newResponder(t, func(c *ResponderConfig) { c.NAKAfterRNR = mode })
		absent := good
		absent.Present = false
		if a := r.Receive(write(100, 8), absent); a.Kind != SendRNR {
			t.Fatalf("%+v", a)
		}
		want := Action{Kind: Drop}
		if mode {
			want = Action{Kind: SendNAK, Syndrome: NAKSequence, PSN: 100}
		}
		wantAction(t, "behind the RNR", r.Receive(write(101, 8), good), want)
		wantAction(t, "further behind", r.Receive(write(102, 8), good), Action{Kind: Drop})
		if a := r.Receive(write(100, 8), good); a.Kind != SendAck {
			t.Errorf("the packet again: %+v", a)
		}
	}
}

// A READ consumes a PSN for each response packet.
func TestReadSpan(t *testing.T) {
	r := newResponder(t, nil)
	r.Receive(read(100, 0x1000, 3*mtu+1), good)
	if r.Expected != 104 || r.MSN != 1 {
		t.Errorf("expected %d, MSN %d", r.Expected, r.MSN)
	}
}

// C10 (b): a region revoked in mid-READ ends the response with a NAK.
func TestRevokedDuringRead(t *testing.T) {
	r := newResponder(t, nil)
	r.Receive(read(100, 0x1000, 4*mtu), good)
	wantAction(t, "valid", r.Recheck(101, key.OK), Action{})
	wantAction(t, "suspended", r.Recheck(102, key.SuspendedNow), Action{Kind: Drop})
	wantAction(t, "revoked", r.Recheck(102, key.NotValid), Action{Kind: SendNAK, Syndrome: NAKRemoteAccess, PSN: 102, MSN: 1})
}

// Packets executed early are undone by putting the cursor back.
func TestCursorUndoes(t *testing.T) {
	r := newResponder(t, nil)
	before := r.Cursor
	first := Packet{Opcode: WriteFirst, PSN: 100, Payload: mtu, Length: 2 * mtu, VA: 0x5000, Key: 7}
	second := Packet{Opcode: WriteLast, PSN: 101, Payload: mtu, AckRequest: true}
	r.Receive(first, good)
	r.Receive(second, good)
	r.Cursor = before
	wantAction(t, "late absence", r.Translate(first, false), Action{Kind: SendRNR, Syndrome: RNRNAK(14), PSN: 100})
	wantAction(t, "second again", r.Receive(second, good), Action{Kind: Drop})
	wantAction(t, "first again", r.Receive(first, good), Action{Kind: Executed})
	wantAction(t, "second at last", r.Receive(second, good), Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 101, MSN: 1})
}

func TestResetAndForeignPackets(t *testing.T) {
	r := newResponder(t, nil)
	wantAction(t, "a response opcode", r.Receive(Packet{Opcode: ReadResponseOnly, PSN: 100}, good), Action{Kind: Drop})
	r.State = Reset
	wantAction(t, "in reset", r.Receive(write(100, 8), good), Action{Kind: Drop})
}

func BenchmarkReceive(b *testing.B) {
	r := newResponder(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		r.Receive(write(r.Expected, 8), good)
	}
}
