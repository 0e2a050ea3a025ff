package configs

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// axisText is the text of an axis before its values are checked.
type axisText struct {
	key, from, to, step, times string
	values                     []string
	listed                     bool
	with                       *yaml.Node // nil: nothing changes in step
}

// axis reads {key, values: […]}, or {key, from, to, step} (a sum), or {key,
// from, to, times} (a product); both ends belong to the range where it meets
// them. With each, {with: {key: […]}} names what changes in step.
func (r *experimentReader) axis(label string, item *yaml.Node) {
	if item.Kind != yaml.MappingNode {
		r.fail(item.Line, label, "{key, values} or {key, from, to, step or times} is due")
		return
	}
	var a axisText
	scalars := map[string]*string{"key": &a.key, "from": &a.from, "to": &a.to, "step": &a.step, "times": &a.times}
	before := r.count()
	r.fields(item, label+".", []string{"key", "values", "from", "to", "step", "times", "with"}, func(key string, value *yaml.Node) {
		switch key {
		case "values":
			a.listed = true
			a.values = r.texts(label+".values", value)
		case "with":
			a.with = value
		default:
			*scalars[key] = r.text(label+"."+key, value)
		}
	})
	if r.count() > before {
		return
	}
	n, err := r.tree.find(a.key)
	if err != nil {
		r.fail(item.Line, label+".key", "%s: %v", show(a.key), err)
		return
	}
	r.axisLines = append(r.axisLines, item.Line)
	axis := Axis{Key: a.key, Values: r.values(label, item.Line, n, a)}
	if a.with != nil && r.count() == before {
		axis.With = r.with(label+".with", a.with, len(axis.Values))
	}
	r.out.Axes = append(r.out.Axes, axis)
}

// texts reads a list of values.
func (r *experimentReader) texts(label string, value *yaml.Node) (texts []string) {
	for _, v := range r.items(label, value) {
		texts = append(texts, r.text(label, follow(v)))
	}
	return texts
}

// with reads KEY: [a value for each of the axis].
func (r *experimentReader) with(label string, m *yaml.Node, size int) (all []Axis) {
	if m.Kind != yaml.MappingNode {
		r.fail(m.Line, label, "KEY: [VALUES] lines are due")
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, list := m.Content[i], follow(m.Content[i+1])
		n, err := r.tree.find(key.Value)
		if err != nil {
			r.fail(key.Line, label, "%s: %v", show(key.Value), err)
			continue
		}
		before := r.count()
		texts := r.texts(label+"."+key.Value, list)
		if r.count() > before {
			continue
		}
		if len(texts) != size {
			r.fail(key.Line, n.path, "a list of %d beside an axis of %d", len(texts), size)
			continue
		}
		r.axisLines = append(r.axisLines, key.Line)
		all = append(all, Axis{Key: n.path, Values: r.canonical(key.Line, n, texts)})
	}
	return all
}

// values checks the values of an axis and puts them in canonical form.
func (r *experimentReader) values(label string, line int, n *node, a axisText) []string {
	ranged := a.from != "" && a.to != "" && (a.step == "") != (a.times == "")
	if a.listed == ranged || a.listed && len(a.values) == 0 || a.listed && a.from+a.to+a.step+a.times != "" {
		r.fail(line, label, "either values, or from, to and one of step and times are due")
		return nil
	}
	texts := a.values
	if len(texts) > maxAxis {
		r.fail(line, n.path, "%s", tooMany)
		return nil
	}
	if ranged {
		var problem string
		if texts, problem = n.span(a); problem != "" {
			r.fail(line, n.path, "%s", problem)
		}
	}
	out := r.canonical(line, n, texts)
	for i, v := range out {
		if slices.Contains(out[:i], v) {
			r.fail(line, n.path, "%s is on the axis twice", show(v))
		}
	}
	return out
}

// canonical checks values of a key and puts them in the form that all share.
func (r *experimentReader) canonical(line int, n *node, texts []string) (out []string) {
	for _, text := range texts {
		v, err := r.tree.value(n, text)
		if err != nil {
			r.fail(line, n.path, "%v", err)
			continue
		}
		out = append(out, n.kind.format(v))
	}
	return out
}

// maxAxis bounds the values of one axis.
const maxAxis = 4096

var tooMany = fmt.Sprintf("too many values; an axis has at most %d", maxAxis)

// span lists the values of a range, exactly: in integers of base units, or in
// decimal fractions for numbers.
func (p *parameter) span(a axisText) (texts []string, problem string) {
	from, to, next, problem := p.ends(a)
	if problem != "" {
		return nil, problem
	}
	for x := newFraction(from); x.atMost(to); next(x) {
		text, ok := p.spell(x)
		switch {
		case !ok:
			return nil, "the range leaves the values of the key"
		case len(texts) == maxAxis:
			return nil, tooMany
		}
		texts = append(texts, text)
	}
	return texts, ""
}

// ends reads a range: its ends, and the function that leads from one value to
// the next.
func (p *parameter) ends(a axisText) (from, to *big.Rat, next func(*fraction), problem string) {
	from, ok1 := p.number(a.from)
	to, ok2 := p.number(a.to)
	by, ok3 := p.number(a.step)
	least, advance := new(big.Rat), adder
	if a.times != "" {
		by, ok3 = decimal(a.times)
		least, advance = big.NewRat(1, 1), multiplier
	}
	switch {
	case !ok1 || !ok2 || !ok3:
		return nil, nil, nil, "from, to and step are values of the key, times is a number"
	case from.Cmp(to) > 0:
		return nil, nil, nil, "from is above to"
	case by.Cmp(least) <= 0 || a.times != "" && from.Sign() <= 0:
		return nil, nil, nil, "the range never ends"
	}
	return from, to, advance(by), ""
}

// number is the value that text spells as an exact count of base units.
func (p *parameter) number(text string) (*big.Rat, bool) {
	v, err := p.read(text)
	switch {
	case err != nil || !isNumber(p.typ):
		return nil, false
	case v.CanUint():
		return new(big.Rat).SetInt(new(big.Int).SetUint64(v.Uint())), true
	case v.CanInt():
		return new(big.Rat).SetInt64(v.Int()), true
	}
	return new(big.Rat).SetString(p.kind.format(v))
}

// spell is the inverse of number.
func (p *parameter) spell(x *fraction) (string, bool) {
	v := reflect.New(p.typ).Elem()
	if v.CanFloat() {
		v.SetFloat(x.float())
		return p.kind.format(v), true
	}
	n, ok := x.integer()
	if !ok || storeInteger("", n, v) != nil {
		return "", false
	}
	return p.kind.format(v), true
}
