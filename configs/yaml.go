package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Document is the text of a configuration file, and the name that errors give it.
type Document struct {
	Name string
	Data []byte
}

// maxFile bounds a configuration file, in bytes.
const maxFile = 16 << 20

var errLarge = errors.New("is larger than 16MiB; is it a configuration?")

// ReadFile reads a configuration file, a regular one of at most 16 MiB. The
// error is one line that names it.
func ReadFile(path string) (Document, error) {
	data, err := readRegular(path)
	if err != nil {
		problem := err.Error()
		if at := (*os.PathError)(nil); errors.As(err, &at) {
			problem = at.Err.Error()
		}
		return Document{}, &Error{Place: show(path), Problem: problem}
	}
	return Document{Name: path, Data: data}, nil
}

// readRegular looks before it opens: opening a FIFO would wait for its writer.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a directory; name a file in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file; write it to disk first")
	case info.Size() > maxFile:
		return nil, errLarge
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// The size in info is no bound: files of /proc have none, others may grow.
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if len(data) > maxFile {
		return nil, errLarge
	}
	return data, err
}

// place names a line of the document; line 0 is the document as a whole.
func (d Document) place(line int) string {
	if line == 0 {
		return show(d.Name)
	}
	return fmt.Sprintf("%s:%d", show(d.Name), line)
}

// parse reads the document's one mapping; nil where the document is empty.
func (d Document) parse() (*yaml.Node, error) {
	if line, problem := badByte(d.Data); problem != "" {
		return nil, &Error{Place: d.place(line), Problem: problem}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(d.Data))
	var root, more yaml.Node
	switch err := decoder.Decode(&root); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, d.syntaxError(err)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &Error{Place: d.place(more.Line), Problem: "a second document; one is due"}
	case err != io.EOF:
		return nil, d.syntaxError(err)
	}
	top := follow(root.Content[0])
	switch {
	case isNull(top):
		return nil, nil
	case top.Kind != yaml.MappingNode:
		return nil, &Error{Place: d.place(top.Line), Problem: "KEY: VALUE lines are due"}
	}
	return top, nil
}

// badByte finds the line of the first byte that no YAML text holds; the
// parser's own errors for these have no line.
func badByte(data []byte) (line int, problem string) {
	line = 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return line, "not UTF-8 text"
		case r == '\n':
			line++
		case r < ' ' && r != '\t' && r != '\r':
			return line, "a control character"
		}
		i += size
	}
	return 0, ""
}

var (
	syntaxLine    = regexp.MustCompile(`^yaml: line (\d+): (.*)`)
	unknownAnchor = regexp.MustCompile(`^yaml: unknown anchor '(.*)' referenced`)
)

// syntaxError words an error of the YAML parser and mends its line: errors of
// the grammar ("did not find expected …") count lines from 0 in yaml/v3, those
// of the scanner from 1, and an unknown anchor comes without a line.
func (d Document) syntaxError(err error) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	line := 0
	if m := syntaxLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
		if strings.HasPrefix(message, "did not find expected") {
			line++
		}
	} else if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		before, _, _ := bytes.Cut(d.Data, []byte("*"+m[1]))
		line = 1 + bytes.Count(before, []byte("\n"))
	}
	message = strings.TrimPrefix(message, "yaml: ")
	return &Error{Place: d.place(line), Problem: "YAML syntax: " + message}
}

// follow resolves an alias to the node that it repeats.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
