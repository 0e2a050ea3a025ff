package configs

import (
	"fmt"
	"reflect"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// ParseTime reads a duration such as 250ns or 1.28ms, exact to the picosecond.
func ParseTime(text string) (clocked.Time, error) { return parseAs[clocked.Time](text) }

// ParseFreq reads a frequency such as 800MHz, exact to the hertz.
func ParseFreq(text string) (clocked.Freq, error) { return parseAs[clocked.Freq](text) }

// ParseBytes reads a size such as 64B, 4KiB or 20GiB (binary), or 1MB (decimal).
func ParseBytes(text string) (model.Bytes, error) { return parseAs[model.Bytes](text) }

// ParseBitRate reads a rate of data such as 100Gb/s, 200Gbps or 25GB/s.
func ParseBitRate(text string) (model.BitRate, error) { return parseAs[model.BitRate](text) }

// ParseTransfers reads a signalling rate such as 32GT/s.
func ParseTransfers(text string) (model.Transfers, error) { return parseAs[model.Transfers](text) }

// ParseRate reads a rate of events such as 1.5M/s.
func ParseRate(text string) (model.Rate, error) { return parseAs[model.Rate](text) }

func parseAs[T any](text string) (T, error) {
	var out T
	k := kinds[reflect.TypeFor[T]()]
	if err := k.parse(text, reflect.ValueOf(&out).Elem()); err != nil {
		return out, err
	}
	return out, nil
}

// Format prints a parameter's value as a configuration file spells it, in the
// largest unit that is exact: Format(clocked.Time(1_280_000_000)) is 1.28ms.
// A value whose type no parameter can have prints as fmt.Sprint does.
func Format(value any) string {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return fmt.Sprint(value)
	}
	if k, ok := kinds[v.Type()]; ok {
		return k.format(v)
	}
	return fmt.Sprint(value)
}
