package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Spec holds the parameters of the host's kernel. Its keys stand under "host".
type Spec struct {
	Memory       model.Bytes  `key:"memory" default:"1GiB" min:"8KiB" max:"1TiB" doc:"frames for user pages; page tables and adapter tables are accounted apart" source:"assumption: holds the default workload several times"`
	Page         string       `key:"page" default:"4KiB" oneof:"4KiB,2MiB,1GiB" doc:"page size of the process" source:"x86-64 leaf sizes: [SDM] vol. 3"`
	Pager        Pager        `key:"pager" doc:"reclaim and swap"`
	Events       Events       `key:"events" doc:"what happens to pages besides paging, at intervals"`
	Prefetch     Prefetch     `key:"prefetch" doc:"what an adapter's fault asks for beyond its pages"`
	Fault        Fault        `key:"fault" doc:"handler of adapters' page faults, and CPU faults"`
	Notifier     Notifier     `key:"notifier" doc:"steps of an invalidation that are the kernel's own"`
	DMA          DMA          `key:"dma" doc:"DMA mappings behind an IOMMU, software's part"`
	Suspend      Suspending   `key:"suspend" doc:"scheme suspend"`
	Command      Commands     `key:"command" doc:"queue of table commands"`
	Registration Registration `key:"registration" doc:"cost of registering memory: before time 0 outside simulated time, later as work"`
	CPU          CPU          `key:"cpu" doc:"the host's own user of memory"`
}

// Pager describes reclaim and the initial backing of registered memory.
type Pager struct {
	Policy          string       `key:"policy" default:"clock" oneof:"clock,lru" doc:"clock: second chance by accessed bits; lru: recency of fault-in and CPU access. DMA through adapters' tables shows in neither; walks of the page table by an IOMMU set accessed bits" source:"assumption: second chance is nearest to Linux's reclaim"`
	Initial         string       `key:"initial" default:"zero" oneof:"zero,swapped,resident" doc:"backing at registration: first touch zero-fills, first touch reads swap, or as many pages as fit are present and the others in swap" source:"assumption: fresh anonymous memory"`
	Snapshot        bool         `key:"snapshot" default:"true" doc:"on-demand registration maps pages that are present into the adapter's table" source:"[Linux] mlx5: on-demand registration maps pages that are present"`
	Low             float64      `key:"low_watermark" default:"0.01" min:"0" max:"0.5" doc:"part of the frames free below which background reclaim starts; rounded down to frames" source:"assumption: reclaim starts before the last hundredth is used"`
	High            float64      `key:"high_watermark" default:"0.02" min:"0" max:"0.9" doc:"part of the frames free at which background reclaim stops" source:"assumption: twice the low watermark"`
	Parallel        int          `key:"parallel" default:"16" min:"1" max:"1024" doc:"evictions under way at once" source:"assumption: half of Linux's SWAP_CLUSTER_MAX of 32 (recalled)"`
	Batch           int          `key:"batch" default:"1" min:"1" max:"512" doc:"neighbouring pages that one eviction takes, with one invalidation" source:"assumption: one page, the smaller case of [Lesokhin17] Fig. 3"`
	Readahead       int          `key:"readahead" default:"0" min:"0" max:"512" doc:"pages after the faulting one that a swap read brings in too; 0: one page a fault" source:"assumption: off"`
	ReadFaultsWrite bool         `key:"read_faults_write" default:"true" doc:"a READ on writable memory faults for write, so that the page counts as dirty" source:"[Linux] umem_odp.c"`
	Grace           clocked.Time `key:"grace" default:"2ms" min:"0ns" max:"10s" doc:"time after a fault during which no eviction and no event (host.events, migration, remap) takes its page; 0 lets them outrun the access" source:"assumption: longer than the resume and the default RNR wait (OVR-1 of docs/invariants.md)"`
	MigrateInterval clocked.Time `key:"migrate_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"a random resident page moves to another frame this often" source:"assumption: off"`
	FlushOnClear    bool         `key:"flush_on_clear" default:"false" doc:"clearing an accessed bit also flushes the IOTLB and the translation caches of adapters; without it, a hot page that they hold looks idle" source:"off as in [Linux] on x86, where clearing the bit flushes no TLB (recalled)"`
	Swap            Swap         `key:"swap" doc:"swap device"`
}

