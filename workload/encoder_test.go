package workload

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The captures of these tests are written as hex text by hand-made templates,
// on purpose without any code or constant of the package under test.

// octets turns hex text with spaces into bytes.
func octets(format string, args ...any) []byte {
	text := strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(fmt.Sprintf(format, args...))
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// transport is a BTH, the extension headers in hex, n bytes of payload with
// their padding, and a CRC of zeros.
func transport(opcode, qp, psn int, extension string, n int) []byte {
	pad := (4 - n%4) % 4
	b := octets("%02x %02x ffff 00%06x 80%06x %s", opcode, pad<<4, qp, psn&0xffffff, extension) // PSNs wrap
	return append(b, make([]byte, n+pad+4)...)
}

func rethHex(va uint64, key, n int) string { return fmt.Sprintf("%016x %08x %08x", va, key, n) }

func atomicHex(va uint64, key int) string {
	return fmt.Sprintf("%016x %08x %016x %016x", va, key, 1, 2)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

const macs = "020000000002 020000000001"

func roceV2(ib []byte, vlan string) []byte {
	return join(octets("%s %s 0800 4500 %04x 0000 4000 40 11 0000 0a000001 0a000002 c000 12b7 %04x 0000",
		macs, vlan, 28+len(ib), 8+len(ib)), ib)
}

func roceV2IPv6(ib []byte) []byte {
	address := "20010db8 00000000 00000000 000000"
	return join(octets("%s 86dd 60000000 %04x 11 40 %s01 %s02 c000 12b7 %04x 0000",
		macs, 8+len(ib), address, address, 8+len(ib)), ib)
}

func grhBytes(ib []byte) []byte {
	gid := "00000000 00000000 0000ffff 0a0000"
	return join(octets("60000000 %04x 1b 40 %s01 %s02", len(ib), gid, gid), ib)
}

func roceV1(ib []byte) []byte { return join(octets("%s 8915", macs), grhBytes(ib)) }

// erfRecord is an ERF record with an InfiniBand packet between LIDs 1 and 2.
func erfRecord(ib []byte, grh bool) []byte {
	next := 2
	if grh {
		ib, next = grhBytes(ib), 3
	}
	packet := join(octets("00 %02x 0002 %04x 0001", next, (8+len(ib))/4), ib, []byte{0, 0})
	return join(octets("00000080 01000000 15 04 %04x 0000 %04x", 16+len(packet), len(packet)), packet)
}

// pcapFile is a little-endian capture with microseconds; frame i is at i
// seconds. Frames are cut at snaplen.
func pcapFile(link, snaplen int, frames ...[]byte) []byte {
	file := octets("d4c3b2a1 0200 0400 00000000 00000000 00000400 %02x000000", link)
	for i, f := range frames {
		n := min(len(f), snaplen)
		file = append(file, octets("%02x000000 00000000 %02x%02x0000 %02x%02x0000", i, n%256, n/256, len(f)%256, len(f)/256)...)
		file = append(file, f[:n]...)
	}
	return file
}

// pcapngFile is a big-endian capture of one Ethernet interface.
func pcapngFile(frames ...[]byte) []byte {
	file := octets("0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c")
	file = append(file, octets("00000001 00000014 0001 0000 00040000 00000014")...)
	for i, f := range frames {
		pad := (4 - len(f)%4) % 4
		total := 32 + len(f) + pad
		file = append(file, octets("00000006 %08x 00000000 00000000 %08x %08x %08x", total, i*1_000_000, len(f), len(f))...)
		file = append(append(file, f...), make([]byte, pad)...)
		file = append(file, octets("%08x", total)...)
	}
	return file
}

// write puts content into a file of the test's folder.
func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// smallCaptures are one capture for each way that RDMA is framed.
func smallCaptures() map[string][]byte {
	write := transport(0x0a, 0x11, 7, rethHex(0x7000, 0x99, 100), 100)
	read := transport(0x0c, 0x12, 8, rethHex(0x10_0000, 0x98, 1<<20), 0)
	swap := transport(0x13, 0x13, 9, atomicHex(0x8008, 0x97), 0)
	add := transport(0x14, 0x13, 10, atomicHex(0x8010, 0x97), 0)
	datagram := transport(0x64, 1, 11, "80010000 00000001", 256)
	nak := transport(0x11, 0x14, 12, "62 000001", 0)
	rnr := transport(0x11, 0x14, 13, "2e 000001", 0)
	frames := func(wrap func([]byte) []byte) [][]byte {
		var all [][]byte
		for _, ib := range [][]byte{write, read, swap, add, datagram, nak, rnr} {
			all = append(all, wrap(ib))
		}
		return all
	}
	v2 := func(ib []byte) []byte { return roceV2(ib, "") }
	return map[string][]byte{
		"rocev1":       pcapFile(1, 65535, frames(roceV1)...),
		"rocev2":       pcapFile(1, 65535, frames(v2)...),
		"rocev2-ipv6":  pcapFile(1, 65535, frames(roceV2IPv6)...),
		"rocev2-vlan":  pcapFile(1, 65535, frames(func(ib []byte) []byte { return roceV2(ib, "8100 0064") })...),
		"rocev2-qinq":  pcapFile(1, 65535, frames(func(ib []byte) []byte { return roceV2(ib, "88a8 0064 8100 0065") })...),
		"rocev2-ng":    pcapngFile(frames(v2)...),
		"erf-lid":      pcapFile(197, 65535, frames(func(ib []byte) []byte { return erfRecord(ib, false) })...),
		"erf-grh":      pcapFile(197, 65535, frames(func(ib []byte) []byte { return erfRecord(ib, true) })...),
		"infiniband":   pcapFile(247, 65535, frames(func(ib []byte) []byte { return erfRecord(ib, false)[16:] })...),
		"rocev2-short": pcapFile(1, 200, frames(v2)...),
	}
}
