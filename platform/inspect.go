package platform

import "rnicmmu/components/tpt"

// Translator is the translation unit of an adapter, whose tables hold what was
// registered before the run. A check may look at it before the run alone.
func (s *System) Translator(adapter int) *tpt.Unit { return s.nodes[adapter].tpt }