// Swap describes the swap device.
type Swap struct {
	ReadLatency  clocked.Time  `key:"read_latency" default:"60us" min:"0ns" max:"10s" doc:"of a read, without its transfer" source:"assumption: all of the 60 us that a major fault adds in [NP-RDMA]"`
	WriteLatency clocked.Time  `key:"write_latency" default:"20us" min:"0ns" max:"10s" doc:"of a write, without its transfer" source:"assumption: an SSD's write buffer"`
	Bandwidth    model.BitRate `key:"bandwidth" default:"24Gbps" min:"1Mbps" max:"10Tbps" doc:"of the device, reads and writes together" source:"assumption: 3 GB/s, an SSD on four Gen3 lanes"`
	QueueDepth   int           `key:"queue_depth" default:"64" min:"1" max:"65536" doc:"requests in service at once; more wait" source:"assumption: one queue of an SSD"`
}

// Fault describes the software part of an adapter's fault and of CPU faults.
type Fault struct {
	Interrupt  clocked.Time `key:"interrupt" default:"1us" min:"0ns" max:"10ms" doc:"from the MSI-X write to the handler" source:"assumption: part of the driver's 5.4 us in [Lesokhin17] Fig. 3"`
	Contexts   int          `key:"contexts" default:"64" min:"1" max:"4096" doc:"faults taken off the event queue at once" source:"[Linux] mlx5/odp.c: 64 reserved"`
	Workers    int          `key:"workers" default:"32" min:"1" max:"4096" doc:"faults worked on at once" source:"assumption: half the contexts"`
	Driver     clocked.Time `key:"driver" default:"3.4us" min:"0ns" max:"10ms" doc:"driver's time for a fault" source:"[Lesokhin17] Fig. 3 (digitised): driver 5.4 us less interrupt 1 us and minor fault 1 us (derived)"`
	DriverPage clocked.Time `key:"driver_page" default:"98ns" min:"0ns" max:"1ms" doc:"more for each further page of a fault" source:"[Lesokhin17] Fig. 3 (digitised): driver (105.7 − 5.4) us / 1023 pages (derived)"`
	Update     clocked.Time `key:"update" default:"200ns" min:"0ns" max:"10ms" doc:"software's part of a table update" source:"assumption: rest of the 6.7 us of [Lesokhin17] Fig. 3 after the command itself"`
	Minor      clocked.Time `key:"minor" default:"1us" min:"0ns" max:"10ms" doc:"software's time of a CPU fault without a swap read" source:"[PageFaultLatency]: anonymous minor fault 1.013 us, median"`
	Major      clocked.Time `key:"major" default:"2.3us" min:"0ns" max:"10ms" doc:"software's time of a CPU fault with a swap read" source:"[HoPP23], Fastswap: context switch 0.3 + walk 0.6 + swap cache and page 0.4 + entry and return 1 us (derived)"`
	Deadline   clocked.Time `key:"deadline" default:"1s" min:"1us" max:"100s" doc:"after which a fault that keeps meeting invalidations is given back to the adapter" source:"[Linux] umem_odp.c: 1000 ms"`
}

// Notifier describes the software part of an invalidation.
type Notifier struct {
	Checks   clocked.Time `key:"checks" default:"2.7us" min:"0ns" max:"10ms" doc:"before any command; all that an unmapped page costs" source:"[Lesokhin17] Fig. 3 (digitised): checks 2.7 us"`
	Updates  clocked.Time `key:"updates" default:"500ns" min:"0ns" max:"10ms" doc:"bookkeeping after the last acknowledgement" source:"[Lesokhin17] Fig. 3 (digitised): updates 0.5 us"`
	TLBFlush clocked.Time `key:"tlb_flush" default:"1.7us" min:"0ns" max:"10ms" doc:"CPU TLB shootdown after the page-table entry is cleared" source:"[Amit20] Figs. 5–8: initiator 5236 cycles, one entry, same socket, with PTI; at 3.1 GHz (assumption)"`
	Order    string       `key:"order" default:"parallel" oneof:"parallel,serial" doc:"adapters are told at once or one after the other" source:"[Linux] mm/mmu_notifier.c: two-pass callbacks overlap the round trips"`
	Timeout  clocked.Time `key:"timeout" default:"60s" min:"1us" max:"1000s" zero:"never" doc:"after which an adapter that owes an answer to a table command is cut off" source:"assumption: that of an ATS invalidation"`
	Disable  clocked.Time `key:"disable" default:"10us" min:"0ns" max:"10ms" doc:"from telling a root port to take no more requests until what it has taken is in memory" source:"assumption"`
}

// DMA describes the software part of mapping pages for DMA behind an IOMMU.
type DMA struct {
	Map   clocked.Time `key:"map" default:"1.49us" min:"0ns" max:"10ms" doc:"of a page, at registration and by a fault" source:"[rIOMMU15] Table 1: 4618 cycles, strict, at 3.1 GHz (derived)"`
	Unmap clocked.Time `key:"unmap" default:"281ns" min:"0ns" max:"10ms" doc:"of a page, without the IOTLB's flush" source:"[rIOMMU15] Table 1: (2999 − 2127) cycles, strict, at 3.1 GHz (derived)"`
}

