package workload

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"rnicmmu/model"
)

func accessesOf(t *testing.T, trace *Trace) []Access {
	t.Helper()
	all, err := ReadAll(trace, 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The same seven packets in every framing give the same accesses, rows and
// counts.
func TestFramings(t *testing.T) {
	want := []Access{
		{Op: model.OpWrite, VA: 0x7000, Len: 100, QP: 0x11, Key: 0x99, HasKey: true},
		{Op: model.OpRead, VA: 0x10_0000, Len: 1 << 20, QP: 0x12, Key: 0x98, HasKey: true, TimePS: 1e12},
		{Op: model.OpCompareSwap, VA: 0x8008, Len: 8, QP: 0x13, Key: 0x97, HasKey: true, TimePS: 2e12},
		{Op: model.OpFetchAdd, VA: 0x8010, Len: 8, QP: 0x13, Key: 0x97, HasKey: true, TimePS: 3e12},
		{Op: model.OpSend, Len: 256, QP: 1, TimePS: 4e12},
	}
	const rows = "frame,time_ns,op,qp,psn,va,rkey,len\n" +
		"1,0,RC_RDMA_WRITE_ONLY,17,7,0x7000,0x99,100\n" +
		"2,1000000000,RC_RDMA_READ_REQUEST,18,8,0x100000,0x98,1048576\n" +
		"3,2000000000,RC_COMPARE_SWAP,19,9,0x8008,0x97,8\n" +
		"4,3000000000,RC_FETCH_ADD,19,10,0x8010,0x97,8\n"
	for name, content := range smallCaptures() {
		t.Run(name, func(t *testing.T) {
			trace := mustOpen(t, write(t, "x", content))
			// ERF records carry one constant time of their own.
			timeless := strings.HasPrefix(name, "erf")
			for i, got := range accessesOf(t, trace) {
				w := want[i]
				w.Host = 1 // the sender appears first
				if timeless {
					w.TimePS = 0
				}
				if got != w {
					t.Errorf("access %d: %+v, want %+v", i, got, w)
				}
			}
			var out bytes.Buffer
			if err := Convert(&out, trace); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != rows && !timeless {
				t.Errorf("rows:\n%s\nwant:\n%s", got, rows)
			}
			info := mustInfo(t, trace)
			if info.IBPackets != 7 || info.Packets != 7 || info.AETH.NAKCodes["remote_access_error"] != 1 ||
				info.AETH.RNR != 1 || info.AETH.ACK != 0 || info.RETH != 2 || info.AtomicETH != 2 {
				t.Errorf("counts: %+v", info)
			}
			if info.Pages4K != 1+256+1 || info.Refs4K != 1+256+1+1 || info.Accesses != 5 || info.Hosts != 1 {
				t.Errorf("accesses: %+v", info)
			}
		})
	}
}

// What Convert writes of a capture is a trace with the same accesses, SENDs apart.
func TestConvertedCaptureIsATrace(t *testing.T) {
	capture := mustOpen(t, write(t, "x", smallCaptures()["rocev2"]))
	var out bytes.Buffer
	if err := Convert(&out, capture); err != nil {
		t.Fatal(err)
	}
	want := accessesOf(t, capture)[:4]
	got := accessesOf(t, mustOpen(t, write(t, "x.csv", out.Bytes())))
	if len(got) != len(want) {
		t.Fatalf("%d accesses, want %d", len(got), len(want))
	}
	for i, w := range want {
		if w.Host = 0; got[i] != w {
			t.Errorf("access %d: %+v, want %+v", i, got[i], w)
		}
	}
}

// message is a SEND or WRITE in packets of 1024 bytes, last one shorter.
func message(first, qp, psn, packets, last int, extension string) (all [][]byte) {
	for i := range packets {
		switch i {
		case 0:
			all = append(all, roceV2(transport(first, qp, psn, extension, 1024), ""))
		case packets - 1:
			all = append(all, roceV2(transport(first+2, qp, psn+i, "", last), ""))
		default:
			all = append(all, roceV2(transport(first+1, qp, psn+i, "", 1024), ""))
		}
	}
	return all
}

func openFrames(t *testing.T, frames ...[]byte) *Trace {
	t.Helper()
	return mustOpen(t, write(t, "x.pcap", pcapFile(1, 65535, frames...)))
}

func TestMessagesOfManyPackets(t *testing.T) {
	frames := append(message(0x06, 5, 100, 4, 10, rethHex(0x4000, 1, 3082)), message(0x00, 5, 104, 3, 7, "")...)
	trace := openFrames(t, frames...)
	all := accessesOf(t, trace)
	if len(all) != 2 || all[0].Len != 3082 || all[0].TimePS != 0 || all[1].Op != model.OpSend ||
		all[1].Len != 2055 || all[1].TimePS != 6e12 {
		t.Errorf("%+v", all)
	}
}

// Loss on the wire: packet 2 of a SEND comes again after its last packet, and
// go-back-N brings the last one a second time. The PSN wraps within the SEND.
func TestRetransmissions(t *testing.T) {
	send := message(0x00, 5, 0xfffffe, 3, 7, "")
	read := roceV2(transport(0x0c, 5, 1, rethHex(0x4000, 1, 64), 0), "")
	trace := openFrames(t, send[0], send[2], send[1], send[2], read, read)
	all := accessesOf(t, trace)
	if len(all) != 2 || all[0].Len != 2055 || all[1].Op != model.OpRead {
		t.Errorf("%+v", all)
	}
	info := mustInfo(t, trace)
	if info.Duplicates != 2 || info.Incomplete != 0 || info.RETH != 2 {
		t.Errorf("duplicates %d, incomplete %d, RETH %d", info.Duplicates, info.Incomplete, info.RETH)
	}
	var out bytes.Buffer
	if err := Convert(&out, trace); err != nil || strings.Count(out.String(), "READ_REQUEST") != 2 {
		t.Errorf("every packet is a row: %v\n%s", err, out.String())
	}
}

// Unreliable transports, and the other direction of a connection, repeat
// numbers without repeating a request.
func TestEqualNumbersThatAreNoRetransmission(t *testing.T) {
	uc := roceV2(transport(0x2a, 5, 9, rethHex(0x4000, 1, 8), 8), "")
	rc := roceV2(transport(0x0a, 5, 9, rethHex(0x4000, 1, 8), 8), "")
	back := bytes.Clone(rc)
	copy(back[26:34], append(bytes.Clone(rc[30:34]), rc[26:30]...))
	trace := openFrames(t, uc, uc, back, rc, rc)
	info := mustInfo(t, trace)
	if info.Writes != 4 || info.Duplicates != 1 || info.Hosts != 2 {
		t.Errorf("writes %d, duplicates %d, hosts %d", info.Writes, info.Duplicates, info.Hosts)
	}
}

func TestIncompleteSends(t *testing.T) {
	first := message(0x20, 5, 1, 3, 7, "") // UC, its middle lost
	second := message(0x20, 5, 4, 2, 7, "")
	third := message(0x20, 6, 4, 2, 7, "") // its first lost
	info := mustInfo(t, openFrames(t, first[0], first[2], second[0], second[1], third[1]))
	if info.Sends != 1 || info.Incomplete != 2 || len(info.Warnings) != 1 {
		t.Errorf("%+v", info)
	}
}

func TestDynamicallyConnected(t *testing.T) {
	dc := func(opcode, n int, extension string) []byte {
		return roceV2(transport(opcode, 5, 9, extension, n), "")
	}
	info := mustInfo(t, openFrames(t,
		dc(0xca, 8, rethHex(0x4000, 1, 8)), dc(0xcc, 0, rethHex(0x5000, 1, 64)), dc(0xc4, 32, ""),
		dc(0xca, 8, rethHex(0x4000, 1, 9)))) // lengths do not agree
	if info.Opcodes["DC_RDMA_WRITE_ONLY"] != 1 || info.Opcodes["DC_RDMA_READ_REQUEST"] != 1 || info.Malformed != 1 ||
		info.Writes != 1 || info.Reads != 1 || info.Sends != 1 {
		t.Errorf("%+v", info)
	}
}

// With a snap length of n, the RETH of a RoCEv2 frame ends at byte 70: shorter
// is cut, longer loses nothing but payload.
func TestSnapLength(t *testing.T) {
	whole := roceV2(transport(0x0a, 5, 1, rethHex(0x4000, 1, 8), 8), "")
	for snap, why := range map[int]string{
		13: "Ethernet header", 33: "IPv4 header", 41: "UDP header", 53: "BTH", 69: "RETH",
	} {
		path := write(t, "c.pcap", join(pcapFile(1, 65535, whole), pcapFile(1, snap, whole)[24:]))
		info := mustInfo(t, mustOpen(t, path))
		want := fmt.Sprintf("%s: frame 2 is cut at %d bytes (snaplen): %s incomplete; 1 accesses read, 1 skipped", path, snap, why)
		if info.Cut != 1 || len(info.Warnings) != 1 || info.Warnings[0] != want {
			t.Errorf("cut %d: %q, want %q", info.Cut, info.Warnings, want)
		}
	}
	info := mustInfo(t, mustOpen(t, write(t, "c.pcap", pcapFile(1, 70, whole))))
	if info.Cut != 0 || info.Bytes != 8 {
		t.Errorf("%+v", info)
	}
}

func TestMalformedPackets(t *testing.T) {
	whole := func() []byte { return roceV2(transport(0x0a, 5, 1, rethHex(0x4000, 1, 8), 8), "") }
	for name, spoil := range map[string]func([]byte) []byte{
		"reserved opcode":           func(f []byte) []byte { f[42] = 0x1f; return f },
		"BTH version":               func(f []byte) []byte { f[43] |= 1; return f },
		"UDP and IP lengths":        func(f []byte) []byte { f[39]++; return f },
		"lengths do not agree with": func(f []byte) []byte { return f[:len(f)-1] },
		"RETH incomplete":           func([]byte) []byte { return roceV2(transport(0x0a, 5, 1, "", 4), "") },
		"shorter than its headers":  func([]byte) []byte { f := whole(); f = roceV2(f[42:70], ""); return f },
	} {
		info := mustInfo(t, openFrames(t, whole(), spoil(whole())))
		if info.Malformed != 1 || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], name) {
			t.Errorf("%s: malformed %d: %q", name, info.Malformed, info.Warnings)
		}
	}
}

