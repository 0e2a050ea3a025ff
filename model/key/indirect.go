package key

import (
	"fmt"
	"sort"

	"rnicmmu/model"
)

// MaxDepth is how many indirect keys may stand one behind the other.
// Assumption: adapters state a limit of their own.
const MaxDepth = 4

// Piece is one part of an indirect key: Length bytes of another key from VA on.
type Piece struct {
	Key    Key
	VA     model.VA
	Length uint64 // bytes, ≥ 1
}

// List is the pieces of an indirect key, one behind the other from the key's
// first byte on. It does not change.
type List struct {
	pieces []Piece
	ends   []uint64 // offset in the key of the end of each piece
}

// NewList makes a list of pieces, or tells which is impossible.
func NewList(pieces ...Piece) (*List, error) {
	l := &List{pieces: pieces}
	end := uint64(0)
	for i, p := range pieces {
		switch {
		case p.Length == 0:
			return nil, fmt.Errorf("piece %d of an indirect key: %w", i, ErrNoLength)
		case end+p.Length < end || uint64(p.VA)+(p.Length-1) < uint64(p.VA):
			return nil, fmt.Errorf("piece %d of an indirect key: %w", i, ErrWraps)
		}
		end += p.Length
		l.ends = append(l.ends, end)
	}
	if end == 0 {
		return nil, ErrNoPieces
	}
	return l, nil
}

// Length is the bytes that the list covers.
func (l *List) Length() uint64 { return l.ends[len(l.ends)-1] }

// at is the key, the address behind it and the bytes left in its piece, of an
// offset inside the list.
func (l *List) at(offset uint64) (k Key, va model.VA, left uint64) {
	i := sort.Search(len(l.ends), func(i int) bool { return offset < l.ends[i] })
	p := l.pieces[i]
	left = l.ends[i] - offset
	return p.Key, p.VA + model.VA(p.Length-left), left
}

// Part is the start of an access as far as one region serves it.
type Part struct {
	Region *Region // translates it; of a part without a child, the implicit root
	VA     model.VA
	Length uint64 // bytes, at most those asked for
}

// Pages is the number of translation entries that the part touches.
func (p Part) Pages() uint64 { return p.Region.PageShift.Span(p.VA, p.Length) }

// Resolve applies the key rules to an access and finds the region behind its
// first bytes: through the pieces of indirect keys and the children of implicit
// ones, each of which must permit the access too. The caller goes on behind the
// part until the access is done. The part is empty where the verdict is a
// refusal; with NoChild it is what the missing child would serve.
func (t *Table) Resolve(k Key, pd PD, qp uint32, op model.Op, va model.VA, length uint64) (Part, Verdict) {
	for range MaxDepth + 1 {
		r, v := t.Check(k, pd, qp, op, va, length)
		switch {
		case v.Refused() || v == ZeroLength:
			return Part{}, v
		case v == SuspendedNow || r.Kind.Direct() || length == 0:
			return Part{Region: r, VA: va, Length: length}, v
		case r.Kind == Indirect:
			var left uint64
			k, va, left = r.List.at(uint64(va - r.Base))
			length = min(length, left)
		default:
			index := ChildIndex(va)
			length = min(length, uint64(ChildBase(index+1)-va))
			child := r.Entry(va)
			if child == 0 {
				return Part{Region: r, VA: va, Length: length}, NoChild
			}
			k = child
		}
	}
	return Part{}, TooDeep
}
