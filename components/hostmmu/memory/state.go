package memory

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/components/msg"
	"rnicmmu/model/frame"
)

// Client is the pair of wires of one root port, or of what stands before it: an
// IOMMU may write Req while the root port reads Done.
type Client struct {
	Req  *clocked.Wire[msg.MemReq]  // read
	Done *clocked.Wire[msg.MemDone] // written
}

// Ports are the unit's wires. PageOp and PageDone are nil where the host has no
// frames; Inbox may be nil where no software listens.
type Ports struct {
	Clients  []Client
	Inbox    *clocked.Wire[msg.Inbox]    // written
	PageOp   *clocked.Wire[msg.PageOp]   // read
	PageDone *clocked.Wire[msg.PageDone] // written
}

// Stats are totals since time 0.
type Stats struct {
	Reads, Writes     uint64       // transfers of all kinds
	LLCHits           uint64       // reads served by lines that devices wrote
	Writebacks        uint64       // lines that device writes pushed out of the LLC
	WriteBufferStalls uint64       // writes that waited for the write buffer
	WriteBufferWait   clocked.Time // time that root ports' oldest writes waited for it, added
	StaleDMA          uint64       // transfers to or from a frame that did not hold the page meant
	StaleDeferred     uint64       // of such, those that the scheme gives up by design, not in StaleDMA: a flush put off, or a registration that outlived its mapping
	Poisoned          uint64       // writes whose data came marked bad: dropped, and neither stale nor lost
	LostWrites        uint64       // reads, page-ins, page-outs and CPU accesses that saw other content than the process must
}

// client is what the unit keeps for a root port.
type client struct {
	service clocked.Time // of a read of one line
	socket  int
	writes  clocked.FIFO[write]
	held    int          // lines in the write buffer
	unknown int          // writes whose placing no controller has told yet
	placed  clocked.Time // the last of the others is
	notices int          // writes for software to see
	blocked bool         // the write at the head of the wire waits for the buffer
	since   clocked.Time // of that wait
	reads   timeline[msg.MemReq]
	parked  []parkedRead
	inbox   clocked.FIFO[msg.Inbox]
}

// Memory is a host's memory.
type Memory struct {
	engine   *clocked.Engine
	id       clocked.UnitID
	name     string
	spec     Spec
	config   Config
	ports    Ports
	clients  []client
	sockets  []socket
	waiting  waiting                 // for controllers
	lineTime clocked.Time            // of each line after a transfer's first
	links    [2]clocked.Serializer   // between sockets, by the one that data go to
	content  *frame.Oracle           // nil: no frames
	orphans  map[frame.ID]frame.Page // frames that an old registration keeps, and the page that they held; only looked up
	moving   timeline[pageMove]
	rounds   []round // places of rounds under way in a controller
	answers  timeline[msg.PageDone]
	stats    Stats
}

// New builds a host's memory; Connect must follow before the engine runs. It
// fails on a Spec or Config that contradicts itself.
func New(e *clocked.Engine, name string, spec Spec, config Config) (*Memory, error) {
	if err := spec.Check(config); err != nil {
		return nil, err
	}
	m := &Memory{engine: e, name: name, spec: spec, config: config,
		clients: make([]client, config.Clients)}
	for i := range m.clients {
		m.clients[i].service = config.service(i)
		m.clients[i].socket = config.socket(i)
	}
	var err error
	if m.content, err = newContent(config); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	if err := m.build(); err != nil {
		return nil, err
	}
	return m, nil
}

// Connect gives the unit its wires, one Client a root port.
func (m *Memory) Connect(p Ports) { m.ports = p }

// ID is the unit's identity on its engine.
func (m *Memory) ID() clocked.UnitID { return m.id }

// Name is the unit's name.
func (m *Memory) Name() string { return m.name }

// Stats are the totals, with every write placed by now counted, and every wait
// until now.
func (m *Memory) Stats(now clocked.Time) Stats {
	m.settle(now)
	s := m.stats
	for i := range m.clients {
		if c := &m.clients[i]; c.blocked {
			s.WriteBufferWait += now - c.since
		}
	}
	return s
}

// Idle tells whether nothing is in flight that somebody waits for.
func (m *Memory) Idle() bool {
	for i := range m.clients {
		c := &m.clients[i]
		if c.reads.count > 0 || len(c.parked) > 0 || c.notices+c.inbox.Len() > 0 || c.blocked {
			return false
		}
	}
	return m.waiting.count() == 0 && m.moving.count == 0 && m.answers.count == 0
}

// Waits says in a line each what the unit waits for.
func (m *Memory) Waits() []string {
	var lines []string
	for i := range m.clients {
		c := &m.clients[i]
		if n := len(c.parked); n > 0 {
			lines = append(lines, fmt.Sprintf("%s: client %d: %d reads behind writes that are not placed", m.name, i, n))
		}
		if c.reads.count > 0 {
			lines = append(lines, fmt.Sprintf("%s: client %d: %d reads, the first due at %v", m.name, i, c.reads.count, c.reads.next()))
		}
		if c.blocked {
			lines = append(lines, fmt.Sprintf("%s: client %d: a write waits for the write buffer, in which are %d lines", m.name, i, c.held))
		}
		if n := c.notices + c.inbox.Len(); n > 0 {
			lines = append(lines, fmt.Sprintf("%s: client %d: %d entries for software", m.name, i, n))
		}
	}
	if n := m.waiting.count(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d transfers in the memory controllers", m.name, n))
	}
	if n := m.moving.count + m.answers.count; n > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d page operations", m.name, n))
	}
	return lines
}
