// Package hostmmu is the host that adapters' memory accesses end in. Its units
// are in folders of their own and meet only over wires:
//
//	root ports ──▶ memory ◀──PageOp── kernel ──MMIO──▶ adapters
//	               (content, DRAM, LLC)  ◀──Inbox── memory
//
// Package memory times transfers and checks that each finds the page it meant;
// package kernel pages, answers faults and invalidates.
package hostmmu
