package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rnicmmu/clocked"
	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/configs"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/key"
	"rnicmmu/platform"
	"rnicmmu/verify"
)

// Result is what came of a scenario.
type Result struct {
	Scenario  *Scenario
	Simulated clocked.Time
	Wall      time.Duration
	Failures  []Failure
	Log       []string
	Stuck     *platform.Stuck  // the model stopped itself
	Summary   *measure.Summary // nil where there was no run, or no end
}

// Failure is an expectation that does not hold, or something that went wrong and
// was not expected.
type Failure struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Output is what the file must have behind the scenario.
func (r *Result) Output() string {
	lines := append([]string{}, r.Log...)
	for _, f := range r.Failures {
		lines = append(lines, fmt.Sprintf("FAIL line %d: %s", f.Line, f.Text))
	}
	if len(r.Failures) == 0 {
		lines = append(lines, "ok")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Run runs a scenario; seed other than 0 shuffles the units' order within each
// instant. The error is one of the file: configuration that cannot be.
func (s *Scenario) Run(ctx context.Context, shuffle uint64) (*Result, error) {
	started := time.Now()
	specs, err := s.specs()
	if err != nil {
		return nil, err
	}
	r := &Result{Scenario: s}
	p := &player{s: s, used: make([]int, len(s.rules)), mapping: make([]uint32, len(s.memory)), index: map[*region]int{}, owners: map[uint64]int{}, counts: map[*measure.Counts]int{}, adapters: len(specs), pageBytes: specs[0].Host.Shift().Bytes()}
	for _, e := range s.timeline {
		p.events = append(p.events, played{event: e})
	}
	p.sys, err = platform.New(specs, &platform.Input{Name: s.File, Script: s.script(p, specs[0].Host.Shift())})
	if err == nil {
		err = p.prepare(len(specs))
	}
	if err == nil {
		err = p.run(ctx, r, shuffle)
	}
	r.Wall = time.Since(started)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	return r, s.judge(p, r, err)
}

// run runs the system and keeps what it has come to.
func (p *player) run(ctx context.Context, r *Result, shuffle uint64) (err error) {
	if shuffle != 0 {
		p.sys.Shuffle(shuffle)
	}
	finish := verify.Attach(p.sys)
	if p.s.Watch != nil {
		p.s.Watch(p.sys)
	}
	rec := measure.New()
	sum, err := p.sys.Run(ctx, rec, nil)
	r.Log, r.Simulated = p.lines, p.now
	broken := finish(err == nil && !sum.Interrupted)
	var stuck *platform.Stuck
	if errors.As(err, &stuck) {
		stuck.Broken = broken
	}
	if sum == nil {
		return err
	}
	for _, v := range broken {
		rec.Violate(v)
	}
	rec.Finish(sum)
	r.Summary = sum
	return err
}

// specs are the adapters' of the configuration.
func (s *Scenario) specs() ([]platform.Spec, error) {
	qps, adapters := 1, 1
	for _, e := range s.timeline {
		qps, adapters = max(qps, slices.Max(append(e.qps, 0))+1), max(adapters, e.adapter+1)
	}
	var spec platform.Spec
	src := configs.Sources{Files: s.documents}
	resolved, err := configs.Load(&spec, src)
	if err != nil {
		return nil, err
	}
	if spec.Adapters.Count < adapters {
		return nil, resolved.Problem("adapters", "%d, and the timeline names adapter %d; use %d", spec.Adapters.Count, adapters-1, adapters)
	}
	if !resolved.Given("workload.qps") {
		spec.Workload.QPs = qps * spec.Adapters.Count
	} else if spec.Workload.QPs < qps*spec.Adapters.Count {
		return nil, resolved.Problem("workload.qps", "%d for %d adapters, and the timeline names QP %d; use %d, or leave it out", spec.Workload.QPs, spec.Adapters.Count, qps-1, qps*spec.Adapters.Count)
	}
	if slices.ContainsFunc(s.rules, func(x *rule) bool { return x.damages(false) }) && spec.PCIe.Inject.Events == "" {
		spec.PCIe.Inject.Events = armed
	}
	if slices.ContainsFunc(s.rules, func(x *rule) bool { return x.damages(true) }) && spec.Peer.PCIe.Inject.Events == "" {
		spec.Peer.PCIe.Inject.Events = armed
	}
	all := make([]platform.Spec, spec.Adapters.Count)
	for i := range all {
		all[i] = spec
		if i < len(spec.Adapters.Overrides) {
			if all[i], err = configs.WithOverrides(spec, spec.Adapters.Overrides[i]); err != nil {
				return nil, &problem{s.File, s.Line, err.Error()}
			}
		}
	}
	return all, nil
}

// armed is an event that never is: a link with it can be damaged.
const armed = "up 9223372036854775807 drop"

func (x *rule) damages(peer bool) bool {
	return x.what != "delay" && x.what != "lose" && x.peer == peer
}

// script is the memory of a scenario, in order of address, and its player.
func (s *Scenario) script(p *player, page model.PageShift) *platform.Script {
	c := &platform.Script{Player: p}
	gap := max(uint64(2<<20), page.Bytes())
	next := max(uint64(1)<<32, page.Bytes())
	placed := map[*region]uint64{}
	order := slices.Clone(s.memory)
	for _, m := range order {
		if placed[m] = m.va; m.va == 0 {
			placed[m] = next
			next += (m.length+gap-1)/gap*gap + gap
		}
	}
	slices.SortStableFunc(order, func(a, b *region) int {
		if placed[a] < placed[b] {
			return -1
		}
		return 1
	})
	for i, m := range order {
		p.index[m] = i
		mem := platform.Memory{VA: model.VA(placed[m]), Len: m.length, Bounds: m.length, Rights: m.rights, Dynamic: m.dynamic}
		if m.unbound {
			mem.Bounds = 0
		}
		if m.paged {
			mem.Initial = m.initial
		}
		c.Memory = append(c.Memory, mem)
	}
	for _, e := range s.timeline {
		c.Sends = c.Sends || verbs[e.verb] == kindAccess && e.op == model.OpSend
	}
	return c
}

func (m *region) initial(page uint32) kernel.Initial {
	switch {
	case m.resident.has(page):
		return kernel.InitialResident
	case m.swapped.has(page):
		return kernel.InitialSwapped
	}
	return kernel.InitialZero
}

// prepare makes the player know its system.
func (p *player) prepare(adapters int) error {
	p.attach(p.sys)
	p.keys = make([][][]key.Key, adapters)
	for a := range p.keys {
		p.keys[a] = make([][]key.Key, len(p.s.memory))
		for i := range p.keys[a] {
			if m := p.sys.Region(i); m.Key != 0 {
				p.keys[a][i] = []key.Key{m.Key}
			}
		}
	}
	for _, x := range p.s.receives {
		if x.adapter >= adapters || p.qp(x.adapter, x.qp) >= p.sys.QPs() {
			return &problem{p.s.File, x.line, "receives: there is no such queue pair"}
		}
		_, r := p.sys.Transport(x.adapter)
		r.HoldReceives(p.qp(x.adapter, x.qp))
		for range x.posted {
			r.PostReceive(0, p.qp(x.adapter, x.qp))
		}
	}
	return nil
}
