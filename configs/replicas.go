package configs

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rnicmmu/model"
)

// The value of a replicas parameter travels as text, like every other: a
// count, or a YAML flow list of mappings from dotted keys to values,
//
//	[{tpt.mtt.entries: 64}, {}]

// replicaList checks a list of replica settings and puts it in canonical form.
func (w *walker) replicaList(n *node, value *yaml.Node) (text string, ok bool) {
	r := model.Replicas{Count: len(value.Content)}
	if err := n.check(reflect.ValueOf(r), fmt.Sprint(r.Count)); err != nil {
		w.fail(value.Line, n.path, "%v", err)
		return "", false
	}
	before := w.count()
	for i, item := range value.Content {
		item = follow(item)
		inner := &walker{tree: w.tree, doc: w.doc, scope: n.parameter, seen: map[string]int{},
			label: fmt.Sprintf("%s%s[%d].", w.label, n.path, i), problems: w.problems}
		switch {
		case item.Kind == yaml.MappingNode:
			inner.mapping(item, "")
		case !isNull(item):
			w.fail(item.Line, fmt.Sprintf("%s[%d]", n.path, i), "settings are due, e.g. {tpt.mtt.entries: 64}")
		}
		r.Overrides = append(r.Overrides, w.tree.settings(inner.out))
	}
	return n.kind.format(reflect.ValueOf(r)), w.count() == before
}

// settings lists entries in the order in which the Spec declares their keys.
func (tr *tree) settings(entries []entry) []model.Setting {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Compare(slices.Index(tr.params, a.node), slices.Index(tr.params, b.node))
	})
	settings := make([]model.Setting, len(entries))
	for i, e := range entries {
		settings[i] = model.Setting{Key: e.node.path, Value: e.text}
	}
	return settings
}

// parseCount reads a count, or a canonical list.
func parseCount(text string, into reflect.Value) error {
	var r model.Replicas
	if !strings.HasPrefix(text, "[") {
		if err := parseInteger(text, reflect.ValueOf(&r.Count).Elem()); err != nil {
			return fmt.Errorf("%w, or a list of settings", err)
		}
		into.Set(reflect.ValueOf(r))
		return nil
	}
	var items []yaml.Node
	if err := yaml.Unmarshal([]byte(text), &items); err != nil {
		return fmt.Errorf("%s: a count or a list of settings is due", show(text))
	}
	for _, item := range items {
		settings := []model.Setting{}
		for i := 0; i+1 < len(item.Content); i += 2 {
			settings = append(settings, model.Setting{Key: item.Content[i].Value, Value: item.Content[i+1].Value})
		}
		r.Overrides = append(r.Overrides, settings)
	}
	r.Count = len(items)
	into.Set(reflect.ValueOf(r))
	return nil
}

func formatReplicas(v reflect.Value) string {
	r := v.Interface().(model.Replicas)
	if len(r.Overrides) == 0 {
		return fmt.Sprint(r.Count)
	}
	items := make([]string, len(r.Overrides))
	for i, settings := range r.Overrides {
		pairs := make([]string, len(settings))
		for j, s := range settings {
			pairs[j] = s.Key + ": " + scalar(s.Value)
		}
		items[i] = "{" + strings.Join(pairs, ", ") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}
