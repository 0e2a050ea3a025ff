package platform

import (
	"errors"
	"fmt"
)

// checkRegistration refuses what cannot be registered so under the adapter's scheme.
func (w *WorkloadSpec) checkRegistration(s *Spec) error {
	pins := s.Scheme == "pinned" || s.Scheme == "iommu" && !s.process()
	var all []error
	add := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if w.implicit() && s.Scheme != "odp" {
		add("workload.registration: implicit under scheme %s, whose pages do not come by faults into a table; use it with odp", s.Scheme)
	}
	if w.implicit() && dynamic(w.AggressorRegistration) {
		add("workload.aggressor_registration: %s beside one implicit region, which holds the aggressor's memory too; use once", w.AggressorRegistration)
	}
	how := w.Registration
	if !dynamic(how) && w.AggressorFraction > 0 {
		how = w.AggressorRegistration
	}
	if !dynamic(how) {
		if w.RemapInterval > 0 {
			add("workload.remap_interval: memory that is registered once stays mapped; use it with workload.registration or workload.aggressor_registration each or cached")
		}
		return errors.Join(all...)
	}
	if w.RegistrationMethod == "fast" && !pins {
		add("workload.registration_method: fast under scheme %s, whose pages are not pinned; use regular", s.Scheme)
	}
	if s.QP.FaultResponse == "backup" && !pins {
		add("qp.fault_response: backup under workload.registration %s, which may end a registration before the backup ring's entries for it are merged; use rnr or hold, or workload.registration once", w.Registration)
	}
	if w.RemapInterval > 0 && pins && s.behind() {
		add("workload.remap_interval: a registration that pins behind an IOMMU cannot outlive its mapping, for IOVA and process address are one here; set host.iommu.mode off, or another scheme")
	}
	if s.TPT.PageShift() > s.Host.Shift() {
		add("tpt.page: %s is more than host.page %s, whose frames need not follow each other under registration %s; use at most that", s.TPT.Page, s.Host.Page, how)
	}
	return errors.Join(all...)
}
