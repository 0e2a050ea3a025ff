package calibrate

import "rnicmmu/components/dmabench"

// Machines are the measured machines.
func Machines() []*Machine { return []*Machine{&haswell, &broadwell} }

// Reasons of outliers.
const (
	lineByLine = "here every line of 64 B came back singly"
	noDLLPs    = "Ack and UpdateFC are not on the model's wire"
)

var haswell = Machine{System: "hsw-E5-2637v3", Title: "NFP6000 in Xeon E5-2637v3 (Haswell)", Profile: "nfp6000-haswell",
	Base: 0x40000000, // below 4 GiB: its writes fit headers of 3 DW (derived)
	Outliers: []Outlier{
		{dmabench.ReadBandwidth, []uint32{513, 576, 640, 704, 1024, 1025, 1537}, lineByLine, []string{"pcie.split_policy=rcb"}},
		{dmabench.ReadBandwidth, []uint32{128, 129, 192, 257, 320, 768, 769, 832, 896, 960, 1279, 1280, 1281, 1793}, noDLLPs, nil},
		{dmabench.BothBandwidth, []uint32{127, 128, 192, 255, 256, 320, 384, 511, 512, 513, 576, 640, 704, 767, 768, 769, 832, 896,
			960, 1023, 1024, 1025, 1279, 1280, 1281, 1537, 1791, 1792, 1793}, noDLLPs, nil},
	}}

var broadwell = Machine{System: "bdw-E5-2630v4-local", Title: "NFP6000 in Xeon E5-2630v4 (Broadwell)", Profile: "nfp6000-broadwell",
	Base: 0x1026400000, // the first of the DMA addresses that [pcie-bench] recorded
	Outliers: []Outlier{
		{dmabench.ReadBandwidth, []uint32{129}, noDLLPs, nil},
		{dmabench.BothBandwidth, []uint32{127, 128, 255, 256, 320, 384, 511, 512, 513, 576, 640, 704, 767, 768, 769, 832, 896,
			960, 1023, 1024, 1025, 1279, 1280}, noDLLPs, nil},
	}}
