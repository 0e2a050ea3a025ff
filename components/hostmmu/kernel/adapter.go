package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model"
	"rnicmmu/model/key"
)

// Schemes of an adapter.
const (
	Pinned  = "pinned"
	ODP     = "odp"
	SVA     = "sva"
	IOMMU   = "iommu"
	Suspend = "suspend"
)

// PASID is the process's address space in translation requests, page requests
// and commands to the IOMMU; 0 there is the DMA domain.
const PASID = 1

// AdapterConfig says how an adapter lives with paging.
type AdapterConfig struct {
	Shift   model.PageShift // page size of its table, at most the host's where pages come and go one by one
	Scheme  string          // pinned, odp, sva, iommu or suspend
	Process bool            // iommu: by the process's page table, not by the DMA domain
	IOMMU   bool            // pinned, odp, suspend: an IOMMU translates its requests by the DMA domain
	Root    *key.Region     // odp: key, PD and rights of the one implicit region that all memory is registered by; nil: each region by itself
}

// adapterState is whether an adapter takes part.
type adapterState uint8

const (
	adapterAlive    adapterState = iota
	adapterStopping              // it did not answer: its root port is being told to take no more
	adapterDead
)

// adapter is what the kernel knows of an adapter, with the command queue to it.
type adapter struct {
	config  AdapterConfig
	shift   model.PageShift
	regions []int // by FirstEntry
	queue   clocked.FIFO[*msg.Command]
	sent    clocked.FIFO[sentCommand] // posted; those completed out of turn are nil until the oldest is
	open    int                       // posted and not completed
	state   adapterState
	cut     bool // stopping: the root port has been told
	watched bool // a timer looks after sent

	implicit *implicit // nil: there is no implicit region
}

type sentCommand struct {
	cmd *msg.Command
	at  clocked.Time
}

func (c *AdapterConfig) check() error {
	if c.Root != nil && c.Scheme != ODP {
		return fmt.Errorf("scheme: %q with an implicit region; odp is due", c.Scheme)
	}
	switch c.Scheme {
	case Pinned, ODP, SVA, IOMMU, Suspend:
		return nil
	}
	return fmt.Errorf("scheme: %q: pinned, odp, sva, iommu or suspend is due", c.Scheme)
}

// adapterOf is the adapter of a region.
func (k *Kernel) adapterOf(region int) *adapter { return &k.adapters[k.regions[region].Adapter] }

// walks tells whether the process's page table is the adapter's: nothing is
// filled in for it.
func (a *adapter) walks() bool {
	return a.config.Scheme == SVA || a.config.Scheme == IOMMU && a.config.Process
}

// hasTable tells whether the kernel fills the adapter's table.
func (a *adapter) hasTable() bool { return !a.walks() }

// faults tells whether pages come and go in the adapter's table.
func (a *adapter) faults() bool { return a.config.Scheme == ODP || a.config.Scheme == Suspend }

// pins tells whether what the adapter registers cannot leave.
func (a *adapter) pins() bool {
	return a.config.Scheme == Pinned || a.config.Scheme == IOMMU && !a.config.Process
}

// onDemand tells whether the keys of what the adapter registers say that pages
// may be absent.
func (a *adapter) onDemand() bool { return a.faults() || a.config.Scheme == SVA }

// snapshots tells whether pages that are present are mapped into the adapter's
// table at registration, though they are not pinned. By an implicit region none are.
func (k *Kernel) snapshots(a *adapter) bool {
	return a.config.Scheme == Suspend || a.config.Scheme == ODP && k.spec.Pager.Snapshot && a.implicit == nil
}

// domain tells whether the adapter's table holds addresses of the DMA domain.
func (a *adapter) domain() bool { return a.hasTable() && (a.config.IOMMU || a.config.Scheme == IOMMU) }
