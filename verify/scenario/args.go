package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/configs"
	"rnicmmu/model/key"
)

// args are the arguments of a line: words, and NAME=VALUE.
type args struct {
	words  []string
	values map[string]string
}

// readArgs sorts words; names are those that may have a value.
func readArgs(words, names []string) (a args, err error) {
	a.values = map[string]string{}
	for _, w := range words {
		name, value, named := strings.Cut(w, "=")
		switch {
		case !named && slices.Contains(names, w):
			a.values[w] = ""
		case !named:
			a.words = append(a.words, w)
		case !slices.Contains(names, name):
			return a, fmt.Errorf("%s= is not known here; of %s%s", name, strings.Join(names, ", "), configs.Suggest(name, names))
		default:
			if _, twice := a.values[name]; twice {
				return a, fmt.Errorf("%s= stands twice", name)
			}
			a.values[name] = value
		}
	}
	return a, nil
}

func (a *args) has(name string) bool { _, ok := a.values[name]; return ok }

// number is a whole number from 0 to most; fallback where it is not given.
func (a *args) number(name string, fallback, most int) (int, error) {
	text, given := a.values[name]
	if !given {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s=%s: a number from 0 to %d is due", name, text, most)
	}
	return n, nil
}

// size is a number of bytes: 4KiB, 0x800, 0, or 100B.
func (a *args) size(name string, fallback uint64) (uint64, error) {
	text, given := a.values[name]
	if !given {
		return fallback, nil
	}
	n, err := parseSize(text)
	if err != nil {
		return 0, fmt.Errorf("%s=%s: %w", name, text, err)
	}
	return n, nil
}

var errSize = errors.New("bytes as 64B, 4KiB or 0x800 are due")

func parseSize(text string) (uint64, error) {
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 63)
		if err != nil {
			return 0, errSize
		}
		return n, nil
	}
	if text == "0" {
		return 0, nil
	}
	b, err := configs.ParseBytes(text)
	if err != nil {
		return 0, errSize
	}
	return uint64(b), nil
}

// time is a time; fallback where it is not given.
func (a *args) time(name string, fallback clocked.Time) (clocked.Time, error) {
	text, given := a.values[name]
	if !given {
		return fallback, nil
	}
	t, err := configs.ParseTime(text)
	if err != nil || t < 0 {
		return 0, fmt.Errorf("%s=%s: a time as 10ns or 1.5us is due", name, text)
	}
	return t, nil
}

// set is numbers and ranges up to most: all, none, or 0,2-5.
func (a *args) set(name string, most uint32) (s set, err error) {
	text := a.values[name]
	switch text {
	case "all", "":
		return set{any: true}, nil
	case "none":
		return set{}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		x, err1 := strconv.ParseUint(from, 10, 32)
		y, err2 := strconv.ParseUint(to, 10, 32)
		if errors.Join(err1, err2) != nil || x > y {
			return s, fmt.Errorf("%s=%s: all, none, or numbers and ranges as 0,2-5 are due", name, text)
		}
		if uint32(y) > most {
			return s, fmt.Errorf("%s=%s: the last page is %d", name, text, most)
		}
		s.ranges = append(s.ranges, [2]uint32{uint32(x), uint32(y)})
	}
	return s, nil
}

// rightNames are the words of rights=.
var rightNames = map[string]key.Rights{"local": key.LocalWrite, "write": key.RemoteWrite | key.LocalWrite, "read": key.RemoteRead, "atomic": key.RemoteAtomic | key.LocalWrite}

// allRights are those of a region that states none.
const allRights = key.LocalWrite | key.RemoteWrite | key.RemoteRead | key.RemoteAtomic

// rights are those of peers: read,write,atomic,local; all where they are not given.
func (a *args) rights(fallback key.Rights) (r key.Rights, err error) {
	text, given := a.values["rights"]
	if !given {
		return fallback, nil
	}
	if text == "none" {
		return 0, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		one, known := rightNames[word]
		if !known {
			return 0, fmt.Errorf("rights=%s: read, write, atomic and local with commas between, or none, are due", text)
		}
		r |= one
	}
	return r, nil
}
