package rc

import (
	"testing"

	"rnicmmu/model/key"
)

// KEY-5: a duplicate is answered from what was done, and does nothing again.
func TestDuplicates(t *testing.T) {
	r := newResponder(t, nil)
	r.Receive(read(100, 0x1000, 4*mtu), good) // 100 … 103
	atomic := Packet{Opcode: FetchAdd, PSN: 104, VA: 8, Key: 0x100}
	in := good
	in.Original = 42
	r.Receive(atomic, in)
	r.Receive(write(105, 8), good)
	never := Inputs{Key: key.NoRegion} // a duplicate looks at nothing
	ack := Action{Kind: SendAck, Syndrome: AckUnlimited, PSN: 105, MSN: 3}
	wantAction(t, "WRITE", r.Receive(write(105, 8), never), ack)
	wantAction(t, "old WRITE", r.Receive(write(50, 8), never), ack)
	wantAction(t, "ATOMIC", r.Receive(atomic, never),
		Action{Kind: ReplayAtomic, Syndrome: AckUnlimited, PSN: 104, MSN: 3, Original: 42})
	wantAction(t, "rest of the READ", r.Receive(read(102, 0x1000+2*mtu, 2*mtu), never),
		Action{Kind: ReplayRead, Syndrome: AckUnlimited, PSN: 102, MSN: 3})
	drop := Action{Kind: Drop}
	wantAction(t, "READ beyond", r.Receive(read(102, 0x1000+2*mtu, 2*mtu+1), never), drop)
	wantAction(t, "READ below", r.Receive(read(102, 0xFFF, 8), never), drop)
	other := read(100, 0x1000, 8)
	other.Key++
	wantAction(t, "READ by another key", r.Receive(other, never), drop)
	wantAction(t, "unknown READ", r.Receive(read(90, 0x1000, 8), never), drop)
	wantAction(t, "READ at the atomic's PSN", r.Receive(read(104, 0x1000, 8), never), drop)
	if r.Expected != 106 || r.MSN != 3 {
		t.Errorf("duplicates moved the responder: %d, %d", r.Expected, r.MSN)
	}
}

// Only the last max_dest_rd_atomic READs and atomics are remembered.
func TestResourcesAreForgotten(t *testing.T) {
	r := newResponder(t, func(c *ResponderConfig) { c.Resources = 2 })
	for psn := PSN(100); psn < 103; psn++ {
		r.Receive(read(psn, 0x1000, 8), good)
	}
	for psn, kind := range map[PSN]Kind{100: Drop, 101: ReplayRead, 102: ReplayRead} {
		if a := r.Receive(read(psn, 0x1000, 8), good); a.Kind != kind {
			t.Errorf("READ %d again: %v, want %v", psn, a.Kind, kind)
		}
	}
}
