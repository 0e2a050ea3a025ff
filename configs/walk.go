package configs

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Keys of a file that are about the file itself.
const (
	keyProfile     = "profile"
	keyDescription = "description"
)

// entry is one good value that a source gives: canonical text, and where it stands.
type entry struct {
	node  *node
	text  string
	place string
}

// header is what a file says about itself.
type header struct {
	profile, description string
	profileLine          int
}

// walker turns the nodes of one document into entries, and checks each.
type walker struct {
	tree  *tree
	doc   Document
	scope *parameter     // set inside a list of replicas: only keys in its scope are good
	label string         // put before keys in errors, such as "adapters[1]."
	seen  map[string]int // lines of the keys read so far
	head  *header
	out   []entry
	*problems
}

// readDocument checks a configuration document against the tree.
func (tr *tree) readDocument(doc Document, p *problems) ([]entry, header) {
	top, err := doc.parse()
	if err != nil {
		p.join(problems{shown: []error{err}})
	}
	w := &walker{tree: tr, doc: doc, seen: map[string]int{}, head: &header{}, problems: p}
	if top != nil {
		w.mapping(top, "")
	}
	return w.out, *w.head
}

func (w *walker) fail(line int, path, format string, args ...any) {
	w.add(w.doc.place(line), w.label+path, format, args...)
}

// mapping reads the keys below prefix, in order.
func (w *walker) mapping(m *yaml.Node, prefix string) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], follow(m.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			w.fail(key.Line, prefix, "a key is due, not a list or a group")
			continue
		}
		path := join(prefix, key.Value)
		if first, again := w.seen[path]; again {
			w.fail(key.Line, show(path), "set twice (first in line %d)", first)
			continue
		}
		w.seen[path] = key.Line
		if w.head != nil && (path == keyProfile || path == keyDescription) {
			w.readHeader(path, value, key.Line)
			continue
		}
		w.key(path, value, key.Line)
	}
}

func (w *walker) readHeader(path string, value *yaml.Node, line int) {
	switch {
	case value.Kind != yaml.ScalarNode || isNull(value):
		w.fail(line, path, "a text is due")
	case path == keyProfile:
		w.head.profile, w.head.profileLine = value.Value, line
	default:
		w.head.description = value.Value
	}
}

// key reads the value of one key: a group or a parameter.
func (w *walker) key(path string, value *yaml.Node, line int) {
	n := w.tree.byPath[path]
	switch {
	case n == nil:
		w.fail(line, show(path), "%v", unknownKey{path, func() []string { return w.candidates(value) }})
	case w.scope != nil && !w.mayHold(n):
		w.fail(line, path, "cannot differ; only keys of %s can", strings.Join(w.scope.scope, ", "))
	case !n.group():
		w.parameter(n, value, line)
	case value.Kind == yaml.MappingNode:
		w.mapping(value, path)
	case !isNull(value): // a group whose lines are all commented out is null
		w.fail(line, path, "a group is due (%s), not a %s", strings.Join(n.keys(), ", "), kindName(value))
	}
}

// mayHold tells whether n lies in the scope, or holds keys that do.
func (w *walker) mayHold(n *node) bool {
	if w.scope.inScope(n.path) {
		return true
	}
	for _, prefix := range w.scope.scope {
		if strings.HasPrefix(prefix, n.path+".") {
			return true
		}
	}
	return false
}

// candidates are the keys to propose for an unknown one: groups for a group,
// parameters for a value.
func (w *walker) candidates(value *yaml.Node) []string {
	var names []string
	for _, path := range w.tree.paths {
		n := w.tree.byPath[path]
		if n.group() == (value.Kind == yaml.MappingNode) && (w.scope == nil || w.mayHold(n)) {
			names = append(names, path)
		}
	}
	return names
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "group"
	case yaml.SequenceNode:
		return "list"
	}
	return "value"
}

// parameter reads and checks the value of n.
func (w *walker) parameter(n *node, value *yaml.Node, line int) {
	if n.replicas() && value.Kind == yaml.SequenceNode {
		if text, ok := w.replicaList(n, value); ok {
			w.out = append(w.out, entry{n, text, w.doc.place(line)})
		}
		return
	}
	switch {
	case isNull(value):
		w.fail(line, n.path, "a value is due")
		return
	case value.Kind != yaml.ScalarNode:
		w.fail(line, n.path, "one value is due, not a %s", kindName(value))
		return
	}
	v, err := n.parse(value.Value)
	if err != nil {
		w.fail(line, n.path, "%v", err)
		return
	}
	w.out = append(w.out, entry{n, n.kind.format(v), w.doc.place(line)})
}
