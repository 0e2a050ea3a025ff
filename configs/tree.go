package configs

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"rnicmmu/model"
)

// node is a key of a Spec: a group of keys, or a parameter.
type node struct {
	key      string // own name
	path     string // dotted, from the root
	doc      string
	index    []int // field indices from the root struct
	children []*node
	*parameter
}

// group tells whether n holds other keys.
func (n *node) group() bool { return n.parameter == nil }

// tree is what the tags of a Spec declare.
type tree struct {
	root   *node
	params []*node          // parameters, in order of declaration
	paths  []string         // every dotted key, groups too, in order of declaration
	byPath map[string]*node // groups too
}

// treeOf reads the tags of a Spec, a struct or a pointer to one. It fails on
// tags that contradict themselves, which is a mistake in the program.
func treeOf(spec any) (*tree, error) {
	t := reflect.TypeOf(spec)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("configs: %T is not a Spec: a struct is due", spec)
	}
	tr := &tree{root: &node{}, byPath: map[string]*node{}}
	if err := tr.addFields(tr.root, t, nil, nil); err != nil {
		return nil, err
	}
	return tr, tr.checkTags()
}

// target is the addressable struct behind spec, which must be a pointer.
func target(spec any) (reflect.Value, error) {
	v := reflect.ValueOf(spec)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return v, fmt.Errorf("configs: %T cannot be filled: a pointer to a Spec is due", spec)
	}
	return v.Elem(), nil
}

// addFields declares the fields of struct t below parent. Defaults that an
// outer group overrides are in overrides, by key relative to parent.
func (tr *tree) addFields(parent *node, t reflect.Type, index []int, overrides map[string]string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(index[:len(index):len(index)], i)
		key, tagged := f.Tag.Lookup("key")
		if f.Tag.Get("internal") == "-" || !tagged && !f.Anonymous {
			continue
		}
		if !tagged { // an embedded struct lends its keys to the parent
			if err := tr.addFields(parent, f.Type, at, merged(f.Tag, overrides)); err != nil {
				return err
			}
			continue
		}
		n := &node{key: key, path: join(parent.path, key), doc: f.Tag.Get("doc"), index: at}
		if err := tr.declare(parent, n, f, overrides); err != nil {
			return err
		}
	}
	return nil
}

func (tr *tree) declare(parent, n *node, f reflect.StructField, overrides map[string]string) error {
	if !wellFormed(n.key) || !f.IsExported() {
		return fmt.Errorf("configs: %s: a key is lower-case letters, digits and _, on an exported field", n.path)
	}
	if tr.byPath[n.path] != nil {
		return fmt.Errorf("configs: %s: declared twice", n.path)
	}
	parent.children = append(parent.children, n)
	tr.byPath[n.path] = n
	tr.paths = append(tr.paths, n.path)
	if k, ok := kinds[f.Type]; ok {
		p, err := newParameter(k, f, overrides[n.key])
		n.parameter = p
		tr.params = append(tr.params, n)
		if err != nil {
			return fmt.Errorf("configs: %s: %w", n.path, err)
		}
		return nil
	}
	if f.Type.Kind() != reflect.Struct {
		return fmt.Errorf("configs: %s: no parameter can be a %s", n.path, f.Type)
	}
	inner := map[string]string{}
	for key, value := range overrides {
		if rest, ok := strings.CutPrefix(key, n.key+"."); ok {
			inner[rest] = value
		}
	}
	return tr.addFields(n, f.Type, n.index, merged(f.Tag, inner))
}

// merged reads the tag defaults:"entries=64, ways=4" of a group and puts what
// an outer group overrides on top.
func merged(tag reflect.StructTag, outer map[string]string) map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(tag.Get("defaults"), ",") {
		if key, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			all[key] = value
		}
	}
	for key, value := range outer {
		all[key] = value
	}
	return all
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

func wellFormed(key string) bool {
	return key != "" && strings.IndexFunc(key, func(r rune) bool {
		return r != '_' && !unicode.IsDigit(r) && (r < 'a' || r > 'z')
	}) < 0
}

// checkTags finds what only the whole tree shows: scopes that name nothing and
// keys that share an environment variable.
func (tr *tree) checkTags() error {
	var errs []error
	byEnv := map[string]string{}
	for _, n := range tr.params {
		if other, taken := byEnv[envName(n.path)]; taken {
			errs = append(errs, fmt.Errorf("configs: %s and %s share %s", other, n.path, envName(n.path)))
		}
		byEnv[envName(n.path)] = n.path
		for _, prefix := range n.scope {
			if tr.byPath[prefix] == nil {
				errs = append(errs, fmt.Errorf("configs: %s: scope %s is not a key", n.path, prefix))
			}
		}
	}
	for _, reserved := range []string{keyProfile, keyDescription} {
		if tr.byPath[reserved] != nil {
			errs = append(errs, fmt.Errorf("configs: %s: reserved for the file itself", reserved))
		}
	}
	return errors.Join(errs...)
}

// find looks a parameter up; the error proposes the nearest key.
func (tr *tree) find(path string) (*node, error) {
	n := tr.byPath[path]
	if n == nil {
		return nil, unknownKey{path, func() []string { return tr.paths }}
	}
	if n.group() {
		return nil, fmt.Errorf("a group: set one of its keys (%s)", strings.Join(n.keys(), ", "))
	}
	return n, nil
}

// keys names the children of a group.
func (n *node) keys() []string {
	names := make([]string, len(n.children))
	for i, c := range n.children {
		names[i] = c.key
	}
	return names
}

// inScope tells whether a unit may override path where a parameter of n's kind
// counts the units.
func (p *parameter) inScope(path string) bool {
	for _, prefix := range p.scope {
		if path == prefix || strings.HasPrefix(path, prefix+".") {
			return true
		}
	}
	return false
}

// replicas tells whether n takes a list of settings in place of a count.
func (p *parameter) replicas() bool { return p.typ == reflect.TypeFor[model.Replicas]() }
