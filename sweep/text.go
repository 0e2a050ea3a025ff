package sweep

import (
	"path/filepath"
	"strings"

	"rnicmmu/measure"
)

func hashText(text string) string { return measure.HashBytes([]byte(text)) }

// oneLine is an error without its further lines.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// buildName names a program as far as its manifest does.
func buildName(b measure.Build) string {
	text := b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
	}
	if b.Binary != "" {
		text += ", binary " + b.Binary
	}
	return text
}

// firstFrame is the place in this module where a panic came from.
func firstFrame(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			lines = lines[i:]
			break
		}
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "rnicmmu/") && i+1 < len(lines) {
			place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			return filepath.Base(filepath.Dir(place)) + "/" + filepath.Base(place)
		}
	}
	return "an unknown place"
}
