package tpt

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
)

// Spec holds the parameters of the unit; the group is named tpt.
type Spec struct {
	Page         string       `key:"page" default:"4KiB" oneof:"4KiB,64KiB,2MiB,1GiB,2GiB" doc:"page size of the adapter's table; under odp at most host.page, while pinned memory is laid out contiguously and takes any" source:"[FaRM14] Fig. 4: 4 KiB and 2 GiB; the others: [SDM] leaf sizes and Arm's 64 KiB (recalled)"`
	Clock        clocked.Freq `key:"clock" default:"800MHz" min:"1MHz" max:"10GHz" doc:"clock of the adapter's units" source:"assumption: typical of NIC silicon; sweep it"`
	LookupCycles int          `key:"lookup_cycles" default:"4" min:"1" max:"64" doc:"cycles from acceptance to result on a hit: MPT and MTT stages" source:"assumption: two stages a cache"`
	Tables       string       `key:"tables" default:"host" oneof:"host,onboard" doc:"where MPT and MTT live: host memory over PCIe or memory on the adapter" source:"assumption: recent adapters keep them in host memory, older ones on the card (recalled)"`
	Onboard      clocked.Time `key:"onboard_latency" default:"90ns" min:"1ns" max:"10us" doc:"read latency of on-board table memory" source:"assumption: DDR on the card, twice the 45 ns row miss of [HostNet24]"`
	PageRequests int          `key:"page_requests" default:"32" min:"1" max:"512" doc:"page requests outstanding under sva: the credits of the page request interface, no more than host.iommu.page_requests; more wait in order" source:"assumption: as many as ATS has invalidation tags; at most the 512 group indexes of 9 bits ([riscv-iommu])"`
	InFlight     int          `key:"in_flight" default:"1024" min:"2" max:"65536" doc:"translations given out and not yet given back" source:"assumption: covers the 164 reads and 92 writes in flight of [HostNet24] with margin"`

	Partition string `key:"partition" default:"none" oneof:"none,tenant" doc:"whether tenants share the ways of the MPT and MTT caches evenly: each hits in all ways and fills its own" source:"assumption: as the way masks of a processor's last-level cache"`
	Tenants   int    `key:"tenants" default:"1" min:"1" max:"16" doc:"tenants of the adapter, which the results tell apart; a QP belongs to its number modulo tenants" source:"any"`

	MPT          MPTSpec          `key:"mpt" doc:"memory protection table cache"`
	MTT          MTTSpec          `key:"mtt" doc:"memory translation table cache"`
	Fault        FaultSpec        `key:"fault" doc:"fault unit"`
	PRI          PRISpec          `key:"pri" doc:"fault unit under sva: page requests to the IOMMU in place of events"`
	Command      CommandSpec      `key:"command" doc:"execution of table commands"`
	Invalidation InvalidationSpec `key:"invalidation" doc:"invalidation unit"`
}

// MPTSpec is the cache of memory-protection entries (one per region).
type MPTSpec struct {
	Entries     int    `key:"entries" default:"1024" min:"1" max:"1048576" doc:"cached regions" source:"assumption: holds every region of the default workload"`
	Ways        int    `key:"ways" default:"4" min:"0" max:"1048576" zero:"fully associative" doc:"ways of a set" source:"assumption"`
	Replacement string `key:"replacement" default:"lru" oneof:"lru,fifo,tree-plru,nru,random,srrip" doc:"replacement policy" source:"assumption; srrip: [SRRIP]"`
	MSHRs       int    `key:"mshrs" default:"16" min:"1" max:"4096" doc:"misses outstanding" source:"assumption"`
	L2Entries   int    `key:"l2_entries" default:"0" min:"0" max:"1048576" zero:"no second level" doc:"entries of a second level, which holds what the first holds too" source:"any"`
	L2Ways      int    `key:"l2_ways" default:"8" min:"0" max:"1048576" zero:"fully associative" doc:"ways of a set of the second level" source:"assumption"`
	L2Latency   int    `key:"l2_latency" default:"16" min:"1" max:"1024" doc:"cycles of tpt.clock of a look-up in the second level, before a table read starts" source:"assumption: 20 ns, a larger memory some way off"`
}

