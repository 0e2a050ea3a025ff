package workload

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// shared is the folder of public captures and traces with their oracles.
func shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("RNICMMU_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "captures")); err != nil {
		t.Skip("no folder of public captures: set RNICMMU_SHARED")
	}
	return dir
}

// captures lists the capture files of the folder that RNICMMU_SHARED names.
func captures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared(t), "captures", "*.pcap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	return files
}

func mustOpen(t testing.TB, path string) *Trace {
	t.Helper()
	trace, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func mustInfo(t testing.TB, trace *Trace) *Info {
	t.Helper()
	info, err := trace.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func readCSV(t *testing.T, text []byte) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func readFile(t *testing.T, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An independent dissector lists the packets with a RETH; Convert gives the
// same rows, with the same times.
func TestConvertEqualsDissector(t *testing.T) {
	for _, path := range captures(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".pcap")
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Convert(&out, mustOpen(t, path)); err != nil {
				t.Fatal(err)
			}
			got := readCSV(t, out.Bytes())
			oracle := filepath.Join(filepath.Dir(path), "oracle")
			want := readCSV(t, readFile(t, oracle, name+".reth.csv"))
			times := map[string]string{}
			for _, p := range readCSV(t, readFile(t, oracle, name+".packets.csv")) {
				times[p["frame"]] = p["time_rel"]
			}
			if len(got) != len(want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			for i, w := range want {
				g := got[i]
				for from, to := range map[string]string{
					"frame": "frame", "opname": "op", "dest_qp": "qp", "psn": "psn", "va": "va", "rkey": "rkey", "len": "len",
				} {
					if w[from] != g[to] {
						t.Errorf("frame %s: %s is %s, want %s", w["frame"], to, g[to], w[from])
					}
				}
				ns, _ := strconv.ParseInt(strings.Replace(times[w["frame"]], ".", "", 1), 10, 64)
				if g["time_ns"] != strconv.FormatInt(ns, 10) {
					t.Errorf("frame %s: time %s, want %d ns", w["frame"], g["time_ns"], ns)
				}
			}
		})
	}
}

// Every packet's payload and destination agree with the dissector, too.
func TestPacketsEqualDissector(t *testing.T) {
	for _, path := range captures(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".pcap")
		want := readCSV(t, readFile(t, filepath.Dir(path), "oracle", name+".packets.csv"))
		i := 0
		err := mustOpen(t, path).Packets(func(p *Packet) bool {
			w := want[i]
			i++
			got := []string{strconv.FormatUint(p.Frame, 10), p.Name(), strconv.Itoa(int(p.DestQP)), strconv.Itoa(int(p.PSN)), strconv.Itoa(int(p.Payload)), p.link}
			for k, column := range []string{"frame", "opname", "dest_qp", "psn", "payload_len", "layer"} {
				if got[k] != w[column] {
					t.Errorf("%s frame %s: %s is %s, want %s", name, w["frame"], column, got[k], w[column])
				}
			}
			return i < len(want)
		})
		if err != nil || i != len(want) {
			t.Errorf("%s: %d packets, want %d: %v", name, i, len(want), err)
		}
	}
}

func TestInfoEqualsDissector(t *testing.T) {
	var oracle []struct {
		File       string
		Packets    uint64
		IB         uint64            `json:"ib_packets"`
		Foreign    uint64            `json:"non_ib_packets"`
		Opcodes    map[string]uint64 `json:"opcode_counts"`
		Links      map[string]uint64 `json:"link_layers"`
		RETH       uint64            `json:"reth_count"`
		AtomicETH  uint64            `json:"atomiceth_count"`
		AETH       map[string]uint64 `json:"aeth_counts"`
		Malformed  uint64
		Cut        uint64 `json:"snaplen_truncated"`
		WriteCount uint64 `json:"write_messages"`
	}
	dir := filepath.Join(shared(t), "captures")
	if err := json.Unmarshal(readFile(t, dir, "oracle", "summary.json"), &oracle); err != nil {
		t.Fatal(err)
	}
	for _, w := range oracle {
		g := mustInfo(t, mustOpen(t, filepath.Join(dir, w.File)))
		for _, c := range []struct {
			name      string
			got, want uint64
		}{
			{"packets", g.Packets, w.Packets}, {"RDMA packets", g.IBPackets, w.IB}, {"foreign", g.Foreign, w.Foreign},
			{"malformed", g.Malformed, w.Malformed}, {"cut", g.Cut, w.Cut}, {"RETH", g.RETH, w.RETH},
			{"AtomicETH", g.AtomicETH, w.AtomicETH}, {"ACK", g.AETH.ACK, w.AETH["ACK"]},
			{"RNR NAK", g.AETH.RNR, 0}, {"NAK", g.AETH.NAK, 0}, {"WRITEs", g.Writes, w.WriteCount},
		} {
			if c.got != c.want {
				t.Errorf("%s: %d %s, want %d", w.File, c.got, c.name, c.want)
			}
		}
		sameCounts(t, w.File, g.Opcodes, w.Opcodes)
		sameCounts(t, w.File, g.LinkLayers, w.Links)
	}
}

func sameCounts(t *testing.T, file string, got, want map[string]uint64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", file, got, want)
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s: %d %s, want %d", file, got[name], name, n)
		}
	}
}
