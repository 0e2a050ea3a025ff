package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rnicmmu/model"
)

func zip(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Expected lines are written as op va len qp key time(ps).
func show(all []Access) string {
	var b strings.Builder
	for _, a := range all {
		key := "-"
		if a.HasKey {
			key = fmt.Sprintf("%#x", a.Key)
		}
		fmt.Fprintf(&b, "%s %#x %d %d %s %d\n", a.Op, uint64(a.VA), a.Len, a.QP, key, a.TimePS)
	}
	return b.String()
}

func TestTextTraces(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		format     Format
	}{
		"plain":    {"op,va,len\nR,0x1000,64\nW,4096,8\n", "READ 0x1000 64 0 - -1\nWRITE 0x1000 8 0 - -1\n", FormatCSV},
		"no end":   {"op,va,len\r\nR,0X1F,1\r\nw,1,2", "READ 0x1f 1 0 - -1\nWRITE 0x1 2 0 - -1\n", FormatCSV},
		"columns":  {"len,x,qp,va,OP,rkey,time_ns\n1,\"a,b\",0x7,2,R,0x9,1.5\n1,,,2,R,,\n", "READ 0x2 1 7 0x9 1500\nREAD 0x2 1 0 - -1\n", FormatCSV},
		"comments": {"\ufeff# recorded today\n\nop,va,len,key\n# one\nR, 0x10 ,1,3\n", "READ 0x10 1 0 0x3 -1\n", FormatCSV},
		"opcodes": {"op,va,len\nRC_RDMA_WRITE_ONLY,1,1\nRDMA_READ_REQUEST,1,1\n0x0a,1,1\n12,1,1\nUC_SEND_ONLY,,9\nFETCH_ADD,8,8\n19,8,8\nrc_compare_swap,8,8\n",
			"WRITE 0x1 1 0 - -1\nREAD 0x1 1 0 - -1\nWRITE 0x1 1 0 - -1\nREAD 0x1 1 0 - -1\nSEND 0x0 9 0 - -1\nFETCH_ADD 0x8 8 0 - -1\nCOMPARE_SWAP 0x8 8 0 - -1\nCOMPARE_SWAP 0x8 8 0 - -1\n", FormatCSV},
		"no requests": {"op,va,len\nRC_ACKNOWLEDGE,,\nRC_RDMA_WRITE_FIRST,1,4096\nRC_RDMA_WRITE_LAST,,\nRC_RDMA_READ_RESPONSE_ONLY,,\n", "WRITE 0x1 4096 0 - -1\n", FormatCSV},
		"epoch":       {"op,va,len,time_ns\nR,1,1,1692610779697061308\nR,1,1,1692610779697061310\n", "READ 0x1 1 0 - 0\nREAD 0x1 1 0 - 2000\n", FormatCSV},
		"lackey": {"==1== Lackey\nI  0401ab70,3\n S 1fff000758,8\nhello\n L 10,4\n M 20,2\n",
			"WRITE 0x1fff000758 8 0 - -1\nREAD 0x10 4 0 - -1\nREAD 0x20 2 0 - -1\nWRITE 0x20 2 0 - -1\n", FormatLackey},
		"akita": {"2024/01/01 00:00:00 start, 0.000000001500, L1, 7@L1, *mem.ReadReq, 0x40, 64\nstep, 0.1, 7@L1, hit\n" +
			"start, 0.000000002000, L2, 9@L2, *mem.ReadReq, 0x40, 64\nstart, 1.000000000001, L1, 8_req_out, *mem.ReadReq, 0x40, 64\n" +
			"end, 0.1, 7@L1\nstart, 1.000000000001, L1, 8@L1, *mem.WriteReq, 0x80, 4\n",
			"READ 0x40 64 0 - 1500\nWRITE 0x80 4 0 - 1000000000001\n", FormatAkita},
	} {
		t.Run(name, func(t *testing.T) {
			for _, content := range [][]byte{[]byte(c.text), zip(t, []byte(c.text))} {
				trace := mustOpen(t, write(t, "x", content))
				if got := show(accessesOf(t, trace)); got != c.want || trace.Format() != c.format {
					t.Errorf("%s:\n%s\nwant %s:\n%s", trace.Format(), got, c.format, c.want)
				}
			}
		})
	}
}

