package memory

import (
	"fmt"
	"slices"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Spec holds the parameters of a host's memory. Its keys stand under "host".
type Spec struct {
	IIO  IIO  `key:"iio" doc:"where posted writes wait for memory, one at each root port"`
	DRAM DRAM `key:"dram" doc:"memory channels and banks"`
	LLC  LLC  `key:"llc" doc:"last-level cache as devices see it"`
	NUMA NUMA `key:"numa" doc:"sockets of the host"`
}

// IIO describes the buffer of posted writes behind each root port. By Little's
// law it lets through no more than its lines in one write latency, whatever the
// link brings: 92 lines in 300 ns are 19.6 GB/s.
type IIO struct {
	WriteBuffer  int          `key:"write_buffer" default:"92" min:"0" max:"1048576" doc:"lines of posted writes that a root port holds until they are placed; 0: no bound" source:"[HostNet24]: P2M-write credits, about 92 lines, Cascade Lake"`
	WriteLatency clocked.Time `key:"write_latency" default:"300ns" min:"1ps" max:"100us" doc:"from the root complex until a posted write is placed" source:"[HostNet24]: P2M write, unloaded, about 300 ns, Cascade Lake"`
}

// DRAM describes the channels. A request of at most 4 KiB never leaves its
// channel; under banks it stays in its bank.
type DRAM struct {
	Controller string       `key:"controller" default:"banks" oneof:"ideal,banks,akita" doc:"what serves lines behind the LLC: memory without a limit of bandwidth; channels and banks that occupy time; or Akita's DRAM model, the default run takes ten times as long or more, for which peers' hosts take banks" source:"any; akita: [Akita] mem/dram"`
	Channels   int          `key:"channels" default:"4" min:"1" max:"16" pow2:"true" doc:"memory channels; addresses interleave every 4 KiB" source:"assumption: half the channels of a two-way-interleaved server socket"`
	Banks      int          `key:"banks" default:"32" min:"1" max:"1024" pow2:"true" doc:"banks a channel" source:"[HostNet24]: 32 banks, Cascade Lake"`
	Row        model.Bytes  `key:"row" default:"8KiB" min:"4KiB" max:"64KiB" pow2:"true" doc:"bytes of a bank's open row" source:"assumption: 1 KiB a chip, 8 chips a rank"`
	RowMiss    clocked.Time `key:"row_miss" default:"45ns" min:"0ns" max:"1us" doc:"time that opening another row occupies the bank" source:"[HostNet24]: DRAM tProc 45 ns, Cascade Lake"`
	LineTime   clocked.Time `key:"line_time" default:"2.73ns" min:"1ps" max:"1us" doc:"time of a 64-byte line on its channel" source:"[HostNet24]: DRAM tTrans 2.73 ns a line, Cascade Lake"`
	Akita      Akita        `key:"akita" doc:"timings of controller akita, in cycles of its clock; channels and banks are those of host.dram, in groups of four and ranks of four groups"`
	CPURead    clocked.Time `key:"cpu_read" default:"70ns" min:"1ps" max:"100us" doc:"unloaded latency of a CPU load that misses its caches" source:"[HostNet24]: C2M read, unloaded, about 70 ns, Cascade Lake"`
	CPUWrite   clocked.Time `key:"cpu_write" default:"10ns" min:"1ps" max:"100us" doc:"unloaded latency of a CPU store until it is buffered" source:"[HostNet24]: C2M write, unloaded, about 10 ns, Cascade Lake"`
}

// LLC describes the part of the last-level cache that device writes may fill.
type LLC struct {
	Saving    clocked.Time `key:"saving" default:"67ns" min:"0ns" max:"1us" doc:"how much sooner a read is served whose lines a device wrote" source:"[pcie-bench]: Broadwell, 480 ns cold − 413 ns warmed by the device (derived)"`
	DDIOLines int          `key:"ddio_lines" default:"32768" min:"1" max:"16777216" pow2:"true" zero:"writes go to DRAM" doc:"64-byte lines that device writes may hold" source:"assumption: 2 of 11 ways of an LLC of 11 MiB"`
	DDIOWays  int          `key:"ddio_ways" default:"2" min:"1" max:"16" doc:"ways among which a device write chooses its victim" source:"assumption: Intel's default DDIO way mask holds two ways"`
}

// NUMA describes the sockets, each with the controllers of host.dram and the
// lines of host.llc, and the link between them. Kernel and CPU are on socket 0,
// an adapter's tables and queues on its own, and so is what it writes while it
// is in the LLC.
type NUMA struct {
	Sockets   int           `key:"sockets" default:"1" min:"1" max:"2" doc:"sockets of the host, each with memory controllers and LLC of its own" source:"any"`
	Socket    int           `key:"socket" default:"0" min:"0" max:"1" doc:"socket that the adapter is at; adapters may differ" source:"any"`
	Pages     string        `key:"pages" default:"first" oneof:"first,interleave" doc:"where frames for user pages are: all on socket 0, or on both in turn" source:"any"`
	Latency   clocked.Time  `key:"latency" default:"25ns" min:"0ns" max:"10us" doc:"of the link between sockets, each way, beside the time of the data" source:"[pcie-bench]: 64 B DMA reads, Broadwell, 663.6 ns of remote and 610.3 of local DRAM on average; 3.1 of the 53.3 are the data's (derived)"`
	Bandwidth model.BitRate `key:"bandwidth" default:"166.4Gb/s" min:"1Gb/s" max:"100Tb/s" doc:"of data on the link, each way" source:"assumption: a link of 2 B at 10.4 GT/s"`
}

// Config says what the platform knows beyond the Spec.
type Config struct {
	Clients     int             // root ports, 1 or more, and an IOMMU's walker
	ReadService clocked.Time    // from the arrival of an LLC-missing read of one line to its answer: pcie.read_latency less the wires
	Services    []clocked.Time  // ReadService of single clients, where not 0; may be shorter than Clients
	Sockets     []int           // sockets of single clients; may be shorter than Clients, the others are at 0
	Shift       model.PageShift // of a frame
	Frames      int             // frames for user pages, from physical address 0; 0: no content is checked
	Pages       int             // process pages, dense numbers 0 … Pages-1
	Slots       int             // swap slots
	// Excused, when set, tells whether DMA that takes a frame for a page is what
	// the scheme gives up by design: it is counted, and leaves the content alone.
	Excused func(page, frame uint32) bool
}

// service is the read service time of a client.
func (c *Config) service(client int) clocked.Time {
	if client < len(c.Services) && c.Services[client] != 0 {
		return c.Services[client]
	}
	return c.ReadService
}

// socket is the socket that a client is at.
func (c *Config) socket(client int) int {
	if client < len(c.Sockets) {
		return c.Sockets[client]
	}
	return 0
}

// OfPeer describes the memory of a peer's host: the same parts, but one socket,
// and banks where the host has akita.
func (s Spec) OfPeer() Spec {
	s.NUMA.Sockets = 1
	if s.DRAM.Controller == controllerAkita {
		s.DRAM.Controller = controllerBanks
	}
	return s
}

// Check refuses what the unit cannot be built with.
func (s *Spec) Check(c Config) error {
	switch {
	case c.Clients < 1:
		return fmt.Errorf("memory: %d root ports: at least 1 is due", c.Clients)
	case len(c.Services) > c.Clients:
		return fmt.Errorf("memory: %d read service times: at most one for each of %d clients is due", len(c.Services), c.Clients)
	case c.ReadService < 1:
		return fmt.Errorf("pcie.read_latency: too short: more than the 2ns between root complex and memory is due")
	case s.LLC.DDIOLines > 0 && s.LLC.Saving >= c.ReadService:
		return fmt.Errorf("host.llc.saving: %v: less than pcie.read_latency, of which %v are spent in memory, is due", s.LLC.Saving, c.ReadService)
	case s.LLC.DDIOLines > 0 && s.LLC.DDIOLines%s.LLC.DDIOWays != 0:
		return fmt.Errorf("host.llc.ddio_ways: %d: a divisor of ddio_lines %d is due", s.LLC.DDIOWays, s.LLC.DDIOLines)
	case !slices.Contains([]string{controllerIdeal, controllerBanks, controllerAkita}, s.DRAM.Controller):
		return fmt.Errorf("host.dram.controller: %q is none; use ideal, banks or akita", s.DRAM.Controller)
	case !powerOfTwo(s.DRAM.Channels) || !powerOfTwo(s.DRAM.Banks) || !powerOfTwo(int(s.DRAM.Row)):
		return fmt.Errorf("host.dram: channels %d, banks %d, row %d: powers of two are due", s.DRAM.Channels, s.DRAM.Banks, s.DRAM.Row)
	}
	if s.DRAM.Controller == controllerAkita {
		if err := s.DRAM.Akita.check(); err != nil {
			return err
		}
	}
	if err := s.NUMA.check(c); err != nil {
		return err
	}
	for i := range c.Clients {
		switch t := c.service(i); {
		case t < 1:
			return fmt.Errorf("memory: client %d: read service time %v: at least 1ps is due", i, t)
		case s.LLC.DDIOLines > 0 && s.LLC.Saving >= t:
			return fmt.Errorf("host.llc.saving: %v: less than the %v that a read of client %d takes in memory is due", s.LLC.Saving, t, i)
		}
	}
	return nil
}

func (s *NUMA) check(c Config) error {
	if s.Sockets < 1 || s.Sockets > 2 || s.Bandwidth < 1 {
		return fmt.Errorf("host.numa: %d sockets, bandwidth %d b/s: one or two are due, and a bandwidth", s.Sockets, s.Bandwidth)
	}
	for _, socket := range c.Sockets {
		if socket < 0 || socket >= s.Sockets {
			return fmt.Errorf("host.numa.socket: %d: the host has %d (host.numa.sockets), counted from 0", socket, s.Sockets)
		}
	}
	return nil
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }
