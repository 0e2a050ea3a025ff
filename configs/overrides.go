package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"rnicmmu/model"
)

// WithOverrides is a copy of spec with the settings applied in order: the
// Spec of one replica, or of one point of a sweep. The error is a line a
// setting, which begins with the key.
func WithOverrides[T any](spec T, settings []model.Setting) (T, error) {
	err := apply(&spec, settings)
	return spec, err
}

// Text is the value of a key, as --set spells it.
func Text(spec any, key string) (string, error) {
	tr, err := treeOf(spec)
	if err != nil {
		return "", err
	}
	n, err := tr.find(key)
	if err != nil {
		return "", err
	}
	return n.kind.format(reflect.Indirect(reflect.ValueOf(spec)).FieldByIndex(n.index)), nil
}

func apply(spec any, settings []model.Setting) error {
	into, err := target(spec)
	if err != nil {
		return err
	}
	tr, err := treeOf(spec)
	if err != nil {
		return err
	}
	var p problems
	for _, s := range settings {
		n, err := tr.find(s.Key)
		if err != nil {
			p.add("", show(s.Key), "%v", err)
			continue
		}
		v, err := tr.value(n, s.Value)
		if err != nil {
			p.add("", s.Key, "%v", err)
			continue
		}
		into.FieldByIndex(n.index).Set(v)
	}
	return p.err()
}

// fromEnv reads the environment variables that have the prefix, by name.
func (tr *tree) fromEnv(src Sources, p *problems) []entry {
	byEnv, names := map[string]*node{}, make([]string, 0, len(tr.params))
	for _, n := range tr.params {
		byEnv[envName(n.path)] = n
		names = append(names, strings.TrimPrefix(envName(n.path), EnvPrefix))
	}
	var out []entry
	for _, pair := range slices.Sorted(slices.Values(src.Env)) {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(src.IgnoreEnv, name) {
			continue
		}
		n := byEnv[name]
		if n == nil {
			p.add(show(name), "", "%v", unknownVariable{name, names})
			continue
		}
		if e, ok := tr.entry(n, value, name, p); ok {
			out = append(out, e)
		}
	}
	return out
}

// unknownVariable is for variables what unknownKey is for keys. It compares
// names without their common prefix, which would make any two look alike.
type unknownVariable struct {
	wrote      string
	candidates []string // without the prefix
}

// Error is the text after the variable.
func (u unknownVariable) Error() string {
	text := "sets no parameter"
	if best := nearest(strings.TrimPrefix(u.wrote, EnvPrefix), u.candidates); best != "" {
		text += fmt.Sprintf("; did you mean %s?", EnvPrefix+best)
	}
	return text
}

// fromSet reads KEY=VALUE pairs.
func (tr *tree) fromSet(pairs []string, p *problems) []entry {
	var out []entry
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			p.add("--set", show(pair), "KEY=VALUE is due")
			continue
		}
		n, err := tr.find(key)
		if err != nil {
			p.add("--set", show(key), "%v", err)
			continue
		}
		if e, ok := tr.entry(n, value, "--set", p); ok {
			out = append(out, e)
		}
	}
	return out
}

// entry checks a value that a source other than a document gives.
func (tr *tree) entry(n *node, text, place string, p *problems) (entry, bool) {
	v, err := tr.value(n, text)
	if err != nil {
		p.add(place, n.path, "%v", err)
		return entry{}, false
	}
	return entry{n, n.kind.format(v), place}, true
}

// value reads text as the value of n.
func (tr *tree) value(n *node, text string) (reflect.Value, error) {
	if !n.replicas() || !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return n.parse(text)
	}
	var found problems
	doc := Document{Name: "value", Data: []byte(n.path + ": " + text)}
	entries, _ := tr.readDocument(doc, &found)
	if len(found.shown) > 0 {
		if first, ok := found.shown[0].(*Error); ok {
			return reflect.Value{}, &Error{Key: first.Key, Problem: first.Problem}
		}
		return reflect.Value{}, found.shown[0]
	}
	if len(entries) != 1 || entries[0].node != n {
		return reflect.Value{}, fmt.Errorf("%s: a count or a list of settings is due", show(text))
	}
	return n.parse(entries[0].text)
}
