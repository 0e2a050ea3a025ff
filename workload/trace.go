package workload

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Format is what a trace file holds.
type Format string

// Formats that Open recognises by content.
const (
	FormatCSV    Format = "csv"
	FormatLackey Format = "lackey"
	FormatAkita  Format = "akita"
	FormatPcap   Format = "pcap"
	FormatPcapNG Format = "pcapng"
)

// Capture tells whether the format holds packets.
func (f Format) Capture() bool { return f == FormatPcap || f == FormatPcapNG }

// Trace is a file of accesses or packets. As a Source it reads the file once
// from its beginning; Info, Convert and Packets read it by themselves and
// leave the Source where it is. A Trace is for one goroutine.
type Trace struct {
	name    string
	open    func() (io.ReadCloser, error)
	format  Format
	zipped  bool
	current *pass
	err     error
}

// records is a Source that can account for what it read.
type records interface {
	Source
	fill(*Info)
}

// pass is one reading of the file.
type pass struct {
	records
	file io.Closer
}

//go:embed embedded/redis.csv.gz
var redis []byte

// Example is a trace that the program carries, so that it shows something real
// without any file: far-memory accesses of redis-server under SET and GET of
// 1 KiB values at random keys, recorded with valgrind's lackey and filtered
// through a 256 KiB 8-way LRU write-back cache of 64-byte lines.
func Example() (*Trace, error) {
	return newTrace("redis", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(redis)), nil })
}

// Open recognises the format of a file, plain or gzip, by its content and
// reads it up to its first record. Errors name the file and the mend.
func Open(path string) (*Trace, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	case info.IsDir():
		return nil, fmt.Errorf("%s: is a directory; name a trace file in it", path)
	case !info.Mode().IsRegular(): // a FIFO would block, and cannot be read twice
		return nil, fmt.Errorf("%s: is not a regular file; write it to disk first", path)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s: is empty; record the trace again", path)
	}
	return newTrace(path, func() (io.ReadCloser, error) { return os.Open(path) })
}

func newTrace(name string, open func() (io.ReadCloser, error)) (*Trace, error) {
	t := &Trace{name: name, open: open}
	file, in, err := t.reader()
	if err != nil {
		return nil, err
	}
	start, readErr := in.Peek(maxLine)
	t.format = sniff(start)
	file.Close()
	switch {
	case t.format != "":
		return t, t.probe()
	case errors.Is(readErr, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s: gzip data ends early; copy or compress the file again", name)
	case len(start) == 0 && errors.Is(readErr, io.EOF):
		return nil, fmt.Errorf("%s: is empty; record the trace again", name)
	case errors.As(readErr, new(*zipError)):
		return nil, fmt.Errorf("%s: %w", name, readErr)
	case len(start) == 0:
		return nil, fmt.Errorf("%s: cannot be read: %v", name, readErr)
	default:
		return nil, fmt.Errorf("%s: not a trace: need CSV with a header op,va,len, valgrind lackey output, Akita's memory trace, pcap or pcapng", name)
	}
}

// probe reports a file without a single record.
func (t *Trace) probe() error {
	p, err := t.pass()
	if err != nil {
		return err
	}
	defer p.file.Close()
	if r, ok := p.records.(*replay); ok {
		r.capture.next()
		return r.capture.failure
	}
	var a Access
	if !p.Next(&a) {
		return p.Err()
	}
	return nil
}

// reader opens the file from its start, decompressed.
func (t *Trace) reader() (io.Closer, *bufio.Reader, error) {
	file, err := t.open()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.name, errors.Unwrap(err))
	}
	in := bufio.NewReaderSize(file, maxLine)
	if magic, _ := in.Peek(len(gzipMagic)); string(magic) != gzipMagic {
		return file, in, nil
	}
	t.zipped = true
	z, err := newUnzipper(in)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: broken gzip header: %v; copy or compress the file again", t.name, plain(err))
	}
	return file, bufio.NewReaderSize(z, maxLine), nil
}

