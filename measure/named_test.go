package measure

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"rnicmmu/clocked"
)

// Objects by name read back, in a fixed order, without ok, and in spite of
// names of another version.
func TestFiguresByName(t *testing.T) {
	by := FailedBy{StatusRemoteAccess: 3, StatusFlushed: 1 << 40}
	text, err := json.Marshal(by)
	want := `{"remote_access_error":3,"invalid_request":0,"remote_operational_error":0,` +
		`"retry_exceeded":0,"rnr_retry_exceeded":0,"flushed":1099511627776,"terminated":0,"not_advertised":0,` +
		`"local_protection_error":0,"local_operation_error":0}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	var got FailedBy
	if err := json.Unmarshal([]byte(`{"unheard_of":9,"ok":7,`+want[1:]), &got); err != nil || got != by {
		t.Errorf("%v, %v; want %v", got, err, by)
	}
	causes := CausePS{CausePost: 1, CauseCompletion: 2 * clocked.Second}
	text, err = json.Marshal(causes)
	var back CausePS
	if err = errors.Join(err, json.Unmarshal(text, &back)); err != nil || back != causes {
		t.Errorf("%s reads back as %v (%v)", text, back, err)
	}
	names, values := Flatten(Summary{Accesses: AccessSummary{FailedBy: by}})
	if i := slices.Index(names, "accesses.failed_by.flushed"); i < 0 || values[i] != "1099511627776" {
		t.Errorf("flushed is not among the figures: %v", names)
	}
	if slices.Contains(names, "accesses.failed_by.ok") {
		t.Error("ok is among the failed")
	}
}
