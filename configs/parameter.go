package configs

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rnicmmu/model"
)

// parameter is what the tags of one field declare.
type parameter struct {
	kind     *kind
	typ      reflect.Type
	fallback string // the default, canonical
	min, max reflect.Value
	oneof    []string // canonical; empty where the range alone decides
	pow2     bool
	zero     string // what 0 means where it stands outside the range
	source   string
	scope    []string // keys that a replica may override
}

// newParameter reads the tags of f; override replaces the default where it is
// not empty. The default must itself be a good value.
func newParameter(k *kind, f reflect.StructField, override string) (*parameter, error) {
	p := &parameter{kind: k, typ: f.Type, zero: f.Tag.Get("zero"), source: f.Tag.Get("source"),
		pow2: f.Tag.Get("pow2") == "true", scope: list(f.Tag.Get("scope"))}
	bound, err := p.bounds(f.Tag)
	if err != nil {
		return p, err
	}
	p.min, p.max = bound[0], bound[1]
	for _, choice := range list(f.Tag.Get("oneof")) {
		v, err := p.read(choice)
		if err != nil {
			return p, fmt.Errorf("oneof: %w", err)
		}
		p.oneof = append(p.oneof, k.format(v))
	}
	fallback, ok := f.Tag.Lookup("default")
	if override != "" {
		fallback, ok = override, true
	}
	if !ok {
		return p, errors.New("no default")
	}
	v, err := p.parse(fallback)
	if err != nil {
		return p, fmt.Errorf("default: %w", err)
	}
	p.fallback = k.format(v)
	return p, nil
}

// bounds reads min and max. Without min nothing may be negative.
func (p *parameter) bounds(tag reflect.StructTag) (bound [2]reflect.Value, err error) {
	typ := p.typ
	if p.replicas() {
		typ = reflect.TypeFor[int]()
	}
	for i, name := range []string{"min", "max"} {
		text, ok := tag.Lookup(name)
		switch {
		case !isNumber(typ):
		case ok:
			bound[i] = reflect.New(typ).Elem()
			if err := kinds[typ].parse(text, bound[i]); err != nil {
				return bound, fmt.Errorf("%s: %w", name, err)
			}
		case name == "min":
			bound[i] = reflect.Zero(typ)
		}
	}
	return bound, nil
}

func list(tag string) []string {
	if tag == "" {
		return nil
	}
	items := strings.Split(tag, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// read turns text into a value of the parameter's type.
func (p *parameter) read(text string) (reflect.Value, error) {
	v := reflect.New(p.typ).Elem()
	return v, p.kind.parse(text, v)
}

// parse reads text and checks that the parameter may have the value.
func (p *parameter) parse(text string) (reflect.Value, error) {
	v, err := p.read(text)
	if err == nil {
		err = p.check(v, text)
	}
	return v, err
}

// check refuses a value outside the parameter's choices or range.
func (p *parameter) check(v reflect.Value, text string) error {
	if len(p.oneof) > 0 {
		if !slices.Contains(p.oneof, p.kind.format(v)) {
			return p.notOneOf(text)
		}
		return nil
	}
	if p.replicas() {
		v = reflect.ValueOf(v.Interface().(model.Replicas).Count)
	}
	if !isNumber(v.Type()) || p.zero != "" && v.IsZero() {
		return nil
	}
	if v.CanInt() && v.Int() < 0 && compare(p.min, reflect.Zero(v.Type())) >= 0 {
		return fmt.Errorf("%s: is negative; %s", show(text), p.rangeText())
	}
	if compare(v, p.min) < 0 || p.max.IsValid() && compare(v, p.max) > 0 {
		return fmt.Errorf("%s: out of range; %s", show(text), p.rangeText())
	}
	if p.pow2 && !powerOfTwo(v) {
		return fmt.Errorf("%s: not a power of two", show(text))
	}
	return nil
}

func (p *parameter) notOneOf(text string) error {
	return fmt.Errorf("%s: not one of %s%s", show(text), strings.Join(p.oneof, ", "), Suggest(text, p.oneof))
}

func powerOfTwo(v reflect.Value) bool {
	if v.CanUint() {
		return bits.OnesCount64(v.Uint()) == 1
	}
	return v.CanInt() && v.Int() > 0 && bits.OnesCount64(uint64(v.Int())) == 1
}

// bound prints min or max; empty where there is none.
func (p *parameter) bound(v reflect.Value) string {
	switch {
	case !v.IsValid():
		return ""
	case p.replicas():
		return strconv.FormatInt(v.Int(), 10)
	}
	return p.kind.format(v)
}

// rangeText tells in words which values the parameter may have.
func (p *parameter) rangeText() string {
	var text string
	lowest, highest := p.bound(p.min), p.bound(p.max)
	switch {
	case len(p.oneof) > 0:
		text = strings.Join(p.oneof, ", ")
	case highest != "":
		text = lowest + " to " + highest
	case lowest != "":
		text = "from " + lowest
	case p.typ.Kind() == reflect.Bool:
		text = "true, false"
	}
	if p.pow2 {
		text += ", power of two"
	}
	if p.zero != "" {
		text += "; " + p.zero
	}
	return text
}
