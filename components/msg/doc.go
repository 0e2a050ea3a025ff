// Package msg holds the messages that units exchange over wires. It is a leaf:
// units import it, never each other.
//
//	Driver ──Doorbell (TLP)──▶ Requester ──Packet──▶ Responder ──Translate──▶ TPT
//	                              ▲  ◀──Packet────────┘   ▲ └────DMA──▶ Endpoint
//	                              │                       Translation      │ TLP
//	                              └──DMA──▶ Endpoint (peer's)          RootPort ──MemReq──▶ Memory
//	Kernel ──Command (doorbell TLP, then a fetched WQE)──▶ TPT ──EQE/CQE/MSI (TLPs)──▶ Kernel
//
// Messages are values copied through the wires' slots. What they point to
// (packets, access passports, table buffers) has one holder at a time: the unit
// that received the message last.
package msg
