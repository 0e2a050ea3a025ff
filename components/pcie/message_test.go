package pcie

import (
	"fmt"
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/ats"
)

const process = 0x12345 // a PASID

func withIOMMU(s *rigSpec) { s.iommu = true }

// translate asks for the translation of a page.
func translate(page uint64) msg.DMA {
	return msg.DMA{Kind: msg.KindATS, PA: model.PA(page << 12), Len: ats.EntryBytes, Cookie: page,
		Address: msg.Address{PASID: process, Store: true}}
}

func toHost(body any, pasid uint32) msg.DMA {
	return msg.DMA{Kind: msg.KindMessage, Write: true, Len: 1, Body: body, Address: msg.Address{PASID: pasid}}
}

func toAdapter(body any) msg.Doorbell { return msg.Doorbell{Message: true, Body: body} }

// framed is the size of a TLP on the link by its own bytes: sequence number and
// framing 4, LCRC 4 ([cocotbext-pcie]).
func framed(tlp []byte) int64 { return int64(len(tlp)) + 8 }

// A message takes, like a write: its serialization, the link and a hop. Its
// size is that of the bytes that package ats writes, with framing and LCRC.
func TestMessageToHost(t *testing.T) {
	page := &msg.PageRequest{PageRequest: ats.PageRequest{Group: 3, Last: true, Read: true, PASID: process, VA: 0x7000}}
	plain := &msg.PageRequest{PageRequest: ats.PageRequest{Last: true, Read: true}}
	done := &msg.InvalidateDone{InvalidateCompletion: ats.InvalidateCompletion{ITags: 1, Count: 1}}
	for _, c := range []struct {
		what  string
		body  any
		pasid uint32
		tlp   []byte
		bytes int64
	}{
		{"page request", page, process, page.Append(nil, 1), 28},
		{"page request without PASID", plain, 0, plain.Append(nil, 1), 24},
		{"invalidate completion", done, 0, done.Append(nil, ats.IDs{}), 24},
	} {
		if framed(c.tlp) != c.bytes {
			t.Errorf("%s: %d B as a TLP, want %d", c.what, framed(c.tlp), c.bytes)
		}
		for gen := 1; gen <= 5; gen++ {
			r := newRig(t, withIOMMU, func(s *rigSpec) { s.Gen = gen })
			spec := &r.spec
			r.clients[0].start = 100 * cycle
			d := toHost(c.body, c.pasid)
			d.Notify, d.Cookie = true, 9
			r.clients[0].todo = []msg.DMA{d}
			r.run(t)
			end := 101*cycle + serial(spec, c.bytes)
			checkOne(t, c.what, r, r.clock().Edge(end+cycle))
			want := msg.MemReq{Write: true, Kind: msg.KindMessage, Body: c.body, Cookie: 9, Address: msg.Address{PASID: c.pasid}}
			if got := r.memory.got; len(got) != 1 || got[0] != (seen[msg.MemReq]{end + spec.LinkLatency + hop, want}) {
				t.Errorf("%s, gen %d: %+v at the host, want %+v at %v", c.what, gen, got, want, end+spec.LinkLatency+hop)
			}
			if s := r.Endpoint.Stats(); s.WireBytes != uint64(c.bytes) || s.PayloadBytes != 0 || s.Kinds[msg.KindMessage] != 1 || s.TLPs[msg.Posted] != 1 {
				t.Errorf("%s: statistics %+v", c.what, s)
			}
			conserved(t, r)
		}
	}
}

// A message to the adapter reaches its client whole, a doorbell's way.
func TestMessageToAdapter(t *testing.T) {
	invalidate := &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: 3, Range: ats.Cover(0, 4096)}}
	ofProcess := &msg.Invalidate{InvalidateRequest: ats.InvalidateRequest{ITag: 3, PASID: process, Range: ats.Cover(0, 0)}}
	response := &msg.PageResponse{PageResponse: ats.PageResponse{Group: 7}}
	responseOf := &msg.PageResponse{PageResponse: ats.PageResponse{Group: 7, PASID: process}}
	for _, c := range []struct {
		what    string
		body    any
		tlp     []byte
		bytes   int64
		payload uint32
	}{
		{"invalidate request", invalidate, invalidate.Append(nil, ats.IDs{}), 32, 8},
		{"invalidate request for a process", ofProcess, ofProcess.Append(nil, ats.IDs{}), 36, 8},
		{"page response", response, response.Append(nil, ats.IDs{}), 24, 0},
		{"page response for a process", responseOf, responseOf.Append(nil, ats.IDs{}), 28, 0},
	} {
		if framed(c.tlp) != c.bytes {
			t.Errorf("%s: %d B as a TLP, want %d", c.what, framed(c.tlp), c.bytes)
		}
		r := newRig(t, withIOMMU, func(s *rigSpec) { s.clients = 2 })
		spec := defaultSpec(t)
		m := toAdapter(c.body)
		m.Client, m.Len, m.Cookie = 1, 4096, 5 // the length of a message is its own
		r.iommu.todo = []msg.Doorbell{m}
		r.run(t)
		m.Len = c.payload
		want := seen[msg.Doorbell]{r.clock().Edge(1 + hop + serial(&spec, c.bytes) + spec.LinkLatency + cycle), m}
		if got := r.clients[1].bells; len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, want %+v", c.what, got, want)
		}
		s := r.Root.Stats()
		if s.WireBytes != uint64(c.bytes) || s.PayloadBytes != uint64(c.payload) || s.Kinds[msg.KindMessage] != 1 || s.Kinds[msg.KindDoorbell] != 0 {
			t.Errorf("%s: statistics %+v", c.what, s)
		}
		conserved(t, r)
	}
}

