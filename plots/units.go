package plots

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// unit is a multiple of a base that a figure's numbers are told in.
type unit struct {
	name string
	base float64 // the unit in the base
}

var (
	timeUnits = []unit{{"ps", 1}, {"ns", 1e3}, {"µs", 1e6}, {"ms", 1e9}, {"s", 1e12}}
	rateUnits = []unit{{"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}}
	dataUnits = []unit{{"b/s", 1}, {"kb/s", 1e3}, {"Mb/s", 1e6}, {"Gb/s", 1e9}, {"Tb/s", 1e12}}
)

// unitFor is the largest unit that typical, a value in the base, fills.
func unitFor(units []unit, typical float64) unit {
	best := units[0]
	for _, u := range units {
		if typical >= u.base {
			best = u
		}
	}
	return best
}

// unitForSpan is the unit for the middle of a wide span, or a larger one where
// that would need ticks of five digits.
func unitForSpan(units []unit, lo, hi float64) unit {
	best := unitFor(units, math.Sqrt(lo*hi))
	for _, u := range units {
		if u.base > best.base && ceilDigit(hi/best.base) >= 1e4 && lo/u.base > 1e-4 { // whose first decade is 0.001
			best = u
		}
	}
	return best
}

// formatTime tells picoseconds with three digits and a unit.
func formatTime(ps float64) string {
	if ps == 0 {
		return "0"
	}
	u := unitFor(timeUnits, ps*1.0005) // 999.6 ns is told as 1.00 µs
	return significant(ps/u.base, 3) + " " + u.name
}

// significant prints v with n significant digits and no exponent.
func significant(v float64, n int) string {
	rounded := strconv.FormatFloat(v, 'e', n-1, 64)
	_, exponent, _ := strings.Cut(rounded, "e")
	power, _ := strconv.Atoi(exponent) // of FormatFloat: always a number
	return strconv.FormatFloat(v, 'f', max(n-1-power, 0), 64)
}

// plain prints a tick: no exponent, groups of three from 10 000 on.
func plain(v float64) string {
	if v != 0 && math.Abs(v) < 1e-6 || math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64)
	whole, rest, _ := strings.Cut(s, ".")
	if len(strings.TrimPrefix(whole, "-")) > 4 {
		for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
			whole = whole[:i] + " " + whole[i:]
		}
	}
	if rest != "" {
		return whole + "." + rest
	}
	return whole
}

// binary prints a whole number with the largest of Ki, Mi, Gi, Ti that divides it.
func binary(v float64) string {
	for i, suffix := range []string{"Ti", "Gi", "Mi", "Ki"} {
		size := math.Pow(1024, float64(4-i))
		if v >= size && math.Mod(v, size) == 0 {
			return plain(v/size) + suffix
		}
	}
	return plain(v)
}

// quantity prints an axis' number with its unit.
func (a Axis) quantity(v float64) string {
	switch a.Unit {
	case "":
		return binaryIfRound(v)
	case "B":
		return binary(v) + "B"
	case "s":
		return shortened(v*1e12, timeUnits, "")
	}
	return shortened(v, []unit{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}, a.Unit)
}

func binaryIfRound(v float64) string {
	if v >= 1024 && powerOfTwo(v) {
		return binary(v)
	}
	return plain(v)
}

func shortened(v float64, units []unit, suffix string) string {
	u := unitFor(units, v)
	return plain(math.Round(v/u.base*1e6)/1e6) + " " + u.name + suffix
}

func powerOfTwo(v float64) bool {
	fraction, _ := math.Frexp(v)
	return v > 0 && fraction == 0.5
}

// oneLine is a text from a file as a figure can show it: valid UTF-8 without
// control characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xfffe || r == 0xffff { // none of them may stand in XML
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
