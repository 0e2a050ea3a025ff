package platform

import "testing"

// A link that goes down ends what needs it: every access fails or had completed,
// the other adapter's all complete, and nothing that was lost with the link is
// taken for a broken rule.
func TestLinkDown(t *testing.T) {
	for _, scheme := range []string{"pinned", "odp", "sva", "iommu", "suspend"} {
		for _, down := range []string{"10us", "30us", "100us", "1ms"} {
			o := must(t, nil, "scheme="+scheme, "workload.accesses=400", "qp.retry=3", "pcie.inject.down="+down)
			a := &o.sum.Accesses
			if broken := o.broken(); broken != "" || a.Completed+a.Failed != 400 {
				t.Errorf("%s, down at %s: %d completed, %d failed: %s", scheme, down, a.Completed, a.Failed, broken)
			}
		}
	}
}
