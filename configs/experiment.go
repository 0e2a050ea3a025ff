package configs

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rnicmmu/model"
)

// Experiment is a sweep: the cross product of its axes, over fixed overrides.
type Experiment struct {
	Name        string // of the embedded experiment or the file; names result folders
	Title       string // of the figures
	Description string // one line
	Profile     string // embedded profile to start from; empty for none
	Axes        []Axis
	Set         []model.Setting // fixed overrides, in order of declaration
	Figures     []string        // what to draw
	fixed       []entry
}

// Axis is a parameter and the values that it takes in turn, as text.
type Axis struct {
	Key    string
	Values []string
	With   []Axis // parameters that change in step with it; they have as many values
}

// maxPoints bounds a sweep, so that a slip in a range does not fill a disk.
const maxPoints = 100_000

// Size is the number of points.
func (e *Experiment) Size() int {
	size := 1
	for _, a := range e.Axes {
		size *= len(a.Values)
		if size > maxPoints {
			return maxPoints + 1
		}
	}
	return size
}

// Points lists the settings of every point in plan order: the last axis
// changes fastest. The fixed overrides are not in it.
func (e *Experiment) Points() [][]model.Setting {
	points := [][]model.Setting{{}}
	for _, a := range e.Axes {
		longer := make([][]model.Setting, 0, len(points)*len(a.Values))
		for _, p := range points {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clone(p), model.Setting{Key: a.Key, Value: v}))
			}
		}
		points = longer
	}
	return points
}

// Overrides are the settings of a point, and those that change in step with
// them.
func (e *Experiment) Overrides(point []model.Setting) []model.Setting {
	all := slices.Clone(point)
	for i, a := range e.Axes {
		n := slices.Index(a.Values, point[i].Value)
		for _, w := range a.With {
			all = append(all, model.Setting{Key: w.Key, Value: w.Values[n]})
		}
	}
	return all
}

// Keys are the parameters that points set: of each axis its own, then those in
// step with it.
func (e *Experiment) Keys() (keys []string) {
	for _, a := range e.Axes {
		keys = append(keys, a.Key)
		for _, w := range a.With {
			keys = append(keys, w.Key)
		}
	}
	return keys
}

// experimentReader reads the keys of an experiment file.
type experimentReader struct {
	tree    *tree
	doc     Document
	figures []string // that there are; nil: any
	out     *Experiment
	// lines of the top-level keys, and of the axes' keys in their order
	lines     map[string]int
	axisLines []int
	*problems
}

var experimentKeys = []string{"name", "title", keyDescription, keyProfile, "set", "axes", "figures"}

// LoadExperiment reads an experiment and checks every key and value in it
// against spec, and the names of figures against those that there are; nil lets
// any pass. It reports all problems, a line each.
func LoadExperiment(spec any, doc Document, figures []string) (*Experiment, error) {
	tr, err := treeOf(spec)
	if err != nil {
		return nil, err
	}
	top, err := doc.parse()
	if err != nil {
		return nil, err
	}
	if top == nil {
		return nil, &Error{Place: show(doc.Name), Problem: "empty; an experiment has " + strings.Join(experimentKeys, ", ")}
	}
	r := &experimentReader{tree: tr, doc: doc, figures: figures, out: &Experiment{}, lines: map[string]int{}, problems: &problems{}}
	r.fields(top, "", experimentKeys, r.field)
	r.whole()
	if err := r.err(); err != nil {
		return nil, err
	}
	return r.out, nil
}

func (r *experimentReader) fail(line int, key, format string, args ...any) {
	r.add(r.doc.place(line), key, format, args...)
}

// fields hands each key of m that is among known to read.
func (r *experimentReader) fields(m *yaml.Node, prefix string, known []string, read func(string, *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], follow(m.Content[i+1])
		first, again := seen[key.Value]
		switch {
		case again:
			r.fail(key.Line, prefix+show(key.Value), "set twice (first in line %d)", first)
		case !slices.Contains(known, key.Value):
			r.fail(key.Line, prefix+show(key.Value), "%v", unknownKey{key.Value, func() []string { return known }})
		default:
			seen[key.Value] = key.Line
			read(key.Value, value)
		}
	}
}

func (r *experimentReader) field(key string, value *yaml.Node) {
	r.lines[key] = value.Line
	switch key {
	case "set":
		r.set(value)
	case "axes":
		items := r.items(key, value)
		if len(items) > len(r.tree.params) {
			r.fail(value.Line, key, "%d axes: there are not as many parameters", len(items))
			return
		}
		for i, item := range items {
			r.axis(fmt.Sprintf("axes[%d]", i), follow(item))
		}
	case "figures":
		for _, item := range r.items(key, value) {
			name := r.text(key, follow(item))
			if name != "" && r.figures != nil && !slices.Contains(r.figures, name) {
				r.fail(item.Line, key, "%s: not one of %s%s", show(name), strings.Join(r.figures, ", "), Suggest(name, r.figures))
			}
			r.out.Figures = append(r.out.Figures, name)
		}
	default:
		*map[string]*string{"name": &r.out.Name, "title": &r.out.Title,
			keyDescription: &r.out.Description, keyProfile: &r.out.Profile}[key] = r.text(key, value)
	}
}

func (r *experimentReader) items(key string, value *yaml.Node) []*yaml.Node {
	if value.Kind != yaml.SequenceNode {
		r.fail(value.Line, key, "a list is due")
		return nil
	}
	return value.Content
}

func (r *experimentReader) text(key string, value *yaml.Node) string {
	if value.Kind != yaml.ScalarNode || isNull(value) {
		r.fail(value.Line, key, "one value is due")
		return ""
	}
	return value.Value
}

// set reads the fixed overrides, nested or dotted as in a configuration file.
func (r *experimentReader) set(value *yaml.Node) {
	w := &walker{tree: r.tree, doc: r.doc, seen: map[string]int{}, problems: r.problems}
	switch {
	case value.Kind == yaml.MappingNode:
		w.mapping(value, "")
	case !isNull(value):
		r.fail(value.Line, "set", "KEY: VALUE lines are due")
	}
	r.out.fixed = w.out
	r.out.Set = r.tree.settings(slices.Clone(w.out))
}

// whole checks what only the complete experiment shows.
func (r *experimentReader) whole() {
	if r.out.Name == "" || strings.ContainsFunc(r.out.Name, notInName) {
		r.fail(r.lines["name"], "name", "a name of letters, digits, - and _ is due")
	}
	if r.out.Profile != "" {
		if _, err := Profile(r.out.Profile); err != nil {
			r.fail(r.lines[keyProfile], keyProfile, "%v", err)
		}
	}
	keys := r.out.Keys()
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			r.fail(r.axisLines[i], key, "is the key of two axes")
		}
		if slices.ContainsFunc(r.out.Set, func(s model.Setting) bool { return s.Key == key }) {
			r.fail(r.axisLines[i], key, "is both an axis and fixed in set")
		}
	}
	if r.out.Size() > maxPoints {
		r.fail(r.lines["axes"], "axes", "more than %d points", maxPoints)
	}
}

func notInName(c rune) bool {
	return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_'
}
