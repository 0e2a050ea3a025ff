package random

import (
	"rnicmmu/components/tpt"
	"rnicmmu/platform"
)

// mayFail tells whether an access may fail with a reason: a finite budget of
// RNR NAKs where a page or a receive buffer may be missing, or of losses where
// packets are dropped or answered by sequence NAKs; an IOMMU that aborts what
// meets an absent page; iWARP that meets no receive buffer; a buffer that may be
// withheld; a registration that may be gone.
func mayFail(specs []platform.Spec) bool {
	for i := range specs {
		if reason(&specs[i]) {
			return true
		}
	}
	return false
}

func reason(s *platform.Spec) bool {
	mode, _ := s.Mode()
	process := mode == tpt.Bypass
	notReady := s.Scheme == "odp" || s.Scheme == "sva" || s.Scheme == "suspend" || process || s.Workload.SendFraction > 0
	switch {
	case notReady && s.QP.RNRRetry < 7, s.QP.NakAfterRNR == "once" && s.QP.Retry < 7:
		return true
	case s.Adapter.RxFull == "drop", process:
		return true
	case s.Transport == "iwarp" && s.Workload.SendFraction > 0:
		return true
	}
	return s.Advertise.Policy == "refuse" || s.Advertise.Policy == "throttle"
}
