package coverage

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("coverage").Funcs(template.FuncMap{"percent": percent, "ordered": ordered, "state": state}).Parse(pageText))

// HTML writes the report as one page without anything beside it.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r) }

// percent is covered of total in whole percent, rounded down, so that 100 is all.
func percent(covered, total int) int {
	if total == 0 {
		return 100
	}
	return covered * 100 / total
}

// state says what a bin is to the reader.
func state(b BinReport) string {
	switch {
	case b.Illegal != "" && b.Hits > 0:
		return "broken"
	case b.Illegal != "":
		return "illegal"
	case b.Ignored != "":
		return "ignored"
	case b.Hits == 0:
		return "missing"
	}
	return "covered"
}

// ordered are a group's bins: broken and missing ones first, those that are not
// asked for last.
func ordered(bins []BinReport) []BinReport {
	rank := map[string]int{"broken": 0, "missing": 1, "covered": 2, "ignored": 3, "illegal": 3}
	all := slices.Clone(bins)
	slices.SortStableFunc(all, func(a, b BinReport) int { return rank[state(a)] - rank[state(b)] })
	return all
}
