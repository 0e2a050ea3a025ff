package rc

import "fmt"

// Syndrome is the first byte of an AETH ([Linux] rxe_hdr.h): two bits of class
// and five of value.
//
//	0x00 … 0x1E  ACK with a credit code     0x1F  ACK without credit limit
//	0x20 … 0x3F  RNR NAK with a timer code  0x60 … 0x64  NAK with an error code
type Syndrome uint8

// Syndromes.
const (
	AckUnlimited      Syndrome = 0x1F
	NAKSequence       Syndrome = 0x60 // PSN sequence error
	NAKInvalidRequest Syndrome = 0x61
	NAKRemoteAccess   Syndrome = 0x62
	NAKRemoteOp       Syndrome = 0x63
	NAKInvalidRD      Syndrome = 0x64 // reliable datagram only

	rnrClass  = 0x20
	nakClass  = 0x60
	valueMask = 0x1F
)

// RNRNAK is the RNR NAK syndrome of a timer code, 0 … 31.
func RNRNAK(code uint8) Syndrome { return rnrClass | Syndrome(code&valueMask) }

// Ack tells whether the syndrome acknowledges.
func (s Syndrome) Ack() bool { return s < rnrClass }

// RNR tells whether the syndrome is an RNR NAK.
func (s Syndrome) RNR() bool { return s&^valueMask == rnrClass }

// NAK tells whether the syndrome is a NAK with an assigned error code.
func (s Syndrome) NAK() bool { return s >= NAKSequence && s <= NAKInvalidRD }

// Fatal tells whether the syndrome ends the QP.
func (s Syndrome) Fatal() bool { return s.NAK() && s != NAKSequence }

// Value is the credit, timer or error code.
func (s Syndrome) Value() uint8 { return uint8(s & valueMask) }

// String is the syndrome as a protocol analyser would name it.
func (s Syndrome) String() string {
	switch {
	case s == AckUnlimited:
		return "ACK"
	case s.Ack():
		return fmt.Sprintf("ACK credit %d", s.Value())
	case s.RNR():
		return fmt.Sprintf("RNR NAK timer %d", s.Value())
	case s.NAK():
		return [...]string{"NAK PSN sequence error", "NAK invalid request", "NAK remote access error",
			"NAK remote operational error", "NAK invalid RD request"}[s-NAKSequence]
	}
	return fmt.Sprintf("reserved syndrome %#02x", uint8(s))
}
