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
	opStatus = cross("op_status", "operation × completion status", names(model.NumOps), names(measure.NumStatuses)).
			ignore("only a SEND can be too long", "WRITE"+times+"invalid_request", "READ"+times+"invalid_request", "COMPARE_SWAP"+times+"invalid_request", "FETCH_ADD"+times+"invalid_request").
			ignore("it sends no data", "READ"+times+"local_protection_error", "COMPARE_SWAP"+times+"local_protection_error", "FETCH_ADD"+times+"local_protection_error").
			ignore("receive buffers are registered before the run, and advertised to nobody", "SEND"+times+"remote_access_error", "SEND"+times+"not_advertised")
	opOutcome = cross("translation_outcome", "operation × answer of the translation unit", names(model.NumOps), outcomeNames).
			ignore("receive buffers are registered before the run", "SEND"+times+"remote access")
	keyVerdict = list("key_verdict", "check of a key that refused an access, as the responder is told", names(key.NoChild+1)...).
			ignore("it refuses nothing for good", "ok", "zero length", "suspended", "no child").
			ignore("the unit knows no indirect keys but implicit regions", "too deep")
	keyChange = cross("key_change", "change of the protection table × how it ended", keyChanges, []string{"done", "refused"}).
			ignore("the kernel asks for what its own books allow", "register"+times+"refused", "deregister"+times+"refused", "fast register"+times+"refused", "bind"+times+"refused", "list entry"+times+"refused")
	rnrReason = cross("not_ready", "answer to an access that the host is not ready for × why", []string{"RNR NAK", "segment dropped"}, []string{"moving", "paging", "over-advertised", "no receive buffer"}).
			ignore("iWARP ends the stream then", "segment dropped"+times+"no receive buffer")
	terminateReason = list("terminate_reason", "what a Terminate message of iWARP says", terminateNames...)
	dmaStatus       = cross("dma_status", "request of a unit of the adapter × how it ended on the link", dmaKinds, names(msg.NumStatuses)).
			ignore("it is not memory that pages", pages("retry")...).
			ignore("tables and queues are always mapped", pages("completer abort")...)
	fault         = cross("fault", "fault by what it wants × state of the page: nowhere and present are minor, in swap is major", []string{"load", "store"}, []string{"nowhere", "present", "in swap", "read-only"})
	faultService  = list("fault_service", "how the kernel served faults", "minor", "major", "refault", "failed", "adapter gone")
	triggerScheme = cross("trigger_scheme", "why pages were taken away × scheme of the adapter that is told", names(measure.NumTriggers), schemes).
			ignore("a move or a reclaim suspends under its own name", "suspend"+times+"*").
			ignore("what is pinned, or translated by the IOMMU alone, has no adapter to be told", "*"+times+"pinned", "*"+times+"iommu")
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

// pages are the bins of a status of all that reads no memory which pages.
func pages(status string) (all []string) {
	for _, k := range []string{"receive WQE", "command", "QP context", "MPT", "MTT"} {
		all = append(all, k+times+status)
	}
	return all
}
