// Package hostmmu is the host that adapters' memory accesses end in. Its units
// are in folders of their own:
//
//	root ports ──▶ iommu ──▶ memory ◀──PageOp── kernel ──MMIO──▶ adapters
//	                 ▲ │       └──────Inbox────────▶ │
//	                 │ └────────────Events─────────▶ │
//	                 └──────────────Commands──────── │
//
// Package memory times transfers and checks that each finds the page it meant;
// package iommu, where an adapter is behind one, translates what it addresses;
// package kernel pages, answers faults and invalidates.
//
// They meet over wires, but for the page tables: the kernel writes them and the
// IOMMU walks and marks them where they lie, after the kernel in an instant.
package hostmmu
