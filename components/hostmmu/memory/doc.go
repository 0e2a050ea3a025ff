// Package memory is a host's memory behind its root ports: the IIO's write buffers,
// last-level caches, sockets, memory controllers, and the content of the frames
// that hold user pages.
//
//	root port 0 ──Req──▶ ┌ order per client ┐   ┌ LLC ┐         ┌ controller ┐
//	root port 1 ──Req──▶ │ IIO write buffer │──▶│ DDIO│────┬───▶│ ideal      │
//	   …        ◀─Done── └──────────────────┘   └─────┘    │    │ banks      │
//	                                           its socket  │    │ akita      │
//	                                                       │    └────────────┘
//	                                                     link ═▶ the other socket's
//	kernel ──PageOp──▶ frames: owner, content tag, swap slots ──PageDone──▶ kernel
//	software ◀──Inbox── completion entries, event entries, interrupts, when placed
//
// # Stages and latencies
//
//   - A read that misses the LLC leaves for its root port its client's read
//     service time after it arrived when nothing is in its way, plus one line
//     time for each line after the first. Devices' reads take ReadService; an
//     IOMMU's walks, which start at the root complex, have a time of their own. A
//     read of which every line was written by a device and is still in the LLC
//     takes llc.saving less.
//   - A posted write is placed iio.write_latency after it arrived. It holds a
//     place for each of its lines in its root port's write buffer until then; a
//     write that finds too few waits at the head of its wire, and what is behind
//     it waits too: that time is counted.
//   - Writes of one client are placed in the order of arrival, and a read is
//     served after the writes of its client that arrived before it. Reads are
//     answered in the order of their completion.
//   - A page operation moves the page through all channels of its socket.
//
// # Controllers
//
// Unloaded latencies contain one access to DRAM. A controller tells by how much a
// transfer is later than that: at once, or when it has served it, which gives the
// same times.
//
//   - ideal: never late, and further lines take no time.
//   - banks: a transfer occupies its channel for one line time a line, and its bank
//     for dram.row_miss when it opens another row than the one before. Occupancy
//     only delays who comes after it.
//   - akita: Akita's DRAM model, which runs on the same engine and answers line by
//     line through its ports. It closes the row behind each access. What a transfer
//     takes beyond a line at rest is late. No answer leaves before it is served,
//     where an unloaded latency (a CPU store's) is shorter than DRAM's.
//
// # Sockets
//
// With two sockets each has controllers and an LLC. Frames are all on socket 0 or
// on both in turn; tables and queues are at the socket of the adapter that uses
// them, an IOMMU's at each that is behind it; kernel and CPU are on socket 0. What
// crosses the link is later by a way each for request and answer and by the
// data's turn and time on it, and so a posted write keeps its place in the buffer
// for both ways. A device's writes go to the LLC of its own socket; a line of the
// other socket's memory that is not there, or that the other LLC has, is asked for
// over the link.
//
// # Ports
//
//   - Clients[i].Req, Done: memory transactions of root port i within one 4 KiB
//     block, each of the adapter that it names. Only reads are answered. Behind an
//     IOMMU, Req comes from it, and one more client is its walker. A message that
//     comes here is dropped.
//   - PageOp, PageDone: the kernel's and the CPU's operations on frames; each is
//     answered once. Nil for a host without frames.
//   - Inbox: what adapters wrote for software to see, in order for each client.
//
// # Content check
//
// Each frame holds an owner and a tag into which every store is mixed; each
// process page has a shadow tag with every store that it was promised. A
// transfer of payload whose Oracle names a page is checked when it is placed or answered:
// a frame that does not hold the page makes it stale, a tag other than the
// shadow is a lost write. Checks of writes are made late but in order of
// placement, before anything that could see a difference. A frame whose page
// was unmapped under a registration that pins it (PageOrphan) is nobody's until
// it is freed: transfers that mean its old page are counted in StaleDeferred
// and change nothing that the process must see.
//
// # Poisoned writes
//
// A write whose data came marked bad is dropped in its turn, and takes neither
// channel nor LLC. Nobody answers a posted write, so the access that it belongs
// to completes; what software has instead is the root port's error report, which
// Poisoned counts. Neither the frame nor what its page must hold takes the write:
// the process sees what it saw before, and that count is the harm. An entry of a
// queue or an interrupt reaches software all the same: its driver learns of it by
// the report, and asks the adapter, which takes no time here. Of tables, contexts
// and queues this unit holds no content, and the count is all.
//
// # Not modelled
//
// DRAM refresh; under banks read/write turnaround, write-backs' effect on open
// rows and the hit latency of a row; under akita open rows; LLC sharing with the
// CPU's own lines; headers on the link between sockets, and its part in doorbells
// and in what the CPU reads of queues; a bound on reads in flight (the adapters'
// tags bound them).
package memory
