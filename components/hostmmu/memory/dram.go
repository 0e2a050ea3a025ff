package memory

import (
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Shifts of what the host fixes.
const (
	lineShift  = 6  // cache line
	blockShift = 12 // channel interleave; no request is longer
)

// dram is when channels and banks are free again.
type dram struct {
	rowMiss, lineTime clocked.Time
	channelBits       int
	bankMask          uint64
	rowBlocks         int // log2 of the 4 KiB blocks in a row
	channels          []clocked.Time
	banks             []bank // by channel, then bank
}

type bank struct {
	free clocked.Time
	row  uint64 // plus 1; 0: none open
}

func newDRAM(s DRAM) dram {
	return dram{
		rowMiss: s.RowMiss, lineTime: s.LineTime,
		channelBits: bits.TrailingZeros(uint(s.Channels)),
		bankMask:    uint64(s.Banks - 1),
		rowBlocks:   bits.TrailingZeros64(uint64(s.Row)) - blockShift,
		channels:    make([]clocked.Time, s.Channels),
		banks:       make([]bank, s.Channels*s.Banks),
	}
}

func (d *dram) channelOf(pa model.PA) int {
	return int(uint64(pa) >> blockShift & uint64(len(d.channels)-1))
}

// access occupies the bank and channel of pa for a transfer of lines that
// arrives at now, and returns when its turn comes.
func (d *dram) access(now clocked.Time, pa model.PA, lines int) clocked.Time {
	channel := d.channelOf(pa)
	row := uint64(pa) >> blockShift >> d.channelBits >> d.rowBlocks
	// Folding upper address bits in keeps strides of whole banks apart.
	which := (row ^ row>>bits.Len64(d.bankMask)) & d.bankMask
	b := &d.banks[uint64(channel)*(d.bankMask+1)+which]
	start := now
	if b.row != row+1 {
		start = max(start, b.free)
		b.free = start + d.rowMiss
		b.row = row + 1
	}
	return d.occupy(start, channel, lines)
}

// occupy takes a channel for lines at start or when it is free.
func (d *dram) occupy(start clocked.Time, channel, lines int) clocked.Time {
	start = max(start, d.channels[channel])
	d.channels[channel] = start + clocked.Time(lines)*d.lineTime
	return start
}

// linesOf counts the cache lines of a transfer, at least one.
func linesOf(pa model.PA, length uint32) int {
	if length == 0 {
		return 1
	}
	return int((uint64(pa)+uint64(length)-1)>>lineShift - uint64(pa)>>lineShift + 1)
}
