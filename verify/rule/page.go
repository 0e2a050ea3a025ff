package rule

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
)

// List prints rules, one a line.
func List(w io.Writer, rules []*Rule) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rules {
		fmt.Fprintf(t, "%s\t%s\n", r.ID, r.Title)
	}
	return t.Flush()
}

// Page is docs/rules.md: a section a rule.
func Page(rules []*Rule) []byte {
	var p bytes.Buffer
	p.WriteString("# Rules\n\nWhat the checks beside a run watch for ([verification.md](verification.md)), by the ids that violations name. Sources are\n" +
		"tags of [sources.md](sources.md) and ids of [invariants.md](invariants.md). This page is printed by\n`rnicmmu describe rules --markdown`.\n")
	for _, r := range rules {
		fmt.Fprintf(&p, "\n## %s %s\n\n%s\n\n*Source:* %s.\n\n*Broken by:* %s.\n", r.ID, r.Title, r.Meaning, r.Source, r.Example)
	}
	return p.Bytes()
}
