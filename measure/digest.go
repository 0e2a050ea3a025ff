package measure

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/cespare/xxhash/v2"
)

const (
	digestBuffer = 8 << 10 // bytes hashed at a time
	digestRow    = 512     // a row has fewer bytes
)

// digest hashes the rows of one table as 64-bit words.
type digest struct {
	hash *xxhash.Digest
	rows uint64
	buf  []byte // encoded, not hashed yet
}

func newDigest() digest {
	return digest{hash: xxhash.New(), buf: make([]byte, 0, digestBuffer+digestRow)}
}

// row takes the buffer with one more row.
func (d *digest) row(buf []byte) {
	d.buf = buf
	d.rows++
	if len(d.buf) >= digestBuffer {
		d.sum()
	}
}

// sum is the hash of all rows so far.
func (d *digest) sum() uint64 {
	_, _ = d.hash.Write(d.buf) // never fails
	d.buf = d.buf[:0]
	return d.hash.Sum64()
}

func (d *digest) access(a *Access) {
	le, c := binary.LittleEndian, &a.Counts
	b := d.buf
	for _, word := range [...]uint64{
		a.ID, uint64(a.Adapter), uint64(a.Op), uint64(a.Status), bit(a.Warmup),
		uint64(a.QP), uint64(a.Key), uint64(a.Len), uint64(a.VA), uint64(a.Issue), uint64(a.Complete),
		uint64(c.Pages), uint64(c.MPTHits), uint64(c.MPTMisses), uint64(c.MTTHits), uint64(c.MTTMisses),
		uint64(c.MTTMerged), uint64(c.IOTLBMisses), uint64(c.TableReads), uint64(c.Faults), uint64(c.RNRNaks),
		uint64(c.TCPDrops), uint64(c.Resends), uint64(c.TLPs), c.PCIeBytes,
	} {
		b = le.AppendUint64(b, word)
	}
	for _, t := range &a.Ledger.Causes {
		b = le.AppendUint64(b, uint64(t))
	}
	d.row(b)
}

func (d *digest) invalidation(v *Invalidation) {
	b := d.buf
	for _, word := range [...]uint64{
		v.ID, uint64(v.Adapter), uint64(v.Trigger), uint64(v.Pages),
		uint64(v.Notified), uint64(v.Sent), uint64(v.Received), uint64(v.Marked), uint64(v.Drained),
		uint64(v.Acknowledged), uint64(v.IOTLB), uint64(v.DevTLB), uint64(v.Done), uint64(v.Checked), uint64(v.Others),
		bit(v.TimedOut), bit(v.Warmup),
	} {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	d.row(b)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// resultHash joins the tables' digests and the summary's integers.
func resultHash(accesses, invalidations *digest, s *Summary) string {
	var b []byte
	for _, d := range []*digest{accesses, invalidations} {
		b = binary.LittleEndian.AppendUint64(b, d.rows)
		b = binary.LittleEndian.AppendUint64(b, d.sum())
	}
	return hexadecimal(xxhash.Sum64(appendIntegers(b, reflect.ValueOf(s).Elem())))
}

func appendIntegers(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int()))
	case reflect.Uint64:
		return binary.LittleEndian.AppendUint64(b, v.Uint())
	case reflect.Pointer:
		if !v.IsNil() {
			b = appendIntegers(b, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			b = appendIntegers(b, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			b = binary.LittleEndian.AppendUint64(b, uint64(v.Len()))
		}
		for i := range v.Len() {
			b = appendIntegers(b, v.Index(i))
		}
	}
	return b
}

// HashBytes is the 64-bit xxHash of data in 16 hexadecimal digits.
func HashBytes(data []byte) string { return hexadecimal(xxhash.Sum64(data)) }

func hexadecimal(sum uint64) string { return fmt.Sprintf("%016x", sum) }
