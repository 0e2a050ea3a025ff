package scenario

import (
	"slices"

	"rnicmmu/components/msg"
	"rnicmmu/components/pcie"
)

// reads are the requests and the completions of kinds, by their names.
var reads = map[msg.Kind][2]string{
	msg.KindData: {"data-read", "data-completion"}, msg.KindWQE: {"wqe-read", "wqe-completion"},
	msg.KindRecvWQE: {"receive-read", "receive-completion"}, msg.KindCommand: {"command", "command-data"},
	msg.KindQPC: {"qpc-read", "qpc-completion"}, msg.KindMPT: {"mpt-read", "mpt-completion"}, msg.KindMTT: {"mtt-read", "mtt-completion"},
	msg.KindFlush: {"flush", "flush-completion"}, msg.KindATS: {"translation-request", "translation-completion"},
}

// writes are posted ones.
var writes = map[msg.Kind]string{msg.KindData: "data-write", msg.KindQPC: "qpc-write", msg.KindMPT: "mpt-write", msg.KindMTT: "mtt-write",
	msg.KindCQE: "cqe", msg.KindEQE: "eqe", msg.KindMSI: "msi", msg.KindDoorbell: "doorbell"}

// commands are doorbells of table commands; their completion entries have the
// same name with -done.
var commands = map[msg.CommandOp]string{msg.CmdFill: "fill", msg.CmdInvalidate: "zap", msg.CmdResume: "resume", msg.CmdSuspend: "suspend",
	msg.CmdUnsuspend: "unsuspend", msg.CmdProtect: "write-protect", msg.CmdKey: "key"}

// Messages of ATS and PRI.
const (
	messageInvalidate     = "invalidate"
	messageInvalidateDone = "invalidate-completion"
	messagePageRequest    = "page-request"
	messagePageResponse   = "prg-response"
)

// messageNames are all names, in order.
var messageNames = func() []string {
	names := []string{messageInvalidate, messageInvalidateDone, messagePageRequest, messagePageResponse}
	for _, pair := range reads {
		names = append(names, pair[:]...)
	}
	for _, name := range writes {
		names = append(names, name)
	}
	for _, name := range commands {
		names = append(names, name, name+"-done")
	}
	slices.Sort(names)
	return names
}()

// messageName is what a message of a link is called.
func messageName(m *pcie.Message) string {
	switch m.Class {
	case msg.NonPosted:
		return reads[m.Kind][0]
	case msg.Completion:
		return reads[m.Kind][1]
	}
	switch body := m.Body.(type) {
	case *msg.Command:
		if m.Up {
			return commands[body.Op] + "-done"
		}
		return commands[body.Op]
	case *msg.Invalidate:
		return messageInvalidate
	case *msg.InvalidateDone:
		return messageInvalidateDone
	case *msg.PageRequest:
		return messagePageRequest
	case *msg.PageResponse:
		return messagePageResponse
	}
	return writes[m.Kind]
}
