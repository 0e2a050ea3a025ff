package platform

import (
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/model"
	"rnicmmu/workload"
)

const ns = clocked.Nanosecond

// wholeNanoseconds are settings with which every step takes a whole number of
// cycles of 1 ns, so that no clock edge rounds: 4 ns a byte on a Gen1 x1 link,
// 1 ns a byte on the network, and in which no packet of the data link layer is
// in a TLP's way.
var wholeNanoseconds = []string{"pcie.skp=false", "peer.pcie.skp=false", "pcie.ack.delay=30us", "peer.pcie.ack.delay=30us",
	"pcie.update.delay=30us", "peer.pcie.update.delay=30us", "tpt.clock=1GHz", "pcie.gen=1", "pcie.lanes=1", "network.rate=8Gb/s",
	"peer.pcie.gen=1", "peer.pcie.lanes=1", "workload.qps=1", "workload.outstanding=1", "host.llc.ddio_lines=0"}

// Steps of an unloaded access, with the defaults named beside them.
const (
	linkByte    = 4 * ns
	request     = 24               // bytes of a request without payload: framing 8, header 16
	userRequest = 20               // of one for user memory, which lies below 4 GiB: header 12
	linkLatency = 33 * ns          // pcie.link_latency
	cycle       = ns               // a register between units of an adapter
	network     = 550 * ns         // adapter.tx_pipeline 50 + network.latency 500
	received    = 50 * ns          // adapter.rx_pipeline
	lookup      = cycle + 4*cycle  // register, tpt.lookup_cycles with the register back
	placed      = hostHop + 300*ns // register, iio.write_latency
	rpcWrite    = 82 + 16          // wire bytes of a WRITE or READ packet without payload: frame, RETH
	sendFrame   = 82               // of a SEND packet
	ackFrame    = 82 + 4           // of an ACK or READ response: frame, AETH
	atomicFrame = 82 + 28          // AtomicETH
	atomicAck   = 82 + 4 + 8       // AETH, AtomicAckETH
)

// onLink is a TLP from one end of a link to the other.
func onLink(overhead, payload int64) clocked.Time {
	return clocked.Time(overhead+payload)*linkByte + linkLatency
}

// readTrip is a read by an adapter: register, MRd, read_latency (400 ns), the
// completion, register.
func readTrip(bytes int64) clocked.Time {
	return cycle + onLink(request, 0) + 400*ns + onLink(20, bytes) + cycle
}

// userTrip is a read of user memory.
func userTrip(bytes int64) clocked.Time {
	return readTrip(bytes) - (request-userRequest)*linkByte
}

// doorbellTrip is from the driver to the requester: a register, the TLPs of at
// most 64 B of an MMIO write, a register.
func doorbellTrip(bytes int64) clocked.Time {
	t := hostHop + linkLatency + cycle
	for ; bytes > 0; bytes -= 64 {
		t += clocked.Time(request+min(bytes, 64)) * linkByte
	}
	return t
}

// completionTrip is from the requester's answer to the driver: a register, data
// of READs and the completion entry one behind the other, memory, a register.
func completionTrip(data int64) clocked.Time {
	t := cycle + onLink(request, 64) + placed + hostHop
	if data > 0 {
		t += clocked.Time(request+data) * linkByte
	}
	return t
}

// issued is until the responder knows that a write of user memory is on the link: register,
// serialization, a cycle, register.
func issued(bytes int64) clocked.Time {
	return cycle + clocked.Time(userRequest+bytes)*linkByte + cycle
}

// latencyOf is the latency of the last of some accesses, one at a time.
func latencyOf(t *testing.T, all []workload.Access, set ...string) clocked.Time {
	t.Helper()
	set = append(append([]string{}, wholeNanoseconds...), set...)
	set = append(set, "warmup="+itoa(len(all)-1))
	o := must(t, &Input{Accesses: all}, set...)
	if o.sum.Accesses.Completed != 1 {
		t.Fatalf("%d accesses completed", o.sum.Accesses.Completed)
	}
	return o.sum.Accesses.LatencyPS.Total
}

// accesses is n of an operation at the given pages.
func accesses(op model.Op, bytes uint32, pages ...int) (all []workload.Access) {
	for _, p := range pages {
		all = append(all, workload.Access{Op: op, Len: bytes, VA: 0x10000000 + model.VA(p)<<12})
	}
	return all
}

