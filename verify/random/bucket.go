package random

import (
	"regexp"
	"strings"
)

var number = regexp.MustCompile(`(0x[0-9a-f]+|\d+(\.\d+)?(e[+-]?\d+)?)(ps|ns|us|ms|s|[KMG]?i?B)?\b`)

// normalise takes the numbers out of a line, so that failures of one kind share
// a bucket.
func normalise(line string) string { return number.ReplaceAllString(line, "N") }

// Flags are settings as they are written on a command line, quoted where a shell
// needs it.
func Flags(set []string) string {
	var text strings.Builder
	for _, s := range set {
		if strings.ContainsAny(s, " []{}") {
			s = "'" + s + "'"
		}
		text.WriteString(" --set " + s)
	}
	return text.String()
}
