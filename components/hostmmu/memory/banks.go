package memory

import (
	"math/bits"

	"rnicmmu/clocked"
)

// banks is channels and banks as times at which they are free again.
type banks struct {
	rowMiss, lineTime clocked.Time
	bankMask          uint64
	rowShift          int // of an address within its channel
	channels          []clocked.Time
	banks             []bank // by channel, then bank
}

type bank struct {
	free clocked.Time
	row  uint64 // plus 1; 0: none open
}

func newBanks(s DRAM) *banks {
	return &banks{
		rowMiss: s.RowMiss, lineTime: s.LineTime,
		bankMask: uint64(s.Banks - 1),
		rowShift: bits.TrailingZeros64(uint64(s.Row)),
		channels: make([]clocked.Time, s.Channels),
		banks:    make([]bank, s.Channels*s.Banks),
	}
}

// start occupies bank and channel. What the LLC pushed out takes its channel only.
func (b *banks) start(now clocked.Time, t transfer) (late clocked.Time, known bool) {
	channel, within := place(t.pa, len(b.channels))
	turn := now
	if t.ticket != nobody {
		turn = b.open(now, channel, within>>b.rowShift)
	}
	turn = max(turn, b.channels[channel])
	b.channels[channel] = turn + clocked.Time(t.lines)*b.lineTime
	return turn - now, true
}

// open makes a row the bank's open one, and tells when the bank takes the access.
func (b *banks) open(now clocked.Time, channel int, row uint64) clocked.Time {
	// Folding upper address bits in keeps strides of whole banks apart.
	which := (row ^ row>>bits.Len64(b.bankMask)) & b.bankMask
	k := &b.banks[uint64(channel)*(b.bankMask+1)+which]
	if k.row == row+1 {
		return now
	}
	start := max(now, k.free)
	k.free = start + b.rowMiss
	k.row = row + 1
	return start
}

func (b *banks) finished(clocked.Time) (int, clocked.Time, bool) { return 0, 0, false }
