package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const scenarioText = `scenario first-touch log=events
scheme: odp
mr m length=4KiB
at 0us   a: write m length=8B
at 10us  mark
expect faults.raised = 1
----
      10000.000  line 5: mark
      10000.000  line 5: done
ok

`

// A file is one line, with its outcome; what is wrong decides the exit status.
func TestScenarioCommand(t *testing.T) {
	dir := t.TempDir()
	change := func(name, old, new string) string {
		return put(t, dir, name, strings.Replace(scenarioText, old, new, 1))
	}
	good := put(t, dir, "good.txt", scenarioText)
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{good}, 0, "pass  " + good + "  1 of 1 scenarios", ""},
		{[]string{"--shuffle", "7", good}, 0, "pass  ", ""},
		{[]string{"--log", good}, 0, "adapter 0: eqe", ""},
		{[]string{change("count.txt", "= 1", "= 2"), good}, 1, "count.txt:6: scenario first-touch: expect faults.raised = 2: 1 against 2", ""},
		{[]string{change("log.txt", "5: done", "5: gone")}, 1, `log.txt:9: scenario first-touch: the log has "10000.000  line 5: done" here`, ""},
		{[]string{change("word.txt", "write m", "wirte m"), good}, 2, "pass  " + good, "word.txt:4: wirte: one of"},
		{[]string{change("key.txt", "scheme: odp", "scheme: odd")}, 2, "FAIL  ", "key.txt:2: scheme: odd"},
		{[]string{change("memory.txt", "scheme: odp", "scheme: pinned\nhost.memory: 8KiB\nmr n length=1MiB")}, 2, "", "memory.txt:1: host.memory: "},
		{[]string{filepath.Join(dir, "none.txt")}, 2, "", "none.txt: no such file"},
		{nil, 2, "", "at least one FILE is due"},
		{[]string{change("stuck.txt", "mr m", "pcie.inject.withhold: nonposted\npcie.credits.nph: 1\npcie.completion_timeout: 0ns\nqp.ack_timeout: 0\nwatchdog: 1ms\nmr m")}, 3, "the model stopped itself", "nph"},
	} {
		o := tool(t, dir, append([]string{"scenario"}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.stdout, c.stdout) || !strings.Contains(o.stderr, c.stderr) {
			t.Errorf("%v: exit %d\n%s%s", c.args, o.code, o.stdout, o.stderr)
		}
	}
	var all []struct {
		File, Scenario string
		Passed         bool
		Summary        struct{ Faults struct{ Raised uint64 } }
	}
	o := tool(t, dir, "scenario", "--json", good)
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil || len(all) != 1 || !all[0].Passed || all[0].Summary.Faults.Raised != 1 {
		t.Errorf("%v\n%s", err, o.stdout)
	}
}
