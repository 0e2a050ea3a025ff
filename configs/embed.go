package configs

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed profiles/*.yaml experiments/*.yaml
var embedded embed.FS

// Listing is the name of an embedded file and what it is, in one line.
type Listing struct {
	Name, Description string
}

// Experiments lists the embedded experiments by name.
func Experiments() []Listing { return listings("experiments") }

// Profile is the text of an embedded profile.
func Profile(name string) (Document, error) { return lookUp("profiles", "profile", name) }

// ExperimentDocument is the text of an embedded experiment.
func ExperimentDocument(name string) (Document, error) {
	return lookUp("experiments", "experiment", name)
}

func lookUp(folder, noun, name string) (Document, error) {
	file := path.Join(folder, name+".yaml")
	data, err := embedded.ReadFile(file)
	if err != nil || strings.ContainsAny(name, `/\.`) {
		hint := Suggest(name, names(folder))
		if hint == "" {
			hint = "; there is " + strings.Join(names(folder), ", ")
		}
		return Document{}, fmt.Errorf("%s: unknown %s%s", show(name), noun, hint)
	}
	return Document{Name: path.Join("configs", file), Data: data}, nil
}

// Profiles lists the names of the embedded profiles.
func Profiles() []string { return names("profiles") }

// names lists a folder; embed sorts it by name.
func names(folder string) []string {
	files, err := embedded.ReadDir(folder)
	if err != nil {
		return nil
	}
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = strings.TrimSuffix(f.Name(), ".yaml")
	}
	return out
}

func listings(folder string) []Listing {
	var out []Listing
	for _, name := range names(folder) {
		doc, err := lookUp(folder, folder, name)
		if err != nil {
			continue
		}
		out = append(out, Listing{Name: name, Description: description(doc)})
	}
	return out
}

// description is the value of the document's top-level key description.
func description(doc Document) string {
	top, err := doc.parse()
	if err != nil || top == nil {
		return ""
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == keyDescription {
			return strings.Join(strings.Fields(top.Content[i+1].Value), " ")
		}
	}
	return ""
}
