package pcie

// Class is a TLP's class in the ordering table.
type Class uint8

// Classes. Reads of memory and translation requests are NonPosted; AtomicOps,
// like writes of I/O and configuration, are NonPostedData.
const (
	Posted        Class = iota // memory writes and messages
	NonPosted                  // without data
	NonPostedData              // with data
	Completion                 // with or without data
	NumClasses
)

// Headers is the pool that a TLP of the class takes a credit from.
func (c Class) Headers() Pool {
	switch c {
	case Posted:
		return PH
	case Completion:
		return CPLH
	}
	return NPH
}

// Data is the pool that the payload of a TLP of the class takes credits from.
func (c Class) Data() Pool { return c.Headers() + 1 }

// Packet is what the ordering table looks at.
type Packet struct {
	Class     Class
	Relaxed   bool   // attribute RO
	IDOrdered bool   // attribute IDO
	Sender    uint16 // Requester ID of a request, Completer ID of a completion
	PASID     uint32 // of a request, 0: none

	// Requester and Tag are the transaction that a completion answers.
	Requester, Tag uint16
}

// Verdict is whether a later TLP may go before an earlier one.
type Verdict uint8

// Verdicts.
const (
	No   Verdict = iota // order is kept
	May                 // left open
	Must                // has to be possible, or deadlock threatens
)

var verdictNames = [...]string{"no", "may", "must"}

// String is the verdict for people.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "invalid verdict"
}

// passing is the ordering table without attributes, a row for the later TLP and
// a column for the earlier one ([PCIe] table 2-40).
var passing = [NumClasses][NumClasses]Verdict{
	Posted:        {No, Must, Must, May},
	NonPosted:     {No, May, May, May},
	NonPostedData: {No, May, May, May},
	Completion:    {No, Must, Must, May},
}

// MayPass tells whether later may go before earlier, both of one traffic class
// and on their way to the same end ([PCIe] table 2-40). Only posted TLPs hold up
// others, except that completions of one transaction stay in order. What the
// attributes of the later TLP release:
//
//	(a) posted             RO, or IDO and another requester or PASID
//	(b) non-posted         IDO and another requester or PASID
//	(c) non-posted, data   RO, or IDO and another requester or PASID
//	(d) completion         RO, or IDO and a completer other than the requester
//
// PASIDs count where both TLPs have one. Completions of I/O and configuration
// writes, which may pass, and bridges to PCI, where a posted TLP must pass a
// completion, are left out.
func MayPass(later, earlier *Packet) Verdict {
	switch {
	case earlier.Class == Posted:
		if released(later, earlier) {
			return May
		}
	case later.Class == Completion && earlier.Class == Completion:
		if later.Requester == earlier.Requester && later.Tag == earlier.Tag {
			return No
		}
	}
	return passing[later.Class][earlier.Class]
}

// released tells whether attributes let a TLP pass a posted one.
func released(later, earlier *Packet) bool {
	if later.Relaxed && later.Class != NonPosted {
		return true
	}
	if !later.IDOrdered {
		return false
	}
	return later.Sender != earlier.Sender ||
		later.Class != Completion && later.PASID != 0 && earlier.PASID != 0 && later.PASID != earlier.PASID
}
