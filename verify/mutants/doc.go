// Package mutants holds faults of the design, each a small patch of its sources
// that some check must see. The sources themselves hold no fault switches.
//
// A patch, verify/mutants/*.patch, is a unified diff against the root of the
// module, after a head of comments:
//
//	# id: tpt-ack-before-drain
//	# fault: the acknowledgement does not wait for translations given out before
//	# caught by: TPT-DRAIN-01
//	# seen with: run --verify --set scheme=odp --set pressure.overcommit=2
//
// What it is caught by is a word of the command's output: a rule, an invariant
// of the explorer, a scenario's expectation, or deadlock and watchdog. Several,
// separated by commas, are alternatives. The command must end well without the
// patch and by exit status 1 or 3 with it.
//
// A fault of the explorer's, protocol-*.patch, says in its head too what the cycle
// model makes of its counterexample, saved as a scenario:
//
//	# cycle model: reproduced
//	# cycle model: none, because a time-out there is longer than the run
//
// A counterexample that is reproduced fails as a scenario with the fault, and
// passes without it.
//
// The program is built with the patched files in an overlay: go build -overlay.
package mutants
