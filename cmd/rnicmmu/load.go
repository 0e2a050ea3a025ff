package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rnicmmu/configs"
	"rnicmmu/model"
	"rnicmmu/platform"
	"rnicmmu/workload"
)

// common are the flags that run and sweep share.
type common struct {
	set   []string
	trace string
	out   string
	seed  uint64
}

func (f *common) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "set a parameter: KEY=VALUE, repeatable")
	c.Flags().StringVar(&f.trace, "trace", "", "replay a trace or capture; redis is the embedded example")
	c.Flags().StringVar(&f.out, "out", "", "folder for the results")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of every random stream")
}

// load resolves the configuration.
func (f *common) load(c *cobra.Command, src configs.Sources) (platform.Spec, *configs.Resolved, error) {
	var spec platform.Spec
	if f.out == "" && c.Flags().Changed("out") {
		return spec, nil, errors.New("--out: is empty; name a folder, or leave it out")
	}
	src.Env, src.IgnoreEnv = os.Environ(), []string{"RNICMMU_SHARED"}
	src.Set = f.set
	if c.Flags().Changed("seed") {
		src.Set = append(src.Set, "seed="+strconv.FormatUint(f.seed, 10))
	}
	resolved, err := configs.Load(&spec, src)
	if err != nil {
		return spec, nil, err
	}
	if spec.Pressure.Overcommit != 0 && resolved.Given("host.memory") && resolved.Given("pressure.overcommit") {
		return spec, nil, resolved.Problem("pressure.overcommit", "set together with host.memory; leave one of them out")
	}
	w := &spec.Workload
	if w.Trace == "" && f.trace == "" && w.SendFraction > 0 && w.AccessBytes > w.ReceiveBytes {
		return spec, nil, resolved.Problem("workload.access_bytes", "SENDs of %s do not fit workload.receive_bytes, %s; raise that",
			configs.Format(w.AccessBytes), configs.Format(w.ReceiveBytes))
	}
	return spec, resolved, placed(resolved, spec.Check())
}

// placed gives each line of a check across parameters, which begins with a key
// or a group, the place from which a parameter of that group comes.
func placed(resolved *configs.Resolved, err error) error {
	if err == nil {
		return nil
	}
	params, _ := configs.Params(&platform.Spec{})
	var lines []string
	for _, line := range strings.Split(err.Error(), "\n") {
		key, problem, _ := strings.Cut(line, ": ")
		for _, p := range params {
			if (p.Key == key || strings.HasPrefix(p.Key, key+".")) && resolved.Given(p.Key) {
				line = resolved.Place(p.Key) + ": " + key + ": " + problem
				break
			}
		}
		lines = append(lines, line)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// input reads the trace that --trace or else the configuration names, and makes
// spec say so; nil when the workload is synthetic.
func (f *common) input(spec *platform.Spec, resolved *configs.Resolved) (*platform.Input, error) {
	name := cmp.Or(f.trace, spec.Workload.Trace)
	if name == "" {
		return nil, nil
	}
	trace, err := open(name)
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	limit := uint64(0)
	if resolved.Given("workload.accesses") {
		limit = spec.Workload.Accesses
	}
	in, err := platform.ReadInput(trace, limit)
	for _, w := range trace.Warnings() {
		fmt.Fprintln(os.Stderr, w)
	}
	if err != nil {
		return nil, err
	}
	if spec.Workload.OfferedRate > 0 {
		return nil, resolved.Problem("workload.offered_rate", "a trace is replayed in a closed loop; leave it out")
	}
	spec.Workload.Trace, spec.Workload.Accesses = name, uint64(len(in.Accesses))
	if longest, _ := in.Sends(); !resolved.Given("workload.receive_bytes") {
		spec.Workload.ReceiveBytes = max(spec.Workload.ReceiveBytes, model.Bytes(longest))
	}
	return in, nil
}

// open opens a trace file, or the embedded example by its name.
func open(name string) (*workload.Trace, error) {
	if name == "redis" {
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			return workload.Example()
		}
	}
	return workload.Open(name)
}

// exactly takes the named arguments, no more and no fewer.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fmt.Errorf("%s: %s is due; see %s --help", c.CommandPath(), strings.Join(names, " "), c.CommandPath())
	}
}

// atMost takes the named argument or none.
func atMost(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return fmt.Errorf("%s: one %s at most is due, not %q; see %s --help", c.CommandPath(), name, strings.Join(args, " "), c.CommandPath())
	}
}
