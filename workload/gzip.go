package workload

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
)

// zipError is what is wrong with gzip data, apart from an early end, and the
// mend.
type zipError struct{ what, mend string }

func (e *zipError) Error() string { return e.what + "; " + e.mend }

var (
	errDamaged  = &zipError{"gzip data is damaged", "copy or compress the file again"}
	errTrailing = &zipError{"bytes after the end of the gzip data", "cut them off or compress the file again"}
)

const gzipMagic = "\x1f\x8b"

// unzipper decompresses the members of a gzip file one after the other
// (RFC 1952 §2.2), and tells what follows the last one from another member that
// is cut, which gzip.Reader by itself does not.
type unzipper struct {
	in     *bufio.Reader
	member *gzip.Reader
}

// newUnzipper reads the header of the first member.
func newUnzipper(in *bufio.Reader) (*unzipper, error) {
	member, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	member.Multistream(false)
	return &unzipper{in, member}, nil
}

// Read fails with io.ErrUnexpectedEOF at an early end.
func (u *unzipper) Read(to []byte) (int, error) {
	n, err := u.member.Read(to)
	if err == io.EOF {
		err = u.next()
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt) {
		err = errDamaged
	}
	return n, err
}

// next goes on to another member; io.EOF where there is none.
func (u *unzipper) next() error {
	switch magic, err := u.in.Peek(len(gzipMagic)); {
	case len(magic) == 0:
		return err
	case string(magic) != gzipMagic:
		return errTrailing
	}
	err := u.member.Reset(u.in)
	u.member.Multistream(false)
	if err == io.EOF { // the header itself is cut
		err = io.ErrUnexpectedEOF
	}
	return err
}
