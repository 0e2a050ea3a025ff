package platform

import (
	"errors"
	"fmt"

	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/workload"
)

// Input is a trace in memory, 32 bytes an access. Systems only read it, so one
// serves all points of a sweep.
type Input struct {
	Name     string
	Hash     string // of its accesses
	Accesses []workload.Access
	NoQPs    bool    // the trace names none: accesses are dealt out to all in turn
	Script   *Script // nil: the accesses are all
}

// ReadInput reads the first limit accesses of a trace (0: all).
func ReadInput(t *workload.Trace, limit uint64) (*Input, error) {
	all, err := workload.ReadAll(t, limit)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: holds no access that can be replayed; see rnicmmu trace info", t.Name())
	}
	return &Input{Name: t.Name(), Hash: hashAccesses(all), Accesses: all, NoQPs: noQPs(all)}, nil
}

// noQPs tells whether no access names a queue pair; number 0 is none, for it
// carries management datagrams only.
func noQPs(all []workload.Access) bool {
	for i := range all {
		if all[i].QP != 0 {
			return false
		}
	}
	return true
}

// Sends tells whether there are SENDs, and the bytes of the longest.
func (in *Input) Sends() (longest uint32, any bool) {
	if in.Script != nil {
		return 0, in.Script.Sends
	}
	for i := range in.Accesses {
		if a := &in.Accesses[i]; a.Op == model.OpSend {
			longest, any = max(longest, a.Len), true
		}
	}
	return longest, any
}

// hashAccesses is a hash of what the simulation sees of a trace.
func hashAccesses(all []workload.Access) string {
	buf := make([]byte, 0, 32*len(all))
	for i := range all {
		a := &all[i]
		for _, x := range [4]uint64{uint64(a.VA), uint64(a.Len)<<32 | uint64(a.QP), uint64(a.Key)<<32 | uint64(a.Host)<<16 | uint64(a.Op), uint64(a.TimePS)} {
			for shift := 0; shift < 64; shift += 8 {
				buf = append(buf, byte(x>>shift))
			}
		}
	}
	return measure.HashBytes(buf)
}

// source is the accesses to replay and the memory to register for them; page
// is the largest page of the host and its adapters.
func source(s *Spec, in *Input, page model.PageShift) (workload.Source, []workload.Region, error) {
	if in == nil {
		synthetic := s.synthetic()
		if synthetic.Accesses == 0 {
			return nil, nil, errors.New("workload.accesses: 0 is all of a trace, and there is none; give a number or --trace")
		}
		g, err := workload.NewGenerator(synthetic)
		if err != nil {
			return nil, nil, fmt.Errorf("workload.%w", err)
		}
		regions, err := synthetic.Memory()
		return g, regions, err
	}
	if in.Script != nil {
		return workload.NewSlice(nil), in.Script.regions(), nil
	}
	// Regions are whole pages of 4 KiB, as registered from user space, whatever
	// the size of the pages that back them.
	regions, err := workload.Touched(workload.NewSlice(in.Accesses), model.Shift4K)
	return workload.NewSlice(in.Accesses), joinSharing(regions, page), err
}

// joinSharing makes one region of neighbours that lie in the same page, so that
// a page has one table entry and one frame.
func joinSharing(regions []workload.Region, page model.PageShift) []workload.Region {
	kept := regions[:0]
	for _, r := range regions {
		if n := len(kept); n > 0 && kept[n-1].Host == r.Host {
			before := &kept[n-1]
			if end := before.VA + model.VA(before.Len); page.Number(end-1) == page.Number(r.VA) {
				before.Len = uint64(r.VA-before.VA) + r.Len
				continue
			}
		}
		kept = append(kept, r)
	}
	return kept
}

// total is the number of accesses to run: of the input or, where it is nil, of
// the synthetic workload.
func (s *Spec) total(in *Input) uint64 {
	if in == nil {
		return s.Workload.Accesses
	}
	return uint64(len(in.Accesses))
}

// CheckWarmup refuses a warm-up that leaves none of the accesses. How many are
// posted in a time is known only when they have run.
func (s *Spec) CheckWarmup(in *Input) error {
	if n, total := s.Warmup.Accesses, s.total(in); n > 0 && n >= total {
		return fmt.Errorf("warmup: %d accesses are all of the %d that there are; make it shorter", n, total)
	}
	return nil
}