// Suspending describes scheme suspend.
type Suspending struct {
	Unit string `key:"unit" default:"page" oneof:"page,region" doc:"what is suspended while a page moves or leaves: its table entries, or all of its region" source:"assumption: entries"`
}

// Commands describes the queue of table commands, one an adapter.
type Commands struct {
	Outstanding int `key:"outstanding" default:"1" min:"1" max:"1024" doc:"commands posted and not yet completed" source:"[Linux] mlx5/umr.c: every post waits for its completion; a single poster: assumption"`
	Chunk       int `key:"chunk" default:"131064" min:"8" max:"131064" doc:"table entries of one work request" source:"[Linux] mlx5/umr.c: (1 MiB − 64 B) / 8 B an entry (derived)"`
}

// Registration describes what registering costs: before time 0 as a closed
// form, later as work, with the commands on top.
type Registration struct {
	Base  clocked.Time `key:"base" default:"10us" min:"0ns" max:"1s" doc:"of registering or deregistering a region, whatever its size" source:"assumption: system call and key command"`
	Page  clocked.Time `key:"page" default:"460ns" min:"0ns" max:"1ms" doc:"of each page pinned or mapped" source:"[FineMem25]: 4 MB registered in 480 us, less the base, / 1024 pages (derived)"`
	Unpin clocked.Time `key:"unpin" default:"100ns" min:"0ns" max:"1ms" doc:"of each page let go by a deregistration" source:"assumption: a page reference and a dirty mark"`
}

// CPU describes the host's own user of memory.
type CPU struct {
	WorkingSet model.Bytes  `key:"working_set" default:"0B" min:"0B" max:"1TiB" doc:"bytes of its own pages; 0: there is no such user" source:"assumption: off"`
	Threads    int          `key:"threads" default:"1" min:"1" max:"64" doc:"threads, each with one access at a time" source:"assumption"`
	Think      clocked.Time `key:"think_time" default:"1us" min:"1ns" max:"10s" doc:"between an access and the next of the same thread" source:"assumption"`
	Pattern    string       `key:"pattern" default:"uniform" oneof:"uniform,sequential" doc:"order in which pages are touched" source:"assumption"`
	Writes     float64      `key:"write_fraction" default:"0.3" min:"0" max:"1" doc:"accesses that store" source:"assumption"`
	Shared     float64      `key:"shared_fraction" default:"0" min:"0" max:"1" doc:"accesses that go to registered pages" source:"assumption: off"`
}

// Shift is the base-2 logarithm of the page size.
func (s *Spec) Shift() model.PageShift {
	switch s.Page {
	case "2MiB":
		return model.Shift2M
	case "1GiB":
		return model.Shift1G
	}
	return model.Shift4K
}

// Leaf is the base-2 logarithm of the size of a split page's leaves; 0: pages
// cannot be split.
func (s *Spec) Leaf() model.PageShift {
	const bits = 9 // of a table's index
	if s.Shift() < model.Shift4K+bits {
		return 0
	}
	return s.Shift() - bits
}

// Frames is the number of frames for user pages.
func (s *Spec) Frames() int { return int(uint64(s.Memory) >> s.Shift()) }

// CPUPages is the number of the CPU user's own pages; they are numbered after
// those of the regions.
func (s *Spec) CPUPages() int {
	return int((uint64(s.CPU.WorkingSet) + s.Shift().Bytes() - 1) >> s.Shift())
}

// Check refuses what the kernel cannot run with.
func (s *Spec) Check() error {
	switch {
	case s.Frames() < 2:
		return fmt.Errorf("host.memory: %d B: at least 2 pages of %s are due", uint64(s.Memory), s.Page)
	case s.Pager.High < s.Pager.Low:
		return fmt.Errorf("host.pager.high_watermark: %v: at least low_watermark %v is due", s.Pager.High, s.Pager.Low)
	case s.Fault.Contexts < 1 || s.Fault.Workers < 1 || s.Pager.Parallel < 1 || s.Pager.Batch < 1:
		return fmt.Errorf("host: fault.contexts, fault.workers, pager.parallel and pager.batch: at least 1 is due")
	case s.Command.Outstanding < 1 || s.Command.Chunk < 1:
		return fmt.Errorf("host.command: outstanding and chunk: at least 1 is due")
	case s.Pager.Swap.QueueDepth < 1 || s.Pager.Swap.Bandwidth < 1:
		return fmt.Errorf("host.pager.swap: queue_depth and bandwidth: at least 1 is due")
	}
	return s.Events.check(s.Shift())
}
