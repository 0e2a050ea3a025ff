package workload

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drain reads content in every way that there is; it must not panic, and a
// result must be either an error or something.
func drain(t *testing.T, content []byte) (info *Info) {
	t.Helper()
	trace, err := newTrace("x", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		oneLine(t, err)
		return nil
	}
	all, err := ReadAll(trace, 0)
	oneLine(t, err)
	if err == nil && len(all) == 0 {
		t.Error("neither access nor error")
	}
	for _, a := range all {
		if !inSpace(a.VA, uint64(a.Len)) {
			t.Errorf("access outside the address space: %+v", a)
		}
	}
	oneLine(t, Convert(io.Discard, trace))
	info, err = trace.Info()
	oneLine(t, err)
	if info != nil {
		if info.Packets != info.IBPackets+info.Foreign+info.Cut+info.Malformed {
			t.Errorf("packets do not add up: %+v", info)
		}
		if info.Accesses != info.Reads+info.Writes+info.Sends+info.Atomics || info.Accesses != uint64(len(all)) {
			t.Errorf("accesses do not add up: %+v", info)
		}
	}
	return info
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.ContainsAny(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "x:")) {
		t.Errorf("error is not one line that begins with the file: %q", err)
	}
}

// recordEnds are the offsets at which a pcap file may end without loss.
func recordEnds(file []byte) map[int]uint64 {
	ends := map[int]uint64{}
	frames := uint64(0)
	for off := 24; off+16 <= len(file); {
		off += 16 + int(file[off+8]) + int(file[off+9])<<8 + int(file[off+10])<<16
		frames++
		ends[off] = frames
	}
	return ends
}

// truncate checks each length of a pcap file that step comes to: whole frames
// stay, the rest is a warning; nothing whole is an error.
func truncate(t *testing.T, file []byte, step int) {
	t.Helper()
	ends := recordEnds(file)
	whole := uint64(0)
	for n := 0; n <= len(file); n++ {
		frames, isEnd := ends[n]
		if isEnd {
			whole = frames
		}
		if n%step != 0 && !isEnd {
			continue
		}
		info := drain(t, file[:n])
		if info == nil {
			if whole > 0 {
				t.Errorf("length %d: nothing read of %d frames", n, whole)
			}
			continue
		}
		if info.Packets != whole {
			t.Errorf("length %d: %d frames, want %d", n, info.Packets, whole)
		}
		warned := len(info.Warnings) > 0 && strings.Contains(info.Warnings[0], "ends inside frame")
		if warned == isEnd {
			t.Errorf("length %d: end of a record %t, warnings %q", n, isEnd, info.Warnings)
		}
	}
}

func TestTruncatedGeneratedCaptures(t *testing.T) {
	for name, file := range smallCaptures() {
		if name == "rocev2-ng" {
			for n := range file {
				drain(t, file[:n])
			}
			continue
		}
		truncate(t, file, 1)
	}
}

// Every length of the public captures would take the better part of an hour;
// without RNICMMU_ALL_TRUNCATIONS=1, a few hundred of each, next to every end
// of a record.
func TestTruncatedPublicCaptures(t *testing.T) {
	all := os.Getenv("RNICMMU_ALL_TRUNCATIONS") != ""
	for _, path := range captures(t) {
		file := readFile(t, path)
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			step := 1
			if !all {
				step = max(1, len(file)/200) | 1
			}
			truncate(t, file, step)
		})
	}
}

func FuzzCapture(f *testing.F) {
	for _, file := range smallCaptures() {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) { drain(t, file) })
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"op,va,len\nR,0x1000,64\nW,4096,8\n",
		"time_ns,op,qp,va,rkey,len,note\n1.5,RC_SEND_FIRST,3,,0x9,64,\"a,b\"\n2,10,4,0xfff,1,64,\n",
		" L 1fff000758,8\n M 10,4\nI  400,3\n==1== x\n",
		"start, 0.000000000100, GPU.L1, 1@GPU.L1, *mem.ReadReq, 0x40, 64\nend, 0.000000000200, 1@GPU.L1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { drain(t, text) })
}
