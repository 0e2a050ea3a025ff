package random

import (
	"fmt"
	"maps"
	"strings"

	"pgregory.net/rapid"
)

// draw is a configuration in the making. What the caller has fixed is neither
// drawn nor among the settings, but decides about others.
type draw struct {
	t      *rapid.T
	fixed  map[string]string
	chosen map[string]string
	set    []string
}

// configurations are the legal configurations that agree with what is fixed, of
// up to most accesses, as KEY=VALUE. Shrinking goes towards defaults and few
// accesses.
func configurations(fixed map[string]string, most int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		d := &draw{t: t, fixed: fixed, chosen: map[string]string{}}
		maps.Copy(d.chosen, fixed)
		return d.all(most)
	})
}

func (d *draw) all(most int) []string {
	for _, x := range table {
		d.choose(x.key, x.values)
	}
	d.add("watchdog", "5s")
	d.hosts()
	d.accesses()
	d.registrations()
	d.times()
	d.faults()
	if rapid.Bool().Draw(d.t, "fast") {
		for _, s := range FastPaging {
			key, value, _ := strings.Cut(s, "=")
			d.add(key, value)
		}
	}
	for _, x := range table {
		if d.chosen[x.key] != x.values[0] || x.always {
			d.add(x.key, d.chosen[x.key])
		}
	}
	d.add("workload.accesses", fmt.Sprint(rapid.IntRange(20, most).Draw(d.t, "accesses")))
	return d.set
}

// choose draws a value of a key that is not fixed.
func (d *draw) choose(key string, values []string) string {
	if _, ok := d.fixed[key]; !ok {
		d.chosen[key] = d.pick(key, values)
	}
	return d.chosen[key]
}

// pick draws one of the values.
func (d *draw) pick(name string, values []string) string {
	return rapid.SampledFrom(values).Draw(d.t, name)
}

// need gives a key that is not fixed the only value that goes with the others.
func (d *draw) need(key, value string) {
	if _, ok := d.fixed[key]; !ok {
		d.chosen[key] = value
	}
}

// add puts a key that is not fixed among the settings.
func (d *draw) add(key, value string) {
	d.need(key, value)
	if _, ok := d.fixed[key]; !ok {
		d.set = append(d.set, key+"="+value)
	}
}

// is tells whether a key has one of the values.
func (d *draw) is(key string, values ...string) bool {
	for _, v := range values {
		if d.chosen[key] == v {
			return true
		}
	}
	return false
}

// never tells whether an interval is 0.
func (d *draw) never(key string) bool { return d.is(key, "0ns", "0ps") }
