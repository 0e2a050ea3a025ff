package workload

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// fifo is a named pipe without a writer: opening it would block.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFO here:", err)
	}
	return path
}

// damaged is a copy of data with one bit of byte at (from the end where
// negative) turned over.
func damaged(data []byte, at int) []byte {
	data = slices.Clone(data)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	return data
}

// The cause that an error gives for a broken gzip file is the true one.
func TestBrokenGzip(t *testing.T) {
	rows := []byte("op,va,len\nR,1,1\nW,2,2\n")
	whole := zip(t, rows)
	stored := zip(t, append(slices.Clone(rows), bytes.Repeat([]byte("R,3,3\n"), 30000)...))
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"one byte after":        {append(slices.Clone(whole), 'x'), ": bytes after the end of the gzip data, after line 3; cut them off or compress the file again"},
		"many bytes after":      {append(slices.Clone(whole), rows...), ": bytes after the end of the gzip data, after line 3; cut them off or compress the file again"},
		"zeros after":           {append(slices.Clone(whole), make([]byte, 512)...), ": bytes after the end of the gzip data, after line 3; cut"},
		"cut member after":      {append(slices.Clone(whole), whole[:12]...), ": gzip data ends early, after line 3; copy"},
		"cut header after":      {append(slices.Clone(whole), whole[:2]...), ": gzip data ends early, after line 3; copy"},
		"checksum":              {damaged(whole, -8), ": gzip data is damaged, after line 3; copy or compress the file again"},
		"size":                  {damaged(whole, -4), ": gzip data is damaged, after line 3; copy or compress the file again"},
		"checksum, long":        {damaged(stored, -8), ": gzip data is damaged, after line 30003; copy or compress the file again"},
		"checksum of no data":   {damaged(zip(t, nil), -8), ": gzip data is damaged; copy or compress the file again"},
		"bytes after no data":   {append(zip(t, nil), "junk"...), ": bytes after the end of the gzip data; cut them off or compress the file again"},
		"not gzip after magic":  {[]byte("\x1f\x8bnothing of the kind"), ": broken gzip header: gzip: invalid header; copy or compress the file again"},
		"checksum of a capture": {damaged(zip(t, smallCaptures()["rocev1"][:20]), -8), ": broken pcap header: gzip data is damaged"},
	} {
		path := write(t, "x.gz", c.content)
		trace, err := Open(path)
		if err == nil {
			_, err = ReadAll(trace, 0)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// Members one after the other are one file (RFC 1952 §2.2), wherever a member
// ends and however little a read gives.
func TestGzipMembers(t *testing.T) {
	var file, text []byte
	file = append(file, zip(t, []byte("op,va,len\nR,0"))...)
	text = append(text, "op,va,len\nR,0"...)
	for i := range 200 {
		part := fmt.Appendf(nil, "x%d,1\nR,0", i)
		file, text = append(append(file, zip(t, part)...), zip(t, nil)...), append(text, part...)
	}
	file, text = append(file, zip(t, []byte("x9,1\n"))...), append(text, "x9,1\n"...)
	for _, in := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
		open := func(content []byte) func() (io.ReadCloser, error) {
			return func() (io.ReadCloser, error) { return io.NopCloser(in(bytes.NewReader(content))), nil }
		}
		zipped, err := newTrace("x", open(file))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := newTrace("x", open(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := accessesOf(t, zipped), accessesOf(t, plain); len(want) != 201 || !slices.Equal(got, want) {
			t.Errorf("%d accesses, want the %d of the plain text", len(got), len(want))
		}
	}
}
