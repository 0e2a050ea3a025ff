// Package sweep runs one configuration or the many points of an experiment and
// keeps their results.
//
//	Experiment ──Plan──▶ points ───────goroutines───────▶ Job ──▶ points/<hash>/ (a run each)
//	                        │                                         │
//	                        └──────────── plan order ◀────────────────┘
//	                                      sweep.csv, manifest.json
//
// Points are isolated simulations that share nothing but the accesses of the
// trace, which are only read. sweep.csv lists them in plan order, whatever
// order they finished in. A point lands whole or not at all; a sweep that was
// stopped goes on from the points that are there.
package sweep
