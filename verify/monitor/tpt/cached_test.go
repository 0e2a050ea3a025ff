package tpt

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// TestMustBeCached: with two ways A and B are brought in, A is used, A goes, A
// and C come: C takes the place of B, and A must be there. Where B was used for
// sure before C came, A may be gone; what a command has touched, or was read
// while one was under way, is asked for again rightly.
func TestMustBeCached(t *testing.T) {
	const a, b, c = 4, 6, 8
	use := func(x *bench, entry uint64) {
		va := model.VA(0x10000 + entry<<12)
		x.ask(model.OpRead, va)
		x.give(3, model.PA(entry<<12), true)
		x.release(3)
	}
	for _, k := range []struct {
		name  string
		steps func(x *bench)
		seen  bool
	}{
		{"false miss", func(x *bench) {
			x.fill(0, a)
			x.fill(0, b)
			use(x, a)
			x.execute(zap(a))
			refill(x, a)
			x.fill(0, c)
			x.read(0, a)
		}, true},
		{"read at once", func(x *bench) { x.fill(0, a); x.read(0, a) }, true},
		{"two others behind it", func(x *bench) { x.fill(0, a); x.fill(0, b); x.fill(0, c); x.read(0, a) }, false},
		{"used between", func(x *bench) { x.fill(0, a); x.fill(0, b); use(x, a); x.fill(0, c); x.read(0, a) }, true},
		{"zapped", func(x *bench) { x.fill(0, a); x.execute(zap(a)); refillWord(x, a); x.read(0, a) }, false},
		{"read beside a command", func(x *bench) {
			x.read(0, a)
			x.execute(zap(a))
			x.ReadDone(x.now, &msg.DMADone{Kind: msg.KindMTT})
			refillWord(x, a)
			x.read(0, a)
		}, false},
	} {
		t.Run(k.name, func(t *testing.T) {
			x := newBench()
			x.Register(&key.Region{Key: 0x100, PD: 1, Rights: key.RemoteRead, Base: 0x10000, Length: 0x40000, PageShift: 12, State: key.Valid})
			for _, e := range []uint64{a, b, c} {
				x.Program(e, model.PA(e<<12), true)
			}
			k.steps(x)
			if seen := x.log.Count(Found.ID) > 0; seen != k.seen {
				t.Errorf("seen %v: %v", seen, x.log.Violations())
			}
			if n := len(x.log.Violations()); n > int(x.log.Count(Found.ID)) {
				t.Errorf("others too: %v", x.log.Violations())
			}
		})
	}
}

func refillWord(x *bench, entry uint64) {
	x.execute(&msg.Command{Op: msg.CmdFill, Entry: entry, Count: 1, Write: true, PA: []model.PA{model.PA(entry << 12)}})
}

func refill(x *bench, entry uint64) {
	refillWord(x, entry)
	x.fill(0, entry)
}
