// Package link watches the rules of PCI Express on every link of a system: that
// of each adapter, those of switches and those of peers. It looks at TLPs and
// packets of the data link layer at both ends, and at the wires by which units
// ask for transfers, and keeps accounts of its own of sequence numbers, credits,
// tags and completions. Of the model it uses sizes and rates.
//
//	DMA, MemDone, MMIO wires                            what is asked for, in order
//	       │                                                 │
//	       ▼                       a direction               ▼
//	    source ── sent ─▶ ┌ sequence: numbers, replay, Ack ┐ ── arrived ─▶ inbox ── drained ─▶ requests
//	  order, attributes,  │ pools: credits                 │             order at the       tags, completions
//	  each byte once      └ sizes, one packet at a time    ┘             receiver
//
// A switch is a source with a queue for each port, filled by what arrives there.
//
// Nothing is looked for after a link has gone down (pcie.inject.down).
package link