// A request past the end of the address space is a packet but no access.
func TestOutsideAddressSpace(t *testing.T) {
	frame := func(psn int, va uint64, n int) []byte {
		return roceV2(transport(0x0c, 5, psn, rethHex(va, 1, n), 0), "")
	}
	info := mustInfo(t, openFrames(t, frame(1, 1<<64-8, 8), frame(2, 1<<64-8, 9), frame(3, 0, 1<<31), frame(4, 0, 1<<31+1)))
	if info.RETH != 4 || info.Reads != 2 || info.Skipped != 2 {
		t.Errorf("%+v", info)
	}
}

func TestForeignCaptures(t *testing.T) {
	tcp := roceV2(transport(0x04, 5, 1, "", 8), "")
	tcp[23] = 6
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"tcp":  {pcapFile(1, 65535, tcp, tcp), "none of 2 frames is RoCE or InfiniBand"},
		"wifi": {pcapFile(105, 65535, tcp), "link type 105 is not read"},
	} {
		trace := mustOpen(t, write(t, name, c.content))
		info, err := trace.Info()
		if err == nil || !strings.Contains(err.Error(), c.want) || info == nil || info.Foreign != info.Packets {
			t.Errorf("%s: %v, %+v", name, err, info)
		}
		if _, err := ReadAll(trace, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := Convert(&bytes.Buffer{}, trace); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
