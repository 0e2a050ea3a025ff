package configs

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// fataler is what *testing.T and *rapid.T share.
type fataler interface{ Fatalf(string, ...any) }

// checkRoundTrip marshals s, loads the text and compares.
func checkRoundTrip(t fataler, s testSpec) {
	for _, comments := range []bool{false, true} {
		text, err := Marshal(&s, comments)
		if err != nil {
			t.Fatalf("marshal: %v", err)
		}
		var back testSpec
		if _, err := Load(&back, Sources{Files: []Document{{Name: "resolved", Data: text}}}); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if again, _ := Marshal(back, comments); string(again) != string(text) {
			t.Fatalf("loading\n%sgave\n%s", text, again)
		}
		one, _ := Hash(s)
		two, _ := Hash(&back)
		if one != two || len(one) != 16 {
			t.Fatalf("hashes %s and %s", one, two)
		}
	}
}

func drawCache(t *rapid.T, name string) TestCache {
	return TestCache{
		Entries:     1 << rapid.IntRange(0, 22).Draw(t, name+" entries"),
		Ways:        rapid.SampledFrom([]int{0, 1, 2, 64}).Draw(t, name+" ways"),
		Replacement: rapid.SampledFrom([]string{"lru", "nru", "random"}).Draw(t, name+" replacement"),
	}
}

func drawSpec(t *rapid.T) testSpec {
	s := testSpec{
		Seed:        rapid.Uint64().Draw(t, "seed"),
		Scheme:      rapid.SampledFrom([]string{"pinned", "odp", "suspend"}).Draw(t, "scheme"),
		Label:       rapid.String().Draw(t, "label"),
		Temperature: rapid.Int64Range(-40, 125).Draw(t, "temperature"),
		Adapters:    model.Replicas{Count: rapid.IntRange(1, 16).Draw(t, "adapters")},
	}
	if rapid.Bool().Draw(t, "time") {
		s.Warmup.Picoseconds = rapid.Int64Min(1).Draw(t, "warmup time")
	} else {
		s.Warmup.Accesses = rapid.Uint64().Draw(t, "warmup accesses")
	}
	if rapid.Bool().Draw(t, "list") {
		s.Adapters = model.Replicas{Count: 2, Overrides: [][]model.Setting{{}, {
			{Key: "tpt.mtt.entries", Value: "64"}, {Key: "pcie.link.relaxed", Value: "false"}}}}
	}
	s.TPT.Clock = clocked.Freq(rapid.Int64Range(1_000_000, 10_000_000_000).Draw(t, "clock"))
	s.TPT.Page = rapid.SampledFrom([]model.Bytes{4096, 2 << 20, 2 << 30}).Draw(t, "page")
	s.TPT.MPT, s.TPT.MTT = drawCache(t, "mpt"), testMTT{drawCache(t, "mtt"), rapid.IntRange(1, 3).Draw(t, "levels")}
	s.PCIe = testPCIe{ReadLatency: clocked.Time(rapid.Int64Range(0, 1e12).Draw(t, "read latency")),
		Link: testLink{Transfers: model.Transfers(rapid.Int64Min(0).Draw(t, "transfers")),
			Wire:    model.BitRate(rapid.Int64Min(1_000_000).Draw(t, "wire")),
			Relaxed: rapid.Bool().Draw(t, "relaxed")}}
	s.Pressure = testPressure{Overcommit: rapid.Float64Range(0, 64).Draw(t, "overcommit"),
		Offered: model.Rate(rapid.Int64Min(0).Draw(t, "rate")), Memory: model.Bytes(rapid.Uint64Range(0, 1<<40).Draw(t, "memory"))}
	return s
}

func TestMarshalLoadsToTheSameSpec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, drawSpec(t)) })
}

func TestHashTellsSpecsApart(t *testing.T) {
	var a, b testSpec
	if Defaults(&a) != nil || Defaults(&b) != nil || set(&b, "tpt.mtt.levels", "3") != nil {
		t.Fatal("no defaults")
	}
	one, two := must(Hash(a)), must(Hash(b))
	if one == two {
		t.Errorf("both hash to %s", one)
	}
	b.Untagged, b.TPT.MTT.Levels = 9, 2
	if one != must(Hash(b)) {
		t.Error("the hash covers a field that is no parameter")
	}
}

func TestMarshalText(t *testing.T) {
	var s testSpec
	if err := Defaults(&s); err != nil {
		t.Fatal(err)
	}
	if err := set(&s, "adapters", "[{tpt.mtt.entries: 64, tpt.clock: 1GHz}, {}]"); err != nil {
		t.Fatal(err)
	}
	s.Label = "off"
	const want = `seed: 1
scheme: pinned
adapters:
  - tpt:
      clock: 1GHz
      mtt:
        entries: 64
  - {}
warmup: 0
label: "off"
tpt:
  clock: 800MHz
  page: 4KiB
  mpt:
    entries: 256
    ways: 8
    replacement: lru
  mtt:
    entries: 2048
    ways: 4
    replacement: lru
    levels: 2
pcie:
  link:
    transfers: 16GT/s
    wire: 100Gb/s
    relaxed: true
  read_latency: 450ns
pressure:
  overcommit: 0.5
  offered_rate: 1.5M/s
  memory: 20GiB
temperature: -5
`
	if got := string(must(Marshal(s, false))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
