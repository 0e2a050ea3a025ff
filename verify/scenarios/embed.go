// Package scenarios holds the scenarios that ship, one text file or more an entry
// of docs/scenarios.md or a litmus story; docs/scenario.md has their language.
package scenarios

import "embed"

// Files are all of them.
//
//go:embed *.txt
var Files embed.FS
