package transport

import (
	"testing"

	"rnicmmu/configs"
	"rnicmmu/model"
)

func iwarpSpec(t testing.TB) Spec {
	spec := testSpec(t.(*testing.T))
	spec.TCP = new(TCPSpec)
	if err := configs.Defaults(spec.TCP); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestSmoke(t *testing.T) {
	spec := iwarpSpec(t)
	s := build(t, spec, 0)
	s.driver.outstanding = 10
	for i := range 100 {
		op := model.Op(i % 5)
		n := uint32(8)
		if op <= model.OpSend {
			n = uint32(i * 97)
		}
		s.post(op, uint32(i%4), model.VA(0x100000+i*8192), n)
	}
	s.run(t)
	for _, a := range s.driver.finished {
		if a.Status != 0 {
			t.Error(a.ID, a.Status)
		}
	}
	t.Logf("%+v\n%+v", s.req.Stats, s.resp.Stats)
	t.Log(s.req.Idle(), s.resp.Idle(), s.tpt.granted, s.engine.Now())
}
