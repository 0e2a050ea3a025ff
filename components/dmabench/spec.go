package dmabench

import (
	"fmt"
	"math/bits"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Spec holds what the device adds to the link. Its keys stand under "device".
type Spec struct {
	Clock      clocked.Freq  `key:"clock" default:"1200MHz" min:"1MHz" max:"100GHz" doc:"clock of the endpoint's clients" source:"[pcie-bench]: NFP6000 at 1.2 GHz"`
	Contexts   int           `key:"contexts" default:"95" min:"1" max:"4096" doc:"DMAs at a time in tests of bandwidth" source:"[pcie-bench]: 12 engines of 8 contexts, less the one that measures"`
	Command    clocked.Time  `key:"command" default:"25ns" min:"0ns" max:"10us" doc:"command path of a single read or write, both ways" source:"fitted to [pcie-bench] LAT_CMD_RD, docs/calibration.md"`
	DMAIssue   clocked.Time  `key:"dma_issue" default:"51ns" min:"0ns" max:"10us" doc:"from a context until the DMA engine has the descriptor" source:"fitted to [pcie-bench] LAT_DMA_RD, docs/calibration.md"`
	ReadSlots  int           `key:"read_slots" default:"32" min:"1" max:"4096" doc:"read DMAs in the engine at a time" source:"fitted to [pcie-bench] BW_DMA_RD of 16 to 64 B, docs/calibration.md"`
	ReadDone   clocked.Time  `key:"read_done" default:"35ns" min:"0ns" max:"10us" doc:"from the data stored until the context is told and the slot is free" source:"fitted to [pcie-bench] BW_DMA_RD of 16 to 64 B, docs/calibration.md"`
	OddRead    clocked.Time  `key:"odd_read" default:"23800ps" min:"0ns" max:"10us" doc:"time of the engine for a read of no whole double words" source:"fitted to [pcie-bench] BW_DMA_RD of 63, 65 and 127 B, docs/calibration.md"`
	StoreRate  model.BitRate `key:"store_rate" default:"57Gb/s" min:"1Mb/s" max:"100Tb/s" doc:"data of reads into the device's memory" source:"fitted to [pcie-bench] LAT_DMA_RD, docs/calibration.md"`
	FetchRate  model.BitRate `key:"fetch_rate" default:"80Gb/s" min:"1Mb/s" max:"100Tb/s" doc:"data of writes out of the device's memory" source:"fitted to [pcie-bench] LAT_DMA_WRRD, docs/calibration.md"`
	WritePiece model.Bytes   `key:"write_piece" default:"128B" min:"4B" max:"4KiB" pow2:"true" doc:"bytes that the engine writes at a time" source:"fitted to [pcie-bench] BW_DMA_WR, docs/calibration.md"`
	PieceTime  clocked.Time  `key:"piece_time" default:"17ns" min:"0ns" max:"10us" doc:"time of the engine for a piece" source:"fitted to [pcie-bench] BW_DMA_WR, docs/calibration.md"`
	WriteGap   clocked.Time  `key:"write_gap" default:"4ns" min:"0ns" max:"10us" doc:"time of the engine after a write" source:"fitted to [pcie-bench] BW_DMA_WR, docs/calibration.md"`
	LongGap    clocked.Time  `key:"long_gap" default:"7ns" min:"0ns" max:"10us" doc:"the same after a last piece of more than three quarters of write_piece" source:"fitted to [pcie-bench] BW_DMA_WR: the step lies between 65 and 127 B, docs/calibration.md"`
	WriteDone  clocked.Time  `key:"write_done" default:"222ns" min:"0ns" max:"10us" doc:"from the last piece on the link until the context is told" source:"fitted to [pcie-bench] LAT_DMA_WRRD, docs/calibration.md"`
}

// Check refuses what cannot be built or would hang. Errors name the key.
func (s *Spec) Check() error {
	switch {
	case s.Clock < 1:
		return fmt.Errorf("device.clock: %d Hz: at least 1 Hz is due", s.Clock)
	case s.Contexts < 1 || s.ReadSlots < 1:
		return fmt.Errorf("device: contexts %d, read_slots %d: at least 1 is due", s.Contexts, s.ReadSlots)
	case s.StoreRate < 1 || s.FetchRate < 1:
		return fmt.Errorf("device: store_rate %d b/s, fetch_rate %d b/s: at least 1 b/s is due", s.StoreRate, s.FetchRate)
	case s.WritePiece < 4 || s.WritePiece > block || bits.OnesCount64(uint64(s.WritePiece)) != 1:
		return fmt.Errorf("device.write_piece: %d B: a power of two from 4 to 4096 is due", s.WritePiece)
	}
	for _, t := range []clocked.Time{s.Command, s.DMAIssue, s.ReadDone, s.OddRead, s.PieceTime, s.WriteGap, s.LongGap, s.WriteDone} {
		if t < 0 {
			return fmt.Errorf("device: a time is negative: %v; 0 or more is due", t)
		}
	}
	return nil
}

// timeOf is the time of n bytes at a rate, rounded up.
func timeOf(n uint32, rate model.BitRate) clocked.Time {
	bits := int64(n) * 8 * int64(clocked.Second)
	return clocked.Time((bits + int64(rate) - 1) / int64(rate))
}
