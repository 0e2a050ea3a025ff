package ats

import "rnicmmu/model"

// Translation is the content of one entry of a translation completion.
type Translation struct {
	PA           model.PA // of the page, aligned to its size
	Shift        model.PageShift
	Read, Write  bool // neither: not present, or not permitted; never cached
	Untranslated bool // U: the page may be used by untranslated requests only
	Global       bool // for every PASID
	Execute      bool // no unit asks for this, and for what follows
	Privileged   bool // for privileged mode
	NoSnoop      bool
	CXL          bool // to be reached by CXL.io
}

// Range is a naturally aligned power of two of bytes: what one Invalidate
// Request covers.
type Range struct {
	VA    model.VA
	Shift model.PageShift // 12 … 64; 64 is the whole space
}

// InvalidateRequest asks an adapter to drop translations.
type InvalidateRequest struct {
	ITag   uint8 // 0 … 31
	PASID  uint32
	Range  Range
	Global bool
}

// InvalidateCompletion answers requests.
type InvalidateCompletion struct {
	ITags uint32 // bit i: request with ITag i
	Count uint8  // completions to expect for each, 1 … 8
}

// PageRequest asks for a page.
type PageRequest struct {
	Group       uint16 // PRG index, 9 bits
	Last        bool
	Read, Write bool // neither, with Last: a stop marker
	PASID       uint32
	Execute     bool     // the right to execute is wanted too: no unit asks for that
	Privileged  bool     // asked for in privileged mode: nor for that
	VA          model.VA // of the page
}

// StopMarker tells whether the request asks for nothing: it says that no more
// requests of its PASID follow, and is not answered.
func (r *PageRequest) StopMarker() bool { return r.Last && !r.Read && !r.Write }

// PageResponse answers a group of page requests.
type PageResponse struct {
	Group uint16
	PASID uint32
	Code  ResponseCode
}

// ResponseCode is the outcome of a page request group.
type ResponseCode uint8

// Codes of a page request group response; others count as ResponseFailure
// ([riscv-iommu]).
const (
	ResponseSuccess ResponseCode = 0  // ask for the translation again
	ResponseInvalid ResponseCode = 1  // do not try again
	ResponseFailure ResponseCode = 15 // the adapter turns page requests off
)

// Fails tells whether the code turns page requests off.
func (c ResponseCode) Fails() bool { return c != ResponseSuccess && c != ResponseInvalid }
