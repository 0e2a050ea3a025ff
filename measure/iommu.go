package measure

// IOMMUSummary counts the host's IOMMU.
type IOMMUSummary struct {
	IOTLB         IOTLBStats `json:"iotlb"`
	Walks         uint64     `json:"walks"`
	WalkReads     uint64     `json:"walk_reads"`
	Absent        uint64     `json:"absent"`         // transfers refused: no page at their address, or not with the right
	Flushes       uint64     `json:"flushes"`        // of the IOTLB, commands
	Deferred      uint64     `json:"deferred"`       // of them, for unmappings that were gathered
	AccessFlushes uint64     `json:"access_flushes"` // of them, for pages whose accessed bit was cleared
	WindowPS      Quantiles  `json:"window_ps"`      // a page left the DMA domain … its IOTLB entry is flushed
}

// IOTLBStats counts the IOMMU's translation cache.
type IOTLBStats struct {
	Lookups uint64 `json:"lookups"`
	Hits    uint64 `json:"hits"`
	Misses  uint64 `json:"misses"`
}
