package seed

import (
	"flag"
	"testing"
)

// rapid still has the flag, and it is set before a test reads it.
func TestSeedIsFixed(t *testing.T) {
	if f := flag.Lookup("rapid.seed"); f == nil || f.Value.String() != "1" {
		t.Errorf("rapid.seed is %+v", f)
	}
}
