package pcie

import (
	"math"
	"math/bits"

	"rnicmmu/model"
)

// Link is what the bandwidth of a link depends on. Credits, tags and the other
// ends are never what limits it here.
type Link struct {
	Gen, Lanes int
	MPS, MRRS  uint32 // bytes
	RCB        uint32 // of the completer, bytes
	Split      Split  // SplitMin or SplitRCB
	Header     uint8  // of requests: Header3DW or Header4DW
	Prefixes   uint8  // of requests
	Digest     bool   // of all TLPs

	SKP   bool // SKP ordered sets take time
	DLLPs bool // Ack and UpdateFC take time
}

// WriteBandwidth is what a link carries of memory writes of so many bytes each,
// all from the start of a page and one way, in bytes of payload a second. What
// each costs is the TLPs by MPS and their headers, prefixes and digests; framing
// or the part of flits that is not of TLPs; SKP. Ack and UpdateFC travel the
// other way and cost nothing.
func (l *Link) WriteBandwidth(n uint32) float64 {
	up := flow{tlps: l.writes(n)}
	return float64(n) * l.most(&up)
}

// ReadBandwidth is what a link carries of memory reads of so many bytes each, all
// from the start of a page and asked for by one end, in bytes of payload a second.
// The way of the completions has those TLPs, Ack and UpdateFC for the requests,
// and SKP; the way of the requests has those TLPs, Ack for the completions, and
// SKP. The slower way counts. Completion credits are infinite.
func (l *Link) ReadBandwidth(n uint32) float64 {
	reads, completions := l.requests(n), l.completions(n)
	up := flow{tlps: reads, dllps: [3]float64{completions.count}}
	down := flow{tlps: completions, dllps: [3]float64{reads.count, reads.count}}
	return float64(n) * min(l.most(&up), l.most(&down))
}

// BothBandwidth is as ReadBandwidth with as many writes of the same size as
// reads, both from one end: the payload of the reads alone, in bytes a second.
// Writes and requests share a way, and Acks; each type has its UpdateFC.
func (l *Link) BothBandwidth(n uint32) float64 {
	writes, reads, completions := l.writes(n), l.requests(n), l.completions(n)
	up := flow{tlps: load{writes.count + reads.count, writes.bytes + reads.bytes},
		dllps: [3]float64{completions.count}}
	down := flow{tlps: completions,
		dllps: [3]float64{writes.count + reads.count, writes.count, reads.count}}
	return float64(n) * min(l.most(&up), l.most(&down))
}

// TLPRate is what one direction carries of TLPs when it carries nothing else, in
// bytes a second: all of them, or 236 of 256 in flit mode.
func TLPRate(gen, lanes int) float64 {
	num, den := ByteTime(gen, lanes)
	rate := picoseconds * float64(den) / float64(num)
	if Flits(gen) {
		rate *= float64(FlitTLPBytes) / FlitBytes
	}
	return rate
}

const picoseconds = 1e12 // a second

// load is TLPs and their bytes.
type load struct{ count, bytes float64 }

func (a *load) add(gen int, s Shape) {
	a.count++
	a.bytes += float64(TLPBytes(gen, s))
}

func (l *Link) writes(n uint32) (sum load) {
	for at := uint32(0); at < n; {
		piece := RequestPiece(model.PA(at), n-at, l.MPS)
		sum.add(l.Gen, Shape{l.Header, l.Prefixes, l.Digest, piece})
		at += piece
	}
	return sum
}

func (l *Link) requests(n uint32) (sum load) {
	for at := uint32(0); at < n; {
		at += RequestPiece(model.PA(at), n-at, l.MRRS)
		sum.add(l.Gen, Shape{l.Header, l.Prefixes, l.Digest, 0})
	}
	return sum
}

func (l *Link) completions(n uint32) (sum load) {
	for at := uint32(0); at < n; {
		left := RequestPiece(model.PA(at), n-at, l.MRRS)
		for left > 0 {
			piece := CompletionPiece(model.PA(at), left, l.RCB, l.MPS, l.Split, 0)
			sum.add(l.Gen, Shape{Header3DW, 0, l.Digest, piece})
			at, left = at+piece, left-piece
		}
	}
	return sum
}

// flow is what one direction carries for each transfer: its own TLPs, and for
// each stream of Ack or UpdateFC the TLPs of the other direction that cause it.
type flow struct {
	tlps  load
	dllps [3]float64
}

// most is how many transfers a second a direction carries. TLPs share a DLLP where
// more than one comes until it leaves, and how many come depends on the rate; so
// the time of a transfer is sought with which the direction is just full.
func (l *Link) most(f *flow) float64 {
	budget := TLPRate(l.Gen, l.Lanes)
	if l.SKP {
		interval, length := SKP(l.Gen)
		budget *= 1 - float64(length)/float64(interval)
	}
	if !l.DLLPs || Flits(l.Gen) {
		return budget / f.tlps.bytes
	}
	limit := float64(AckLimit(l.Gen, l.Lanes, l.MPS)) / TLPRate(l.Gen, 1)
	short, long := f.tlps.bytes/budget, (f.tlps.bytes+DLLPBytes*(f.dllps[0]+f.dllps[1]+f.dllps[2]))/budget
	for range 60 {
		time := (short + long) / 2
		bytes := f.tlps.bytes
		for _, cause := range f.dllps {
			if cause > 0 {
				bytes += DLLPBytes * cause / sharers(limit, time/cause, time/f.tlps.count)
			}
		}
		if bytes/budget > time {
			short = time
		} else {
			long = time
		}
	}
	return 1 / long
}

// sharers is how many TLPs, one every interval, share a DLLP on average: it leaves
// when limit is over since the first of them and the TLP on its own line, which
// takes line, has ended, at any point of it alike. All are times of one unit.
func sharers(limit, interval, line float64) float64 {
	sum := func(x float64) float64 { // of the whole part, from 0 to x
		n := math.Floor(x)
		return n*(n-1)/2 + n*(x-n)
	}
	return 1 + (sum((limit+line)/interval)-sum(limit/interval))*interval/line
}

// CreditsFor is the credits that keep a direction full: those of the TLPs that it
// carries at rate, in bytes a second, from when a credit is taken until it can be
// taken again, loop, in picoseconds. TLPs have so many bytes on the wire and of
// payload; both numbers are of whole TLPs.
func CreditsFor(rate, loop, wire int64, payload uint32) (headers, data int64) {
	headers = inFlight(rate, loop, wire)
	return headers, headers * int64(DataCredits(payload))
}

// TagsFor is the tags that keep the way of completions full: the reads that it
// answers at rate, in bytes a second, in a round trip from the request until its
// tag is free, in picoseconds, when the completions of one read have so many bytes
// on the wire.
func TagsFor(rate, roundTrip, completions int64) int64 {
	return inFlight(rate, roundTrip, completions)
}

// inFlight is rate × time ÷ bytes, rounded up. Arguments are positive; the result
// fits.
func inFlight(rate, time, bytes int64) int64 {
	hi, lo := bits.Mul64(uint64(rate), uint64(time))
	n, rest := bits.Div64(hi, lo, uint64(bytes)*picoseconds)
	if rest > 0 {
		n++
	}
	return int64(n)
}
