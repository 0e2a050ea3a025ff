// Package configs loads, checks and describes configurations, and carries the
// embedded hardware profiles and experiments.
//
// What can be configured is declared once, by the tags of the Spec structs that
// live in the components; checks, documentation, `describe` and the JSON Schema
// all come from them:
//
//	type Spec struct {
//		Clock clocked.Freq `key:"clock" default:"800MHz" min:"1MHz" max:"10GHz" doc:"clock of the tables"`
//		MTT   Cache        `key:"mtt" defaults:"entries=2048, ways=0" doc:"translation cache"`
//	}
//
//	         Spec tags ──▶ tree of nodes ──▶ Params, Describe, ParametersPage, Schema
//	                            │
//	files ─▶ YAML nodes ─▶ checked entries ─┐
//	profile ───────────▶        "           ├─▶ viper (precedence) ─▶ Spec ─▶ Marshal, Hash
//	environment, --set ▶        "           ┘
//
// Tags of a parameter:
//
//	key       name; a field without it (or with internal:"-") is no parameter
//	default   value as a file spells it; required
//	min, max  range; without min, nothing may be negative
//	oneof     comma-separated list of the only values
//	pow2      "true": powers of two only
//	zero      what 0 means; it is then good even outside the range
//	doc       one line
//	source    where the default comes from
//	scope     on a model.Replicas: comma-separated keys that replicas may override
//
// A nested struct with a key is a group; an embedded struct without a key lends
// its parameters to the group around it. Either may carry defaults:"key=value,
// key=value", which replaces the defaults of the parameters inside, so that one
// struct can serve two groups.
//
// A file holds nested or dotted keys, and about itself `description` and
// `profile` (the embedded profile to start from). Units are exact: a value that
// is not a whole number of picoseconds, hertz, bytes or bits per second is
// refused, never rounded.
//
// Not here: the product's Spec itself, and checks across parameters, which use
// Resolved.Problem to name the place of a value.
package configs