// A translation request takes what a read of 8 bytes takes, and brings the entry.
func TestTranslationLatency(t *testing.T) {
	for _, pasid := range []uint32{0, process} {
		r := newRig(t, withIOMMU)
		spec := defaultSpec(t)
		r.clients[0].start = 100 * cycle
		d := msg.DMA{Kind: msg.KindATS, PA: 0x7fff12345ff8, Len: 8, Cookie: 4, Address: msg.Address{PASID: pasid, Store: true}}
		r.clients[0].todo = []msg.DMA{d}
		r.run(t)
		request := 24 + 4*int64(prefixes(pasid))
		own := ats.TranslationRequest{Count: 1, PASID: pasid, VA: 0x7fff12345000}
		if framed(own.Append(nil, 1)) != request {
			t.Errorf("PASID %#x: %d B as a TLP, want %d", pasid, framed(own.Append(nil, 1)), request)
		}
		last := 101*cycle + serial(&spec, request) + spec.LinkLatency + hop + 400*ns + serial(&spec, 28) + spec.LinkLatency
		checkOne(t, "translation", r, r.clock().Edge(last+cycle))
		if got, want := r.clients[0].dones[0].msg, (msg.DMADone{Kind: msg.KindATS, Entry: 0x7fff12345001, Cookie: 4}); got != want {
			t.Errorf("PASID %#x: %+v, want %+v", pasid, got, want)
		}
		if got := r.memory.got[0].msg; got.PA != 0x7fff12345000 || got.Len != 8 || got.Address != d.Address {
			t.Errorf("request %+v, want the page's address, 8 bytes, %+v", got, d.Address)
		}
		conserved(t, r)
	}
}

// The PASID prefix costs every TLP of a request 4 bytes, and completions nothing.
func TestPrefixBandwidth(t *testing.T) {
	for _, n := range []uint32{64, 256, 4096} {
		r := newRig(t, ample)
		d := write1(high, n)
		d.Address.PASID = process
		r.clients[0].todo = repeat(d, 20_000/int((n+255)/256))
		r.run(t)
		tlps := float64((n + 255) / 256)
		want := bytesPerSecond(4, 16) * (1 - 16./5920) * float64(n) / (float64(n) + 28*tlps) // SKP: 16 of 5920 symbols
		within(t, fmt.Sprintf("%d B", n), arrivalRate(r.memory.got, n), want, 1e-3)
		for _, m := range r.memory.got {
			if m.msg.Address.PASID != process {
				t.Fatalf("%+v has lost its PASID", m.msg)
			}
		}
	}
	r := newRig(t)
	d := read1(high, 512)
	d.Address = msg.Address{PASID: process, Translated: true}
	r.clients[0].todo = []msg.DMA{d}
	r.run(t)
	if up, down := r.Endpoint.Stats().WireBytes, r.Root.Stats().WireBytes; up != 28 || down != 2*276 {
		t.Errorf("a read of 512 B: %d B up, %d B down, want 28 and 552", up, down)
	}
}

// Translations are bound by tags (Little's law, 28 B up and down) or by the link:
// messages of 28 B, one a client and cycle at most, fill Gen1 x1.
func TestMessageBandwidth(t *testing.T) {
	r := newRig(t, ample, withIOMMU, func(s *rigSpec) { s.Tags = 16 })
	spec := defaultSpec(t)
	for i := range 1601 {
		r.clients[0].todo = append(r.clients[0].todo, translate(uint64(i)))
	}
	r.run(t)
	rtt := 2*serial(&spec, 28) + 2*spec.LinkLatency + hop + 400*ns
	within(t, "translations", arrivalRate(r.memory.got, 8)/8, 16/float64(rtt)*1e12, 1e-3)

	r = newRig(t, ample, withIOMMU, func(s *rigSpec) { s.Gen, s.Lanes = 1, 1 })
	page := &msg.PageRequest{}
	for range 1001 {
		r.clients[0].todo = append(r.clients[0].todo, toHost(page, process))
	}
	r.run(t)
	got := r.memory.got
	want := bytesPerSecond(1, 1) / 28 * (1 - 4./1538) // SKP: 4 of 1538 symbols
	within(t, "page requests", 1000/float64(got[1000].at-got[0].at)*1e12, want, 1e-3)
}
