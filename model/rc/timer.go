package rc

const microsecond = 1_000_000 // picoseconds

// rnrDelays are the delays of the 32 RNR timer codes, in units of 10 µs. The
// values follow the verbs' names ([rdma-core] man ibv_modify_qp); code 0 is
// the longest. [Linux] rxe_comp.c has 61.41 ms for code 25, a slip against its
// name.
var rnrDelays = [32]int64{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// RNRDelay is the delay in picoseconds of an RNR timer code; bits above the
// low five are ignored.
func RNRDelay(code uint8) int64 { return rnrDelays[code&valueMask] * 10 * microsecond }

// AckTimeout is the local acknowledgement timeout in picoseconds of a code
// 0 … 31: 4.096 µs · 2^code. Code 0 turns the timer off: on is false.
func AckTimeout(code uint8) (timeout int64, on bool) {
	code &= valueMask
	return 4_096_000 << code, code != 0
}
