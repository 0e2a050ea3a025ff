package transport

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// QPSpec holds the parameters of queue pairs: configuration group qp.
type QPSpec struct {
	MTU           model.Bytes  `key:"mtu" default:"4KiB" oneof:"256B,512B,1KiB,2KiB,4KiB" doc:"payload bytes of a full packet" source:"[IBA]: path MTU values; 4 KiB: assumption, RoCE with jumbo frames"`
	Window        int          `key:"window" default:"64" min:"1" max:"65536" doc:"packets that a QP may have unacknowledged; a READ counts its responses" source:"assumption: ample for large packets: 2 us at 100 Gb/s are 6 of 4 KiB (derived); a QP of packets under 390 B is bound by it"`
	FirstPSN      int          `key:"first_psn" default:"0" max:"16777215" doc:"sequence number of a QP's first packet; under iwarp the first byte of both streams" source:"any; it wraps behind 2^24 packets ([IBA])"`
	MaxRdAtomic   int          `key:"max_rd_atomic" default:"16" min:"1" max:"16" doc:"READs and atomics that a QP may have outstanding, and the responder remembers" source:"assumption: 16 is the usual device limit"`
	Inline        model.Bytes  `key:"inline" default:"64B" max:"1KiB" doc:"longest WRITE or SEND whose data travels within its work request" source:"assumption"`
	PayloadAhead  int          `key:"payload_ahead" default:"16" min:"1" max:"64" doc:"packets of a QP whose payload the requester reads ahead of sending" source:"assumption"`
	Retry         int          `key:"retry" default:"7" max:"7" doc:"times in a row that a QP goes back after a time-out or sequence NAK; 7: any number" source:"[Linux] rxe_comp.c: a budget of 0 to 7, where 7 never ends; 7: assumption"`
	RNRRetry      int          `key:"rnr_retry" default:"7" max:"7" doc:"RNR NAKs in a row that a QP survives; 7: any number" source:"[Linux] rxe_comp.c: 7 means infinite"`
	RNRTimer      int          `key:"rnr_timer" default:"12" max:"31" doc:"code of the delay that an RNR NAK asks for; 0 is the longest, 655.36 ms" source:"code table: [Linux] rxe_comp.c; 12 (0.64 ms): [RDMA-Aware]"`
	AckTimeout    int          `key:"ack_timeout" default:"14" max:"31" doc:"exponent t of the time-out 4.096 us x 2^t; 0: none" source:"formula: [IBA]; 14 (67.1 ms): [RDMA-Aware]"`
	AckPoint      string       `key:"ack_point" default:"issue" oneof:"receipt,issue,placement" doc:"when a WRITE or SEND is acknowledged: accepted and translated, its last byte on the PCIe link, or in memory (a read flushes it)" source:"assumption: adapters differ"`
	FaultResponse string       `key:"fault_response" default:"rnr" oneof:"rnr,hold,backup" doc:"what meets an absent page: an RNR NAK, or the packet waits in the receive buffer, or the data of a WRITE or SEND goes to a backup ring in host memory (READs and atomics: an RNR NAK)" source:"rnr, and the idea of backup (there for Ethernet): [Lesokhin17]; hold: assumption"`
	NakAfterRNR   string       `key:"nak_after_rnr" default:"silent" oneof:"silent,once" doc:"packets behind one that met an RNR NAK: dropped, or answered once by a sequence NAK" source:"once: [Linux] rxe_resp.c; silent: assumption"`
	Damming       bool         `key:"damming" default:"false" doc:"defect: a request posted while its QP waits for an RNR timer is lost, and not the end of the wait but only the ACK time-out, or a sequence NAK for a later packet, recovers it" source:"[Fukuoka21]"`
	Flood         bool         `key:"flood" default:"false" doc:"defect: a READ that met an absent page is sent again at qp.flood_interval, and each QP takes qp.flood_update to learn that the page is there, one after the other" source:"[Fukuoka21]"`
	FloodInterval clocked.Time `key:"flood_interval" default:"500us" min:"1us" max:"1s" doc:"qp.flood: from an RNR NAK of a READ to its next sending, whatever the NAK's code" source:"[Fukuoka21]: a fixed interval; 500 us: assumption"`
	FloodUpdate   clocked.Time `key:"flood_update" default:"100us" max:"1s" doc:"qp.flood: the adapter's time to learn for one QP that its page is there" source:"[Fukuoka21]: one QP after the other; 100 us: assumption"`
	RecvPrefetch  int          `key:"recv_prefetch" default:"8" min:"1" max:"64" doc:"receive work requests fetched by one read" source:"assumption"`
	Repost        clocked.Time `key:"repost" default:"1us" max:"1s" doc:"software posts a receive buffer again this long after its completion entry" source:"assumption"`
}

