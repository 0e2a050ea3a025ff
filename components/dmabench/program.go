package dmabench

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Test is what the device does and measures.
type Test int

// Tests of [pcie-bench], by its names.
const (
	CommandRead      Test = iota // LAT_CMD_RD
	CommandWriteRead             // LAT_CMD_WRRD: a read right behind a write of the same bytes
	DMARead                      // LAT_DMA_RD
	DMAWriteRead                 // LAT_DMA_WRRD: a read when the context was told of the write
	ReadBandwidth                // BW_DMA_RD
	WriteBandwidth               // BW_DMA_WR
	BothBandwidth                // BW_DMA_RW: reads and writes in turn
	NumTests
)

var testNames = [NumTests]string{"LAT_CMD_RD", "LAT_CMD_WRRD", "LAT_DMA_RD", "LAT_DMA_WRRD", "BW_DMA_RD", "BW_DMA_WR", "BW_DMA_RW"}

// String is the test's name in [pcie-bench].
func (t Test) String() string { return testNames[t] }

// ParseTest finds a test by its name.
func ParseTest(name string) (Test, error) {
	for t, n := range testNames {
		if n == name {
			return Test(t), nil
		}
	}
	return 0, fmt.Errorf("test %q: one of %v is due", name, testNames)
}

// Latency tells whether the test measures one transfer at a time.
func (t Test) Latency() bool { return t < ReadBandwidth }

// command tells whether transfers leave without the engine.
func (t Test) command() bool { return t <= CommandWriteRead }

const (
	block = 4096 // that no transfer crosses, in bytes
	line  = 64   // to which units are rounded up, in bytes
)

// Program is one run of a test.
type Program struct {
	Test      Test
	Bytes     uint32      // of a transfer, 1 to 4096
	Window    model.Bytes // at least a transfer, rounded up to lines
	Base      model.PA    // of the window, a multiple of 4 KiB
	Random    bool        // units at random, else in turn
	Seed      uint64      // of the random units
	Warmup    int         // transfers before the first that counts
	Transfers int         // in all
}

// check refuses what cannot run; contexts is the number that run at a time.
func (p *Program) check(contexts int) error {
	switch {
	case p.Test < 0 || p.Test >= NumTests:
		return fmt.Errorf("test %d: 0 to %d is due", p.Test, NumTests-1)
	case p.Bytes < 1 || p.Bytes > block:
		return fmt.Errorf("%v of %d B: 1 to 4096 is due", p.Test, p.Bytes)
	case p.Window < model.Bytes(p.unit()) || p.Window > 1<<30:
		return fmt.Errorf("%v: window of %d B: a transfer of %d B to 1 GiB is due", p.Test, p.Window, p.Bytes)
	case p.Base%block != 0:
		return fmt.Errorf("%v: base %#x: a multiple of 4 KiB is due", p.Test, uint64(p.Base))
	case p.Warmup < 1 || p.Transfers <= p.Warmup+contexts:
		return fmt.Errorf("%v: %d transfers with a warm-up of %d: at least 1, and more than that and %d contexts are due", p.Test, p.Transfers, p.Warmup, contexts)
	}
	return nil
}

// unit is the distance of transfers in bytes.
func (p *Program) unit() uint32 { return (p.Bytes + line - 1) / line * line }

// drawn is the number of places that are drawn before they repeat.
const drawn = 1 << 12

// places are the offsets of transfers in the window, in the order of their use.
func (p *Program) places() []uint32 {
	units := uint32(p.Window / model.Bytes(p.unit()))
	var fit []uint32
	for i := range units {
		if at := i * p.unit(); at%block+p.Bytes <= block {
			fit = append(fit, at)
		}
	}
	if !p.Random {
		return fit
	}
	random := clocked.NewStream(p.Seed, "dmabench.places")
	out := make([]uint32, drawn)
	for i := range out {
		out[i] = fit[random.IntN(len(fit))]
	}
	return out
}
