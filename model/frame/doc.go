// Package frame is the content oracle: it knows which page owns each frame of
// host memory, and compares what memory holds with what the process must see.
//
//	 frames   {owner, tag}   what memory holds    ◀─ Store ─┐
//	   │  ▲                                                  ├─ a write
//	CopyOut CopyIn                                           │
//	   ▼  │                                                  │
//	 slots    {owner, tag}   what swap holds                 │
//
//	 pages    {tag}          what must be seen    ◀─ Expect ─┘
//
// No bytes are stored. The content of a page is a 64-bit tag into which every
// write is mixed; equal histories give equal tags. The mix is one-to-one in the
// old tag and does not commute, so that a write that is lost, doubled on one
// side, put into the wrong frame or left behind by a copy makes memory and
// expectation differ, and later writes never make them agree again. A page
// that was never written has tag 0, and so has a zeroed frame.
//
// The two sides never look at each other to stay in step. Store is called when
// memory takes a write, Expect when the process may see it, for any one page in
// the same order.
//
// A translation is stale when its frame is not the page's, or no longer.
//
// A frame costs 16 B, a page 8 B, a swap slot 16 B: 20 GiB of 4 KiB pages over
// 2 GiB of memory is 8 MiB of frames and 40 MiB of pages.
//
// # Not modelled
//
// Frames shared by several pages, and sub-page content: a page is one tag.
package frame
