package workload

import (
	"bytes"

	"rnicmmu/model"
)

// lackeyReader reads what valgrind --tool=lackey --trace-mem=yes prints:
// " L addr,size" a load, " S addr,size" a store, " M addr,size" a load and a
// store of the same bytes, "I  addr,size" an instruction, which is left out;
// addresses in hex without a prefix. Valgrind's own lines begin with "==".
type lackeyReader struct {
	lines
	store        Access // second half of an M
	half         bool
	accesses     uint64
	instructions uint64
	skipped      uint64 // lines of the program or of valgrind
}

func (r *lackeyReader) Err() error { return r.err }

func (r *lackeyReader) Next(a *Access) bool {
	if r.half {
		*a, r.half = r.store, false
		r.accesses++
		return true
	}
	for r.err == nil {
		text, ok := r.lines.next()
		if !ok {
			if r.err == nil && r.accesses == 0 {
				r.fail("no loads or stores; record with valgrind --tool=lackey --trace-mem=yes")
			}
			return false
		}
		kind, va, size, ok := parseLackey(text)
		switch {
		case !ok:
			r.skipped++
			continue
		case kind == 'I':
			r.instructions++
			continue
		}
		*a = Access{TimePS: NoTime, VA: va, Len: size, Op: model.OpRead}
		switch kind {
		case 'S':
			a.Op = model.OpWrite
		case 'M':
			r.store, r.half = *a, true
			r.store.Op = model.OpWrite
		}
		r.accesses++
		return true
	}
	return false
}

// parseLackey reads one line; ok is false for a line of another kind.
func parseLackey(text []byte) (kind byte, va model.VA, size uint32, ok bool) {
	if len(text) < 6 || text[2] != ' ' {
		return 0, 0, 0, false
	}
	if kind = text[1]; text[0] == 'I' && kind == ' ' {
		kind = 'I'
	} else if text[0] != ' ' || kind != 'L' && kind != 'S' && kind != 'M' {
		return 0, 0, 0, false
	}
	comma := bytes.IndexByte(text, ',')
	if comma < 0 {
		return 0, 0, 0, false
	}
	address, ok := parseHex(text[3:comma])
	length, ok2 := parseUint(text[comma+1:])
	if !ok || !ok2 || length > MaxMessage || !inSpace(model.VA(address), length) {
		return 0, 0, 0, false
	}
	return kind, model.VA(address), uint32(length), true
}
