package platform

import (
	"strings"
	"testing"
)

// What two keys cannot have together is refused in one line that names both, and
// what they can is not.
func TestImpossiblePairs(t *testing.T) {
	for _, c := range []struct {
		keys []string // none: the configuration is possible
		set  []string
	}{
		{[]string{"host.events.split_interval", "tpt.page"}, []string{"scheme=sva", "host.page=2MiB", "tpt.page=64KiB", "host.events.split_interval=1ms"}},
		{[]string{"qp.fault_response", "workload.registration"}, []string{"scheme=odp", "qp.fault_response=backup", "workload.registration=cached"}},
		{[]string{"qp.fault_response", "workload.registration"}, []string{"scheme=sva", "qp.fault_response=backup", "workload.registration=each"}},
		{[]string{"host.switch.pcie.mps", "pcie.mps"}, []string{"host.switch.adapters=1", "host.switch.pcie.mps=512B"}},
		{nil, []string{"host.switch.pcie.mps=512B"}},
		{nil, []string{"scheme=odp", "qp.fault_response=backup"}},
		{nil, []string{"scheme=pinned", "qp.fault_response=backup", "workload.registration=each"}},
		{nil, []string{"scheme=sva", "host.page=2MiB", "tpt.page=4KiB", "host.events.split_interval=1ms"}},
		{nil, []string{"scheme=sva", "host.page=1GiB", "host.memory=4GiB", "tpt.page=2MiB", "host.events.split_interval=1ms"}},
		{nil, []string{"scheme=sva", "host.page=2MiB", "tpt.page=2MiB"}},
		{nil, []string{"scheme=odp", "host.page=2MiB", "tpt.page=2MiB", "host.events.split_interval=1ms"}},
	} {
		s := load(t, c.set...)
		err := s.Check()
		if len(c.keys) == 0 {
			if err != nil {
				t.Errorf("%v: %v", c.set, err)
			}
			continue
		}
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line", c.set, err)
			continue
		}
		for _, k := range c.keys {
			if !strings.Contains(err.Error(), k) {
				t.Errorf("%v: %v, want %s named", c.set, err, k)
			}
		}
	}
}
