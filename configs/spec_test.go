package configs

import (
	"rnicmmu/clocked"
	"rnicmmu/model"
)

// testSpec has every type and tag that a Spec can use.
type testSpec struct {
	Seed        uint64         `key:"seed" default:"1" doc:"seed of every random stream"`
	Scheme      string         `key:"scheme" default:"pinned" oneof:"pinned,odp,sva,iommu,suspend" doc:"who keeps the tables true"`
	Adapters    model.Replicas `key:"adapters" default:"1" min:"1" max:"16" scope:"tpt,pcie.link" doc:"adapters on the host"`
	Warmup      model.Warmup   `key:"warmup" default:"0" doc:"left out of the figures"`
	Label       string         `key:"label" default:"" doc:"free text"`
	Untagged    int
	NotOurs     int          `key:"not_ours" default:"3" internal:"-"`
	TPT         testTPT      `key:"tpt" doc:"tables of the adapter"`
	PCIe        testPCIe     `key:"pcie" doc:"link to the host"`
	Pressure    testPressure `key:"pressure" doc:"memory pressure"`
	Temperature int64        `key:"temperature" default:"-5" min:"-40" max:"125" doc:"a range below zero"`
}

type testTPT struct {
	Clock clocked.Freq `key:"clock" default:"800MHz" min:"1MHz" max:"10GHz" doc:"clock of the tables" source:"assumed"`
	Page  model.Bytes  `key:"page" default:"4KiB" oneof:"4KiB,64KiB,2MiB,1GiB,2GiB" doc:"page of the table"`
	MPT   TestCache    `key:"mpt" doc:"key cache"`
	MTT   testMTT      `key:"mtt" defaults:"entries=2048" doc:"translation cache"`
}

type testMTT struct {
	TestCache `defaults:"ways=4"`
	Levels    int `key:"levels" default:"2" min:"1" max:"3" doc:"levels of the table"`
}

// TestCache serves two groups, once embedded.
type TestCache struct {
	Entries     int    `key:"entries" default:"256" min:"1" max:"4194304" pow2:"true" doc:"cached entries" source:"derived | measured"`
	Ways        int    `key:"ways" default:"8" min:"1" max:"64" pow2:"true" zero:"0 = fully associative" doc:"ways of a set"`
	Replacement string `key:"replacement" default:"lru" oneof:"lru,fifo,plru,nru,random" doc:"victim choice"`
}

type testPCIe struct {
	Link        testLink     `key:"link" doc:"electrical"`
	ReadLatency clocked.Time `key:"read_latency" default:"450ns" max:"1s" doc:"host's part of a read"`
}

type testLink struct {
	Transfers model.Transfers `key:"transfers" default:"16GT/s" doc:"a lane"`
	Wire      model.BitRate   `key:"wire" default:"100Gb/s" min:"1Mb/s" doc:"network"`
	Relaxed   bool            `key:"relaxed" default:"true" doc:"relaxed ordering"`
}

type testPressure struct {
	Overcommit float64     `key:"overcommit" default:"0.5" max:"64" zero:"0 = off" doc:"working set over frames"`
	Offered    model.Rate  `key:"offered_rate" default:"1.5M/s" doc:"arrivals"`
	Memory     model.Bytes `key:"memory" default:"20GiB" max:"1TiB" doc:"frames"`
}