// AdapterSpec holds the parameters of the adapter's transport engine:
// configuration group adapter.
type AdapterSpec struct {
	RxBuffer      model.Bytes  `key:"rx_buffer" default:"1MiB" min:"8KiB" max:"1GiB" doc:"receive buffer that all QPs share" source:"assumption"`
	RxFull        string       `key:"rx_full" default:"pause" oneof:"pause,drop" doc:"a full receive buffer pauses the port or drops" source:"assumption: lossless Ethernet pauses"`
	QPCEntries    int          `key:"qpc_entries" default:"2048" min:"1" max:"1048576" doc:"QP contexts cached" source:"assumption; a ConnectX-3 loses over half its rate between 320 and 480 connections ([Storm19] Fig. 1, digitised)"`
	QPCWays       int          `key:"qpc_ways" default:"8" max:"1048576" doc:"ways of the QP-context cache; 0: fully associative" source:"assumption"`
	QPCBytes      model.Bytes  `key:"qpc_bytes" default:"256B" min:"64B" max:"4KiB" doc:"bytes of a QP context in its table" source:"assumption; [Storm19] states 375 B a QP"`
	ReadAhead     int          `key:"read_ahead" default:"16" min:"1" max:"1024" doc:"READ response packets of a QP being read from memory or waiting to leave" source:"assumption"`
	BackupEntries int          `key:"backup_entries" default:"256" min:"1" max:"65536" doc:"qp.fault_response backup: pieces of packets that the ring in host memory holds, each in a buffer of qp.mtu; full, they meet RNR NAKs" source:"assumption: 1 MiB"`
	BackupAhead   int          `key:"backup_ahead" default:"16" min:"1" max:"65536" doc:"qp.fault_response backup: entries whose pages are asked for at once" source:"assumption"`
	BackupCopy    clocked.Time `key:"backup_copy" default:"1us" max:"1s" doc:"qp.fault_response backup: software's time to merge an entry, one after the other, beside the transfer" source:"assumption"`
	Hold          clocked.Time `key:"hold" default:"1ms" min:"1ns" max:"1s" doc:"a translation is given back when its message brings no packet for so long" source:"assumption: far longer than the turn of a QP"`
	TxPipeline    clocked.Time `key:"tx_pipeline" default:"50ns" max:"10us" doc:"from the choice of a packet to its first bit on the wire, not counting serialization" source:"assumption"`
	RxPipeline    clocked.Time `key:"rx_pipeline" default:"50ns" max:"10us" doc:"from a packet's last bit to its first check" source:"assumption"`
}

// NetworkSpec holds the parameters of the path between a peer and its adapter:
// configuration group network.
type NetworkSpec struct {
	Rate    model.BitRate `key:"rate" default:"100Gb/s" min:"1Gb/s" max:"1600Gb/s" doc:"rate of the wire, in each direction" source:"assumption"`
	Latency clocked.Time  `key:"latency" default:"500ns" min:"1ps" max:"1s" doc:"one way, from last bit sent to last bit received: cables and one switch" source:"assumption"`
}

// Spec holds everything that a requester or responder is built from.
type Spec struct {
	QP      QPSpec
	Adapter AdapterSpec
	Network NetworkSpec
	TCP     *TCPSpec // of iWARP; nil: the reliable connection

	QPs          int             // queue pairs, numbered from 0
	HostPage     model.PageShift // of the target host's memory
	AdapterPage  model.PageShift // of the adapter's translation table
	MPS, MRRS    uint32          // bytes, powers of two; the pieces of TranslatePer tlp
	TranslatePer string          // request, packet or tlp
}

