// Package calibrate lays the PCIe link beside what is known otherwise.
//
//	closed.go    payload bandwidth by size of every link, beside model/pcie
//	             source ─▶ endpoint ═ link ═ root port ─▶ sink      (ideal.go)
//	checks.go    rules of sizing: credits and tags that fill a link, and one less
//	compare.go   measurements of two machines, beside the link, memory and device
//	             dmabench ─▶ endpoint ═ link ═ root port ─▶ memory  (machine.go)
//
// A machine is an embedded profile, which fixes link and memory; the device's
// parameters are its defaults. What a machine does that its parameters do not give
// is an outlier with a reason (machines.go), and, where a setting gives it, that
// setting: it is simulated too, so that a reason is not only said.
//
// The measurements are embedded with their sources (data/). Simulations run on all
// processors; rows come in a fixed order and do not depend on that.
//
// Not here: tables and figures, which are the command's.
package calibrate
