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
//	   ▲                 │  │ ───Suspend──▶    │
//	   │    Invalidate   │  │                  │
//	   │          ┌──────┘  └──Deregister──────┤
//	   │          ▼                            │
//	   └───────  Free ──FastRegister──▶ Valid  │
//	   └───────────────────────────────────────┘
//
// Check applies the key rules of the responder in the order of the
// specification; the first failure is the verdict and hides later ones, so that
// no access which a key refuses ever causes a page to be brought in.
//
// # Not modelled
//
// Memory windows, indirect keys, zero-based addresses; reference counts of
// operations that delay a deregistration (they are timed).
package key
