package configs

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// kind is what a parameter's Go type means: how it is read and printed.
type kind struct {
	name   string    // as describe prints it
	unit   *quantity // nil where values have no unit
	parse  func(text string, into reflect.Value) error
	format func(reflect.Value) string
}

// kinds holds every type that a parameter can have.
var kinds = map[reflect.Type]*kind{
	reflect.TypeFor[int]():             {name: "integer", parse: parseInteger, format: formatInteger},
	reflect.TypeFor[int64]():           {name: "integer", parse: parseInteger, format: formatInteger},
	reflect.TypeFor[uint64]():          {name: "integer", parse: parseInteger, format: formatInteger},
	reflect.TypeFor[float64]():         {name: "number", parse: parseFloat, format: formatFloat},
	reflect.TypeFor[bool]():            {name: "boolean", parse: parseBool, format: formatBool},
	reflect.TypeFor[string]():          {name: "text", parse: parseText, format: reflect.Value.String},
	reflect.TypeFor[clocked.Time]():    unitKind("time", durations),
	reflect.TypeFor[clocked.Freq]():    unitKind("frequency", frequencies),
	reflect.TypeFor[model.Bytes]():     unitKind("size", sizes),
	reflect.TypeFor[model.BitRate]():   unitKind("bit rate", bitRates),
	reflect.TypeFor[model.Transfers](): unitKind("transfer rate", transferRates),
	reflect.TypeFor[model.Rate]():      unitKind("rate", eventRates),
	reflect.TypeFor[model.Warmup]():    {name: "accesses or time", parse: parseWarmup, format: formatWarmup},
	reflect.TypeFor[model.Replicas]():  {name: "count or list", parse: parseCount, format: formatReplicas},
}

func unitKind(name string, q *quantity) *kind {
	return &kind{
		name: name,
		unit: q,
		parse: func(text string, into reflect.Value) error {
			count, err := q.parse(text)
			if err != nil {
				return err
			}
			return storeInteger(text, count, into)
		},
		format: func(v reflect.Value) string {
			if v.CanUint() {
				return q.format(v.Uint())
			}
			if n := v.Int(); n < 0 {
				return "-" + q.format(-uint64(n))
			}
			return q.format(uint64(v.Int()))
		},
	}
}

// parseInteger reads a decimal or 0x… integer.
func parseInteger(text string, into reflect.Value) error {
	base, digits := 10, text
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		base, digits = 16, hex
	}
	sign := strings.TrimLeft(digits, "-+")
	count, ok := new(big.Int), false
	if len(digits) <= maxNumber && !(base == 16 && sign != digits) {
		count, ok = count.SetString(digits, base)
	}
	if !ok {
		return fmt.Errorf("%s: an integer is due", show(text))
	}
	return storeInteger(text, count, into)
}

// storeInteger refuses what the type of into cannot hold.
func storeInteger(text string, count *big.Int, into reflect.Value) error {
	switch {
	case into.CanUint() && count.Sign() < 0:
		return fmt.Errorf("%s: is negative", show(text))
	case into.CanUint() && count.IsUint64():
		into.SetUint(count.Uint64())
	case into.CanInt() && count.IsInt64():
		into.SetInt(count.Int64())
	default:
		return fmt.Errorf("%s: too large", show(text))
	}
	return nil
}

func formatInteger(v reflect.Value) string {
	if v.CanUint() {
		return strconv.FormatUint(v.Uint(), 10)
	}
	return strconv.FormatInt(v.Int(), 10)
}

func parseFloat(text string, into reflect.Value) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && math.IsInf(f, 0) {
		return fmt.Errorf("%s: too large", show(text))
	}
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%s: a finite number is due", show(text))
	}
	// Adding zero turns a negative zero into the one zero there is.
	into.SetFloat(f + 0)
	return nil
}

func formatFloat(v reflect.Value) string { return strconv.FormatFloat(v.Float(), 'g', -1, 64) }

func parseBool(text string, into reflect.Value) error {
	if text != "true" && text != "false" {
		return fmt.Errorf("%s: true or false is due", show(text))
	}
	into.SetBool(text == "true")
	return nil
}

func formatBool(v reflect.Value) string { return strconv.FormatBool(v.Bool()) }

func parseText(text string, into reflect.Value) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: not UTF-8", show(text))
	}
	into.SetString(text)
	return nil
}

// parseWarmup reads a bare number as accesses and a number with a unit as time.
func parseWarmup(text string, into reflect.Value) error {
	var w model.Warmup
	if number, name := splitNumber(text); name == "" && number != "" {
		if err := parseInteger(text, reflect.ValueOf(&w.Accesses).Elem()); err != nil {
			return err
		}
		into.Set(reflect.ValueOf(w))
		return nil
	}
	count, err := durations.parse(text)
	if err != nil {
		return fmt.Errorf("%w, or a number of accesses", err)
	}
	if err := storeInteger(text, count, reflect.ValueOf(&w.Picoseconds).Elem()); err != nil {
		return err
	}
	if w.Picoseconds < 0 {
		return fmt.Errorf("%s: is negative", show(text))
	}
	into.Set(reflect.ValueOf(w))
	return nil
}

func formatWarmup(v reflect.Value) string {
	w := v.Interface().(model.Warmup)
	if w.Picoseconds > 0 {
		return durations.format(uint64(w.Picoseconds))
	}
	return strconv.FormatUint(w.Accesses, 10)
}

// compare orders two numbers of the same type.
func compare(a, b reflect.Value) int {
	switch {
	case a.CanUint():
		return new(big.Int).SetUint64(a.Uint()).Cmp(new(big.Int).SetUint64(b.Uint()))
	case a.CanInt():
		return big.NewInt(a.Int()).Cmp(big.NewInt(b.Int()))
	case a.Float() < b.Float():
		return -1
	case a.Float() > b.Float():
		return 1
	}
	return 0
}

// isNumber tells whether values of the type have an order, hence a range.
func isNumber(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return true
	}
	return false
}
