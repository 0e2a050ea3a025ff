package ats

import "fmt"

// CompletionStatus is the status of a translation completion.
type CompletionStatus uint8

// Statuses; others count as UnsupportedRequest.
const (
	Successful         CompletionStatus = 0 // SC
	UnsupportedRequest CompletionStatus = 1 // UR: no translations for this adapter
	CompleterAbort     CompletionStatus = 4 // CA: the IOMMU's configuration is broken
)

// TranslationCompletion is a completion of a translation request: the only one,
// or one of two. Without Successful it has no entries.
type TranslationCompletion struct {
	Tag      uint16 // 10 bits
	Status   CompletionStatus
	Poisoned bool          // EP: the entries are not to be used
	Entries  []Translation // of one size, each behind the one before
	Bytes    uint16        // Byte Count: of the entries here and in the completion behind, 0 … 4096
	Lower    uint8         // Lower Address: 7 bits, see Complete
}

// Shifts and bits of a completion's header ([cocotbext-pcie]).
const (
	statusShift = 13
	bytesMask   = 0xFFF // 4096 is written 0
	lowerMask   = 0x7F
)

// Complete makes the completions of a request from its entries, 1 to rcb/8 of
// them: one, or two where the first is to hold fewer than all, but at least one.
// What a switch sees must look like a read that ends at the read completion
// boundary, of rcb bytes, or crosses it between the two ([PCIe], by way of study
// notes): so the first ends at a boundary, and the second begins at one.
func Complete(tag uint16, entries []Translation, first, rcb int) []TranslationCompletion {
	n := len(entries)
	if first < 1 || first > n {
		first = n
	}
	all := []TranslationCompletion{{Tag: tag, Entries: entries[:first], Bytes: uint16(n * EntryBytes), Lower: uint8(rcb-first*EntryBytes) & lowerMask}}
	if first < n {
		all = append(all, TranslationCompletion{Tag: tag, Entries: entries[first:], Bytes: uint16((n - first) * EntryBytes)})
	}
	return all
}

// Append writes the completion's TLP to b.
func (c *TranslationCompletion) Append(b []byte, ids IDs) []byte {
	var p tlp
	format := uint8(formatCompletion)
	if len(c.Entries) > 0 {
		format = formatCompletionData
	}
	for _, e := range c.Entries {
		p.data = append(p.data, Encode(e))
	}
	p.header[0] = first(format, len(c.Entries)) | tagBits(c.Tag) | uint32(when(c.Poisoned, poisoned))
	p.header[1] = uint32(ids.From)<<16 | uint32(c.Status&7)<<statusShift | uint32(c.Bytes)&bytesMask
	p.header[2] = uint32(ids.To)<<16 | uint32(c.Tag&0xFF)<<8 | uint32(c.Lower)&lowerMask
	return p.append(b)
}

// DecodeTranslationCompletion reads a completion of a translation request. By
// itself it looks as that of any read does: the reader knows by the tag.
func DecodeTranslationCompletion(b []byte) (TranslationCompletion, IDs, error) {
	const name = "translation completion"
	p, err := parse(b, name)
	if err != nil {
		return TranslationCompletion{}, IDs{}, err
	}
	c := TranslationCompletion{Tag: p.tagOf(2), Status: CompletionStatus(p.header[1] >> statusShift & 7), Poisoned: p.header[0]&poisoned != 0,
		Bytes: uint16(p.header[1] & bytesMask), Lower: uint8(p.header[2] & lowerMask)}
	for _, d := range p.data {
		c.Entries = append(c.Entries, Decode(d))
	}
	n := len(c.Entries) * EntryBytes
	if n > 0 && c.Bytes == 0 {
		c.Bytes = bytesMask + 1
	}
	switch f := p.format(); {
	case f != formatCompletion && f != formatCompletionData:
		err = fmt.Errorf("%s: type %#02x: a completion, 0x0a or 0x4a, is due", name, f)
	case (c.Status == Successful) != (n > 0):
		err = fmt.Errorf("%s: status %d with %d B of data: data are due with 0, and with no other", name, c.Status, n)
	case n > int(c.Bytes) || n > 0 && c.Bytes%EntryBytes != 0:
		err = fmt.Errorf("%s: byte count %d with %d B of data: as many are due, or more by multiples of 8", name, c.Bytes, n)
	}
	if err != nil {
		return TranslationCompletion{}, IDs{}, err
	}
	return c, IDs{From: uint16(p.header[1] >> 16), To: uint16(p.header[2] >> 16)}, nil
}
