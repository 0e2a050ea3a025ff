package measure

import (
	"encoding/json"
	"fmt"
	"strconv"

	"rnicmmu/clocked"
)

// CausePS is a total a cause, an object in JSON with the causes' names.
type CausePS [NumCauses]clocked.Time

// MarshalJSON writes the causes in their order.
func (c CausePS) MarshalJSON() ([]byte, error) { return marshalNamed(c[:], Cause(0)), nil }

// UnmarshalJSON reads an object of totals; names that are no cause are ignored.
func (c *CausePS) UnmarshalJSON(data []byte) error { return unmarshalNamed(data, c[:], Cause(0)) }

// FailedBy counts failed accesses by status, an object in JSON with the
// statuses' names. That of StatusOK is 0 and is not printed.
type FailedBy [NumStatuses]uint64

// MarshalJSON writes the statuses in their order.
func (f FailedBy) MarshalJSON() ([]byte, error) {
	return marshalNamed(f[StatusOK+1:], StatusOK+1), nil
}

// UnmarshalJSON reads an object of counts; names that are no status of a failed
// access are ignored.
func (f *FailedBy) UnmarshalJSON(data []byte) error {
	return unmarshalNamed(data, f[StatusOK+1:], StatusOK+1)
}

func (f *FailedBy) total() (n uint64) {
	for _, count := range f {
		n += count
	}
	return n
}

// name is an enumeration whose values have names in result files.
type name interface {
	~uint8
	fmt.Stringer
}

// marshalNamed writes an object; the value at i belongs to the name first + i.
func marshalNamed[N name, V ~int64 | ~uint64](values []V, first N) []byte {
	b := []byte{'{'}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, (first + N(i)).String())
		b = strconv.AppendInt(append(b, ':'), int64(v), 10)
	}
	return append(b, '}')
}

func unmarshalNamed[N name, V ~int64 | ~uint64](data []byte, values []V, first N) error {
	var read map[string]V
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	for i := range values {
		values[i] = read[(first + N(i)).String()]
	}
	return nil
}
