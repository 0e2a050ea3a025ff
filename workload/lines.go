package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line of a text trace, in bytes.
const maxLine = 64 << 10

// lines reads a text file line by line without allocation.
type lines struct {
	name string
	in   *bufio.Reader
	n    uint64 // number of the last line read, from 1
	err  error
}

// next is the next line without its end, valid until the next call.
func (l *lines) next() ([]byte, bool) {
	text, err := l.in.ReadSlice('\n')
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) && len(text) == 0:
		return nil, false
	case errors.Is(err, io.EOF): // the last line needs no end
	case errors.Is(err, bufio.ErrBufferFull):
		l.err = fmt.Errorf("%s:%d: line is longer than %d bytes; is it a text trace?", l.name, l.n+1, maxLine)
		return nil, false
	default:
		l.err = l.unreadable(err)
		return nil, false
	}
	l.n++
	for n := len(text); n > 0 && (text[n-1] == '\n' || text[n-1] == '\r'); n-- {
		text = text[:n-1]
	}
	return text, true
}

// unreadable words an error of the file itself.
func (l *lines) unreadable(err error) error {
	var zip *zipError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: gzip data ends early, after line %d; copy or compress the file again", l.name, l.n)
	case errors.As(err, &zip):
		return fmt.Errorf("%s: %s, after line %d; %s", l.name, zip.what, l.n, zip.mend)
	}
	return fmt.Errorf("%s: cannot be read after line %d: %v", l.name, l.n, err)
}

// fail ends the file at the last line read.
func (l *lines) fail(format string, args ...any) bool {
	l.err = fmt.Errorf("%s:%d: %s", l.name, l.n, fmt.Sprintf(format, args...))
	return false
}
