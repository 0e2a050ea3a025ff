package configs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Error is one thing wrong with a configuration. It prints as one line:
//
//	configs/mine.yaml:12: tpt.mtt.entires: unknown key; did you mean tpt.mtt.entries?
type Error struct {
	Place   string // file:line, an environment variable, or --set
	Key     string // full dotted key; empty where the document as a whole is meant
	Problem string // what is wrong, and the mend where one is known
}

// Error is the line.
func (e *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{e.Place, e.Key, e.Problem} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// maxProblems is how many problems an error prints, so that a file of another
// kind neither floods the terminal nor takes long to refuse.
const maxProblems = 20

// problems gathers errors in the order in which they are found, and counts
// those after the first maxProblems.
type problems struct {
	shown []error
	more  int
}

// add words a problem, unless it will not be printed.
func (p *problems) add(place, key, format string, args ...any) {
	if len(p.shown) == maxProblems {
		p.more++
		return
	}
	p.shown = append(p.shown, &Error{Place: place, Key: key, Problem: fmt.Sprintf(format, args...)})
}

// join appends the problems of a later source.
func (p *problems) join(later problems) {
	kept := min(len(later.shown), maxProblems-len(p.shown))
	p.shown = append(p.shown, later.shown[:kept]...)
	p.more += len(later.shown) - kept + later.more
}

func (p *problems) count() int { return len(p.shown) + p.more }

// err joins the lines, or is nil where there are none.
func (p *problems) err() error {
	switch p.more {
	case 0:
		return errors.Join(p.shown...)
	case 1:
		return errors.Join(append(p.shown, errors.New("… and 1 more problem"))...)
	}
	return errors.Join(append(p.shown, fmt.Errorf("… and %d more problems", p.more))...)
}

// maxShown is how much of a value an error repeats, in bytes.
const maxShown = 60

// show repeats text from the user on one line: as it is where it is short and
// printable, quoted and cut where not.
func show(text string) string {
	cut := text
	if len(cut) > maxShown {
		cut = cut[:maxShown]
	}
	quoted := strconv.Quote(cut)
	switch {
	case len(cut) < len(text):
		return quoted + "…"
	case text == "" || quoted != `"`+text+`"` || strings.TrimSpace(text) != text:
		return quoted
	}
	return text
}
