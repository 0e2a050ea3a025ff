package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/tcp"
)

// TCPSpec holds the parameters of TCP under iWARP, at both ends of a
// connection: configuration group tcp.
type TCPSpec struct {
	MinRTO         clocked.Time `key:"min_rto" default:"200ms" min:"1us" max:"100s" doc:"shortest retransmission time-out" source:"[Linux] TCP_RTO_MIN; [RFC6298] asks for 1 s"`
	MaxRTO         clocked.Time `key:"max_rto" default:"120s" min:"1us" max:"1000s" doc:"longest retransmission time-out, where doubling ends" source:"[Linux] TCP_RTO_MAX; [RFC6298] asks for at least 60 s"`
	Retries        int          `key:"retries" default:"15" max:"1000" doc:"time-outs in a row after which a connection is given up" source:"[Linux] TCP_RETR2"`
	InitialWindow  int          `key:"initial_window" default:"10" min:"1" max:"4096" doc:"congestion window at the start, in segments" source:"[Linux] TCP_INIT_CWND; [RFC6928], which also sets an end of 14600 B to segments above 1460 B"`
	Window         model.Bytes  `key:"window" default:"256KiB" min:"8KiB" max:"512MiB" doc:"receive window that each end offers" source:"assumption: more than 100 Gb/s over 10 us (derived)"`
	FastRetransmit bool         `key:"fast_retransmit" default:"true" doc:"three duplicate ACKs send a segment again before its time-out" source:"[RFC5681], [RFC6582]"`
	Timestamps     bool         `key:"timestamps" default:"true" doc:"time stamps in every segment, 12 B: what is sent again is timed too. Without them each page that is absent doubles the time-out of the next, until a segment that was sent once is acknowledged" source:"[Linux] tcp_timestamps; [RFC7323]"`
	OutOfOrder     string       `key:"out_of_order" default:"hold" oneof:"hold,drop" doc:"segments behind a missing one wait in the receive buffer, or are dropped" source:"hold: [RFC1122]; drop: assumption, adapters without memory"`
	AckEvery       int          `key:"ack_every" default:"1" min:"1" max:"1000" doc:"segments that one ACK answers" source:"assumption: a WRITE completes by its ACK; [RFC5681] asks for at least every second"`
	DelayedAck     clocked.Time `key:"delayed_ack" default:"40ms" min:"1us" max:"500ms" doc:"tcp.ack_every above 1: an ACK waits at most so long for data to travel with, or more to answer" source:"[Linux] TCP_DELACK_MIN; at most 0.5 s: [RFC1122]"`
}

var outOfOrderNames = []string{"hold", "drop"}

// validate tells what makes iWARP impossible with the rest of the Spec.
func (t *TCPSpec) validate(s *Spec) error {
	switch {
	case t.MinRTO < 1 || t.MaxRTO < t.MinRTO:
		return fmt.Errorf("tcp.min_rto %v and tcp.max_rto %v: positive, in this order", t.MinRTO, t.MaxRTO)
	case t.Window < model.Bytes(ddp.MaxFPDU(uint32(s.QP.MTU))) || t.Window > 1<<29:
		return fmt.Errorf("tcp.window %d: a segment, %d, to 512 MiB", t.Window, ddp.MaxFPDU(uint32(s.QP.MTU)))
	case t.AckEvery < 1 || t.DelayedAck < 1 || t.InitialWindow < 1 || t.Retries < 0:
		return fmt.Errorf("tcp.ack_every, tcp.delayed_ack and tcp.initial_window must be positive, tcp.retries 0 or more")
	case s.QP.FaultResponse != "rnr" && s.QP.FaultResponse != "hold":
		return fmt.Errorf("qp.fault_response %s: under iwarp rnr, which drops the segment, or hold", s.QP.FaultResponse)
	}
	_, err := choice("tcp.out_of_order", t.OutOfOrder, outOfOrderNames)
	return err
}

// sender is a sending half that begins at byte first.
func (s *Spec) sender(first uint32) (tcp.Sender, error) {
	t := s.TCP
	out, err := tcp.NewSender(tcp.SenderConfig{MSS: ddp.MaxFPDU(uint32(s.QP.MTU)), InitialWindow: t.InitialWindow,
		MinRTO: int64(t.MinRTO), MaxRTO: int64(t.MaxRTO), Retries: t.Retries, FastRetransmit: t.FastRetransmit, Timestamps: t.Timestamps}, first, uint32(t.Window))
	if err != nil {
		return tcp.Sender{}, err
	}
	// The connection was made before time 0, and its handshake timed.
	wire := newSerializer(s.Network.Rate)
	_, syn := wire.Send(0, frameMin)
	out.Handshake(int64(2 * (syn + s.Network.Latency + s.Adapter.TxPipeline + s.Adapter.RxPipeline)))
	return *out, nil
}

// TCPStats counts what iWARP does beside what the reliable connection counts
// too.
type TCPStats struct {
	DropsMoving     uint64 // responder: segments dropped by what made it necessary
	DropsAbsent     uint64
	Returned        uint64 // responder: of these, those that have come again
	Held            uint64 // segments held out of order
	FastRetransmits uint64
	Acks            uint64 // segments that only acknowledge
	Sent            uint64 // responder: response segments, resent ones too
	Resent          uint64 // responder
	Timeouts        uint64 // responder
	Terminates      uint64 // responder: sent; requester: taken
	Resets          uint64 // sent
}
