// Package tcp holds the rules of a TCP connection that is open: what a sender
// may send and when it sends again, what a receiver takes and when it answers.
//
//	Sender                                          Receiver
//	MaySend, Sent ───────── segments ─────────────▶ Arrive   in order, early, seen before
//	                                                Accept, Refuse   what is in order
//	Ack ◀───────── acknowledgements ─────────────── Took, Sent   now or delayed
//	Timeout ◀── Deadline                            Due ◀── Deadline
//
//	windows       slow start and congestion avoidance by bytes [RFC5681], initial
//	              window in segments [RFC6928], the window that the receiver offers
//	loss          three duplicate ACKs: fast retransmit, NewReno recovery [RFC6582];
//	              before, each of the first two lets a new segment out [RFC5681]
//	time-out      SRTT and RTTVAR from segments sent once, or with time stamps
//	              [RFC7323] from all; doubled by each time-out until the next sample
//	              [RFC6298]; then from the oldest byte on
//	receiver      early segments are kept or dropped, each is answered at once; so
//	              is one that fills a gap; else every n-th or after a delay [RFC1122]
//
// Bytes are numbered on a circle of 2^32. Segments are sent again as they were
// sent first, so what is kept lies whole between gaps. Times are picoseconds,
// given by the caller; Never is no time at all. A Receiver's caller may refuse
// a segment that is in order: it counts as never received, and nothing tells
// the sender so but the duplicate ACKs of what follows, or its timer.
//
// After a time-out duplicate ACKs start no fast retransmit before something
// beyond the bytes sent until then is acknowledged [RFC6582], [Linux].
//
// # Not modelled
//
// Set-up and close, selective acknowledgements, ECN, Nagle, window
// probes (the offered window does not shrink), restart after idle time, pacing.
package tcp

import "math"

// Never is the deadline of a timer that does not run.
const Never = math.MaxInt64

// Before tells whether sequence number a comes before b: their difference is
// less than 2^31.
func Before(a, b uint32) bool { return int32(a-b) < 0 }
