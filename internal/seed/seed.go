// Package seed, imported blank by tests, makes their properties draw the same
// cases in every ordinary run, so that a change either passes or does not.
// -rapid.seed=N draws others, as the nightly campaign does.
package seed

import (
	"flag"

	_ "pgregory.net/rapid" // which defines the flag
)

func init() { _ = flag.Set("rapid.seed", "1") }
