package calibrate

import "rnicmmu/components/dmabench"

// Machines are the measured machines.
func Machines() []*Machine { return []*Machine{&haswell, &broadwell} }

// Reasons of outliers.
const (
	singly   = "here every line of 64 B came back singly"
	combined = "here completions carried 256 B"
	onePiece = "the engine is slower at writes of one whole piece while it reads"
)

var haswell = Machine{System: "hsw-E5-2637v3", Title: "NFP6000 in Xeon E5-2637v3 (Haswell)", Profile: "nfp6000-haswell",
	Base: 0x40000000, // below 4 GiB: its writes have the time of headers of 3 DW
	Outliers: []Outlier{
		{dmabench.ReadBandwidth, []uint32{513, 576, 704}, singly, []string{"pcie.split_policy=rcb"}},
		{dmabench.BothBandwidth, []uint32{127, 128}, onePiece, nil},
	}}

var broadwell = Machine{System: "bdw-E5-2630v4-local", Title: "NFP6000 in Xeon E5-2630v4 (Broadwell)", Profile: "nfp6000-broadwell",
	Base: 0x1026400000, // the first of the addresses that [pcie-bench] recorded
	Outliers: []Outlier{
		{dmabench.BothBandwidth, []uint32{127, 128}, onePiece, nil},
		{dmabench.BothBandwidth, []uint32{1535, 1536, 1537, 1791, 1792, 1793, 2047, 2048}, combined, []string{"pcie.mps=256B"}},
	}}
