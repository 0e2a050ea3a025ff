package random

import "strconv"

// accesses is the most that a run of a campaign has.
const accesses = 300

// Settings are the configuration of a seed, as KEY=VALUE. The seed is also that
// of the run's random streams.
func Settings(seed uint32) []string { return SettingsBeside(nil, seed) }

// SettingsBeside are Settings of which some keys are fixed, with their values.
// A configuration may then be refused: it need not go with what is fixed.
func SettingsBeside(fixed map[string]string, seed uint32) []string {
	set := configurations(fixed, accesses).Example(int(seed))
	if _, ok := fixed["seed"]; !ok {
		set = append(set, "seed="+strconv.FormatUint(uint64(seed), 10))
	}
	return set
}
