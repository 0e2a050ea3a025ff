// Package testplan reads verify/testplan.txt, whose head says how it is written,
// and finds what its names stand for.
//
//	testplan.txt ──Parse──▶ testpoints ──┐
//	                                     ├──Orphans──▶ names of nothing, and what
//	docs, rules, tests, scenarios, … ────┘             no testpoint names
package testplan

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Kinds of what a testpoint names, and the two words that name nothing.
const (
	Test       = "test"
	Invariant  = "invariant"
	Rule       = "rule"
	Scenario   = "scenario"
	Mutant     = "mutant"
	Explorer   = "explorer"
	Covergroup = "covergroup"

	stage = "stage"
	goal  = "goal"
)

// Kinds are all of them, in the order of the plan's head.
var Kinds = []string{Test, Invariant, Rule, Scenario, Mutant, Explorer, Covergroup}

// Stages are those of a testpoint.
var Stages = []string{"V1", "V2", "V3"}

// Point is a testpoint.
type Point struct {
	Name, Stage, Goal string
	Line              int
	Names             map[string][]Name // by kind
}

// Name is a name of the plan; it may hold *.
type Name struct {
	Pattern string // of a test: "directory: Name"
	Line    int
}

// Parse reads a plan. Errors name the line.
func Parse(text string) (points []*Point, err error) {
	var p *Point
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0][0] == '#':
			continue
		case words[0] == "testpoint":
			if len(words) != 2 || seen[words[1]] {
				return nil, fmt.Errorf("line %d: testpoint and a name of its own are due", i+1)
			}
			p = &Point{Name: words[1], Line: i + 1, Names: map[string][]Name{}}
			seen[p.Name] = true
			points = append(points, p)
		case p == nil:
			return nil, fmt.Errorf("line %d: %s is in no testpoint", i+1, words[0])
		default:
			if err := p.add(words[0], strings.Join(words[1:], " "), i+1); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	for _, p := range points {
		if !slices.Contains(Stages, p.Stage) || p.Goal == "" {
			return nil, fmt.Errorf("line %d: testpoint %s has no goal, or no stage of %s", p.Line, p.Name, strings.Join(Stages, ", "))
		}
	}
	return points, nil
}

func (p *Point) add(word, text string, line int) error {
	switch {
	case text == "":
		return fmt.Errorf("%s: nothing is behind it", word)
	case word == stage:
		p.Stage = text
	case word == goal:
		p.Goal = strings.TrimSpace(p.Goal + " " + text)
	case slices.Contains(Kinds, word):
		folder := ""
		if word == Test {
			var found bool
			if folder, text, found = strings.Cut(text, ": "); !found {
				return fmt.Errorf("test: %q: a directory, a colon and names are due", folder)
			}
			folder += ": "
		}
		for name := range strings.SplitSeq(text, ",") {
			name = strings.TrimSpace(name)
			if _, err := path.Match(name, ""); err != nil || name == "" {
				return fmt.Errorf("%s: %q is no name", word, name)
			}
			p.Names[word] = append(p.Names[word], Name{Pattern: folder + name, Line: line})
		}
	default:
		return fmt.Errorf("%s: one of stage, goal, %s is due", word, strings.Join(Kinds, ", "))
	}
	return nil
}

// Orphans are the names of the plan that stand for nothing there is, and what
// there is of a kind that no testpoint names. Tests may be in none: there are
// far more than a plan tells of.
func Orphans(points []*Point, there map[string][]string) (lines []string) {
	named := map[string]map[string]bool{}
	for _, kind := range Kinds {
		named[kind] = map[string]bool{}
		for _, p := range points {
			for _, n := range p.Names[kind] {
				found := false
				for _, x := range there[kind] {
					if matches(kind, n.Pattern, x) {
						found, named[kind][x] = true, true
					}
				}
				if !found {
					lines = append(lines, fmt.Sprintf("line %d: testpoint %s: there is no %s %s", n.Line, p.Name, kind, n.Pattern))
				}
			}
		}
	}
	for _, kind := range Kinds {
		for _, x := range there[kind] {
			if kind != Test && !named[kind][x] {
				lines = append(lines, fmt.Sprintf("no testpoint names %s %s", kind, x))
			}
		}
	}
	return lines
}

// matches tells whether a pattern names something. A scenario's id names its
// files too, which begin with it, in small letters and with zeros before its
// number.
func matches(kind, pattern, name string) bool {
	if ok, _ := matchAll(pattern, name); ok {
		return true
	}
	return kind == Scenario && fileID(name) == pattern
}

// matchAll is path.Match in which * stands for slashes too.
func matchAll(pattern, name string) (bool, error) {
	return path.Match(strings.ReplaceAll(pattern, "/", "|"), strings.ReplaceAll(name, "/", "|"))
}

// fileID is the id with which a scenario's file begins: A2 of a02-child-ends.
func fileID(file string) string {
	head, _, found := strings.Cut(file, "-")
	if !found || len(head) < 2 {
		return ""
	}
	return strings.ToUpper(head[:1]) + strings.TrimLeft(head[1:], "0")
}