// Every error begins with the file, names the line, and says what to do.
func TestTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"op,va\nR,1\n":                             `:1: header has no column "len"; it needs at least op,va,len`,
		"op,va,len,VA\nR,1,1,2\n":                  `:1: header has two columns va; keep one`,
		"op,va,len,key,rkey\nR,1,1,2,3\n":          `:1: header has two columns key or rkey; keep one`,
		"op,va,len\n":                              `:1: no accesses after the header`,
		"op,va,len\nR,zzz,1\n":                     `:2: va "zzz" is not a number; write hex 0x… or decimal`,
		"op,va,len\n#\nR,1,\n":                     `:3: len "" is not a number`,
		"op,va,len\nQ,1,1\n":                       `:2: op "Q" is not known`,
		"op,va,len\n31,1,1\n":                      `:2: op "31" is not known`,
		"op,va,len\nR,,1\n":                        `:2: va "" is not a number`,
		"op,va,len\nFETCH_ADD,0,4\n":               `:2: len 4 of an atomic; atomics are 8 bytes`,
		"op,va,len\nR,0,2147483649\n":              `:2: len 2147483649 is more than a message can hold`,
		"op,va,len\nR,0xffffffffffffffff,2":        `:2: va 0xffffffffffffffff with len 2 passes the end`,
		"op,va,len\nR,18446744073709551616,2\n":    `:2: va "18446744073709551616" is not a number`,
		"op,va,len,qp\nR,1,1,16777216\n":           `:2: qp "16777216" is not a 24-bit number`,
		"op,va,len,key\nR,1,1,4294967296":          `:2: key "4294967296" is not a 32-bit number`,
		"op,va,len,time_ns\nR,1,1,-5\n":            `:2: time_ns "-5" is not a number`,
		"op,va,len,time_ns\nR,1,1,1.x\n":           `:2: time_ns "1.x" is not a number`,
		"op,va,len\n" + strings.Repeat("x", 70000): `:2: line is longer than 65536 bytes`,
		"I  0401ab70,3\n":                          `:1: no loads or stores`,
		"hello\n":                                  `: not a trace: need CSV`,
		"\x00\x01\x02\x03":                         `: not a trace: need CSV`,
	} {
		path := write(t, "t.csv", []byte(text))
		trace, err := Open(path)
		if err == nil {
			_, err = ReadAll(trace, 0)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+want) {
			t.Errorf("%.40q: error %v, want %s%s", text, err, path, want)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	zipped := zip(t, bytes.Repeat([]byte("op,va,len\nR,1,1\n"), 1))
	for _, c := range []struct{ path, want string }{
		{dir, "is a directory"},
		{"/dev/zero", "is not a regular file; write it to disk first"},
		{fifo(t), "is not a regular file; write it to disk first"},
		{write(t, "a", nil), "is empty"},
		{write(t, "b", zipped[:5]), "broken gzip header"},
		{write(t, "c", zipped[:12]), "gzip data ends early"},
		{write(t, "d", zip(t, nil)), "is empty"},
		{write(t, "e", smallCaptures()["rocev1"][:20]), "broken pcap header: the file ends early"},
		{write(t, "f", smallCaptures()["rocev1"][:24]), "holds no frame"},
	} {
		if _, err := Open(c.path); err == nil || !strings.HasPrefix(err.Error(), c.path+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	missing := filepath.Join(dir, "no.csv")
	if _, err := Open(missing); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), missing+": ") {
		t.Errorf("error %v", err)
	}
}

// A gzip trace that is cut gives the rows before the cut, then an error.
func TestTruncatedGzip(t *testing.T) {
	text := []byte("op,va,len\n")
	for i := range 50000 {
		text = fmt.Appendf(text, "R,%#x,64\n", mix64(uint64(i))>>20)
	}
	whole := zip(t, text)
	path := write(t, "t.csv.gz", whole[:len(whole)/2])
	trace := mustOpen(t, path)
	all, err := ReadAll(trace, 0)
	if len(all) == 0 || len(all) >= 50000 || err == nil || !strings.HasPrefix(err.Error(), path+": gzip data ends early, after line ") {
		t.Errorf("%d accesses, error %v", len(all), err)
	}
	if _, err := trace.Info(); err == nil {
		t.Error("Info hides the cut")
	}
}

// The counts of the trace's origin: rows, reads, writes and pages as its
// recorder gives them.
func TestExample(t *testing.T) {
	trace, err := Example()
	if err != nil {
		t.Fatal(err)
	}
	info := mustInfo(t, trace)
	if info.Accesses != 685_000 || info.Reads != 498_393 || info.Writes != 186_607 || info.Pages4K != 12_682 ||
		info.Refs4K != 685_000 || trace.Name() != "redis" || info.HasKeys {
		t.Errorf("%+v", info)
	}
	regions, err := Touched(trace, model.Shift4K)
	if err != nil {
		t.Fatal(err)
	}
	end := model.VA(0)
	for i, r := range regions {
		if i > 0 && r.VA < end+BridgedGap {
			t.Errorf("regions %#x and %#x are less than %d bytes apart", end, r.VA, BridgedGap)
		}
		end = r.VA + model.VA(r.Len)
	}
	// The recorder's lowest and highest addresses.
	if regions[0].VA != 0x27e000 || end != 0x1fff001000 {
		t.Errorf("regions span %#x to %#x", regions[0].VA, end)
	}
	if err := trace.Rewind(); err != nil {
		t.Fatal(err)
	}
	if all := accessesOf(t, trace); len(all) != 685_000 {
		t.Errorf("%d accesses after Rewind", len(all))
	}
}

func TestTouched(t *testing.T) {
	all := []Access{
		{VA: 0x1ffff, Len: 2}, {VA: 0x40_0000, Len: 1}, {VA: 0x12_0fff, Len: 1}, {VA: 0x5000, Len: 0},
		{VA: 0x1000, Len: 1, Host: 2}, {Op: model.OpSend, Len: 64, Host: 3},
	}
	got, err := Touched(NewSlice(all), model.Shift4K)
	want := []Region{
		// 0x1f000-0x21000 and 0x120000 are 0xff000 bytes apart: bridged.
		{VA: 0x1f000, Len: 0x121000 - 0x1f000}, {VA: 0x40_0000, Len: 0x1000}, {VA: 0x1000, Len: 0x1000, Host: 2},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%#v, want %#v", got, want)
	}
	got, _ = Touched(NewSlice(all[:3]), model.Shift2M)
	if fmt.Sprint(got) != fmt.Sprint([]Region{{VA: 0, Len: 2 << 20}, {VA: 4 << 20, Len: 2 << 20}}) {
		t.Errorf("2 MiB pages: %v", got)
	}
}

func BenchmarkCSVGzip(b *testing.B) {
	path := filepath.Join("embedded", "redis.csv.gz")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	n := 0
	for b.Loop() {
		trace := mustOpen(b, path)
		var a Access
		for n = 0; trace.Next(&a); n++ {
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "accesses/s")
}

// Keys keep regions apart: pages of one key are bridged, those of two are not,
// and keys whose pages overlap share a region.
func TestTouchedByKey(t *testing.T) {
	at := func(page uint64, key uint32) Access {
		return Access{VA: model.VA(page << 12), Len: 4096, Key: key, HasKey: true}
	}
	for _, c := range []struct {
		name string
		all  []Access
		want []Region
	}{
		{"neighbours of two keys", []Access{at(16, 1), at(17, 2)}, []Region{{VA: 16 << 12, Len: 4096}, {VA: 17 << 12, Len: 4096}}},
		{"a gap within one key", []Access{at(16, 1), at(20, 1)}, []Region{{VA: 16 << 12, Len: 5 << 12}}},
		{"another key in the gap", []Access{at(16, 1), at(20, 1), at(18, 2)},
			[]Region{{VA: 16 << 12, Len: 4096}, {VA: 18 << 12, Len: 4096}, {VA: 20 << 12, Len: 4096}}},
		{"two keys on a page", []Access{at(16, 1), at(16, 2), at(17, 1)}, []Region{{VA: 16 << 12, Len: 2 << 12}}},
	} {
		got, err := Touched(NewSlice(c.all), model.Shift4K)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}
