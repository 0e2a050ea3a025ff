package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"rnicmmu/configs"
)

// File is a file of scenarios.
type File struct {
	Name      string
	Scenarios []*Scenario
}

// problem is an error with its place.
type problem struct {
	file string
	line int
	text string
}

func (p *problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text) }

// statement is a line of a block, in words.
type statement struct {
	line  int
	words []string
}

// block is a directive with its lines.
type block struct {
	line       int
	command    string
	args       []directiveArg
	lines      []statement
	config     []byte // the configuration's lines, each at its place in the file
	output     string // that is written behind it
	outputLine int
	hasLines   bool
}

// maxFile bounds a file, in bytes.
const maxFile = 1 << 20

// ReadFile reads and checks a file of scenarios. Each line of the error begins
// with file:line.
func ReadFile(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("%s: a regular file of at most 1 MiB is due", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads and checks scenarios.
func Parse(name string, data []byte) (*File, error) {
	blocks, err := split(name, data)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name}
	var common *block
	var all []error
	for _, b := range blocks {
		switch b.command {
		case "common":
			common = b
		case "scenario":
			s, err := newScenario(name, common, b)
			all = append(all, err)
			f.Scenarios = append(f.Scenarios, s)
		default:
			all = append(all, &problem{name, b.line, fmt.Sprintf("%q begins no block: scenario or common is due%s",
				b.command, configs.Suggest(b.command, []string{"scenario", "common"}))})
		}
	}
	if len(f.Scenarios) == 0 && errors.Join(all...) == nil {
		all = append(all, &problem{name, 1, "no scenario; a block that begins with the word is due"})
	}
	return f, errors.Join(all...)
}

// directiveArg is a word of a directive: KEY, KEY=VALUE or KEY=(VALUE, …).
type directiveArg struct {
	key    string
	values []string
}

// argument is one of a directive.
var argument = regexp.MustCompile(`^([^\s=()]+)(?:=(?:\(([^()]*)\)|([^\s()]*)))?(?:\s+|$)`)

// directive reads the first line of a block.
func directive(text string) (command string, args []directiveArg, err error) {
	for text != "" {
		m := argument.FindStringSubmatchIndex(text)
		if m == nil {
			return "", nil, fmt.Errorf("%q: KEY, KEY=VALUE or KEY=(VALUE, …) is due", text)
		}
		a := directiveArg{key: text[m[2]:m[3]]}
		switch {
		case m[4] >= 0:
			for v := range strings.SplitSeq(text[m[4]:m[5]], ",") {
				a.values = append(a.values, strings.TrimSpace(v))
			}
		case m[6] >= 0:
			a.values = []string{text[m[6]:m[7]]}
		}
		args = append(args, a)
		text = text[m[1]:]
	}
	return args[0].key, args[1:], nil
}

// split cuts a file into blocks: a line with the directive, lines, ---- and the
// output up to an empty line, as package datadriven has it.
func split(name string, data []byte) (all []*block, err error) {
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		b := &block{line: i + 1, config: bytes.Repeat([]byte("\n"), i+1)}
		if b.command, b.args, err = directive(text); err != nil {
			return nil, &problem{name, i + 1, err.Error()}
		}
		if i, err = b.read(name, lines, i+1); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// read reads a block's lines and output from line i on, and returns the number
// of the last.
func (b *block) read(name string, lines []string, i int) (last int, err error) {
	for ; i < len(lines) && lines[i] != "----"; i++ {
		words := strings.Fields(uncommented(lines[i]))
		if len(words) > 0 && strings.HasSuffix(words[0], ":") {
			b.config = append(b.config, uncommented(lines[i])...)
		} else if len(words) > 0 {
			b.lines = append(b.lines, statement{i + 1, words})
		}
		b.config = append(b.config, '\n')
	}
	if i == len(lines) {
		return 0, &problem{name, b.line, "the block has no end; a line ---- is due behind its lines"}
	}
	i++
	b.outputLine = i + 1
	double := i < len(lines) && lines[i] == "----"
	for ; i < len(lines); i++ {
		if !double && strings.TrimSpace(lines[i]) == "" {
			break
		}
		if double && lines[i] == "----" && i+1 < len(lines) && lines[i+1] == "----" && b.hasLines {
			return i + 1, nil
		}
		b.hasLines = true
		b.output += lines[i] + "\n"
	}
	return i, nil
}

// uncommented is a line without what stands behind a # that begins a word.
func uncommented(line string) string {
	for i := range line {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}
