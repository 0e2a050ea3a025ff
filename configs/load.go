package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// EnvPrefix begins the names of environment variables that set parameters:
// RNICMMU_TPT_MTT_ENTRIES sets tpt.mtt.entries.
const EnvPrefix = "RNICMMU_"

func envName(path string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// Sources are the places that parameters come from. Later ones override
// earlier ones in this order: defaults, profile, files, experiment,
// environment, Set.
type Sources struct {
	// Profile names an embedded profile. Where it is empty, the last of Files
	// that names one decides, then Experiment.
	Profile string
	// Files override one another in order.
	Files []Document
	// Experiment gives its fixed overrides.
	Experiment *Experiment
	// Env holds NAME=VALUE as os.Environ returns it. Names without EnvPrefix
	// are ignored.
	Env []string
	// IgnoreEnv names variables that have the prefix but set no parameter.
	IgnoreEnv []string
	// Set holds KEY=VALUE, the last for a key wins.
	Set []string
}

// Resolved tells where the values of a loaded Spec come from.
type Resolved struct {
	// Profile is the embedded profile at the bottom; empty for none.
	Profile string
	places  map[string]string
}

// Given tells whether any source sets the key; if not it has its default.
func (r *Resolved) Given(key string) bool { return r.places[key] != "" }

// Place is where the value of key comes from: file:line, the environment
// variable's name, --set, or "default".
func (r *Resolved) Place(key string) string {
	if place := r.places[key]; place != "" {
		return place
	}
	return "default"
}

// Problem makes the error of a check across parameters (geometry, keys that
// exclude each other); it names the place that key comes from.
func (r *Resolved) Problem(key, format string, args ...any) error {
	return &Error{Place: r.places[key], Key: key, Problem: fmt.Sprintf(format, args...)}
}

// Load fills spec, a pointer to a Spec, from its defaults and the sources. It
// reports all problems, a line each, in the order of the sources and of their
// lines; those after the first 20 as their number. spec is unchanged then.
func Load(spec any, src Sources) (*Resolved, error) {
	into, err := target(spec)
	if err != nil {
		return nil, err
	}
	tr, err := treeOf(spec)
	if err != nil {
		return nil, err
	}
	l := &loader{tree: tr, viper: viper.New(), resolved: &Resolved{places: map[string]string{}}}
	l.load(src)
	if err := l.problems.err(); err != nil {
		return nil, err
	}
	for _, n := range tr.params {
		v, err := n.parse(l.viper.GetString(n.path))
		if err != nil {
			return nil, l.resolved.Problem(n.path, "%v", err)
		}
		into.FieldByIndex(n.index).Set(v)
	}
	return l.resolved, nil
}

// Defaults fills spec, a pointer to a Spec, with its defaults.
func Defaults(spec any) error {
	_, err := Load(spec, Sources{})
	return err
}

// loader merges the layers by viper; values are canonical text by then.
type loader struct {
	tree     *tree
	viper    *viper.Viper
	resolved *Resolved
	problems problems
}

func (l *loader) load(src Sources) {
	for _, n := range l.tree.params {
		l.viper.SetDefault(n.path, n.fallback)
	}
	profile, place := src.Profile, "--profile"
	var files []entry
	for _, doc := range src.Files {
		entries, head := l.tree.readDocument(doc, &l.problems)
		files = append(files, entries...)
		if src.Profile == "" && head.profile != "" {
			profile, place = head.profile, doc.place(head.profileLine)
		}
	}
	if src.Experiment != nil {
		files = append(files, src.Experiment.fixed...)
		if profile == "" {
			profile, place = src.Experiment.Profile, src.Experiment.Name
		}
	}
	fileProblems := l.problems
	l.problems = problems{}
	l.profile(profile, place, nil)
	l.problems.join(fileProblems)
	l.resolved.Profile = profile
	l.merge(files)
	l.merge(l.tree.fromEnv(src, &l.problems))
	for _, e := range l.tree.fromSet(src.Set, &l.problems) {
		l.viper.Set(e.node.path, e.text)
		l.resolved.places[e.node.path] = e.place
	}
}

// profile merges an embedded profile above the one that it names itself.
func (l *loader) profile(name, place string, above []string) {
	if name == "" {
		return
	}
	doc, err := Profile(name)
	if err != nil || slices.Contains(above, name) {
		if err == nil {
			err = fmt.Errorf("%s: stands on itself", name)
		}
		l.problems.add(place, keyProfile, "%v", err)
		return
	}
	entries, head := l.tree.readDocument(doc, &l.problems)
	l.profile(head.profile, doc.place(head.profileLine), append(above, name))
	l.merge(entries)
}

// merge puts a layer above those before it.
func (l *loader) merge(entries []entry) {
	layer := map[string]any{}
	for _, e := range entries {
		group := layer
		parts := strings.Split(e.node.path, ".")
		for _, part := range parts[:len(parts)-1] {
			inner, ok := group[part].(map[string]any)
			if !ok {
				inner = map[string]any{}
				group[part] = inner
			}
			group = inner
		}
		group[parts[len(parts)-1]] = e.text
		l.resolved.places[e.node.path] = e.place
	}
	if err := l.viper.MergeConfigMap(layer); err != nil {
		l.problems.add("", "", "%v", err)
	}
}
