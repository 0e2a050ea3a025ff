// Package dmabench is a device that measures a host through its PCIe link, as
// [pcie-bench] does: closed-loop latencies of one context, and the bandwidth of
// many contexts, each with one DMA at a time. What a device adds to the link is
// in its parameters, so that a measurement can be laid beside a simulation.
//
//	            ┌ command ───────────────────────────────▶ Clients[0] ──Done──▶ context
//	context ────┤         ┌ reads:  slot ── issue ───────▶ Clients[0] ──Done──▶ store ─┐
//	            └ queue ──┤                                             slot free ◀────┴▶ context
//	                      └ writes: fetch ── pieces ─────▶ Clients[1] ──Done──────────▶ context
//
// # Stages and their times
//
//	command     command: from the context to the link, no engine between; a write and the
//	            read behind it leave together
//	queue       dma_issue: the descriptor's way to the engine
//	slot        a read needs one of read_slots; it is free when its context is told
//	issue       at once; but odd_read apart after a read of no whole double words
//	store       the data of reads one after the other, at store_rate, when all of it is there
//	signal      read_done after it is stored; write_done after the last piece is on the link
//	fetch       the data of writes one after the other, at fetch_rate
//	pieces      of write_piece bytes, piece_time apart; between DMAs write_gap more, or
//	            long_gap after a last piece of more than three quarters
//
// A context begins its next transfer at the instant at which it is told of the last.
//
// # Ports
//
//   - Clients: two clients of an endpoint. Commands use the first alone, in order.
//     Doorbells are not expected.
//
// # Tests
//
// Transfers stand at whole units of their size, rounded up to lines of 64 B, in a
// window, in turn or at random, and never across 4 KiB. In the test of both
// directions transfers are reads and writes in turn, counted over all contexts; a
// period is that of a pair.
//
// # Not modelled
//
// The contexts' own instructions between transfers, arbitration between queues
// of the engine, and offsets within a line at either side.
package dmabench
