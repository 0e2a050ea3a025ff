// Package mtt holds the adapter's memory translation table: the entries that
// turn a page of a region into a physical page, where they lie in table memory,
// and which addresses a walk of one to three levels reads.
//
// One entry is 8 bytes:
//
//	63                                    12 11       4   3   2   1   0
//	+---------------------------------------+----------+---+---+---+---+
//	|      physical address, 4 KiB units    |     0    | S | P | W | R |
//	+---------------------------------------+----------+---+---+---+---+
//	R, W  the adapter may read, write
//	P     present: the address is good
//	S     suspended, do not use now. Without R and W its frame is not known any
//	      more; without P too, zapped because the page moves
//
// The zero word is an absent entry, so that zapping is writing zeros. Entries
// have one index for the whole adapter; a region owns a contiguous range of
// them. Table memory is dense, and every address follows from the index alone:
//
//	Base ─▶ leaves        entry i            at Base + 8·i
//	        directory 1   one per 512 leaves at …    + 8·(i >> 9)
//	        directory 2   one per 512 of 1   at …    + 8·(i >> 18)
//
//	levels = 1: leaf            levels = 2: directory 1, leaf
//	levels = 3: directory 2, directory 1, leaf
//
// So 5 242 880 entries (20 GiB of 4 KiB pages) are 40 MiB of leaves, 80 KiB of
// directory 1 and less than 4 KiB of directory 2.
//
// Layout is geometry, Table the contents and the suspensions that are active,
// and Pages the relation between pages of the host and of the adapter.
//
// # Not modelled
//
// What directory entries contain (their addresses are computed), on-demand
// growth of table memory, and entries in flight: updates are timed.
package mtt
