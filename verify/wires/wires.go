// Package wires finds the wires of a system at which checks look.
package wires

import (
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/platform"
)

// End is a wire with the numbers of the units at its ends, where they have one:
// those of the adapter.
type End[T any] struct {
	Wire     *clocked.Wire[T]
	From, To int // -1: a unit of which there is one
}

// Of are the wires that carry messages of type T from a unit of one name to one
// of another, in the order in which the system made them. Names are without the
// number of the adapter: tpt, responder, requester, pcie_endpoint …; empty:
// whatever it is.
func Of[T any](s *platform.System, from, to string) (found []End[T]) {
	for _, info := range s.Wires() {
		w, ok := info.Wire.(*clocked.Wire[T])
		f, i := split(info.From)
		t, j := split(info.To)
		if ok && (from == "" || f == from) && (to == "" || t == to) {
			found = append(found, End[T]{w, i, j})
		}
	}
	return found
}

// split takes the number off a unit's name; it may stand before a dot.
func split(unit string) (name string, number int) {
	head, tail, dotted := strings.Cut(unit, ".")
	name = strings.TrimRight(head, "0123456789")
	number = -1
	if digits := head[len(name):]; digits != "" {
		number = 0
		for _, d := range digits {
			number = number*10 + int(d-'0')
		}
	}
	if dotted {
		name += "." + tail
	}
	return name, number
}
