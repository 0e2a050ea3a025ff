package configs_test

import (
	"strings"
	"testing"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/configs"
	"rnicmmu/model"
)

// Intervals at which the host does something by itself cannot be so short that
// simulated time stands still; 0 stays the way to turn migration off.
func TestIntervalsCannotFlood(t *testing.T) {
	for _, c := range []struct {
		key, value, problem string
		want                clocked.Time
	}{
		{"pager.migrate_interval", "1ps", "out of range; 1us to 100s", 0},
		{"pager.migrate_interval", "999ns", "out of range; 1us to 100s", 0},
		{"pager.migrate_interval", "0ns", "", 0},
		{"pager.migrate_interval", "1us", "", clocked.Microsecond},
		{"cpu.think_time", "999ps", "out of range; 1ns to 10s", 0},
		{"cpu.think_time", "0ns", "out of range; 1ns to 10s", 0},
		{"cpu.think_time", "1ns", "", clocked.Nanosecond},
	} {
		s, err := configs.WithOverrides(kernel.Spec{}, []model.Setting{{Key: c.key, Value: c.value}})
		if c.problem == "" {
			if got := []clocked.Time{s.Pager.MigrateInterval, s.CPU.Think}; err != nil || got[0]+got[1] != c.want {
				t.Errorf("%s=%s: %v, %v", c.key, c.value, got, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), c.key+": "+c.value+": "+c.problem) {
			t.Errorf("%s=%s: %v; want %s", c.key, c.value, err, c.problem)
		}
	}
}
