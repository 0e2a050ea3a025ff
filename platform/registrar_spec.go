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
	if w.RegistrationAdvice != "none" && pins {
		add("workload.registration_advice: %s under scheme %s, whose pages are pinned; use none", w.RegistrationAdvice, s.Scheme)
	}
	if w.SendInvalidate > 0 && (w.Registration != registerCached || w.RegistrationMethod == "regular") {
		add("workload.send_invalidate: %g with registration %s by method %s; what a peer can invalidate is cached, by method fast or window", w.SendInvalidate, w.Registration, w.RegistrationMethod)
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
	if w.RemapInterval > 0 && pins && s.Behind() {
		add("workload.remap_interval: a registration that pins behind an IOMMU cannot outlive its mapping, for IOVA and process address are one here; set host.iommu.mode off, or another scheme")
	}
	if s.TPT.PageShift() > s.Host.Shift() {
		add("tpt.page: %s is more than host.page %s, whose frames need not follow each other under registration %s; use at most that", s.TPT.Page, s.Host.Page, how)
	}
	return errors.Join(all...)
}

// registrationOf is how a region is registered. Receive buffers are posted before
// the run, and stay.
func (w *WorkloadSpec) registrationOf(r *Region) string {
	switch {
	case r.Host == receiveHost:
		return registerOnce
	case r.Aggressor:
		return w.AggressorRegistration
	}
	return w.Registration
}

// dynamic tells whether a region is registered as the accesses need it.
func (r *Region) dynamic(w *WorkloadSpec) bool { return dynamic(w.registrationOf(r)) }

// dynamic tells whether memory that is registered so is registered during the run.
func dynamic(how string) bool { return how == registerEach || how == registerCached }
