// Package cache is the tag store under every translation cache of the adapter
// and the host: MPT, MTT and QP-context caches, the IOTLB. It knows which tag
// sits in which slot and which slot goes next; what a slot holds, and how long
// a lookup takes, belongs to the caller.
//
//	set hint ──▶ set = hint mod sets ─┐
//	                                  ▼
//	tag ──▶ ways ≤ 16: compare all ways of the set ─┐
//	        ways > 16: open-addressing index ───────┴─▶ slot = set × ways + way
//	                                                       │
//	caller's payload, a parallel slice ◀───────────────────┘
//
// A slot is a dense integer 0 … lines-1, so the payload of a line is
// payload[slot] in a slice of the caller's. Tags are compared in full: the set
// hint only chooses the set. The same tag under two set hints is two lines.
//
// # Replacement
//
// An invalid way is always filled before a valid one is evicted, the lowest
// way first. Among valid ways:
//
//   - LRU evicts the line whose last lookup hit or fill is the oldest.
//   - FIFO evicts the line filled first; neither hits nor refills of a present
//     tag change the order.
//   - TreePLRU keeps one bit a node of a binary tree over the ways. A touch
//     points the bits on its path away from the way; the victim is found by
//     following them. Where ways is not a power of two, the tree is that of the
//     next power of two and the search never descends into a subtree without
//     ways.
//   - NRU keeps one reference bit a way, set by a touch. The victim is the
//     lowest way whose bit is clear. A touch that would set the last clear bit
//     first clears all the others.
//   - SRRIP predicts for each line how far off its next use is, in two bits: 2
//     when it is filled, 0 when it is hit. The victim is the lowest way at 3;
//     where there is none, every line of the set is one further off, until
//     there is ([SRRIP], hit priority).
//   - Random evicts a uniformly drawn way. It draws only when it evicts, from
//     a splitmix64 stream seeded by Geometry.Seed and Geometry.Stream.
//
// # Partition
//
// Geometry.Tenants shares the ways of every set evenly. A tenant hits in all
// ways and fills into its own only (FillFor), as with the way masks of a
// processor's last-level cache; each share has a replacement order of its own.
//
// # Cost
//
// Lookup, Fill and Invalidate take constant time at any geometry (TreePLRU:
// log2 of the ways) and never allocate. A line costs about 40 bytes.
//
// # Not modelled
//
// Banks, ports, pipeline latency and miss registers: those are timed and live
// in the units that own a cache.
package cache
