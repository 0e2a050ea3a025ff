package coverage

import (
	"rnicmmu/components/msg"
	"rnicmmu/measure"
	"rnicmmu/model"
	"rnicmmu/model/ddp"
	"rnicmmu/model/key"
)

// Schemes and transports, in the order of their bins.
var (
	schemes    = []string{"pinned", "odp", "sva", "iommu", "suspend"}
	transports = []string{"rc", "iwarp"}
)

// Outcomes of a translation and of the key check behind it.
var (
	outcomeNames = []string{"granted", "absent", "moving", "remote access", "remote operation", "called back"}
	keyChanges   = []string{"register", "deregister", "fast register", "local invalidate", "bind", "list entry", "SEND with invalidate"}
)

// Faults by what the page was.
const (
	faultNowhere = iota
	faultPresent
	faultSwapped
	faultReadOnly
)

var (
	opStatus         = cross("op_status", "operation × completion status", names(model.NumOps), names(measure.NumStatuses))
	opOutcome        = cross("translation_outcome", "operation × answer of the translation unit", names(model.NumOps), outcomeNames)
	keyVerdict       = list("key_verdict", "check of a key that refused an access, as the responder is told", names(key.NoChild+1)...)
	keyChange        = cross("key_change", "change of the protection table × how it ended", keyChanges, []string{"done", "refused"})
	rnrReason        = cross("not_ready", "answer to an access that the host is not ready for × why", []string{"RNR NAK", "segment dropped"}, []string{"moving", "paging", "over-advertised", "no receive buffer"})
	terminateReason  = list("terminate_reason", "what a Terminate message of iWARP says", terminateNames...)
	dmaStatus        = cross("dma_status", "request of a unit of the adapter × how it ended on the link", dmaKinds, names(msg.NumStatuses))
	fault            = cross("fault", "fault by what it wants × state of the page: nowhere and present are minor, in swap is major", []string{"load", "store"}, []string{"nowhere", "present", "in swap", "read-only"})
	faultService     = list("fault_service", "how the kernel served faults", "minor", "major", "refault", "failed", "adapter gone")
	triggerScheme    = cross("trigger_scheme", "why pages were taken away × scheme of the adapter that is told", names(measure.NumTriggers), schemes)
	transportScheme  = cross("transport_scheme", "transport × scheme", transports, schemes)
	invalidationEnds = cross("invalidation_end", "invalidation by an adapter's table or by ATS × how it ended", []string{"table", "ATS"}, []string{"acknowledged", "timed out"})
	pageResponse     = list("page_response", "code of the answer to a group of page requests", "success", "invalid", "failure")
)

// dmaKinds are kinds of reads whose status an adapter is told, with the answers
// to translation requests.
var dmaKinds = []string{"data", "receive WQE", "command", "QP context", "MPT", "MTT", "flush", "ATS"}

var dmaKindRow = [msg.NumKinds]int8{msg.KindData: 1, msg.KindRecvWQE: 2, msg.KindCommand: 3, msg.KindQPC: 4, msg.KindMPT: 5, msg.KindMTT: 6, msg.KindFlush: 7, msg.KindATS: 8}

// terminates are the reasons that a responder gives, with their names.
var terminates = []ddp.Reason{
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeCatastrophic},
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeProtection, Code: ddp.CodeInvalidSTag},
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeProtection, Code: ddp.CodeBaseBounds},
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeProtection, Code: ddp.CodeAccess},
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeProtection, Code: ddp.CodeNotAssociated},
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeProtection, Code: ddp.CodeNoInvalidate},
	{Layer: ddp.LayerRDMAP, Type: ddp.TypeProtection, Code: ddp.CodeUnspecified},
	{Layer: ddp.LayerDDP, Type: ddp.TypeCatastrophic},
	{Layer: ddp.LayerDDP, Type: ddp.TypeTagged, Code: ddp.CodeInvalidSTag},
	{Layer: ddp.LayerDDP, Type: ddp.TypeTagged, Code: ddp.CodeBaseBounds},
	{Layer: ddp.LayerDDP, Type: ddp.TypeTagged, Code: ddp.CodeTaggedStream},
	{Layer: ddp.LayerDDP, Type: ddp.TypeUntagged, Code: ddp.CodeNoBuffer},
	{Layer: ddp.LayerDDP, Type: ddp.TypeUntagged, Code: ddp.CodeTooLong},
}

var terminateNames = []string{"RDMAP: local failure", "RDMAP: invalid STag", "RDMAP: bounds", "RDMAP: rights", "RDMAP: not of this stream",
	"RDMAP: cannot invalidate", "RDMAP: not told", "DDP: local failure", "DDP: invalid STag", "DDP: bounds", "DDP: not of this stream",
	"DDP: no receive buffer", "DDP: too long"}
