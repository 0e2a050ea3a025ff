package protocol

// States of a page.
const (
	pageAbsent uint8 = iota
	pageResident
	pageLeaving // an invalidation of it is under way
)

// Why a page is invalidated.
const (
	toSwap uint8 = iota
	toFrame
	toProtect
)

// tablePage is a page as the kernel keeps it. Masks have a bit an adapter.
type tablePage struct {
	state, why    uint8
	frame, target uint8 // 0: none
	acks          uint8 // adapters that an invalidation waits for
	told          uint8 // adapters that it has suspended the page on
	mapped        uint8 // adapters whose table may hold it
	writable      uint8 // of these, with the right to store
	store         bool  // the process may store to it
	dirty         bool  // its frame must go to swap
	kept          bool  // the swap slot, or zeros, have its content
	hold          uint8 // of the suspension for a while
	holdAcks      uint8 // adapters that it waits for
}

// Phases of a suspension for a while.
const (
	holdNone uint8 = iota
	holdTelling
	holdOn
)

// Phases of an access.
const (
	accessIdle    uint8 = iota
	accessWalking       // waits for a table read
	accessFaulted       // waits for a resume
	accessWaiting       // met a suspended entry: comes again
	accessGiven         // has a translation
	accessWriting       // its posted write is under way
	accessReading       // its read is under way
)

// Phases of a fault.
const (
	faultSent   uint8 = iota // its event is under way
	faultMap                 // the handler makes the page present
	faultUpdate              // the handler has noted frame and sequence
	faultFill                // the fill is out
	faultFilled              // its completion is under way
	faultResume              // the resume is out
)

// access is what a peer wants of a page, and its fault.
type access struct {
	phase         uint8
	adapter, page uint8
	write         bool
	frame         uint8 // of the translation
	marked        bool  // an invalidation waits for its return
	fault         uint8
	noted         uint8 // frame that the handler found
	changed       bool  // the page's sequence number, since then
}

// walk is a table read that accesses to a page wait for.
type walk struct {
	busy, stale bool
	value       entry
}

// Commands to an adapter.
const (
	cmdFill   uint8 = iota
	cmdRefill       // into a suspended entry, for no fault
	cmdZap
	cmdMoveZap // of a page that moves
	cmdProtect
	cmdSuspend
	cmdHold // suspend for a while
	cmdUnsuspend
	cmdResume
	numCommands
)

// command is one of them. Which is a page or, of a resume, an access.
type command struct {
	op, which uint8
	token     uint8 // access that a fill is for
	frame     uint8
	write     bool
}

// Messages of an adapter whose order among each other counts. Fault events and
// completions of fills are under way too, but come in any order.
const (
	upWrite uint8 = iota // DMA of an access
	upRead               // DMA of an access
	upAck                // completion of an invalidation, of a page
	upHeld               // completion of a suspension for a while, of a page
)

// tableAdapter is an adapter with its table and its way to the host.
type tableAdapter struct {
	entries  [maxPages]entry
	cached   [maxPages]entry
	walks    [maxPages]walk
	held     [maxPages]uint8 // suspensions
	draining bool            // the command at the front waits for translations
	queued   uint8
	queue    [most]command
	up       channel
}

// tableState is a state of the system.
type tableState struct {
	broken   rule
	pages    [maxPages]tablePage
	adapters [maxAdapters]tableAdapter
	accesses [maxAccesses]access
}

// Bounds are how much of everything there is.
type Bounds struct {
	Adapters, Pages, Frames, Accesses int
	ITags, Completions, Credits, Ring int // of ATS: ITags, traffic classes, page requests outstanding, places in the ring
}

// Tables is the protocol of adapters with tables of their own: on-demand paging,
// or suspension.
type Tables struct {
	Bounds
	Suspend bool // pages are suspended while they move or leave
	Nested  bool // and for a while, by somebody else, meanwhile
	plain   bool // without symmetry
	each    bool // each step by itself: none is taken at once
}