// translatePer says how long a translation is used.
type translatePer uint8

const (
	perRequest translatePer = iota
	perPacket
	perTLP
)

// ackPoint says when a WRITE or SEND is acknowledged.
type ackPoint uint8

const (
	ackReceipt ackPoint = iota
	ackIssue
	ackPlacement
)

var translateNames = []string{"request", "packet", "tlp"}
var ackPointNames = []string{"receipt", "issue", "placement"}

// choice is the place of text in names.
func choice(key, text string, names []string) (int, error) {
	for i, n := range names {
		if n == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s: %q is none of %v", key, text, names)
}

// Validate tells what makes the Spec impossible, or nil.
func (s *Spec) Validate() error {
	switch {
	case s.QPs < 1 || s.QPs > 1<<24:
		return fmt.Errorf("%d QPs: 1 to 16777216", s.QPs)
	case s.QP.MTU < 256 || s.QP.MTU > 4096 || s.QP.MTU&(s.QP.MTU-1) != 0:
		return fmt.Errorf("qp.mtu %d: 256, 512, 1024, 2048 or 4096 bytes", s.QP.MTU)
	case s.QP.Window < 1 || s.QP.MaxRdAtomic < 1 || s.QP.PayloadAhead < 1 || s.QP.PayloadAhead > 64 || s.QP.RecvPrefetch < 1:
		return fmt.Errorf("qp.window, qp.max_rd_atomic, qp.payload_ahead (at most 64) and qp.recv_prefetch must be 1 or more")
	case s.QP.RNRTimer < 0 || s.QP.RNRTimer > 31 || s.QP.AckTimeout < 0 || s.QP.AckTimeout > 31:
		return fmt.Errorf("qp.rnr_timer and qp.ack_timeout: 0 to 31")
	case s.QP.Retry < 0 || s.QP.Retry > 7 || s.QP.RNRRetry < 0 || s.QP.RNRRetry > 7:
		return fmt.Errorf("qp.retry and qp.rnr_retry: 0 to 7")
	case s.Network.Rate < 1 || s.Network.Latency < 1:
		return fmt.Errorf("network.rate and network.latency must be positive")
	case s.Adapter.ReadAhead < 1 || s.Adapter.RxBuffer < model.Bytes(wireLenMax):
		return fmt.Errorf("adapter.read_ahead must be 1 or more, adapter.rx_buffer at least %d bytes", wireLenMax)
	case s.Adapter.BackupEntries < 1 || s.Adapter.BackupAhead < 1:
		return fmt.Errorf("adapter.backup_entries and adapter.backup_ahead must be 1 or more")
	case s.HostPage < 12 || s.HostPage > 40 || s.AdapterPage < 12 || s.AdapterPage > 40:
		return fmt.Errorf("page shifts %d and %d: 12 to 40", s.HostPage, s.AdapterPage)
	case s.MPS < 64 || s.MPS&(s.MPS-1) != 0 || s.MRRS < 64 || s.MRRS&(s.MRRS-1) != 0:
		return fmt.Errorf("MPS %d and MRRS %d: powers of two, 64 or more", s.MPS, s.MRRS)
	}
	if s.TCP != nil {
		if err := s.TCP.validate(s); err != nil {
			return err
		}
	}
	return s.validateChoices()
}

func (s *Spec) validateChoices() error {
	for _, c := range []struct {
		key, text string
		names     []string
	}{
		{"translate_per", s.TranslatePer, translateNames},
		{"qp.ack_point", s.QP.AckPoint, ackPointNames},
		{"qp.fault_response", s.QP.FaultResponse, []string{"rnr", "hold", "backup"}},
		{"qp.nak_after_rnr", s.QP.NakAfterRNR, []string{"silent", "once"}},
		{"adapter.rx_full", s.Adapter.RxFull, []string{"pause", "drop"}},
	} {
		if _, err := choice(c.key, c.text, c.names); err != nil {
			return err
		}
	}
	return nil
}
