package dmabench

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/configs"
	"rnicmmu/model"
)

// Places stand at whole units in the window and cross no 4 KiB; in turn they are
// all such places, each once and ascending.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Program{Bytes: rapid.Uint32Range(1, 4096).Draw(t, "bytes"), Random: rapid.Bool().Draw(t, "random"),
			Seed: rapid.Uint64().Draw(t, "seed")}
		unit := (p.Bytes + 63) / 64 * 64
		p.Window = model.Bytes(rapid.Uint32Range(unit, 1<<16).Draw(t, "window"))
		places := p.places()
		want := 0
		for at := uint32(0); model.Bytes(at+unit) <= p.Window; at += unit {
			if at/4096 == (at+p.Bytes-1)/4096 {
				want++
			}
		}
		if !p.Random && len(places) != want {
			t.Fatalf("%d places, want %d", len(places), want)
		}
		for i, at := range places {
			if at%unit != 0 || model.Bytes(at+unit) > p.Window || at/4096 != (at+p.Bytes-1)/4096 {
				t.Fatalf("place %d: %d", i, at)
			}
			if !p.Random && i > 0 && at <= places[i-1] {
				t.Fatalf("place %d: %d after %d", i, at, places[i-1])
			}
		}
	})
}

// Random places use all of a window, and another seed draws others.
func TestRandomPlaces(t *testing.T) {
	p := Program{Bytes: 64, Window: 8192, Random: true, Seed: 1}
	first := p.places()
	seen := map[uint32]int{}
	for _, at := range first {
		seen[at]++
	}
	for at, n := range seen {
		if len(seen) != 128 || n < 8 || n > 80 { // 32 on average
			t.Errorf("place %d drawn %d times of %d, %d places of 128", at, n, len(first), len(seen))
		}
	}
	p.Seed = 2
	same := 0
	for i, at := range p.places() {
		if at == first[i] {
			same++
		}
	}
	if same > len(first)/16 {
		t.Errorf("seeds 1 and 2 draw %d of %d places alike", same, len(first))
	}
}

// Every parameter carries a text and a source.
func TestParametersAreDocumented(t *testing.T) {
	params, err := configs.Params(&Spec{})
	if err != nil || len(params) < 14 {
		t.Fatalf("%d parameters, %v", len(params), err)
	}
	for _, p := range params {
		if p.Doc == "" || p.Source == "" {
			t.Errorf("%s: doc %q, source %q", p.Key, p.Doc, p.Source)
		}
	}
}
