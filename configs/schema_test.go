package configs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

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

func TestDescribe(t *testing.T) {
	var out strings.Builder
	if err := Describe(&out, testSpec{}, "tpt.mtt"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "KEY ") {
		t.Fatalf("a header and four parameters are due:\n%s", out.String())
	}
	for _, part := range []string{"tpt.mtt.ways", "integer", " 4 ", "1 to 64, power of two; 0 = fully associative", "ways of a set"} {
		if !strings.Contains(lines[2], part) {
			t.Errorf("%q is not in %q", part, lines[2])
		}
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
