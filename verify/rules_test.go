package verify_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"rnicmmu/verify"
	"rnicmmu/verify/rule"
)

// TestRulesPage: docs/rules.md is what `rnicmmu describe rules --markdown`
// prints.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil || !bytes.Equal(page, rule.Page(verify.Rules())) {
		t.Errorf("docs/rules.md is not current (%v): go run ./cmd/rnicmmu describe rules --markdown > docs/rules.md", err)
	}
}

// TestRulesAreComplete: every rule has an id of its own and of the one form, and
// says what it means, where it comes from and how it is broken; the sources that
// it names exist.
func TestRulesAreComplete(t *testing.T) {
	sources, err := os.ReadFile("../docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	invariants, err := os.ReadFile("../docs/invariants.md")
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^[A-Z]+(-[A-Z]+)?-[0-9]{2}$`)
	tag, id := regexp.MustCompile(`\[[A-Za-z0-9]+\]`), regexp.MustCompile(`\b[A-Z]{2,3}-[0-9]+\b`)
	seen := map[string]bool{}
	for _, r := range verify.Rules() {
		if !form.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("%s: not of the form GROUP-SUBJECT-01, or twice", r.ID)
		}
		seen[r.ID] = true
		for _, text := range []string{r.Title, r.Meaning, r.Source, r.Example} {
			if text == "" || strings.HasSuffix(text, "  ") {
				t.Errorf("%s: a field is empty", r.ID)
			}
		}
		for _, s := range tag.FindAllString(r.Source, -1) {
			if !bytes.Contains(sources, []byte(s)) {
				t.Errorf("%s: %s is not in docs/sources.md", r.ID, s)
			}
		}
		for _, s := range id.FindAllString(r.Source, -1) {
			if !bytes.Contains(invariants, []byte("| "+s+" |")) {
				t.Errorf("%s: %s is not in docs/invariants.md", r.ID, s)
			}
		}
	}
}
