package tpt

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
	"rnicmmu/model/cache"
)

// Spec holds the parameters of the unit; the group is named tpt.
type Spec struct {
	Page         string       `key:"page" default:"4KiB" oneof:"4KiB,64KiB,2MiB,1GiB,2GiB" doc:"page size of the adapter's table; at most the host's page" source:"FaRM, NSDI 2014, §4.1 (4 KiB and 2 GiB pages)"`
	Clock        clocked.Freq `key:"clock" default:"800MHz" min:"1MHz" max:"10GHz" doc:"clock of the adapter's units" source:"assumption: typical of NIC silicon; sweep it"`
	LookupCycles int          `key:"lookup_cycles" default:"4" min:"1" max:"64" doc:"cycles from acceptance to result on a hit: MPT and MTT stages" source:"assumption: two stages a cache"`
	Tables       string       `key:"tables" default:"host" oneof:"host,onboard" doc:"where MPT and MTT live: host memory over PCIe or memory on the adapter" source:"mlx5 ICM; InfiniHost has on-board memory"`
	Onboard      clocked.Time `key:"onboard_latency" default:"90ns" min:"1ns" max:"10us" doc:"read latency of on-board table memory" source:"assumption: DDR on the card, 45 ns row miss (host_network.csv) twice"`
	InFlight     int          `key:"in_flight" default:"1024" min:"2" max:"65536" doc:"translations given out and not yet given back" source:"assumption: covers 164 reads and 92 writes in flight (SIGCOMM 2024) with margin"`

	MPT          MPTSpec          `key:"mpt" doc:"memory protection table cache"`
	MTT          MTTSpec          `key:"mtt" doc:"memory translation table cache"`
	Fault        FaultSpec        `key:"fault" doc:"fault unit"`
	Command      CommandSpec      `key:"command" doc:"execution of table commands"`
	Invalidation InvalidationSpec `key:"invalidation" doc:"invalidation unit"`
}

// MPTSpec is the cache of memory-protection entries (one per region).
type MPTSpec struct {
	Entries     int    `key:"entries" default:"1024" min:"1" max:"1048576" doc:"cached regions" source:"assumption: holds every region of the default workload"`
	Ways        int    `key:"ways" default:"4" min:"0" max:"1048576" zero:"fully associative" doc:"ways of a set" source:"assumption"`
	Replacement string `key:"replacement" default:"lru" oneof:"lru,fifo,tree-plru,nru,random" doc:"replacement policy" source:"assumption"`
	MSHRs       int    `key:"mshrs" default:"16" min:"1" max:"4096" doc:"misses outstanding" source:"assumption"`
}

// MTTSpec is the cache of translation entries (one per adapter page).
type MTTSpec struct {
	Entries     int    `key:"entries" default:"2048" min:"1" max:"16777216" doc:"cached entries" source:"FaRM, NSDI 2014, Fig. 4: 2048 explains ConnectX-3 (derived)"`
	Ways        int    `key:"ways" default:"4" min:"0" max:"16777216" zero:"fully associative" doc:"ways of a set" source:"assumption"`
	LineEntries int    `key:"line_entries" default:"1" min:"1" max:"8" doc:"entries of one line, read together" source:"mlx5 zaps and fills tables in 64 B blocks of 8 entries (umr.c); 1 fits FaRM Fig. 4"`
	Replacement string `key:"replacement" default:"lru" oneof:"lru,fifo,tree-plru,nru,random" doc:"replacement policy" source:"assumption"`
	MSHRs       int    `key:"mshrs" default:"32" min:"1" max:"4096" doc:"walks outstanding" source:"assumption: several times the 4.5–5.5 walks in flight of pcie-bench's IOMMU"`
	Levels      int    `key:"levels" default:"1" min:"1" max:"3" doc:"table levels, each one dependent read" source:"mlx5 MTT lists are flat; ICM and InfiniHost tables have up to 3"`
	Index       string `key:"index" default:"entry" oneof:"entry,page" doc:"what selects the set: the entry's place in the table or the page number" source:"entry: hardware caches memory by address"`
}

// FaultSpec is the unit that reports absent pages.
type FaultSpec struct {
	MaxOutstanding int          `key:"max_outstanding" default:"4" min:"1" max:"4" doc:"faults outstanding of one QP: initiator and responder × read and write" source:"Lesokhin et al., ASPLOS 2017, §4"`
	QueueDepth     int          `key:"queue_depth" default:"4096" min:"1" max:"65536" doc:"entries of the event queue; a full queue holds faults back" source:"Linux mlx5 odp.c"`
	Trigger        clocked.Time `key:"trigger" default:"129.2us" min:"0ns" max:"10ms" doc:"adapter's time from the absent entry to its event (firmware)" source:"Lesokhin et al., ASPLOS 2017, Fig. 3 (digitised)"`
	Resume         clocked.Time `key:"resume" default:"77.9us" min:"0ns" max:"10ms" doc:"adapter's time from the resume command to going on (firmware)" source:"Lesokhin et al., ASPLOS 2017, Fig. 3 (digitised)"`
}

// CommandSpec is the time that the adapter's firmware takes for a table command.
type CommandSpec struct {
	Fill       clocked.Time `key:"fill" default:"5us" min:"0ns" max:"10ms" doc:"processing of a table update, per work request" source:"Lesokhin et al., ASPLOS 2017, Fig. 3: 6.7 us less the command's round trip (derived)"`
	Invalidate clocked.Time `key:"invalidate" default:"12us" min:"0ns" max:"10ms" doc:"processing of an invalidation, per work request" source:"Lesokhin et al., ASPLOS 2017, Fig. 3: 13.7 us less the command's round trip (derived)"`
	PerEntry   clocked.Time `key:"per_entry" default:"30ns" min:"0ns" max:"1ms" doc:"more for each further entry" source:"Lesokhin et al., ASPLOS 2017, Fig. 3: (44.7 − 13.7) us / 1023 entries (derived)"`
}

// InvalidationSpec is the unit that revokes translations.
type InvalidationSpec struct {
	QueueDepth int `key:"queue_depth" default:"32" min:"2" max:"4096" doc:"commands that the adapter's queue holds; the kernel posts no more at once" source:"assumption: as ATS's 32 outstanding invalidations"`
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

func (s *MPTSpec) geometry(seed uint64, name string) (cache.Geometry, error) {
	policy, err := cache.ParsePolicy(s.Replacement)
	g := cache.Geometry{Entries: s.Entries, Ways: s.Ways, Line: 1, Policy: policy, Seed: seed, Stream: name}
	return g, err
}

func (s *MTTSpec) geometry(seed uint64, name string) (cache.Geometry, error) {
	policy, err := cache.ParsePolicy(s.Replacement)
	g := cache.Geometry{Entries: s.Entries, Ways: s.Ways, Line: s.LineEntries, Policy: policy, Seed: seed, Stream: name}
	return g, err
}

// Check tells in one line per problem, with its key, what cannot be built.
func (s *Spec) Check() error {
	if g, err := s.MPT.geometry(0, ""); err != nil {
		return fmt.Errorf("tpt.mpt: %w", err)
	} else if err = g.Validate(); err != nil {
		return fmt.Errorf("tpt.mpt: %w", err)
	}
	g, err := s.MTT.geometry(0, "")
	if err == nil {
		err = g.Validate()
	}
	if err != nil {
		return fmt.Errorf("tpt.mtt: %w", err)
	}
	return nil
}
