package link

import (
	"testing"

	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
	rules "rnicmmu/model/pcie"
)

// The monitor's ordering table and the model's, written apart, agree on every
// pair of TLPs.
func TestTablesAgree(t *testing.T) {
	classes := [numClasses]rules.Class{msg.Posted: rules.Posted, msg.NonPosted: rules.NonPosted, msg.Completion: rules.Completion}
	var all []rules.Packet
	for _, c := range classes {
		for i := range 1 << 8 {
			all = append(all, rules.Packet{Class: c, Relaxed: i&1 > 0, IDOrdered: i&2 > 0, Sender: uint16(i >> 2 & 1),
				PASID: uint32(i >> 3 & 3), Requester: uint16(i >> 5 & 1), Tag: uint16(i >> 6 & 1)})
		}
	}
	for _, later := range all {
		for _, earlier := range all {
			var row, column msg.TLPType
			for k, c := range classes {
				if c == later.Class {
					row = msg.TLPType(k)
				}
				if c == earlier.Class {
					column = msg.TLPType(k)
				}
			}
			p := &pcie.Shown{TLP: &msg.TLP{Type: row}, Rule: later}
			if got, want := mayPass(p, &earlier, column), rules.MayPass(&later, &earlier) != rules.No; got != want {
				t.Fatalf("%+v before %+v: %v, the model says %v", later, earlier, got, want)
			}
		}
	}
}
