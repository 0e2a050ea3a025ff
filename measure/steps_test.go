package measure

import (
	"testing"

	"pgregory.net/rapid"

	"rnicmmu/clocked"
)

// Steps follow the instants whatever their order, and add up to the whole.
func TestSteps(t *testing.T) {
	table := Invalidation{Notified: 100, Checked: 103, Sent: 110, Received: 130, Marked: 160, Drained: 200, Acknowledged: 250, Others: 270, Done: 310}
	if got, want := table.Steps(), (StepPS{3, 0, 7, 20, 30, 40, 50, 0, 20, 40}); got != want {
		t.Errorf("command: %v, want %v", got, want)
	}
	ats := Invalidation{Notified: 100, Checked: 103, IOTLB: 105, Sent: 110, Received: 130, Marked: 160, Drained: 200, Acknowledged: 250, DevTLB: 250, Others: 250, Done: 310}
	if got, want := ats.Steps(), (StepPS{3, 2, 5, 20, 30, 40, 50, 0, 0, 60}); got != want {
		t.Errorf("ATS: %v, want %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) clocked.Time {
			return rapid.OneOf(rapid.Just(clocked.Time(0)), rapid.Map(rapid.Int64Range(50, 1000), func(n int64) clocked.Time { return clocked.Time(n) })).Draw(t, name)
		}
		v := Invalidation{Notified: 50, Checked: at("checked"), Sent: at("sent"), Received: at("received"), Marked: at("marked"), Drained: at("drained"),
			Acknowledged: at("acknowledged"), IOTLB: at("iotlb"), DevTLB: at("devtlb"), Others: at("others"), Done: 1000}
		var sum clocked.Time
		for s, leg := range v.Steps() {
			if leg < 0 || leg > 0 && v.Instants()[s] == 0 {
				t.Fatalf("step %v lasts %d", Step(s), leg)
			}
			sum += leg
		}
		if sum != v.Done-v.Notified {
			t.Fatalf("steps add up to %d of %d", sum, v.Done-v.Notified)
		}
	})
}
