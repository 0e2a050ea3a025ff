package configs

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"rnicmmu/model"
)

// Marshal writes every parameter of spec with its value and unit, so that a
// run can be repeated from the text alone: loading it gives an equal Spec.
// With comments each key has its description beside it. Keys named in without
// are left out: those that another parameter's value makes void.
func Marshal(spec any, comments bool, without ...string) ([]byte, error) {
	tr, err := treeOf(spec)
	if err != nil {
		return nil, err
	}
	v := reflect.Indirect(reflect.ValueOf(spec))
	w := &yamlWriter{comments: comments, value: func(n *node) (reflect.Value, bool) {
		return v.FieldByIndex(n.index), !slices.Contains(without, n.path)
	}}
	w.tree = tr
	w.group(tr.root, "")
	return w.Bytes(), nil
}

// Hash is the xxHash64 of spec's canonical text, 16 hexadecimal digits: equal
// for Specs with equal parameters.
func Hash(spec any) (string, error) {
	text, err := Marshal(spec, false)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", xxhash.Sum64(text)), nil
}

// yamlWriter prints the parameters for which value has a value.
type yamlWriter struct {
	bytes.Buffer
	tree     *tree
	comments bool
	value    func(*node) (reflect.Value, bool)
}

func (w *yamlWriter) group(g *node, indent string) {
	for _, n := range g.children {
		if n.group() {
			if w.any(n) {
				fmt.Fprintf(w, "%s%s:%s\n", indent, n.key, w.comment(n))
				w.group(n, indent+"  ")
			}
			continue
		}
		v, ok := w.value(n)
		switch {
		case !ok:
		case n.replicas() && len(v.Interface().(model.Replicas).Overrides) > 0:
			fmt.Fprintf(w, "%s%s:%s\n", indent, n.key, w.comment(n))
			w.replicas(v.Interface().(model.Replicas), indent)
		default:
			fmt.Fprintf(w, "%s%s: %s%s\n", indent, n.key, scalar(n.kind.format(v)), w.comment(n))
		}
	}
}

// any tells whether a parameter below g has a value.
func (w *yamlWriter) any(g *node) bool {
	for _, n := range g.children {
		if n.group() && w.any(n) {
			return true
		}
		if !n.group() {
			if _, ok := w.value(n); ok {
				return true
			}
		}
	}
	return false
}

// replicas prints one list item a unit, its settings nested as in the file.
func (w *yamlWriter) replicas(r model.Replicas, indent string) {
	for _, settings := range r.Overrides {
		if len(settings) == 0 {
			fmt.Fprintf(w, "%s  - {}\n", indent)
			continue
		}
		values := map[*node]reflect.Value{}
		for _, s := range settings {
			if n, err := w.tree.find(s.Key); err == nil {
				values[n], _ = n.read(s.Value)
			}
		}
		inner := &yamlWriter{tree: w.tree, value: func(n *node) (reflect.Value, bool) {
			v, ok := values[n]
			return v, ok
		}}
		inner.group(w.tree.root, indent+"    ")
		fmt.Fprintf(w, "%s  - %s", indent, bytes.TrimLeft(inner.Bytes(), " "))
	}
}

func (w *yamlWriter) comment(n *node) string {
	if !w.comments || n.doc == "" {
		return ""
	}
	return "  # " + strings.Join(strings.Fields(n.doc), " ")
}

var (
	plainScalar = regexp.MustCompile(`^[A-Za-z0-9_./+-][A-Za-z0-9_./+µ-]*$`)
	// What YAML 1.1 readers take for a boolean, a null or a float. Numbers and
	// true or false are meant as such, and stay plain.
	otherScalar = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|null|---|\.\.\.|-|[-+]?\.(inf|nan))$`)
)

// scalar quotes text where YAML readers would not take it for what it is.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !otherScalar.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
