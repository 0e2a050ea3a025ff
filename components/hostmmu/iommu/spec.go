package iommu

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
	"rnicmmu/model/cache"
)

// Spec holds the parameters of the host's IOMMU; the group is named host.iommu.
type Spec struct {
	Mode   string `key:"mode" default:"off" oneof:"off,strict,deferred" doc:"translation of DMA at the root complex: none; on, with every unmapping flushed before its page is free; on, with flushes gathered" source:"[rIOMMU15] Table 1: the two modes of Linux"`
	Table  string `key:"table" default:"dma" oneof:"dma,process" doc:"what untranslated requests are looked up in: mappings of the DMA API, or the process's own page table" source:"assumption: dma is what Linux drivers use"`
	Absent string `key:"absent" default:"abort" oneof:"abort,retry" doc:"answer to a read whose page is absent: an error for good, or come again (the page was asked for)" source:"abort: [riscv-iommu]; retry: assumption"`

	IOTLBEntries     int    `key:"iotlb_entries" default:"117" min:"1" max:"1048576" doc:"translations cached" source:"[pcie-bench]: average latencies over windows of 128 pages and more, Broadwell (derived); they give a capacity, no associativity"`
	IOTLBWays        int    `key:"iotlb_ways" default:"0" min:"0" max:"1048576" zero:"fully associative" doc:"ways of a set" source:"assumption"`
	IOTLBReplacement string `key:"iotlb_replacement" default:"lru" oneof:"lru,fifo,tree-plru,nru,random" doc:"replacement policy" source:"assumption"`
	PSCEntries       int    `key:"psc_entries" default:"32" min:"1" max:"65536" doc:"entries of the paging-structure cache of each of the three upper levels" source:"[pcie-bench]: a miss costs the same up to windows of 64 MiB, 32 page tables (derived)"`
	ContextEntries   int    `key:"context_entries" default:"64" min:"1" max:"65536" doc:"contexts (adapter and PASID) cached" source:"assumption: all of them"`
	Slots            int    `key:"slots" default:"64" min:"2" max:"1024" doc:"requests of an adapter that wait for translation, order or room; more wait on the link, and all behind them" source:"[gem5] SMMUv3: 64 translation slots"`
	Walkers          int    `key:"walkers" default:"5" min:"1" max:"1024" doc:"walks under way; more queue" source:"[pcie-bench]: 4.5 to 5.5 walks in flight (derived)"`

	HitLatency   clocked.Time `key:"hit_latency" default:"2ns" min:"1ns" max:"1us" doc:"from the IOMMU's input to memory's for a request that hits, the register between them included" source:"[HyperTRIO20]: IOTLB hit 2 ns"`
	WalkOverhead clocked.Time `key:"walk_overhead" default:"208ns" min:"0ns" max:"100us" doc:"more for a miss, before its first read" source:"[pcie-bench]: a miss costs 280 ns at the median, Broadwell; less one read and its two registers (derived)"`
	WalkRead     clocked.Time `key:"walk_read" default:"70ns" min:"1ps" max:"100us" doc:"memory's part of an unloaded read of a page-table entry" source:"[HostNet24]: a core's read from DRAM, 70 ns, Cascade Lake; the same for the IOMMU: assumption"`
	SetAccessed  bool         `key:"set_accessed" default:"true" doc:"walks set accessed bits, and the dirty bit when the right to store is given; off: an adapter is given that right for dirty pages only" source:"[riscv-iommu]: both are permitted"`

	PageRequests int          `key:"page_requests" default:"2048" min:"1" max:"65536" doc:"entries of the page request ring, and of the log of absent pages" source:"[Linux] intel/iommu.h: 64 KiB of 32 B entries"`
	ATSDepth     int          `key:"ats_depth" default:"32" min:"1" max:"32" doc:"Invalidate Requests outstanding to an adapter" source:"[riscv-iommu]: invalidation tags 0 to 31"`
	ATSTimeout   clocked.Time `key:"ats_timeout" default:"60s" min:"1us" max:"1000s" doc:"after which an Invalidate Request is given up" source:"[Linux] commit 9ce27afc0830: one minute, up to half more"`
	CommandTime  clocked.Time `key:"command_time" default:"686ns" min:"0ns" max:"10ms" doc:"least time of an IOTLB or context invalidation" source:"[rIOMMU15] Table 1: 2127 cycles at 3.1 GHz"`

	FlushCount int          `key:"flush_count" default:"250" min:"1" max:"1048576" doc:"deferred: unmappings after which the kernel flushes the IOTLB" source:"[rIOMMU15]: 250"`
	FlushTime  clocked.Time `key:"flush_time" default:"10ms" min:"1us" max:"10s" doc:"deferred: longest time until the kernel flushes the IOTLB" source:"[rIOMMU15]: 10 ms"`
}

// Config says what the platform knows beyond the Spec.
type Config struct {
	Adapters int      // root ports, 1 or more
	Tables   model.PA // where the IOMMU's own tables lie: TableBytes, aligned to 4 KiB
	Seed     uint64   // of random replacement
}

// TableBytes is the space of addresses that the IOMMU's own tables take: only
// the times of their reads matter, nothing is stored there.
const TableBytes = identityBytes + maxAdapters*contextBytes

const (
	maxAdapters   = 64
	maxPASID      = 1 << 20
	contextEntry  = 64 // bytes
	contextBytes  = maxPASID * contextEntry
	identityBytes = 1 << 25 // 2^22 entries of 8 B: 1 GiB pages of 52 bits
)

func (s *Spec) geometry(seed uint64, name string) (cache.Geometry, error) {
	policy, err := cache.ParsePolicy(s.IOTLBReplacement)
	return cache.Geometry{Entries: s.IOTLBEntries, Ways: s.IOTLBWays, Line: 1, Policy: policy, Seed: seed, Stream: name}, err
}

// Check refuses what cannot be built, naming the key.
func (s *Spec) Check() error {
	g, err := s.geometry(0, "")
	if err == nil {
		err = g.Validate()
	}
	switch {
	case err != nil:
		return fmt.Errorf("host.iommu.iotlb_entries: %w; choose iotlb_entries / iotlb_ways a power of two, or iotlb_ways 0", err)
	case s.PSCEntries < 1 || s.ContextEntries < 1 || s.Walkers < 1 || s.PageRequests < 1 || s.Slots < 1 || s.Slots > 1024:
		return fmt.Errorf("host.iommu: psc_entries, context_entries, walkers, page_requests, slots: at least 1 is due, and at most 1024 slots")
	case s.ATSDepth < 1 || s.ATSDepth > ats.MaxTags:
		return fmt.Errorf("host.iommu.ats_depth: %d: 1 to %d is due", s.ATSDepth, ats.MaxTags)
	case s.HitLatency < 1 || s.WalkOverhead < 0 || s.CommandTime < 0 || s.ATSTimeout < 1:
		return fmt.Errorf("host.iommu: hit_latency and ats_timeout above 0, walk_overhead and command_time of at least 0 are due")
	}
	_, err = refusal(s.Absent)
	return err
}

// refusal is the status that an absent page is answered with.
func refusal(absent string) (msg.Status, error) {
	switch absent {
	case "abort":
		return msg.StatusAbort, nil
	case "retry":
		return msg.StatusRetry, nil
	}
	return 0, fmt.Errorf("host.iommu.absent: %q: abort or retry is due", absent)
}
