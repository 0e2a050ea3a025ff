package coverage

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"rnicmmu/platform"
	"rnicmmu/sweep"
	"rnicmmu/verify/scenario"
	"rnicmmu/verify/scenarios"
)

// Scenarios runs all scenarios that ship, and the scripts of corners, each with a
// collector beside it, and gives what they come to together. Whether scenarios
// end as they must is for their own tests.
func Scenarios(ctx context.Context) (*Report, error) {
	total := Empty(sweep.Version)
	names, err := fs.Glob(scenarios.Files, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := scenarios.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if total, err = playFile(ctx, name, data, total); err != nil {
			return nil, err
		}
	}
	return playFile(ctx, "corners", []byte(refusals()+keyDeaths()+badAnswers()), total)
}

func playFile(ctx context.Context, name string, data []byte, total *Report) (*Report, error) {
	f, err := scenario.Parse(name, data)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Scenarios {
		if total, err = play(ctx, s, total); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, s.Name, err)
		}
	}
	return total, nil
}

func play(ctx context.Context, s *scenario.Scenario, total *Report) (*Report, error) {
	var c *Collector
	var seed uint64
	s.Watch = func(sys *platform.System) { c, seed = New(sys), sys.Adapters()[0].Seed }
	r, err := s.Run(ctx, 0)
	if err != nil || c == nil {
		return total, err
	}
	if r.Summary != nil {
		c.Finish(r.Summary)
	}
	return Merge(total, c.Report(sweep.Version, seed))
}

// script is a corner that needs to say what happens when, in the language of
// scenarios. It expects nothing but that there are accesses.
func script(name string, lines ...string) string {
	return "scenario " + name + "\n" + strings.Join(lines, "\n") + "\nexpect accesses.issued > 0\n----\n\n"
}

// refusals are accesses that a key refuses, of every operation, and such as have
// no bytes, each between others of its queue pair.
func refusals() (all string) {
	for _, transport := range transports {
		lines := []string{"transport: " + transport, "mr all length=64KiB", "mr none length=8KiB rights=none", "mr ro length=8KiB rights=read",
			"mr wo length=8KiB rights=write", "mr off length=8KiB dynamic"}
		qp := 0
		add := func(verb, rest string) {
			lines = append(lines, fmt.Sprintf("at 0us write all length=64B qp=%d", qp), fmt.Sprintf("at 5us %s %s qp=%d", verb, rest, qp),
				fmt.Sprintf("at 5us write all length=4KiB qp=%d", qp), fmt.Sprintf("at 5us read all length=64B qp=%d", qp))
			qp++
		}
		for _, verb := range []string{"write", "read", "fetch-add", "compare-swap"} {
			for _, rest := range []string{"none", "ro", "wo", "off", "all key=12345678", "all key=257", "all offset=64KiB"} {
				add(verb, rest)
			}
		}
		add("write", "all length=0B")
		add("read", "all length=0B")
		all += script("refused-"+transport, lines...)
		all += script("sends-"+transport, "transport: "+transport, "qp.retry: 1", "qp.ack_timeout: 5", "mr m length=64KiB", "receives qp=0 posted=1", "receives qp=1 posted=0",
			"at 0us send length=8KiB qp=0", "at 0us send length=64B qp=1", "at 0us send length=0B qp=2", "at 300us post-receive qp=1 count=4",
			"at 0us send length=64B qp=3 invalidate=m", "at 0us write m length=8KiB qp=3 repeat=20 every=100ns", "at 9us send length=64B qp=4 invalidate=m")
	}
	return all
}

// keyDeaths are the ends of a key at some distance from the first of the
// accesses that use it, in memory that is pinned and in such as pages.
func keyDeaths() (all string) {
	for _, scheme := range []string{"pinned", "odp", "suspend"} {
		for i, at := range []string{"1us", "2us", "3us", "5us", "9us", "14us"} {
			run := func(name string, lines ...string) {
				all += script(fmt.Sprintf("%s-%s-%d", name, scheme, i), append([]string{"scheme: " + scheme, "host.pager.grace: 0ns",
					"pcie.read_latency: 2us", "tpt.mtt.entries: 4", "pcie.lanes: 1", "qp.mtu: 1KiB", "tpt.mtt.prefetch: next_line", "tpt.mtt.mshrs: 4",
					"mr m length=64KiB dynamic", "at 0us r0: register m", "then w: write m length=64KiB qp=0 repeat=3 every=500ns",
					"after w.posted r: read m length=64KiB qp=1 repeat=3 every=500ns", "after w.posted a: fetch-add m qp=2 repeat=20 every=300ns"}, lines...)...)
			}
			fast := "workload.registration_method: fast"
			run("deregister", "after w.posted +"+at+" d: deregister m")
			run("local-invalidate", fast, "after w.posted +"+at+" d: local-invalidate m", "then f: fast-register m")
			run("send", fast, "receives qp=3 posted=4", "after w.posted +"+at+" d: send length=8B qp=3 invalidate=m")
			run("moved", "after w.posted +1us x: migrate m page=0", "after w.posted +"+at+" d: deregister m")
		}
	}
	return all
}

// badAnswers are reads of every unit whose data come marked bad, or late.
func badAnswers() (all string) {
	for _, what := range []string{"poison message=%s nth=1", "delay message=%s nth=1 by=200us"} {
		for i, of := range []string{"data-completion", "receive-completion", "command-data", "qpc-completion", "mpt-completion", "mtt-completion",
			"flush-completion", "translation-completion", "link=peer wqe-completion", "link=peer data-completion"} {
			scheme, peer := "odp", ""
			if of == "translation-completion" {
				scheme = "sva"
			}
			if rest, is := strings.CutPrefix(of, "link=peer "); is {
				of, peer = rest, " link=peer"
			}
			for _, verb := range []string{"write m length=8KiB", "read m length=8KiB", "send length=1KiB", "fetch-add m", "compare-swap m"} {
				all += script(fmt.Sprintf("bad-%d-%s-%s", i, strings.Fields(verb)[0], what[:3]), "scheme: "+scheme, "pcie.completion_timeout: 100us",
					"peer.pcie.completion_timeout: 100us", "qp.inline: 0B", "qp.retry: 1", "qp.ack_timeout: 5", "host.notifier.timeout: 1ms", "host.iommu.ats_timeout: 1ms",
					fmt.Sprintf(what, of+peer), "mr m length=64KiB", "receives qp=0 posted=4", "at 0us "+verb+" qp=0")
			}
		}
	}
	return all
}
