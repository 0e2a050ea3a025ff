package rc

// PSN is a packet sequence number: 24 bits, modular.
type PSN uint32

const (
	psnBits = 24
	psnMask = 1<<psnBits - 1
	// MaxOutstanding is the most PSNs between the oldest not acknowledged and
	// the next to send: half the number space, so that order is decidable.
	MaxOutstanding = 1 << (psnBits - 1)
)

// Add is the PSN n packets after p.
func (p PSN) Add(n uint32) PSN { return (p + PSN(n)) & psnMask }

// Sub is the signed 24-bit distance from q to p, -2^23 … 2^23-1: negative
// where p is before q.
func (p PSN) Sub(q PSN) int32 { return int32((p-q)<<(32-psnBits)) >> (32 - psnBits) }

// Before tells whether p is before q.
func (p PSN) Before(q PSN) bool { return p.Sub(q) < 0 }
