package scenario

import (
	"strings"
	"testing"
)

// good is a scenario to which a line is added, its sixth.
const good = `scenario s
scheme: odp
mr m length=8KiB
at 0us a: write m length=8B
expect faults.raised = 1
LINE
----
ok
`

// What is wrong with a line is one line that names its place and, where there is
// one, the mend.
func TestErrors(t *testing.T) {
	for line, want := range map[string]string{
		"wirte m":                                       `f.txt:6: "wirte" begins no line; one of mr,`,
		"exepct a = ok":                                 "did you mean expect?",
		"at 1us b: raed m":                              "f.txt:6: raed: one of",
		"at 1us raed m":                                 "did you mean read?",
		"at 1 read m":                                   "f.txt:6: at 1: a time as 10us is due",
		"at":                                            "f.txt:6: at: at TIME or after MOMENT is due",
		"at 1us":                                        "f.txt:6: what happens is not said",
		"after z read m":                                "f.txt:6: z: no event of the timeline has that name",
		"after a +x read m":                             "f.txt:6: +x: a time as +10us is due",
		"after fil#1 read m":                            "did you mean fill?",
		"after fill#0 read m":                           "which of the messages is due, from 1",
		"after faults.raised=1 read m":                  "FIGURE>=N is due",
		"at 1us a: read m":                              "f.txt:6: a: the name is taken",
		"at 1us 3: read m":                              `f.txt:6: "3": a name of letters`,
		"at 1us read n":                                 "f.txt:6: read: n: no mr has that name",
		"at 1us read":                                   "f.txt:6: read: memory is due",
		"at 1us read m m":                               `f.txt:6: read: "m" is too much`,
		"at 1us read m lenght=8B":                       "did you mean length?",
		"at 1us read m length=8":                        "f.txt:6: read: length=8: bytes as 64B, 4KiB or 0x800 are due",
		"at 1us read m length=8B length=9B":             "f.txt:6: read: length= stands twice",
		"at 1us read m qp=5-2":                          "f.txt:6: read: qp=5-2: a number or a range",
		"at 1us read m key=x":                           "f.txt:6: read: key=x: the name of an mr",
		"at 1us read m key=m#0":                         "which of its keys is due",
		"at 1us read m repeat=0":                        "repeat=0: 1 at least is due",
		"at 1us fetch-add m length=16B":                 "atomics have 8 bytes",
		"at 1us read m invalidate=m":                    "a SEND invalidates the key of an mr",
		"at 1us migrate m page=7":                       "f.txt:6: migrate: page=7: the last page is 2",
		"at 1us migrate m page=0 pages=1":               "page= and pages= are both given",
		"at 1us unmap m pages=0,2":                      "pages in one range are due",
		"at 1us cpu-load m pages=0-1":                   "pages= is not known here",
		"at 1us advise m advice=now":                    "advice=now: read, write or no_fault is due",
		"at 1us register m":                             "give it dynamic",
		"at 1us remove m":                               `remove: "m" is too much`,
		"mr m":                                          "f.txt:6: mr: m: the name is taken",
		"mr k length=0B":                                "f.txt:6: mr: length=0B: 1B to 64GiB are due",
		"mr k rights=reed":                              "read, write, atomic and local with commas between",
		"mr k resident=x":                               "all, none, or numbers and ranges",
		"mr k va=0xfffffffffffff":                       "an address as 0x10000 below 2^47 is due",
		"delay by=1us message=fil":                      "did you mean fill?",
		"delay message=fill":                            "by=TIME is due",
		"delay message=fill by=1us link=x":              "host or peer is due",
		"lose packet=nak":                               "packet=nak: request or response is due",
		"receives qp=x posted=1":                        "receives: qp=x: a number from 0 to",
		"expect":                                        "f.txt:6: expect: what is not said",
		"expect a = fine":                               "f.txt:6: expect: fine: one of ok,",
		"expect faults.rased = 1":                       "did you mean faults.raised?",
		"expect faults.raised 1":                        "EXPRESSION = EXPRESSION is due",
		"expect faults.raised < 1 ± 1%":                 "± goes with = only",
		"expect faults.raised = 1 ± x":                  "a part as 1%, a time or a number is due",
		"expect faults.raised faults.failed = 1":        "+ or - is due between",
		"expect faults.raised + = 1":                    "a figure or a value is due",
		"expect a.fauls = 1":                            "did you mean faults?",
		"expect latncy(a) = 1us":                        "did you mean latency?",
		"expect latency(fill#1) = 1us":                  "the name of an event is due",
		"expect resident(n) = 1":                        "no mr has that name",
		"expect count(fil) = 1":                         "did you mean fill?",
		"expect content m page=0":                       "REGION page=N = the names of its stores",
		"expect content m page=0 = z":                   "no event of the timeline has that name",
		"expect violation":                              "the rule's name is due",
		"expect a before":                               "EXPRESSION = EXPRESSION is due",
		"expect kernel.migrations = 1 2":                "+ or - is due between",
		"tpt.mtt.entires: 3":                            "f.txt:6: tpt.mtt.entires: unknown key; did you mean tpt.mtt.entries?",
		"at 1us read m adapter=1":                       "adapters: 1, and the timeline names adapter 1",
		"workload.qps: 1\nat 1us read m qp=3":           "the timeline names QP 3; use 4",
		"mr k va=0x100000800 length=4KiB":               "it shares a page of 4096 bytes with another",
		"receives qp=7 posted=1":                        "there is no such queue pair",
		"workload.registration: implicit\nmr k dynamic": "leave one of them out",
	} {
		f, err := Parse("f.txt", []byte(strings.Replace(good, "LINE", line, 1)))
		if err == nil {
			_, err = f.Scenarios[0].Run(t.Context(), 0)
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n%v\nwant %s", line, err, want)
		}
	}
}

