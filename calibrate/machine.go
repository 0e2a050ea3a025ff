package calibrate

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/dmabench"
	"rnicmmu/components/hostmmu/memory"
	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	"rnicmmu/configs"
	"rnicmmu/model"
)

// Spec is what a measured machine consists of. A machine's profile gives the link
// and the host; the device is the same in both.
type Spec struct {
	PCIe   pcie.Spec     `key:"pcie" doc:"the link"`
	Host   memory.Spec   `key:"host" doc:"memory"`
	Device dmabench.Spec `key:"device" doc:"the measuring device"`
}

// Machine is a measured machine and what the model does not reproduce of it.
type Machine struct {
	System   string   // in the data
	Title    string   // for people
	Profile  string   // in configs/profiles
	Base     model.PA // of the device's buffer in the host: decides the header of requests
	Outliers []Outlier
}

// Load is the machine's parameters: its profile, and settings KEY=VALUE over it.
func (m *Machine) Load(set []string) (Spec, error) {
	var s Spec
	_, err := configs.Load(&s, configs.Sources{Profile: m.Profile, Set: set})
	return s, err
}

// hostHop is a register between units of the host.
const hostHop = clocked.Nanosecond

// depth of the wires, in messages: none is the bottleneck of the unit behind it.
const depth = 64

// Measure runs a program on the device of a machine.
func Measure(spec Spec, program dmabench.Program) (dmabench.Result, error) {
	e := clocked.NewEngine()
	clock := clocked.NewDomain(spec.Device.Clock)
	link, err := pcie.New(e, "pcie", spec.PCIe, clock)
	if err != nil {
		return dmabench.Result{}, err
	}
	host, err := memory.New(e, "memory", spec.Host, memory.Config{Clients: 1,
		ReadService: spec.PCIe.ReadLatency - 2*hostHop, Shift: model.Shift4K})
	if err != nil {
		return dmabench.Result{}, err
	}
	device, err := dmabench.New(e, "device", spec.Device, program)
	if err != nil {
		return dmabench.Result{}, err
	}
	root := pcie.RootPorts{MMIO: wire[msg.Doorbell](e, host.ID(), link.Root.ID(), clocked.Domain{}, hostHop),
		MemReq:  wire[msg.MemReq](e, link.Root.ID(), host.ID(), clocked.Domain{}, hostHop),
		MemDone: wire[msg.MemDone](e, host.ID(), link.Root.ID(), clocked.Domain{}, hostHop)}
	link.Root.Connect(root)
	host.Connect(memory.Ports{Clients: []memory.Client{{Req: root.MemReq, Done: root.MemDone}}})
	ends, ports := pcie.EndpointPorts{}, dmabench.Ports{}
	for i := range ports.Clients {
		c := client(e, device.ID(), link.Endpoint.ID(), clock)
		ends.Clients = append(ends.Clients, c)
		ports.Clients[i] = dmabench.Client{Req: c.Req, Done: c.Done}
	}
	link.Endpoint.Connect(ends)
	device.Connect(ports)
	if err := e.Run(); err != nil {
		return dmabench.Result{}, err
	}
	if !device.Idle() {
		return dmabench.Result{}, fmt.Errorf("%v of %d B stood still: %v", program.Test, program.Bytes,
			append(device.Waits(), append(link.Endpoint.Waits(), host.Waits()...)...))
	}
	return device.Result(), nil
}

// client joins a unit to an endpoint.
func client(e *clocked.Engine, unit, endpoint clocked.UnitID, clock clocked.Domain) pcie.Client {
	return pcie.Client{
		Req:      wire[msg.DMA](e, unit, endpoint, clock, clock.Period()),
		Done:     wire[msg.DMADone](e, endpoint, unit, clock, clock.Period()),
		Doorbell: wire[msg.Doorbell](e, endpoint, unit, clock, clock.Period()),
	}
}

func wire[T any](e *clocked.Engine, from, to clocked.UnitID, clock clocked.Domain, latency clocked.Time) *clocked.Wire[T] {
	return clocked.NewWire[T](e, clocked.WireSpec{Name: fmt.Sprintf("%T", *new(T)), Writer: from, Reader: to,
		Domain: clock, Depth: depth, Latency: latency})
}
