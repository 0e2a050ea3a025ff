package workload

import (
	"bytes"

	"rnicmmu/model"
)

// akitaReader reads the log of Akita's memory tracer (mem/trace of v3), whose
// lines for a request's start are
//
//	start, SECONDS, WHERE, ID, WHAT, 0xADDRESS, BYTES
//
// with twelve decimals, possibly after a log prefix. A request starts a task
// at its sender (the ID then ends with _req_out) and at every component that
// it comes to; only the starts of the first line's component and kind are
// accesses, or else each request would be counted several times.
type akitaReader struct {
	lines
	where    string
	sender   bool
	accesses uint64
	elsewhere,
	skipped uint64 // steps, ends, other lines
}

var (
	akitaStart = []byte("start, ")
	akitaComma = []byte(", ")
	akitaSent  = []byte("_req_out")
)

func (r *akitaReader) Err() error { return r.err }

func (r *akitaReader) Next(a *Access) bool {
	for r.err == nil {
		text, ok := r.lines.next()
		if !ok {
			if r.err == nil && r.accesses == 0 {
				r.fail("no started read or write; attach the tracer to a component that memory requests reach")
			}
			return false
		}
		where, sender, ok := parseAkita(text, a)
		switch {
		case !ok:
			r.skipped++
			continue
		case r.accesses == 0:
			r.where, r.sender = string(where), sender
		case sender != r.sender || string(where) != r.where:
			r.elsewhere++
			continue
		}
		r.accesses++
		return true
	}
	return false
}

// parseAkita reads one line; ok is false for anything but a read's or write's start.
func parseAkita(text []byte, a *Access) (where []byte, sender, ok bool) {
	at := bytes.Index(text, akitaStart)
	if at < 0 {
		return nil, false, false
	}
	rest := text[at+len(akitaStart):]
	var f [6][]byte
	for i := range f {
		end := bytes.Index(rest, akitaComma)
		if end < 0 {
			if i < len(f)-1 {
				return nil, false, false
			}
			end = len(rest)
		}
		f[i], rest = rest[:end], rest[min(len(rest), end+len(akitaComma)):]
	}
	seconds, id, what := f[0], f[2], f[3]
	*a = Access{Op: model.OpWrite}
	if bytes.Contains(what, []byte("Read")) {
		a.Op = model.OpRead
	} else if !bytes.Contains(what, []byte("Write")) {
		return nil, false, false
	}
	va, ok := parseUint(f[4])
	size, ok2 := parseUint(f[5])
	time, ok3 := parseSeconds(seconds)
	if !ok || !ok2 || !ok3 || !inSpace(model.VA(va), size) {
		return nil, false, false
	}
	a.VA, a.Len, a.TimePS = model.VA(va), uint32(size), time
	return f[1], bytes.HasSuffix(id, akitaSent), true
}

// parseSeconds reads decimal seconds as picoseconds, up to 46 days.
func parseSeconds(text []byte) (int64, bool) {
	whole, fraction := text, []byte(nil)
	if dot := bytes.IndexByte(text, '.'); dot >= 0 {
		whole, fraction = text[:dot], text[dot+1:]
	}
	s, ok := parseUint(whole)
	ps, ok2 := parseFraction(fraction, 12)
	if !ok || !ok2 || s > 4_000_000 {
		return 0, false
	}
	return int64(s*1e12 + ps), true
}