// A translation that hits: the time is the sum of the path's steps.
func TestUnloadedHitLatency(t *testing.T) {
	inline, plain := doorbellTrip(128), doorbellTrip(8)+readTrip(64)
	for _, c := range []struct {
		name  string
		op    model.Op
		bytes uint32
		want  clocked.Time
	}{
		// Work request 16+16+4+64 = 100 B: two lines of MMIO; WRITE packet;
		// look-up; write on the link; ACK; completion entry.
		{"inline write", model.OpWrite, 64, inline + (rpcWrite+64)*ns + network + received + lookup + issued(64) +
			ackFrame*ns + network + completionTrip(0)},
		// A doorbell of 8 B, a fetch of the work request, a fetch of the data,
		// whose 3 further lines take 2.73 ns each, rounded up to a clock edge.
		{"write", model.OpWrite, 256, plain + readTrip(256) + 9*ns + (rpcWrite+256)*ns + network + received + lookup + issued(256) +
			ackFrame*ns + network + completionTrip(0)},
		// A READ's work request of 48 B takes one line; its data is read from
		// memory, comes as a response, and is written before the entry.
		{"read", model.OpRead, 64, doorbellTrip(64) + rpcWrite*ns + network + received + lookup + userTrip(64) +
			(ackFrame+64)*ns + network + completionTrip(64)},
		{"send", model.OpSend, 64, inline + (sendFrame+64)*ns + network + received + lookup + issued(64) +
			ackFrame*ns + network + completionTrip(0)},
		// An atomic reads 8 B, then writes them, and answers with the old value,
		// which reaches software in the completion entry.
		{"atomic", model.OpFetchAdd, 8, doorbellTrip(64) + atomicFrame*ns + network + received + lookup + userTrip(8) +
			atomicAck*ns + network + completionTrip(0)},
	} {
		// SENDs go to one receive buffer after the other: here within a page.
		got := latencyOf(t, accesses(c.op, c.bytes, 0, 0), "workload.receive_bytes=64B")
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A translation that misses takes one read of an entry (8 B) a level more, over
// PCIe or from on-board memory (90 ns).
func TestUnloadedMissLatency(t *testing.T) {
	for _, op := range []model.Op{model.OpWrite, model.OpRead} {
		for _, c := range []struct {
			set  []string
			want clocked.Time
		}{
			{[]string{"tpt.mtt.levels=1"}, readTrip(8)},
			{[]string{"tpt.mtt.levels=2"}, 2 * readTrip(8)},
			{[]string{"tpt.mtt.levels=3"}, 3 * readTrip(8)},
			{[]string{"tpt.mtt.levels=3", "pcie.read_latency=900ns"}, 3 * (readTrip(8) + 500*ns)},
			{[]string{"tpt.mtt.levels=1", "tpt.mtt.line_entries=8"}, readTrip(64)},
			{[]string{"tpt.mtt.levels=1", "tpt.tables=onboard"}, 90 * ns},
			{[]string{"tpt.mtt.levels=3", "tpt.tables=onboard"}, 270 * ns},
		} {
			// Pages 0 and 100 share no line of the table.
			hit := latencyOf(t, accesses(op, 64, 0, 100, 100), c.set...)
			miss := latencyOf(t, accesses(op, 64, 0, 0, 100), c.set...)
			if miss-hit != c.want {
				t.Errorf("%v %v: a miss takes %v more than a hit, want %v", op, c.set, miss-hit, c.want)
			}
		}
	}
}

// One access at a time: the run takes as long as its accesses together, for
// each is posted in the instant in which the one before it is complete. With
// more outstanding Little's law holds: the time-average of accesses in flight,
// total latency / run time, is workload.outstanding but for ramp-up and -down.
func TestClosedLoop(t *testing.T) {
	for _, outstanding := range []int{1, 2, 8, 32} {
		o := must(t, nil, "workload.accesses=4000", "workload.outstanding="+itoa(outstanding))
		inFlight := float64(o.sum.Accesses.LatencyPS.Total) / float64(o.sum.SimulatedPS)
		if outstanding == 1 && o.sum.Accesses.LatencyPS.Total != o.sum.SimulatedPS {
			t.Errorf("latencies sum to %v, the run took %v", o.sum.Accesses.LatencyPS.Total, o.sum.SimulatedPS)
		}
		if inFlight > float64(outstanding) || inFlight < 0.98*float64(outstanding) {
			t.Errorf("%d outstanding: %.3f in flight", outstanding, inFlight)
		}
	}
}
