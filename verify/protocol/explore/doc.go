// Package explore visits every state of a transition system, breadth first, and
// looks for broken rules, for states in which nothing can go on, and for states
// from which rest cannot be reached any more.
//
//	frontier ─▶ chunks ─▶ Expand ─▶ records ─▶ shards (by hash): known? ─▶ next frontier
//	            workers                        workers          │
//	                                                            └─▶ edges, for progress
//
// A state is a Key, packed by the system; states that a symmetry makes alike have
// one Key. Each has the parent by which it was found first, so that the trace of
// a violation is among the shortest. Steps are either the protocol's own or the
// environment's, which may always happen and never has to.
//
//	safety    no reachable state breaks a rule (System.Broken)
//	deadlock  each state is at rest or has a step of the protocol's own
//	livelock  from each state a state at rest is reached by the protocol's own steps
//
// The last is AG EF rest without the environment. It says that no state is a trap;
// that rest is reached in fact takes strong fairness: a step that is possible
// again and again is taken at last, and the environment leaves the time for it.
//
// The result does not depend on the number of workers: chunks and shards are cut
// without regard to it, and what a batch of chunks has found is merged in order.
//
// A state costs 52 bytes with its place in the index, a step of the protocol's
// own 8.
package explore
