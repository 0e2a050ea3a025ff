package configs

import (
	"fmt"
	"math/big"
	"strings"
)

// unit is one way to write a quantity: its name and how many base units it holds.
type unit struct {
	name  string
	scale uint64
}

// quantity is a family of units that measure the same thing.
type quantity struct {
	noun    string // what an error calls a value of it, with its article
	units   []unit // smallest first; those that print are in printed
	printed []unit // the units that values are printed in, smallest first
	example string // the unit that an error proposes for a bare number
	decimal bool   // values print with up to three decimals
}

const (
	kilo = 1_000
	mega = kilo * kilo
	giga = kilo * mega
	tera = kilo * giga
)

var (
	durations = decimalQuantity("a time", "ns",
		unit{"ps", 1}, unit{"ns", kilo}, unit{"us", mega}, unit{"ms", giga}, unit{"s", tera}).
		also(unit{"µs", mega}, unit{"μs", mega})
	frequencies = decimalQuantity("a frequency", "MHz",
		unit{"Hz", 1}, unit{"kHz", kilo}, unit{"MHz", mega}, unit{"GHz", giga})
	bitRates = decimalQuantity("a bit rate", "Gb/s",
		unit{"b/s", 1}, unit{"kb/s", kilo}, unit{"Mb/s", mega}, unit{"Gb/s", giga}, unit{"Tb/s", tera}).
		also(unit{"bps", 1}, unit{"kbps", kilo}, unit{"Mbps", mega}, unit{"Gbps", giga}, unit{"Tbps", tera},
			unit{"B/s", 8}, unit{"kB/s", 8 * kilo}, unit{"MB/s", 8 * mega}, unit{"GB/s", 8 * giga})
	transferRates = decimalQuantity("a transfer rate", "GT/s",
		unit{"T/s", 1}, unit{"kT/s", kilo}, unit{"MT/s", mega}, unit{"GT/s", giga})
	eventRates = decimalQuantity("a rate", "M/s",
		unit{"/s", 1}, unit{"k/s", kilo}, unit{"M/s", mega}, unit{"G/s", giga})
	sizes = binaryQuantity("a size", "B",
		unit{"B", 1}, unit{"KiB", 1 << 10}, unit{"MiB", 1 << 20}, unit{"GiB", 1 << 30}, unit{"TiB", 1 << 40}).
		also(unit{"KB", kilo}, unit{"kB", kilo}, unit{"MB", mega}, unit{"GB", giga}, unit{"TB", tera})
)

func decimalQuantity(noun, example string, units ...unit) *quantity {
	return &quantity{noun: noun, example: example, units: units, printed: units, decimal: true}
}

func binaryQuantity(noun, example string, units ...unit) *quantity {
	return &quantity{noun: noun, example: example, units: units, printed: units}
}

// also adds units that are read but never printed.
func (q *quantity) also(units ...unit) *quantity {
	q.units = append(q.units[:len(q.units):len(q.units)], units...)
	return q
}

// names lists the printed units, smallest first.
func (q *quantity) names() string {
	names := make([]string, len(q.printed))
	for i, u := range q.printed {
		names[i] = u.name
	}
	return strings.Join(names, ", ")
}

// maxNumber bounds the text of a number, so that hostile input costs nothing.
const maxNumber = 40

// splitNumber cuts text into a decimal number and the unit after it.
func splitNumber(text string) (number, rest string) {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	for i < len(text) && (text[i] == '.' || text[i] >= '0' && text[i] <= '9') {
		i++
	}
	return text[:i], strings.TrimLeft(text[i:], " ")
}

// decimal reads a plain decimal number (sign, digits, at most one point with
// digits on both sides) as an exact fraction.
func decimal(number string) (*big.Rat, bool) {
	digits := strings.TrimLeft(number, "+-")
	whole, part, point := strings.Cut(digits, ".")
	if len(number)-len(digits) > 1 || len(number) > maxNumber || whole == "" ||
		point && part == "" || strings.Contains(part, ".") {
		return nil, false
	}
	return new(big.Rat).SetString(number)
}

// parse reads a number with its unit as a count of base units. The count is
// exact: what is not a whole number of base units is refused.
func (q *quantity) parse(text string) (*big.Int, error) {
	number, name := splitNumber(text)
	value, ok := decimal(number)
	if !ok {
		return nil, fmt.Errorf("%s: %s is due (%s), e.g. 1%s", show(text), q.noun, q.names(), q.example)
	}
	if name == "" {
		return nil, fmt.Errorf("%s: a unit is due, e.g. %s%s", show(text), strings.TrimPrefix(number, "+"), q.example)
	}
	u, ok := q.find(name)
	if !ok {
		return nil, q.wrongUnit(text, number, name)
	}
	value.Mul(value, new(big.Rat).SetInt(new(big.Int).SetUint64(u.scale)))
	if !value.IsInt() {
		return nil, fmt.Errorf("%s: not a whole number of %s", show(text), q.base())
	}
	return new(big.Int).Set(value.Num()), nil
}

func (q *quantity) find(name string) (unit, bool) {
	for _, u := range q.units {
		if u.name == name {
			return u, true
		}
	}
	return unit{}, false
}

// wrongUnit explains a unit that q does not have: a slip of the letter case
// gets the spelling meant, anything else the list.
func (q *quantity) wrongUnit(text, number, name string) error {
	for _, u := range q.units {
		if strings.EqualFold(u.name, name) {
			return fmt.Errorf("%s: unknown unit %s; did you mean %s%s?", show(text), show(name), number, u.name)
		}
	}
	return fmt.Errorf("%s: %s is due (%s), e.g. %s%s", show(text), q.noun, q.names(), number, q.example)
}

// base is the name of the unit that values are counted in.
func (q *quantity) base() string { return q.printed[0].name }

// format prints a count of base units, 0 or more, in the largest unit that
// shows it exactly: as a whole number, or with up to three decimals where the
// quantity's units are powers of 1000.
func (q *quantity) format(count uint64) string {
	for i := len(q.printed) - 1; i > 0; i-- {
		u := q.printed[i]
		whole, rest := count/u.scale, count%u.scale
		if whole == 0 {
			continue
		}
		if rest == 0 {
			return fmt.Sprintf("%d%s", whole, u.name)
		}
		if step := u.scale / kilo; q.decimal && rest%step == 0 {
			return fmt.Sprintf("%d.%s%s", whole, strings.TrimRight(fmt.Sprintf("%03d", rest/step), "0"), u.name)
		}
	}
	return fmt.Sprintf("%d%s", count, q.base())
}

// pattern is a regular expression that every value of q matches; it allows
// fractions, as 1.28ms is one.
func (q *quantity) pattern() string {
	names := make([]string, len(q.units))
	for i, u := range q.units {
		names[i] = u.name
	}
	return `^[0-9]+(\.[0-9]+)? *(` + strings.Join(names, "|") + `)$`
}
