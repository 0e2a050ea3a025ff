package measure

import (
	"reflect"
	"strconv"
	"strings"

	"rnicmmu/clocked"
)

// Flatten lists the summary's figures with dotted names, in the order of
// summary.json and the same for every summary. What depends on the machine
// (wall_s, accesses_per_wall_s), flags and the warning are left out, violations stand as
// their number, lists by peer and by tenant, and what only some configurations
// have, are left out.
func Flatten(s Summary) (names, values []string) {
	f := flattener{}
	f.fields("", reflect.ValueOf(s))
	return f.names, f.values
}

type flattener struct{ names, values []string }

func (f *flattener) put(name, value string) {
	f.names = append(f.names, name)
	f.values = append(f.values, value)
}

func (f *flattener) fields(prefix string, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			f.fields(prefix, v.Field(i))
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "wall_s" && name != "accesses_per_wall_s" && name != "warning" {
			f.value(prefix+name, v.Field(i))
		}
	}
}

func (f *flattener) value(name string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case string:
		f.put(name, x)
	case uint64:
		f.put(name, strconv.FormatUint(x, 10))
	case clocked.Time:
		f.put(name, strconv.FormatInt(int64(x), 10))
	case float64:
		f.put(name, strconv.FormatFloat(x, 'g', -1, 64))
	case CausePS:
		for c, t := range x {
			f.put(name+"."+Cause(c).String(), strconv.FormatInt(int64(t), 10))
		}
	case StepPS:
		for step, t := range x {
			f.put(name+"."+Step(step).String(), strconv.FormatInt(int64(t), 10))
		}
	case FailedBy:
		for status := StatusOK + 1; status < NumStatuses; status++ {
			f.put(name+"."+status.String(), strconv.FormatUint(x[status], 10))
		}
	case []Violation:
		f.put(name, strconv.Itoa(len(x)))
	default:
		if v.Kind() == reflect.Struct {
			f.fields(name+".", v)
		}
	}
}
