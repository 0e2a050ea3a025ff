package configs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema(testSpec{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// toJSON reads YAML as an editor does.
func toJSON(text []byte) (any, error) {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
}

func TestSchemaAgreesWithLoad(t *testing.T) {
	schema := compileSchema(t)
	for text, good := range map[string]bool{
		"seed: 18446744073709551615":          true,
		"seed: -1":                            false,
		"seed: 1.5":                           false,
		"profile: default\ndescription: mine": true,
		"profile: nonesuch":                   false,
		"scheme: odp":                         true,
		"scheme: ODP":                         false,
		"adapters: 2":                         true,
		"adapters: 0":                         false,
		"adapters: [{tpt: {mtt: {entries: 64}}}, null, {}]": true,
		"adapters: [{seed: 3}]":                             false,
		"adapters: [{pcie: {read_latency: 3ns}}]":           false,
		"adapters: []":              false,
		"warmup: 5":                 true,
		"warmup: 5us":               true,
		"warmup: 5GHz":              false,
		"label: 3":                  true,
		"tpt:":                      true,
		"tpt: 3":                    false,
		"tpt: {clock: 2.5GHz}":      true,
		"tpt: {clock: 800}":         false,
		"tpt: {clock: 5ns}":         false,
		"tpt: {page: 2MiB}":         true,
		"tpt: {page: 8KiB}":         false,
		"tpt: {mtt: {entries: 64}}": true,
		"tpt: {mtt: {entries: 65}}": false,
		"tpt: {mtt: {entries: 0}}":  false,
		"tpt: {mtt: {ways: 0}}":     true,
		"tpt: {mtt: {levels: 4}}":   false,
		"tpt: {mtt: {entires: 4}}":  false,
		"pcie: {link: {relaxed: false, wire: 200Gbps}}": true,
		"pcie: {link: {relaxed: 1}}":                    false,
		"pressure: {overcommit: 0.25, memory: 20GiB}":   true,
		"pressure: {overcommit: 65}":                    false,
		"temperature: -41":                              false,
	} {
		value, err := toJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != good {
			t.Errorf("schema on %s: %v", text, err)
		}
		var s testSpec
		_, err = Load(&s, Sources{Files: []Document{{Name: "f", Data: []byte(text)}}})
		if (err == nil) != good {
			t.Errorf("load of %s: %v", text, err)
		}
	}
}

func TestSchemaTakesWhatMarshalWrites(t *testing.T) {
	schema := compileSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		text, err := Marshal(drawSpec(t), false)
		if err != nil {
			t.Fatal(err)
		}
		value, err := toJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	})
}

func TestSchemaIsGoodByItsOwnDefaults(t *testing.T) {
	var s struct {
		Properties struct {
			TPT struct {
				Properties struct {
					Clock struct{ Default, Description string }
				}
			}
			Seed struct{ Default uint64 }
		}
	}
	if err := json.Unmarshal(must(Schema(testSpec{})), &s); err != nil {
		t.Fatal(err)
	}
	clock := s.Properties.TPT.Properties.Clock
	if clock.Default != "800MHz" || s.Properties.Seed.Default != 1 ||
		clock.Description != "clock of the tables (1MHz to 10GHz); source: assumed" {
		t.Errorf("%+v", s)
	}
}

// The width is 100: source and doc of a parameter are wrapped under its line.
const transcriptOfMTT = `KEY                  DEFAULT  RANGE  (KIND)
tpt.mtt.entries      2048     1 to 4194304, power of two  (integer)
    cached entries
    source: derived | measured
tpt.mtt.ways         4        1 to 64, power of two; 0 = fully associative  (integer)
    ways of a set
tpt.mtt.replacement  lru      lru, fifo, plru, nru, random  (choice)
    victim choice
tpt.mtt.levels       2        1 to 3  (integer)
    levels of the table
`

func TestDescribeWrapsAtItsWidth(t *testing.T) {
	word := "µs-wide" // 7 characters, 8 bytes
	params := []Param{{Key: "a.key", Kind: "choice", Default: "µ", Range: strings.Repeat(word+", ", 30),
		Doc: strings.TrimSpace(strings.Repeat(word+" ", 40)), Source: strings.Repeat("x", 150)}}
	var out strings.Builder
	if err := writeParams(&out, params); err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, line := range strings.Split(out.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 100 && !strings.Contains(line, "xxx") || strings.HasSuffix(line, " ") {
			t.Errorf("%d characters in %q", n, line)
		}
		if strings.HasPrefix(line, `a.key  "µ"      µs-wide`) {
			keys++
		}
	}
	// 12 words of 8 fill 100 after an inset of 4, and 11 after one of 8.
	if keys != 1 || !strings.Contains(out.String(), "\n    "+strings.TrimSpace(strings.Repeat(word+" ", 12))+"\n        "+word+" ") {
		t.Errorf("%d lines with the key in\n%s", keys, out.String())
	}
}

func TestDescribe(t *testing.T) {
	var out strings.Builder
	if err := Describe(&out, testSpec{}, "tpt.mtt"); err != nil {
		t.Fatal(err)
	}
	if out.String() != transcriptOfMTT {
		t.Errorf("got\n%s\nwant\n%s", out.String(), transcriptOfMTT)
	}
	err := Describe(&out, testSpec{}, "tpt.mmt")
	if want := "tpt.mmt: unknown key; did you mean tpt.mpt?"; err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func TestParameters(t *testing.T) {
	params := must(Params(testSpec{}))
	page := string(must(ParametersPage(testSpec{})))
	for _, p := range params {
		if strings.Count(page, "| `"+p.Key+"` |") != 1 {
			t.Errorf("%s is not once in the page", p.Key)
		}
	}
	if !strings.Contains(page, `derived \| measured`) {
		t.Error("a | in a cell is not escaped")
	}
	last := params[len(params)-1]
	if last.Key != "temperature" || last.Min != "-40" || last.Max != "125" || last.Default != "-5" || last.Kind != "integer" {
		t.Errorf("%+v", last)
	}
	if params[1].Kind != "choice" || len(params[1].OneOf) != 5 {
		t.Errorf("%+v", params[1])
	}
}
