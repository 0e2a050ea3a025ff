package coverage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Schema names the layout of coverage.json.
const Schema = "rnicmmu.coverage.1"

// Report is the coverage of one run, or of several merged.
type Report struct {
	Schema string        `json:"schema"`
	Tool   string        `json:"tool"` // version of the program
	Runs   uint64        `json:"runs"`
	Seeds  []uint64      `json:"seeds"` // of the runs, each once, in order
	Groups []GroupReport `json:"covergroups"`
}

// GroupReport is a covergroup with its counts.
type GroupReport struct {
	Name    string      `json:"name"`
	Doc     string      `json:"doc"`
	Covered int         `json:"covered"` // bins that are asked for and were hit
	Total   int         `json:"total"`   // bins that are asked for
	Bins    []BinReport `json:"bins"`
}

// BinReport is a bin with its count.
type BinReport struct {
	Name    string `json:"name"`
	Hits    uint64 `json:"hits"`
	Ignored string `json:"ignored,omitempty"` // why it is not asked for
	Illegal string `json:"illegal,omitempty"` // why it must not occur
}

// Due tells whether the bin is asked for.
func (b *BinReport) Due() bool { return b.Ignored == "" && b.Illegal == "" }

// Empty is the report of no run.
func Empty(tool string) *Report {
	r := &Report{Schema: Schema, Tool: tool, Seeds: []uint64{}}
	for _, g := range groups {
		x := GroupReport{Name: g.Name, Doc: g.Doc}
		for _, b := range g.Bins {
			x.Bins = append(x.Bins, BinReport{Name: b.Name, Ignored: b.Ignored, Illegal: b.Illegal})
		}
		x.count()
		r.Groups = append(r.Groups, x)
	}
	return r
}

// Report is what the collector has counted, of a run with a seed.
func (c *Collector) Report(tool string, seed uint64) *Report {
	r := Empty(tool)
	r.Runs, r.Seeds = 1, []uint64{seed}
	for i, g := range groups {
		for j := range g.Bins {
			r.Groups[i].Bins[j].Hits = c.hits[g.first+j]
		}
		r.Groups[i].count()
	}
	return r
}

func (g *GroupReport) count() {
	g.Covered, g.Total = 0, 0
	for i := range g.Bins {
		if b := &g.Bins[i]; b.Due() {
			g.Total++
			if b.Hits > 0 {
				g.Covered++
			}
		}
	}
}

// Missing are the bins that are asked for and were not hit.
func (g *GroupReport) Missing() (names []string) {
	for i := range g.Bins {
		if b := &g.Bins[i]; b.Due() && b.Hits == 0 {
			names = append(names, b.Name)
		}
	}
	return names
}

// Broken are the bins that must not occur and did, with their groups.
func (r *Report) Broken() (names []string) {
	for i := range r.Groups {
		for _, b := range r.Groups[i].Bins {
			if b.Illegal != "" && b.Hits > 0 {
				names = append(names, fmt.Sprintf("%s: %s: %s", r.Groups[i].Name, b.Name, b.Illegal))
			}
		}
	}
	return names
}

// Covered counts bins hit and bins asked for, of all groups.
func (r *Report) Covered() (covered, total int) {
	for i := range r.Groups {
		covered, total = covered+r.Groups[i].Covered, total+r.Groups[i].Total
	}
	return covered, total
}

// Merge is the coverage of the runs of both, whose bins must be the same. The
// order does not matter, nor what is merged first.
func Merge(a, b *Report) (*Report, error) {
	if a.Tool != b.Tool {
		return nil, fmt.Errorf("coverage of versions %s and %s of the program cannot be merged; run again with one", a.Tool, b.Tool)
	}
	m := &Report{Schema: Schema, Tool: a.Tool, Runs: a.Runs + b.Runs, Seeds: slices.Concat(a.Seeds, b.Seeds)}
	slices.Sort(m.Seeds)
	m.Seeds = slices.Compact(m.Seeds)
	if len(a.Groups) != len(b.Groups) {
		return nil, fmt.Errorf("coverage of %d groups and of %d cannot be merged; run again with one version", len(a.Groups), len(b.Groups))
	}
	for i := range a.Groups {
		g, h := a.Groups[i], &b.Groups[i]
		if g.Name != h.Name || len(g.Bins) != len(h.Bins) {
			return nil, fmt.Errorf("group %s cannot be merged with %s, which has other bins; run again with one version", g.Name, h.Name)
		}
		g.Bins = slices.Clone(g.Bins)
		for j := range g.Bins {
			if g.Bins[j].Name != h.Bins[j].Name {
				return nil, fmt.Errorf("%s: bin %q cannot be merged with %q; run again with one version", g.Name, g.Bins[j].Name, h.Bins[j].Name)
			}
			g.Bins[j].Hits += h.Bins[j].Hits
		}
		g.count()
		m.Groups = append(m.Groups, g)
	}
	return m, nil
}

// JSON is coverage.json.
func (r *Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(r)
	return b.Bytes(), err
}

// Read reads a coverage.json.
func Read(path string) (*Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: no coverage: %w", path, err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("%s: layout %q: %s is due; run again", path, r.Schema, Schema)
	}
	return &r, nil
}
