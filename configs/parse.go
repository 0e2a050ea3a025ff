package configs

import (
	"fmt"
	"reflect"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// ParseBytes reads a size such as 64B, 4KiB or 20GiB (binary), or 1MB (decimal).
func ParseBytes(text string) (model.Bytes, error) { return parseAs[model.Bytes](text) }

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

// ParseTime reads a time such as 10ns, 1.28ms or 5us.
func ParseTime(text string) (clocked.Time, error) { return parseAs[clocked.Time](text) }