// pass starts a reading of the file.
func (t *Trace) pass() (*pass, error) {
	file, in, err := t.reader()
	if err != nil {
		return nil, err
	}
	text := lines{name: t.name, in: in}
	p := &pass{file: file}
	switch t.format {
	case FormatCSV:
		p.records = &csvReader{lines: text}
	case FormatLackey:
		p.records = &lackeyReader{lines: text}
	case FormatAkita:
		p.records = &akitaReader{lines: text}
	default:
		c, err := openCapture(t.name, t.format, in)
		if err != nil {
			file.Close()
			return nil, err
		}
		p.records = newReplay(c)
	}
	return p, nil
}

// Name is the path that was opened, or the example's name.
func (t *Trace) Name() string { return t.name }

// Format is what the content was recognised as.
func (t *Trace) Format() Format { return t.format }

// Next implements Source.
func (t *Trace) Next(a *Access) bool {
	if t.current == nil && t.err == nil {
		t.current, t.err = t.pass()
	}
	if t.err != nil {
		return false
	}
	return t.current.Next(a)
}

// Err implements Source. A file without any access is an error.
func (t *Trace) Err() error {
	if t.err != nil || t.current == nil {
		return t.err
	}
	return t.current.Err()
}

// Warnings says, one line each, what the Source has skipped so far.
func (t *Trace) Warnings() []string {
	if t.current == nil {
		return nil
	}
	var i Info
	t.current.fill(&i)
	return i.Warnings
}

// Rewind makes the Source start again at the first access.
func (t *Trace) Rewind() error {
	err := t.Close()
	t.err = nil
	return err
}

// Close closes the file; the Trace can still be rewound.
func (t *Trace) Close() error {
	if t.current == nil {
		return nil
	}
	err := t.current.file.Close()
	t.current = nil
	return err
}

// Packets gives every RDMA packet of a capture to yield until it returns
// false, skipping frames that are foreign, cut or malformed. A trace that
// holds no packets, or a capture without any RDMA packet, is an error.
func (t *Trace) Packets(yield func(*Packet) bool) error {
	if !t.format.Capture() {
		return fmt.Errorf("%s: is no packet capture but %s", t.name, t.format)
	}
	p, err := t.pass()
	if err != nil {
		return err
	}
	defer p.file.Close()
	r := p.records.(*replay)
	found := false
	for {
		v, ok := r.capture.next()
		if !ok {
			break
		}
		if v != good {
			continue
		}
		found = true
		if !yield(&r.packet) {
			return nil
		}
	}
	if r.failure == nil && !found {
		return r.nothing()
	}
	return r.failure
}

// sniff recognises a format by its first bytes; "" for none.
func sniff(start []byte) Format {
	if len(start) >= 4 {
		switch string(start[:4]) {
		case "\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1", "\xa1\xb2\x3c\x4d":
			return FormatPcap
		case "\x0a\x0d\x0d\x0a":
			return FormatPcapNG
		}
	}
	header := true // no line but comments so far
	for line := range bytes.Lines(bytes.TrimPrefix(start, byteOrderMark)) {
		text := bytes.TrimRight(line, "\r\n")
		if _, _, _, ok := parseLackey(text); ok {
			return FormatLackey
		}
		if _, _, ok := parseAkita(text, &Access{}); ok {
			return FormatAkita
		}
		if header && len(text) > 0 && text[0] != '#' {
			if looksLikeHeader(string(text)) {
				return FormatCSV
			}
			header = false
		}
	}
	return ""
}

// looksLikeHeader holds for a line with a comma and a column that we know.
func looksLikeHeader(text string) bool {
	names := strings.Split(text, ",")
	for _, name := range names {
		if columnNames[strings.ToLower(strings.Trim(name, " \t\""))] != columnOther {
			return len(names) > 1
		}
	}
	return false
}
