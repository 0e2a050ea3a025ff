package calibrate

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"rnicmmu/configs"
)

// values are a Spec's parameters as text, by key.
func values(t *testing.T, s *Spec) map[string]string {
	t.Helper()
	text, err := configs.Marshal(s, false)
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var walk func(prefix string, group map[string]any)
	walk = func(prefix string, group map[string]any) {
		for k, v := range group {
			if inner, ok := v.(map[string]any); ok {
				walk(prefix+k+".", inner)
			} else {
				all[prefix+k] = fmt.Sprint(v)
			}
		}
	}
	walk("", root)
	return all
}

// The page on calibration has every parameter of the machines with its value, the
// device's with what it is, and every reason of an outlier.
func TestCalibrationPage(t *testing.T) {
	page, err := os.ReadFile("../docs/calibration.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	var specs [2]map[string]string
	for i, m := range Machines() {
		spec, err := m.Load(nil)
		if err != nil {
			t.Fatal(err)
		}
		specs[i] = values(t, &spec)
		for _, o := range m.Outliers {
			if !strings.Contains(text, o.Reason) {
				t.Errorf("calibration.md does not say: %s", o.Reason)
			}
		}
	}
	var defaults Spec
	if err := configs.Defaults(&defaults); err != nil {
		t.Fatal(err)
	}
	usual := values(t, &defaults)
	params, err := configs.Params(&Spec{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range params {
		key, line := p.Key, ""
		switch {
		case strings.HasPrefix(key, "device."):
			line = fmt.Sprintf("| `%s` | %s | %s |", key, usual[key], p.Doc)
		case specs[0][key] != usual[key] || specs[1][key] != usual[key]:
			line = fmt.Sprintf("| `%s` | %s | %s |", key, specs[0][key], specs[1][key])
		}
		if !strings.Contains(text, line) {
			t.Errorf("calibration.md lacks the row\n%s", line)
		}
	}
}
