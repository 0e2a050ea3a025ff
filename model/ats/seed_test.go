package ats

import "flag"

// Properties draw the same cases in every ordinary run, so that a change either
// passes or does not; -rapid.seed=N draws others, as the nightly campaign does.
func init() { _ = flag.Set("rapid.seed", "1") }
