package coverage

import (
	"slices"

	"rnicmmu/model"
)

const (
	accessSizes = 23 // over 1 MiB
	tlpCounts   = 9  // over 64
	pageCounts  = 7  // over 16
)

// Cuts of a DMA at the root port.
const (
	cutWhole = iota // one TLP is all of it
	cutMost         // as long as MPS or MRRS permits
	cutBlock        // ends at a 4 KiB boundary, shorter than permitted
	cutTail         // ends the DMA
	cutOther        // shorter, to end aligned
)

// Alignments of the first byte.
const (
	alignedPage = iota
	alignedLine
	alignedWord
	alignedNot
)

var (
	access     = []string{"WRITE, SEND", "READ", "atomic"}
	accessSize = cross("access_size", "operation × bytes of the access", access, sizes(accessSizes)).
			ignore("an atomic has 8 bytes", slices.DeleteFunc(crossed("atomic", sizes(accessSizes)), func(s string) bool { return s == "atomic"+times+"5–8" })...)
	accessPages = cross("access_pages", "operation × process pages that the access touches", access, sizes(pageCounts)).
			ignore("an atomic is within a page", slices.DeleteFunc(crossed("atomic", sizes(pageCounts)), func(s string) bool { return s == "atomic"+times+"1" })...)
	accessStart = cross("access_start", "operation × alignment of its first byte", access, []string{"page", "64 B", "4 B", "none"}).
			ignore("an atomic is aligned to 8 bytes", "atomic"+times+"none")
	accessPackets = cross("access_packets", "request × packets of its message", []string{"WRITE", "SEND", "READ response"}, sizes(tlpCounts)).
			ignore("a message has a packet", "*"+times+"0")
	dmaTLPs  = cross("dma_tlps", "DMA of data × TLPs that it is cut into", []string{"store", "read"}, sizes(tlpCounts)).ignore("a DMA has a TLP", "*"+times+"0")
	dmaCut   = cross("dma_cut", "DMA of data × why a TLP ends where it does", []string{"store", "read"}, []string{"whole", "MPS or MRRS", "4 KiB", "tail", "alignment"})
	dmaStart = cross("dma_start", "TLP of data × alignment of its first byte", []string{"store", "read"}, []string{"page", "64 B", "4 B", "none"})
	pageSize = cross("page_size", "page of the host × page of the adapter's table", pageNames, tablePageNames)
)

var (
	pageNames      = []string{"4 KiB", "2 MiB", "1 GiB"}
	tablePageNames = []string{"4 KiB", "64 KiB", "2 MiB", "1 GiB", "2 GiB"}
	pageShifts     = []model.PageShift{12, 21, 30}
	tableShifts    = []model.PageShift{12, 16, 21, 30, 31}
)

func crossed(row string, columns []string) (all []string) {
	for _, c := range columns {
		all = append(all, row+times+c)
	}
	return all
}

// aligned is the bin of an address.
func aligned(at uint64) int {
	switch {
	case at%4096 == 0:
		return alignedPage
	case at%64 == 0:
		return alignedLine
	case at%4 == 0:
		return alignedWord
	}
	return alignedNot
}

// operation is the row of an access.
func operation(op model.Op) int {
	switch {
	case op.Atomic():
		return 2
	case op == model.OpRead:
		return 1
	}
	return 0
}
