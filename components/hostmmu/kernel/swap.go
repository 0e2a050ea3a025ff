package kernel

import (
	"rnicmmu/clocked"
	"rnicmmu/model"
)

// swapDevice serves page transfers: at most depth at once, in order of
// arrival, over one link of the given bandwidth.
type swapDevice struct {
	link        clocked.Serializer
	bytes       int64
	read, write clocked.Time   // latencies
	ends        []clocked.Time // by place in the queue: when its last request ends
	last        clocked.Time   // start of the newest: requests start in order
}

func newSwap(s Swap, shift model.PageShift) swapDevice {
	const picoseconds = 8 * int64(clocked.Second) // of a byte at 1 bit/s
	common := gcd(picoseconds, int64(s.Bandwidth))
	return swapDevice{
		link:  clocked.NewSerializer(picoseconds/common, int64(s.Bandwidth)/common),
		bytes: int64(shift.Bytes()), read: s.ReadLatency, write: s.WriteLatency,
		ends: make([]clocked.Time, s.QueueDepth),
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// transfer queues a page and returns when it is done. A request takes a place
// in the queue, then its latency and its turn on the link.
func (d *swapDevice) transfer(now, latency clocked.Time) clocked.Time {
	place := 0
	for i, end := range d.ends {
		if end < d.ends[place] {
			place = i
		}
	}
	d.last = max(now, d.last, d.ends[place])
	_, end := d.link.Send(d.last, d.bytes)
	d.ends[place] = end + latency
	return d.ends[place]
}

// swapIn starts a read for a CPU fault.
func (k *Kernel) swapIn(now clocked.Time, who ref) {
	k.Stats.SwappedIn++
	k.timers.set(k.swap.transfer(now, k.swap.read), who)
}

// swapOut starts a write of a frame on its way out.
func (k *Kernel) swapOut(now clocked.Time, f uint32) {
	k.Stats.SwappedOut++
	k.timers.set(k.swap.transfer(now, k.swap.write), refer(actorFrame, int(f)))
}
