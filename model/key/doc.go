// Package key holds memory keys and the regions behind them: what the adapter
// looks up in its memory protection table (MPT) and which accesses that entry
// permits.
//
//	31                              8 7             0
//	+--------------------------------+---------------+
//	|       index into the MPT       |    variant    |   lkey = rkey
//	+--------------------------------+---------------+
//
// The state of an index, and of the region that it names:
//
//	Unused ──Register──▶ Valid ◀──Resume── Suspended
//	   ▲                 │  │ ───Suspend──▶  │    │
//	   │    Invalidate   │  │                │    │ Invalidate
//	   │          ┌──────┘  └──Deregister────┤    │
//	   │          ▼                          │    │
//	   │        Free ◀───────────────────────┼────┘
//	   │          └──FastRegister, Bind──▶ Valid
//	   └─────────────────────────────────────┘
//
// What a key can open, and how an address behind it finds translation entries:
//
//	memory       MTT + Page(va)
//	window       the same: Bind gives it the place of its region's entries
//	indirect     List ──▶ piece ──▶ its key ──▶ …      Table.Resolve, piece by piece
//	implicit     entry va >> 30 ──▶ child ──▶ memory   a null entry: NoChild, a fault
//
// A window follows the suspensions of its region, and a region with bound
// windows can neither be deregistered nor invalidated. What the list of
// an implicit region names is in the table (SetEntry); that children come and go
// with the pages that are present is for the host to see to (Children).
//
// Check applies the key rules of the responder in the order of the
// specification; the first failure is the verdict and hides later ones, so that
// no access which a key refuses ever causes a page to be brought in.
//
// # Not modelled
//
// Zero-based addresses; windows over indirect and implicit keys; who may
// invalidate a key by a SEND (any QP, as in [Linux] rxe); reference counts of
// operations that delay a deregistration.
package key