// MTTSpec is the cache of translation entries (one per adapter page).
type MTTSpec struct {
	Entries     int    `key:"entries" default:"2048" min:"1" max:"16777216" doc:"cached entries" source:"[FaRM14] Fig. 4 (digitised): 2048 entries explain its ConnectX-3 within 1.5 % (derived)"`
	Ways        int    `key:"ways" default:"4" min:"0" max:"16777216" zero:"fully associative" doc:"ways of a set" source:"assumption"`
	LineEntries int    `key:"line_entries" default:"1" min:"1" max:"8" doc:"entries of one line, read together" source:"1 fits [FaRM14] Fig. 4 (derived); 8: [Linux] mlx5/odp.c zaps in 64 B blocks of 8 entries"`
	Replacement string `key:"replacement" default:"lru" oneof:"lru,fifo,tree-plru,nru,random,srrip" doc:"replacement policy" source:"assumption; srrip: [SRRIP]"`
	MSHRs       int    `key:"mshrs" default:"2" min:"1" max:"4096" doc:"walks outstanding" source:"[FaRM14] and [Clio22]: about 1.8 misses overlap on the ConnectX-3 whose 2048 entries are the default too (268 ns more an operation at saturation against 480 ns of latency; derived)"`
	Levels      int    `key:"levels" default:"1" min:"1" max:"3" doc:"table levels, each one dependent read" source:"1: [Linux] mlx5/umr.c writes a region's entries as one list; up to 3: assumption"`
	Index       string `key:"index" default:"entry" oneof:"entry,page" doc:"what selects the set: the entry's place in the table or the page number" source:"assumption: hardware caches memory by address"`
	L2Entries   int    `key:"l2_entries" default:"0" min:"0" max:"16777216" zero:"no second level" doc:"entries of a second level, which holds what the first holds too" source:"any"`
	L2Ways      int    `key:"l2_ways" default:"8" min:"0" max:"16777216" zero:"fully associative" doc:"ways of a set of the second level" source:"assumption"`
	L2Latency   int    `key:"l2_latency" default:"16" min:"1" max:"1024" doc:"cycles of tpt.clock of a look-up in the second level, before a table read starts" source:"assumption: 20 ns, a larger memory some way off"`

	Prefetch       string `key:"prefetch" default:"none" oneof:"none,next_line,stride,qp_window" doc:"lines read ahead on a miss: those that follow, those at the QP's last stride once it repeated, or those left of the access that the QP executes" source:"any"`
	PrefetchDegree int    `key:"prefetch_degree" default:"1" min:"1" max:"64" doc:"lines read ahead at most, into miss registers that are free" source:"any"`
}

// FaultSpec is the unit that reports absent pages.
type FaultSpec struct {
	MaxOutstanding int          `key:"max_outstanding" default:"4" min:"1" max:"4" doc:"faults outstanding of one QP, one of each class: initiator and responder × read and write. The host's adapter answers peers and initiates nothing, so that 3 and 4 act as 2" source:"[Lesokhin17]: at most four faults outstanding a channel"`
	Pages          int          `key:"pages" default:"1024" min:"1" max:"262144" doc:"pages that one fault asks for at most: those left of its message, as far as the adapter knows its length (of a SEND, and of a WRITE over iWARP, what the packet holds); under sva no more than tpt.page_requests" source:"[Linux] mlx5/odp.c: an RDMA fault tells the operation's length; the bound: assumption, 4 MiB in pages of 4 KiB"`
	QueueDepth     int          `key:"queue_depth" default:"4096" min:"1" max:"65536" doc:"entries of the event queue; a full queue holds faults back" source:"[Linux] mlx5/odp.c: 4096"`
	Trigger        clocked.Time `key:"trigger" default:"129.2us" min:"0ns" max:"10ms" doc:"adapter's time from the absent entry to its event (firmware)" source:"[Lesokhin17] Fig. 3 (digitised): trigger interrupt 129.2 us"`
	Resume         clocked.Time `key:"resume" default:"77.9us" min:"0ns" max:"10ms" doc:"adapter's time from the resume command to going on (firmware)" source:"[Lesokhin17] Fig. 3 (digitised): resume 77.9 us"`
}

// PRISpec is the adapter's own time for a page request.
type PRISpec struct {
	Trigger clocked.Time `key:"trigger" default:"20ns" min:"0ns" max:"10ms" doc:"adapter's time from an answer without the right to its page request" source:"assumption: made in hardware, some cycles of tpt.clock"`
	Resume  clocked.Time `key:"resume" default:"20ns" min:"0ns" max:"10ms" doc:"adapter's time from the response to going on" source:"assumption: made in hardware, some cycles of tpt.clock"`
}

