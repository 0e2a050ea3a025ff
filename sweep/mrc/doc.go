// Package mrc counts exactly how often page references miss in translation
// caches of many sizes: miss-ratio curves. It knows nothing of time.
//
//	Source ──Read──▶ References ──┬─ LRU ─────────────┐
//	 access → pages spanned,      ├─ SetLRU ──────────┼─▶ Histogram ─▶ Misses(lines)
//	 ascending; page → dense id   └─ Simulate (FIFO) ─┴─▶ misses of one geometry
//
//	Curve chooses among the three for a policy and an associativity.
//
// Distances. LRU has the inclusion property: a cache holds all that a smaller
// one holds. So one pass serves every size (Mattson, Gecsei, Slutz, Traiger:
// Evaluation techniques for storage hierarchies, IBM Systems Journal 9(2),
// 1970): a reference's stack distance is the number of distinct pages
// referenced since its page was last, that page included, and the reference
// hits exactly where the cache has at least as many lines. A page's first
// reference is cold and misses everywhere.
//
// LRU keeps one live bit for each page, at the time of its last use. A distance
// is the number of live bits from there on, which a tree of partial sums gives
// (Bennett, Kruskal: LRU stack processing, IBM Journal of Research and
// Development 19(4), 1975); here a Fenwick tree over words of 64 bits. Times
// are renumbered when they run out, which is at most once in as many references
// as there are pages. Time O(n log m), memory O(m), for n references to m pages
// beside the references themselves, 4 bytes each.
//
// SetLRU keeps a stack of at most maxWays pages for each set; the position at
// which a page is found is its distance. One pass serves every number of ways
// at one number of sets. Time O(n · maxWays) at worst.
//
// FIFO has no such property (with Belady's anomaly, more lines may miss more),
// so Simulate runs a cache of package model/cache for each size: O(n) each.
//
// The set of a page is its number modulo the number of sets. SENDs name no
// address and are left out. Each host of a capture is an address space of its
// own: equal page numbers of two hosts are two pages, in the same set.
//
// Not here: lines of several entries, prefetch, invalidation and the other
// replacement policies; the cycle model has those.
package mrc
