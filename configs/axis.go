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
}

// axis reads {key, values: […]}, or {key, from, to, step} (a sum), or {key,
// from, to, times} (a product); both ends belong to the range where it meets
// them.
func (r *experimentReader) axis(label string, item *yaml.Node) {
	if item.Kind != yaml.MappingNode {
		r.fail(item.Line, label, "{key, values} or {key, from, to, step or times} is due")
		return
	}
	var a axisText
	scalars := map[string]*string{"key": &a.key, "from": &a.from, "to": &a.to, "step": &a.step, "times": &a.times}
	before := r.count()
	r.fields(item, label+".", []string{"key", "values", "from", "to", "step", "times"}, func(key string, value *yaml.Node) {
		if key != "values" {
			*scalars[key] = r.text(label+"."+key, value)
			return
		}
		a.listed = true
		for _, v := range r.items(label+".values", value) {
			a.values = append(a.values, r.text(label+".values", follow(v)))
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
	r.out.Axes = append(r.out.Axes, Axis{Key: a.key, Values: r.values(label, item.Line, n, a)})
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
	var out []string
	for _, text := range texts {
		v, err := r.tree.value(n, text)
		if err != nil {
			r.fail(line, n.path, "%v", err)
			continue
		}
		canonical := n.kind.format(v)
		if slices.Contains(out, canonical) {
			r.fail(line, n.path, "%s is on the axis twice", show(text))
		}
		out = append(out, canonical)
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
