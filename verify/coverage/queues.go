package coverage

// Queues whose occupancy is followed, in the order of their bins.
const (
	queueCommands     = iota // work requests at an adapter, against tpt.invalidation.queue_depth or what software may have outstanding
	queueEvents              // faults reported and not resumed, against tpt.fault.queue_depth
	queuePageRequests        // against tpt.page_requests
	queueITags               // against host.iommu.ats_depth
	queueTranslations        // out or asked for, against tpt.in_flight
	queueRequests            // wire to the responder
	queueResponses
	queueTranslate
	queueResults
	queueDMA
	queueHost // memory's inputs
	queueInbox
	numQueues
)

var queueFill = cross("queue", "queue, window or wire × occupancy", []string{"commands", "event queue", "page requests", "ITags", "translation slots",
	"requests on the network", "responses on the network", "translate wire", "translation wire", "DMA wire", "input of memory", "inbox of the kernel"},
	[]string{"empty again", "in use", "full"})

// Stalls and losses that a run's summary tells of, in the order of their bins.
const (
	stallPH = iota
	stallPD
	stallNPH
	stallNPD
	stallCPLH
	stallCPLD
	stallTag
	stallBuffer
	stallReplay
	stallIIO
	stallMSHR
	stallRxBuffer
	stallRxPause
	stallRxDrop
	stallBackup
	stallSendQueue
	stallQPC
	stallGrant
	stallRegistration
	stallReceive
	stallPin
)

var stall = list("stall", "what was short at some time, so that work waited or was dropped",
	"posted header credits", "posted data credits", "non-posted header credits", "non-posted data credits", "completion header credits",
	"completion data credits", "tags", "completion buffer", "replay buffer", "IIO write buffer", "miss registers or translation slots",
	"receive buffer: waiting", "receive buffer: paused", "receive buffer: dropped", "backup ring in use", "send window", "QP context cache",
	"advertisement", "registration", "receive WQEs", "memory to pin").
	ignore("no request of an adapter carries non-posted data", "non-posted data credits")

// Link events that a summary tells of.
const (
	linkReplayed = iota
	linkNak
	linkReplayTimeout
	linkRollover
	linkRecovery
	linkTimeout
	linkUnexpected
	linkPoisoned
)

var linkEvent = list("link_event", "what happened on links",
	"TLP sent again", "Nak", "replay timer expired", "fourth replay: retraining", "retraining", "completion time-out", "unexpected completion", "poisoned write")
