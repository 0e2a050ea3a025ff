package workload

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// recordReader is what pcapgo's readers of pcap and pcapng share.
type recordReader interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// capture reads the frames of a pcap or pcapng file and decodes each.
type capture struct {
	name    string
	records recordReader
	link    layers.LinkType
	mixed   bool // pcapng: every record tells its own link type

	packet  Packet
	frame   uint64 // of packet
	started bool
	start   int64 // of the first frame, ns since 1970
	ending  string
	failure error

	counts captureCounts
}

// captureCounts are the counters of frames; every frame is in exactly one of
// foreign, cut, malformed and opcodes.
type captureCounts struct {
	foreign, cut, malformed uint64
	unknownLink             uint64 // part of foreign
	opcodes                 [256]uint64
	reth, atomicETH         uint64
	ack, rnr                uint64
	nak                     [32]uint64
	reservedAETH            uint64
	links                   map[string]uint64

	firstCut, firstMalformed mishap
}

// mishap is the first packet that was skipped for one kind of reason.
type mishap struct {
	frame uint64
	bytes int // captured
	why   string
}

// openCapture starts at the file's beginning; the error is a broken header.
func openCapture(name string, format Format, in io.Reader) (*capture, error) {
	c := &capture{name: name, counts: captureCounts{links: map[string]uint64{}}}
	if format == FormatPcapNG {
		r, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
		if err != nil {
			return nil, fmt.Errorf("%s: broken pcapng header: %v; capture it again", name, plain(err))
		}
		c.records, c.mixed = r, true
		return c, nil
	}
	r, err := pcapgo.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: broken pcap header: %v; capture it again", name, plain(err))
	}
	c.records, c.link = r, r.LinkType()
	return c, nil
}

// plain words the errors of package io for people.
func plain(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("the file ends early")
	}
	return err
}

// next decodes the next frame into c.packet. At the end of the file, or where
// the file cannot be read on, ok is false.
func (c *capture) next() (v verdict, ok bool) {
	data, info, err := c.records.ZeroCopyReadPacketData()
	if err == io.EOF && info.CaptureLength > 0 { // ends right after a record's header
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		c.end(err)
		return foreign, false
	}
	c.frame++
	link := c.link
	if c.mixed && len(info.AncillaryData) > 0 {
		link, _ = info.AncillaryData[0].(layers.LinkType)
	}
	c.packet = Packet{Frame: c.frame, TimePS: c.time(link, data, info.Timestamp)}
	switch link {
	case linkEthernet:
		v = c.packet.ethernet(data, info.Length)
	case linkERF:
		v = c.packet.erf(data, info.Length)
	case linkInfiniBand:
		v = c.packet.lrh(data, info.Length)
	default:
		c.counts.unknownLink++
		c.link, v = link, foreign
	}
	c.counts.add(v, &c.packet, len(data))
	return v, true
}

// end words why the file cannot be read on. What was read stays good: a cut
// file is a warning, unless nothing at all could be read.
func (c *capture) end(err error) {
	switch {
	case errors.Is(err, io.EOF) && c.frame > 0:
	case errors.Is(err, io.EOF):
		c.failure = fmt.Errorf("%s: the capture holds no frame; capture it again", c.name)
	case errors.Is(err, io.ErrUnexpectedEOF) && c.frame > 0:
		c.ending = fmt.Sprintf("%s: the file ends inside frame %d; %d frames read", c.name, c.frame+1, c.frame)
	case c.frame > 0:
		c.ending = fmt.Sprintf("%s: frame %d cannot be read: %v; %d frames read", c.name, c.frame+1, err, c.frame)
	default:
		c.failure = fmt.Errorf("%s: frame 1 cannot be read: %v; capture it again", c.name, plain(err))
	}
}

// time is the frame's time since the first frame, ps. ERF records carry a
// finer time than the file's. A frame before the first one counts as time 0.
func (c *capture) time(link layers.LinkType, data []byte, stamp time.Time) int64 {
	ns := stamp.UnixNano()
	if link == linkERF && len(data) >= 8 {
		ns = erfTime(data)
	} else if stamp.IsZero() {
		return NoTime
	}
	if !c.started {
		c.started, c.start = true, ns
	}
	return min(max(ns-c.start, 0), math.MaxInt64/1000) * 1000
}

func (n *captureCounts) add(v verdict, p *Packet, captured int) {
	switch v {
	case foreign:
		n.foreign++
		return
	case cut:
		n.cut++
		n.firstCut.note(p, captured)
		return
	case malformed:
		n.malformed++
		n.firstMalformed.note(p, captured)
		return
	}
	n.opcodes[p.Opcode]++
	n.links[p.link]++
	if p.HasRETH {
		n.reth++
	}
	if p.HasAtomicETH {
		n.atomicETH++
	}
	if p.HasAETH {
		n.acknowledge(p.Syndrome)
	}
}

// acknowledge sorts an AETH by its syndrome ([Linux] rxe_hdr.h).
func (n *captureCounts) acknowledge(syndrome uint8) {
	switch syndrome >> 5 {
	case 0:
		n.ack++
	case 1:
		n.rnr++
	case 3:
		n.nak[syndrome&0x1f]++
	default:
		n.reservedAETH++
	}
}

func (m *mishap) note(p *Packet, captured int) {
	if m.frame == 0 {
		*m = mishap{frame: p.Frame, bytes: captured, why: p.why}
	}
}
