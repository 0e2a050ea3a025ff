package configs

import (
	"encoding/json"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"rnicmmu/clocked"
)

// object is a JSON object; encoding/json writes its keys in sorted order.
type object = map[string]any

// Schema is a JSON Schema (draft 2020-12) of configuration files, for editors.
// It describes nested groups; Load reads dotted keys in files as well.
func Schema(spec any) ([]byte, error) {
	tr, err := treeOf(spec)
	if err != nil {
		return nil, err
	}
	root := tr.groupSchema(tr.root, func(*node) bool { return true }, true)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "rnicmmu configuration"
	properties := root["properties"].(object)
	properties[keyDescription] = object{"type": "string", "description": "what this file is, in one line"}
	properties[keyProfile] = object{"enum": Profiles(), "description": "embedded profile to start from"}
	return json.MarshalIndent(root, "", "  ")
}

// groupSchema describes the children of g that are wanted. A group whose lines
// are all commented out is null.
func (tr *tree) groupSchema(g *node, want func(*node) bool, defaults bool) object {
	properties := object{}
	for _, n := range g.children {
		switch {
		case !want(n):
		case n.group():
			properties[n.key] = tr.groupSchema(n, want, defaults)
		default:
			properties[n.key] = tr.parameterSchema(n, defaults)
		}
	}
	out := object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if g.doc != "" {
		out["description"] = g.doc
	}
	return out
}

func (tr *tree) parameterSchema(n *node, defaults bool) object {
	out := n.valueSchema()
	if n.replicas() {
		w := &walker{scope: n.parameter}
		item := tr.groupSchema(tr.root, w.mayHold, false)
		out = object{"anyOf": []any{out, object{"type": "array", "minItems": 1, "items": item}}}
	}
	out["description"] = n.help()
	if defaults {
		out["default"] = n.literal(n.fallback)
	}
	return out
}

// valueSchema describes the values of p, apart from lists of replicas.
func (p *parameter) valueSchema() object {
	switch {
	case len(p.oneof) > 0:
		choices := make([]any, len(p.oneof))
		for i, choice := range p.oneof {
			choices[i] = p.literal(choice)
		}
		return object{"enum": choices}
	case p.unitless():
		return p.numberSchema()
	case p.kind.unit != nil:
		return object{"type": "string", "pattern": p.kind.unit.pattern()}
	case p.typ.Kind() == reflect.Bool:
		return object{"type": "boolean"}
	case p.typ.Kind() == reflect.String:
		return object{"type": []string{"string", "number", "boolean"}}
	}
	return object{"anyOf": []any{object{"type": "integer", "minimum": 0},
		object{"type": "string", "pattern": kinds[reflect.TypeFor[clocked.Time]()].unit.pattern()}}}
}

// unitless tells whether values are written as bare numbers.
func (p *parameter) unitless() bool {
	return p.replicas() || p.kind.unit == nil && isNumber(p.typ)
}

func (p *parameter) numberSchema() object {
	out := object{"type": "integer"}
	if p.typ.Kind() == reflect.Float64 {
		out["type"] = "number"
	}
	if powers := p.powers(); p.pow2 && len(powers) > 0 {
		out["enum"] = powers
		return out
	}
	out["minimum"] = json.Number(p.bound(p.min))
	if p.max.IsValid() {
		out["maximum"] = json.Number(p.bound(p.max))
	}
	if p.zero != "" {
		return object{"anyOf": []any{object{"const": 0}, out}}
	}
	return out
}

// powers lists the powers of two that p may be; nil where p has no maximum.
func (p *parameter) powers() []json.Number {
	if !p.max.IsValid() {
		return nil
	}
	var powers []json.Number
	if p.zero != "" {
		powers = append(powers, "0")
	}
	lowest, _ := new(big.Int).SetString(p.bound(p.min), 10)
	highest, _ := new(big.Int).SetString(p.bound(p.max), 10)
	if lowest == nil || highest == nil {
		return nil
	}
	for n := big.NewInt(1); n.Cmp(highest) <= 0; n = new(big.Int).Lsh(n, 1) {
		if n.Cmp(lowest) >= 0 {
			powers = append(powers, json.Number(n.String()))
		}
	}
	return powers
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// literal is the JSON value that a YAML reader makes of canonical text.
func (p *parameter) literal(text string) any {
	switch {
	case p.typ.Kind() == reflect.Bool:
		b, _ := strconv.ParseBool(text)
		return b
	case p.typ.Kind() != reflect.String && jsonNumber.MatchString(text):
		return json.Number(text)
	}
	return text
}

// help is the description of n with its range and source, one line.
func (n *node) help() string {
	text := n.doc
	if r := n.rangeText(); r != "" {
		text += " (" + r + ")"
	}
	if n.source != "" {
		text += "; source: " + n.source
	}
	return strings.TrimSpace(text)
}
