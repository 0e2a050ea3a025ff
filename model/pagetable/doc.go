// Package pagetable holds x86-64 page tables: a radix tree of four levels,
// kept as 4 KiB tables in simulated physical memory, so that a timed walker
// can read the very addresses that hardware would.
//
//	47       39 38       30 29       21 20       12 11        0
//	+----------+-----------+-----------+-----------+-----------+
//	|   PML4   |   PDPT    |    PD     |    PT     |  offset   |
//	+----------+-----------+-----------+-----------+-----------+
//	  level 4     level 3     level 2     level 1
//	               1 GiB       2 MiB       4 KiB     leaf sizes
//
// An entry, at the bits of the processor ([SDM] vol. 3, "4-level paging";
// AMD64 manual vol. 2, "long-mode page translation"):
//
//	63 62    52 51              12 11  9  8  7  6  5  4  3  2  1  0
//	+--+-------+------------------+-----+--+--+--+--+--+--+--+--+--+
//	|XD| ign.  | physical address | ign.| G|PS| D| A|  |  | U| W| P|
//	+--+-------+------------------+-----+--+--+--+--+--+--+--+--+--+
//
// Store is the physical memory that the tables of all processes share; Table
// is one process's tree; Step is one read of a walk, for a walker that takes time
// between them. Tables above a leaf are always writable and for user:
// rights are the leaf's, as Linux keeps them. Unmap leaves emptied tables in
// place, as reclaim does; Prune unlinks them, and their frames are given back when
// nobody who walks can hold them.
//
// # Not modelled
//
// Five-level paging, protection keys, memory types (PAT, PCD, PWT), and what a
// not-present entry holds: the pager keeps swap slots itself.
package pagetable