// CommandSpec is the time that the adapter's firmware takes for a table command.
type CommandSpec struct {
	Fill       clocked.Time `key:"fill" default:"5us" min:"0ns" max:"10ms" doc:"processing of a table update, also of an implicit region's list, or the end of a suspension, per work request" source:"[Lesokhin17] Fig. 3 (digitised): table update 6.7 us less the command's round trip (derived)"`
	Invalidate clocked.Time `key:"invalidate" default:"12us" min:"0ns" max:"10ms" doc:"processing of an invalidation, suspension or write protection, per work request" source:"[Lesokhin17] Fig. 3 (digitised): table update 13.7 us less the command's round trip (derived)"`
	PerEntry   clocked.Time `key:"per_entry" default:"30ns" min:"0ns" max:"1ms" doc:"more for each further entry" source:"[Lesokhin17] Fig. 3 (digitised): invalidation (44.7 − 13.7) us / 1023 entries (derived); a fill's would be 13 ns"`

	Register        clocked.Time `key:"register" default:"5us" min:"0ns" max:"10ms" doc:"processing of a new region" source:"assumption: as tpt.command.fill"`
	Deregister      clocked.Time `key:"deregister" default:"12us" min:"0ns" max:"10ms" doc:"processing of the end of a region" source:"assumption: as tpt.command.invalidate"`
	FastRegister    clocked.Time `key:"fast_register" default:"1us" min:"0ns" max:"10ms" doc:"processing of a fast registration (REG_MR)" source:"assumption: as tpt.command.bind, which a work request starts too"`
	LocalInvalidate clocked.Time `key:"local_invalidate" default:"1us" min:"0ns" max:"10ms" doc:"processing of an invalidation of a key, local or by a peer's SEND" source:"assumption: as tpt.command.bind, which a work request starts too"`
	Bind            clocked.Time `key:"bind" default:"1us" min:"0ns" max:"10ms" doc:"processing of a window's binding" source:"[FineMem25]: memory windows are bound at one a microsecond"`
	ATSInvalidate   clocked.Time `key:"ats_invalidate" default:"20ns" min:"0ns" max:"10ms" doc:"processing of an ATS Invalidate Request" source:"assumption: made in hardware, some cycles of tpt.clock"`

	HangAt clocked.Time `key:"hang_at" default:"0ns" min:"0ns" max:"10000s" zero:"never" doc:"defect: from then on the adapter executes no commands and no invalidations, as with dead firmware, while its data path goes on" source:"any"`
}

func (s *CommandSpec) keyChange(op msg.KeyOp) clocked.Time {
	switch op {
	case msg.KeyDeregister:
		return s.Deregister
	case msg.KeyFastRegister:
		return s.FastRegister
	case msg.KeyInvalidate:
		return s.LocalInvalidate
	case msg.KeyBind:
		return s.Bind
	case msg.KeyEntry:
		return s.Fill
	}
	return s.Register
}

// InvalidationSpec is the unit that revokes translations.
type InvalidationSpec struct {
	QueueDepth int `key:"queue_depth" default:"32" min:"2" max:"4096" doc:"commands of the kernel that the adapter's queue holds, and as many Invalidate Requests of the IOMMU; neither sends more at once" source:"assumption: as many as ATS has invalidation tags, 32 ([riscv-iommu])"`

	EarlyAck bool `key:"early_ack" default:"false" doc:"defect: an invalidation is acknowledged at once, and what was translated before is used to its end: DMA comes late" source:"any"`
}

// PageShift is the base-2 logarithm of the adapter's page.
func (s *Spec) PageShift() model.PageShift {
	switch s.Page {
	case "64KiB":
		return model.Shift64K
	case "2MiB":
		return model.Shift2M
	case "1GiB":
		return model.Shift1G
	case "2GiB":
		return model.Shift2G
	}
	return model.Shift4K
}

// CheckMode tells what cannot be built in a mode, naming the key.
func (s *Spec) CheckMode(m Mode) error {
	if n := s.MTT.LineEntries; m == ATC && n != 1 {
		return fmt.Errorf("tpt.mtt.line_entries: %d under sva, where a translation request brings one translation; set it to 1", n)
	}
	return s.Check()
}
