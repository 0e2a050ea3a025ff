package configs

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Param describes one parameter.
type Param struct {
	Key        string   // full dotted key
	Kind       string   // integer, number, boolean, text, choice, time, frequency, size, bit rate, transfer rate, rate, accesses or time, count or list
	Default    string   // as a file spells it; so are Min, Max and OneOf
	Min, Max   string   // empty where there is none
	OneOf      []string // the only values, where not empty
	PowerOfTwo bool
	Zero       string // what 0 means where it is outside the range
	Range      string // all of the above in words
	Doc        string
	Source     string // where the default or the range comes from
}

// Params describes every parameter of spec, in order of declaration.
func Params(spec any) ([]Param, error) {
	tr, err := treeOf(spec)
	if err != nil {
		return nil, err
	}
	params := make([]Param, len(tr.params))
	for i, n := range tr.params {
		params[i] = n.param()
	}
	return params, nil
}

func (n *node) param() Param {
	name := n.kind.name
	if len(n.oneof) > 0 && name == "text" {
		name = "choice"
	}
	doc := n.doc
	if n.replicas() {
		doc += "; settings may be of " + strings.Join(n.scope, ", ")
	}
	return Param{Key: n.path, Kind: name, Default: n.fallback, Min: n.bound(n.min), Max: n.bound(n.max), OneOf: n.oneof,
		PowerOfTwo: n.pow2, Zero: n.zero, Range: n.rangeText(), Doc: doc, Source: n.source}
}

// Describe writes the parameters at or below the key unit, such as tpt or
// tpt.mtt; all where unit is empty. Lines that start with a key hold its default,
// range and kind.
func Describe(w io.Writer, spec any, unit string) error {
	tr, err := treeOf(spec)
	if err != nil {
		return err
	}
	if unit != "" && tr.byPath[unit] == nil {
		return &Error{Key: show(unit), Problem: "unknown key" + Suggest(unit, tr.paths)}
	}
	var shown []Param
	for _, n := range tr.params {
		if unit == "" || n.path == unit || strings.HasPrefix(n.path, unit+".") {
			shown = append(shown, n.param())
		}
	}
	return writeParams(w, shown)
}

// Widths of Describe's text, in characters.
const (
	describeWidth = 100
	describeInset = 4
)

// writeParams writes a line a parameter that starts with its key, and under it
// what it is and where its numbers come from.
func writeParams(w io.Writer, params []Param) error {
	key, fallback := len("KEY"), len("DEFAULT")
	for _, p := range params {
		key, fallback = max(key, len(p.Key)), max(fallback, utf8.RuneCountInString(scalar(p.Default)))
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%-*s  %-*s  RANGE  (KIND)\n", key, "KEY", fallback, "DEFAULT")
	for _, p := range params {
		head := fmt.Sprintf("%-*s  %-*s  ", key, p.Key, fallback, scalar(p.Default))
		wrap(&text, head, strings.TrimSpace(p.Range+"  ("+p.Kind+")"))
		if p.Doc != "" {
			wrap(&text, strings.Repeat(" ", describeInset), p.Doc)
		}
		if p.Source != "" {
			wrap(&text, strings.Repeat(" ", describeInset), "source: "+p.Source)
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}

// wrap writes the head and words after it, in lines of at most describeWidth as
// far as words allow; further lines are inset twice.
func wrap(text *bytes.Buffer, head, words string) {
	text.WriteString(head)
	at, fresh := utf8.RuneCountInString(head), true
	for _, word := range strings.Split(words, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case fresh:
		case at+1+n > describeWidth:
			fmt.Fprintf(text, "\n%*s", 2*describeInset, "")
			at = 2 * describeInset
		default:
			text.WriteByte(' ')
			at++
		}
		text.WriteString(word)
		at, fresh = at+n, false
	}
	text.WriteByte('\n')
}

// ParametersPage is docs/parameters.md: a section for each top-level group,
// after those parameters that are in none.
func ParametersPage(spec any) ([]byte, error) {
	tr, err := treeOf(spec)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	page.WriteString("# Parameters\n\nGenerated from the Spec of each unit; do not edit. " +
		"Keys are written nested or dotted in a file, as `--set KEY=VALUE`,\nor as `" +
		EnvPrefix + "KEY` with `_` for `.` in the environment.\n")
	writeSection(&page, "General", "", tr.root, false)
	for _, n := range tr.root.children {
		if n.group() {
			writeSection(&page, "`"+n.key+"`", n.doc, n, true)
		}
	}
	return page.Bytes(), nil
}

// writeSection prints a table of the parameters of g; of its groups too where deep.
func writeSection(page *bytes.Buffer, title, doc string, g *node, deep bool) {
	rows := g.below(nil, deep)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(page, "\n## %s\n\n", title)
	if doc != "" {
		fmt.Fprintf(page, "%s\n\n", doc)
	}
	page.WriteString("| key | kind | default | range | description | source |\n|---|---|---|---|---|---|\n")
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, n := range rows {
		p := n.param()
		fmt.Fprintf(page, "| `%s` | %s | `%s` | %s | %s | %s |\n", p.Key, p.Kind, escape.Replace(scalar(p.Default)),
			escape.Replace(p.Range), escape.Replace(p.Doc), escape.Replace(p.Source))
	}
}

// below appends the parameters of g, and those of its groups where deep.
func (n *node) below(rows []*node, deep bool) []*node {
	for _, c := range n.children {
		switch {
		case !c.group():
			rows = append(rows, c)
		case deep:
			rows = c.below(rows, deep)
		}
	}
	return rows
}
