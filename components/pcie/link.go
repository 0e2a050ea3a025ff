package pcie

import (
	"rnicmmu/clocked"
	"rnicmmu/components/msg"
)

// Link is an adapter's endpoint and the root port that it is connected to.
type Link struct {
	Endpoint *Endpoint
	Root     *RootPort
}

// New builds both ends of a link. clock is the adapter's clock domain, at whose
// edges the endpoint accepts DMAs. Both ends must be connected before the
// engine runs. It fails with Spec.Check's error.
func New(e *clocked.Engine, name string, spec Spec, clock clocked.Domain) (*Link, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	l := &Link{Endpoint: newEndpoint(name+".endpoint", spec, clock), Root: newRootPort(name+".root", spec)}
	l.Endpoint.id = e.Register(l.Endpoint)
	l.Root.id = e.Register(l.Root)
	l.Endpoint.engine = e
	join(e, &spec, name+".up", spec.Credits, l.Endpoint.id, l.Root.id, &l.Endpoint.tx, &l.Root.rx)
	join(e, &spec, name+".down", spec.AdapterCredits, l.Root.id, l.Endpoint.id, &l.Root.tx, &l.Endpoint.rx)
	return l, nil
}

// Idle tells whether nothing is in flight at either end or between them.
func (l *Link) Idle() bool { return l.Endpoint.Idle() && l.Root.Idle() }

// join makes one direction from t to r.
func join(e *clocked.Engine, spec *Spec, name string, advertised Credits, from, to clocked.UnitID, t *transmitter, r *receiver) {
	num, den := ByteTime(spec.Gen, spec.Lanes)
	limit := advertised.pools()
	*t = transmitter{engine: e, unit: from, line: clocked.NewSerializer(num, den), latency: spec.LinkLatency,
		limit: limit, have: limit, hold: stallNone, stall: stallNone, alarm: -1}
	for c := range t.out {
		t.out[c] = clocked.NewWire[packet](e, clocked.WireSpec{
			Name: name + "." + classNames[c], Writer: from, Reader: to,
			Depth: bufferDepth(spec, msg.TLPType(c), limit[2*c]), Latency: spec.LinkLatency,
			Back: clocked.Picosecond, // the credits, not the slots, are the modelled space
		})
		r.headers[c], r.data[c] = limit[2*c] > 0, limit[2*c+1] > 0
	}
	t.credits = clocked.NewWire[credit](e, clocked.WireSpec{
		Name: name + ".credits", Writer: to, Reader: from, Depth: creditDepth(limit),
		Latency: spec.UpdateDelay, Back: clocked.Picosecond, Quiet: true,
	})
	r.in, r.credits = t.out, t.credits
}

// undrained is how many TLPs a receiver of infinite credits holds before the
// link stops.
const undrained = 64

// bufferDepth is the number of TLPs of a class in flight and in the receive
// buffer: its header credits, or with infinite ones what the link holds in its
// latency and some more.
func bufferDepth(spec *Spec, class msg.TLPType, headers int32) int {
	if headers > 0 {
		return max(2, int(headers))
	}
	num, den := ByteTime(spec.Gen, spec.Lanes)
	return int(int64(spec.LinkLatency)*den/(WireBytes(class, 0)*num)) + undrained
}

// creditDepth holds a message for every TLP whose credits can be away. Where
// headers are infinite, each TLP that returns something took a data credit.
func creditDepth(limit [numPools]int32) int {
	depth := 2
	for c := range numClasses {
		headers, data := limit[2*c], limit[2*c+1]
		if headers > 0 {
			depth += int(headers)
		} else {
			depth += int(data)
		}
	}
	return depth
}
