package workload

import (
	"bytes"
	"math"
	"strings"

	"rnicmmu/model"
)

// column is a column that a CSV trace may have.
type column uint8

const (
	columnOther column = iota
	columnOp
	columnVA
	columnLen
	columnTime
	columnQP
	columnKey
	numColumns
)

var columnNames = map[string]column{
	"op": columnOp, "va": columnVA, "len": columnLen, "time_ns": columnTime,
	"qp": columnQP, "key": columnKey, "rkey": columnKey,
}

// byteOrderMark is what spreadsheets put before UTF-8.
var byteOrderMark = []byte("\ufeff")

// csvReader reads the CSV trace format: see the package comment.
type csvReader struct {
	lines
	columns []column // by position
	fields  [numColumns][]byte

	timed    bool
	startNS  uint64 // subtracted: the first time, when it counts from 1970
	accesses uint64
	skipped  uint64 // responses and later packets of a message
}

// header reads the first line that is not empty or a comment.
func (r *csvReader) header() bool {
	text, ok := r.row()
	if !ok {
		return false
	}
	var have [numColumns]bool
	for _, name := range strings.Split(string(text), ",") {
		name = strings.ToLower(strings.Trim(name, " \t\""))
		c := columnNames[name]
		if have[c] {
			if c == columnKey {
				name = "key or rkey"
			}
			return r.fail("header has two columns %s; keep one", name)
		}
		have[c] = c != columnOther
		r.columns = append(r.columns, c)
	}
	for _, name := range []string{"op", "va", "len"} {
		if !have[columnNames[name]] {
			return r.fail("header has no column %q; it needs at least op,va,len", name)
		}
	}
	return true
}

// row is the next line that is neither empty nor a comment.
func (r *csvReader) row() ([]byte, bool) {
	for {
		text, ok := r.lines.next()
		if r.n == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if !ok || len(text) > 0 && text[0] != '#' {
			return text, ok
		}
	}
}

func (r *csvReader) Err() error { return r.err }

func (r *csvReader) Next(a *Access) bool {
	if r.err != nil || r.columns == nil && !r.header() {
		return false
	}
	for {
		text, ok := r.row()
		if !ok {
			if r.err == nil && r.accesses == 0 {
				return r.fail("no accesses after the header; a row is op,va,len such as W,0x1000,64")
			}
			return false
		}
		r.split(text)
		ok, skip := r.parse(a)
		if skip {
			r.skipped++
			continue
		}
		if ok {
			r.accesses++
		}
		return ok
	}
}

// split finds the fields of a row; a field may be quoted.
func (r *csvReader) split(text []byte) {
	r.fields = [numColumns][]byte{}
	for _, c := range r.columns {
		var field []byte
		if len(text) > 0 && text[0] == '"' {
			field, text = unquote(text[1:])
		} else if end := bytes.IndexByte(text, ','); end >= 0 {
			field, text = text[:end], text[end+1:]
		} else {
			field, text = text, nil
		}
		r.fields[c] = trim(field)
	}
}

func unquote(text []byte) (field, rest []byte) {
	end := bytes.IndexByte(text, '"')
	if end < 0 {
		return text, nil
	}
	field, rest = text[:end], text[end+1:]
	if comma := bytes.IndexByte(rest, ','); comma >= 0 {
		return field, rest[comma+1:]
	}
	return field, nil
}

func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for n := len(text); n > 0 && (text[n-1] == ' ' || text[n-1] == '\t'); n-- {
		text = text[:n-1]
	}
	return text
}

// parse fills a from the fields; skip tells of a row that is no request.
func (r *csvReader) parse(a *Access) (ok, skip bool) {
	*a = Access{TimePS: NoTime}
	var role role
	switch op := r.fields[columnOp]; {
	case len(op) == 1 && op[0] == 'R':
		a.Op, role = model.OpRead, roleOnly
	case len(op) == 1 && op[0] == 'W':
		role = roleOnly
	default:
		o, known := parseOp(op)
		if !known {
			return r.fail("op %q is not known; write R, W or a BTH opcode such as RC_RDMA_WRITE_ONLY or 10", op), false
		}
		a.Op, role = o.op, o.role
	}
	later := role == roleMiddle || role == roleLast
	if role == roleNone || later && a.Op != model.OpSend {
		return false, true
	}
	return r.target(a) && r.options(a), false
}

// target parses the address and the length.
func (r *csvReader) target(a *Access) bool {
	va, ok := parseUint(r.fields[columnVA])
	if !ok && (a.Op != model.OpSend || len(r.fields[columnVA]) > 0) {
		return r.fail("va %q is not a number; write hex 0x… or decimal", r.fields[columnVA])
	}
	length, ok := parseUint(r.fields[columnLen])
	if !ok {
		return r.fail("len %q is not a number; write bytes in decimal", r.fields[columnLen])
	}
	if a.Op.Atomic() && length != 8 {
		return r.fail("len %d of an atomic; atomics are 8 bytes", length)
	}
	if length > MaxMessage {
		return r.fail("len %d is more than a message can hold; split it at %d bytes", length, MaxMessage)
	}
	if !inSpace(model.VA(va), length) {
		return r.fail("va %#x with len %d passes the end of the address space; correct one of them", va, length)
	}
	if a.Op != model.OpSend {
		a.VA = model.VA(va)
	}
	a.Len = uint32(length)
	return true
}

// options parses the columns that may be missing or empty.
func (r *csvReader) options(a *Access) bool {
	if f := r.fields[columnQP]; len(f) > 0 {
		v, ok := parseUint(f)
		if !ok || v > 0xffffff {
			return r.fail("qp %q is not a 24-bit number; write decimal or hex 0x…", f)
		}
		a.QP = uint32(v)
	}
	if f := r.fields[columnKey]; len(f) > 0 {
		v, ok := parseUint(f)
		if !ok || v > math.MaxUint32 {
			return r.fail("key %q is not a 32-bit number; write hex 0x… or decimal", f)
		}
		a.Key, a.HasKey = uint32(v), true
	}
	if f := r.fields[columnTime]; len(f) > 0 {
		return r.time(a, f)
	}
	return true
}

// time parses nanoseconds with up to three decimals. Picoseconds since 1970
// do not fit in 64 bits: a trace whose first time is beyond 2^62 ps (53 days)
// is taken from that time on.
func (r *csvReader) time(a *Access, text []byte) bool {
	whole, fraction := text, []byte(nil)
	if dot := bytes.IndexByte(text, '.'); dot >= 0 {
		whole, fraction = text[:dot], text[dot+1:]
	}
	ns, ok := parseUint(whole)
	ps, ok2 := parseFraction(fraction, 3)
	if !ok || !ok2 {
		return r.fail("time_ns %q is not a number; write nanoseconds in decimal", text)
	}
	const most = 1 << 62 / 1000
	if !r.timed {
		r.timed = true
		if ns > most {
			r.startNS = ns
		}
	}
	if ns < r.startNS || ns-r.startNS > most {
		return r.fail("time_ns %s is out of range; write nanoseconds since the start of the trace", text)
	}
	a.TimePS = int64((ns-r.startNS)*1000 + ps)
	return true
}
