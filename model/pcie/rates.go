package pcie

// The signalling rates are generations 1 to 6: 2.5, 5, 8, 16, 32 and 64 GT/s a
// lane. A gen outside 1 … 6 is the caller's mistake.
const (
	FirstGen = 1
	LastGen  = 6
)

// Flit mode (Gen6): TLPs travel in flits of 256 bytes, of which 236 are of TLPs,
// 6 of the data link layer, 8 CRC and 6 error correction ([PCIe]).
const (
	FlitBytes    = 256
	FlitTLPBytes = 236
)

// Flits tells whether TLPs travel in flits.
func Flits(gen int) bool { return gen >= 6 }

// symbolTimes is the time of one byte on one lane, num/den picoseconds after
// line coding: 8b/10b up to Gen2, 128b/130b up to Gen5, then 1b/1b
// ([cocotbext-pcie] PCIE_GEN_RATE).
var symbolTimes = [LastGen][2]int64{{4000, 1}, {2000, 1}, {8125, 8}, {8125, 16}, {8125, 32}, {125, 1}}

// SymbolTime is the exact time of one byte on one lane, num/den picoseconds in
// lowest terms.
func SymbolTime(gen int) (num, den int64) {
	t := &symbolTimes[gen-1]
	return t[0], t[1]
}

// ByteTime is the exact time of one byte over all lanes, num/den picoseconds in
// lowest terms, after line coding; in flit mode of one byte of a flit, be it of
// a TLP or not. lanes is at least 1.
func ByteTime(gen, lanes int) (num, den int64) {
	num, den = SymbolTime(gen)
	common := gcd(num, int64(lanes))
	return num / common, den * (int64(lanes) / common)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Symbols is the time of n symbols on a lane in picoseconds, rounded up.
func Symbols(gen int, n int64) int64 {
	num, den := SymbolTime(gen)
	return (n*num + den - 1) / den
}

// SKP is how often a SKP ordered set is due, from start to start, and how long
// it holds up every lane, in symbol times: 4 symbols in 1538 with 8b/10b
// ([pcie-model]); with 128b/130b a block of 16 symbols in 370 blocks, the
// shortest interval that is allowed (recalled); in flit mode 40 symbols in 748
// flits of an x16 link, which is 11968 symbol times and nearly so at every width
// (recalled).
func SKP(gen int) (interval, length int64) {
	switch {
	case gen <= 2:
		return 1538, 4
	case !Flits(gen):
		return 370 * 16, 16
	}
	return 748 * FlitBytes / 16, 40
}