// Blocks that are none are told too.
func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "f.txt:1: no scenario",
		"senario s\n----\n":         `f.txt:1: "senario" begins no block: scenario or common is due; did you mean scenario?`,
		"scenario s\nat 0us mark\n": "f.txt:1: the block has no end",
		"scenario s log=(x)\nat 0us mark\n----\n": "log=x: one of accesses, events, messages is due",
		"scenario s a=b\nat 0us mark\n----\n":     "scenario takes a name and log=(…)",
		"scenario s\n----\n":                      "f.txt:1: scenario s: nothing happens",
		"scenario s\nat 0us mark\n----\n":         "f.txt:1: scenario s: no count is expected",
		"scenario s=(\n----\n":                    `f.txt:1: "s=(": KEY, KEY=VALUE or KEY=(VALUE, …) is due`,
		"scenario s\nthen mark\n----\n":           "f.txt:2: then: nothing stands before it",
	} {
		if _, err := Parse("f.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What is not said fails.
func TestUnsaid(t *testing.T) {
	for line, want := range map[string]string{
		"at 1us b: write m offset=8KiB length=8B":       "b ended remote_access_error, which no line expects",
		"at 1us b: migrate m page=0":                    "b ended refused, which no line expects (page 0 of m cannot be changed now",
		"delay message=zap by=1us":                      "delay zap: there was no such message",
		"lose packet=request nth=9":                     "lose request: there was no such message",
		"expect violation stale_dma":                    "stale_dma was not broken",
		"expect refused":                                "the run came to its end",
		"expect a = remote_access_error":                "it ended ok",
		"expect faults.raised = 2":                      "1 against 2",
		"expect a before a.posted":                      "against",
		"expect zap#1 before a":                         "zap#1 has not been",
		"expect content m page=0 = none":                "the page holds something else",
		"expect latency(a) < 1us":                       "(1000.000ns)",
		"expect tpt7.fills = 1":                         "this system has no such figure",
		"at 1us flush-context adapter=0":                "there is no IOMMU",
		"at 1us b: read m length=8B\nexpect b before a": "against",
	} {
		f, err := Parse("f.txt", []byte(strings.Replace(good, "LINE", line, 1)))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		r, err := f.Scenarios[0].Run(t.Context(), 0)
		if err != nil || len(r.Failures) == 0 || !strings.Contains(r.Output(), want) {
			t.Errorf("%s: %v\n%s\nwant %s", line, err, r.Output(), want)
		}
	}
}
