package configs

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

func TestUnitsAreExact(t *testing.T) {
	for text, want := range map[string]clocked.Time{
		"1.28ms": 1_280_000_000, "250ns": 250_000, "1ps": 1, "0.001ns": 1, "3us": 3_000_000, "3µs": 3_000_000,
		"3μs": 3_000_000, "2s": 2_000_000_000_000, "1.5 ns": 1500, "9223372036854775807ps": math.MaxInt64, "0s": 0,
	} {
		if got, err := parseAs[clocked.Time](text); err != nil || got != want {
			t.Errorf("clocked.Time(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]model.Bytes{
		"64B": 64, "4KiB": 4096, "2MiB": 2 << 20, "20GiB": 20 << 30, "1TiB": 1 << 40, "1KB": 1000, "1.5KiB": 1536,
		"2MB": 2_000_000, "3GB": 3_000_000_000, "18446744073709551615B": math.MaxUint64,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]model.BitRate{"100Gb/s": 100e9, "200Gbps": 200e9, "25GB/s": 200e9, "1b/s": 1} {
		if got, err := parseAs[model.BitRate](text); err != nil || got != want {
			t.Errorf("model.BitRate(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	if got, err := parseAs[clocked.Freq]("2.5GHz"); err != nil || got != 2_500_000_000 {
		t.Errorf("clocked.Freq: %d, %v", got, err)
	}
	if got, err := parseAs[model.Transfers]("32GT/s"); err != nil || got != 32_000_000_000 {
		t.Errorf("model.Transfers: %d, %v", got, err)
	}
	if got, err := parseAs[model.Rate]("1.5M/s"); err != nil || got != 1_500_000 {
		t.Errorf("model.Rate: %d, %v", got, err)
	}
}

func TestUnitsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"800":                    "800: a unit is due, e.g. 800ns",
		"5GHz":                   "5GHz: a time is due (ps, ns, us, ms, s), e.g. 5ns",
		"5NS":                    "5NS: unknown unit NS; did you mean 5ns?",
		"0.5ps":                  "0.5ps: not a whole number of ps",
		"9223372036854775808ps":  "9223372036854775808ps: too large",
		"99999999999s":           "99999999999s: too large",
		"":                       `"": a time is due (ps, ns, us, ms, s), e.g. 1ns`,
		"1.2.3ns":                "1.2.3ns: a time is due (ps, ns, us, ms, s), e.g. 1ns",
		".5ns":                   ".5ns: a time is due (ps, ns, us, ms, s), e.g. 1ns",
		"NaN":                    "NaN: a time is due (ps, ns, us, ms, s), e.g. 1ns",
		"1e3ns":                  "1e3ns: a time is due (ps, ns, us, ms, s), e.g. 1ns",
		"1\nns":                  `"1\nns": a time is due (ps, ns, us, ms, s), e.g. 1ns`,
		strings.Repeat("9", 100): `"` + strings.Repeat("9", 60) + `"…: a time is due (ps, ns, us, ms, s), e.g. 1ns`,
	} {
		if _, err := parseAs[clocked.Time](text); err == nil || err.Error() != want {
			t.Errorf("clocked.Time(%q): %v; want %s", text, err, want)
		}
	}
	if _, err := ParseBytes("-4KiB"); err == nil || err.Error() != "-4KiB: is negative" {
		t.Errorf("negative size: %v", err)
	}
}

func TestFormatPicksTheLargestExactUnit(t *testing.T) {
	for want, value := range map[string]any{
		"1.28ms": clocked.Time(1_280_000_000), "1.001us": clocked.Time(1_001_000), "1000.001ns": clocked.Time(1_000_001),
		"0ps": clocked.Time(0), "4KiB": model.Bytes(4096), "5000B": model.Bytes(5000), "1536B": model.Bytes(1536),
		"2.5GHz": clocked.Freq(2_500_000_000), "100Gb/s": model.BitRate(100e9), "32GT/s": model.Transfers(32e9),
		"1.5M/s": model.Rate(1_500_000), "-3ns": clocked.Time(-3000), "7": 7, "0.5": 0.5, "true": true,
	} {
		if got := Format(value); got != want {
			t.Errorf("Format(%v) = %s; want %s", value, got, want)
		}
	}
}

func TestUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(0).Draw(t, "n")
		if scale := rapid.SampledFrom([]int64{1, 10, 1000, 1 << 10, 1 << 20, 1e6, 1e9}).Draw(t, "scale"); n < math.MaxInt64/scale {
			n *= scale
		}
		roundTrip(t, clocked.Time(n), parseAs[clocked.Time])
		roundTrip(t, clocked.Freq(n), parseAs[clocked.Freq])
		roundTrip(t, model.Bytes(n), ParseBytes)
		roundTrip(t, model.BitRate(n), parseAs[model.BitRate])
		roundTrip(t, model.Transfers(n), parseAs[model.Transfers])
		roundTrip(t, model.Rate(n), parseAs[model.Rate])
	})
}

func roundTrip[T comparable](t *rapid.T, v T, parse func(string) (T, error)) {
	text := Format(v)
	if back, err := parse(text); err != nil || back != v {
		t.Fatalf("%T %v prints %s, which reads as %v (%v)", v, v, text, back, err)
	}
}

func FuzzUnits(f *testing.F) {
	for _, seed := range []string{"1.28ms", "4KiB", "-1ns", "1e9", "..", "99999999999999999999s", "3µs", "+.B/s", "[{}]", "0x1f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for typ, k := range kinds {
			p := parameter{kind: k, typ: typ}
			v, err := p.read(text)
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Fatalf("%q: more than one line: %q", text, err)
				}
				continue
			}
			again, err := p.read(k.format(v))
			if err != nil || k.format(again) != k.format(v) {
				t.Fatalf("%s %q prints %q, which reads as %v (%v)", typ, text, k.format(v), again, err)
			}
		}
	})
}
