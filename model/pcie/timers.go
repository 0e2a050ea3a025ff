package pcie

// internalDelay is the receiver's part of a limit in symbol times
// ([cocotbext-pcie] get_update_factor).
func internalDelay(gen int) int64 {
	switch gen {
	case 1:
		return 19
	case 2:
		return 70
	}
	return 115
}

// factorTenths is the number of maximal TLPs that one acknowledgement may cover,
// in tenths ([cocotbext-pcie] get_update_factor). From x12 on a link counts as
// x16.
func factorTenths(lanes int, mps uint32) int64 {
	if mps >= 512 {
		if lanes <= 8 {
			return 10
		}
		return 20
	}
	switch {
	case lanes <= 4:
		return 14
	case lanes <= 8:
		return 25
	}
	return 30
}

// tlpAllowance is what a maximal TLP has beside its payload in the formula of
// the limits, in bytes.
const tlpAllowance = 28

// AckLimit is the longest that a receiver may wait before it acknowledges a TLP,
// and before it returns credits of one that it has drained, in symbol times:
//
//	(MPS + 28) × factor ÷ lanes + internal delay
//
// rounded down ([cocotbext-pcie]). mps is in bytes. 0 in flit mode, where every
// flit acknowledges.
//
// The tables of [pcie-model] agree but for two slips: at Gen1 x32 with 2048 B the
// limit of UpdateFC is 148 and not 248, at Gen2 x32 with 4096 B that of Ack is 327
// and not 237.
func AckLimit(gen, lanes int, mps uint32) int64 {
	if Flits(gen) {
		return 0
	}
	return (int64(mps)+tlpAllowance)*factorTenths(lanes, mps)/(10*int64(lanes)) + internalDelay(gen)
}

// simplifiedReplay is the least of the range of the simplified replay timer,
// 24,000 to 31,000 symbol times (recalled).
const simplifiedReplay = 24_000

// ReplayLimit is how long a sender waits for an acknowledgement before it sends
// again, in symbol times: three times AckLimit up to Gen3, then the simplified
// timer.
func ReplayLimit(gen, lanes int, mps uint32) int64 {
	if gen <= 3 {
		return 3 * AckLimit(gen, lanes, mps)
	}
	return simplifiedReplay
}

// UpdatePeriod is the longest time between two UpdateFC of a type with finite
// credits, in picoseconds: 30 µs, with or without news ([cocotbext-pcie]).
const UpdatePeriod = 30_000_000
