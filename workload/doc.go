// Package workload is where accesses come from: synthetic patterns, traces of
// real programs, and captures of real RDMA traffic. It knows nothing of time
// beyond what a source says about when an access is offered.
//
//	SyntheticSpec ── NewGenerator ─┐
//	file ── Open ── *Trace ────────┼─→ Source ─→ Access{Op, VA, Len, QP, Key, Host, TimePS}
//	[]Access ── NewSlice ──────────┘
//
// # Synthetic patterns
//
// sequential, strided, uniform, zipf (ranked pages), pointer-chase (one cycle
// through all pages; the dependence of an access on the one before is the
// consumer's to keep, with one access outstanding), hotset and keyvalue. The
// working set begins at BaseVA and is split by Layout. Beside the pattern a share
// of the accesses can come from an aggressor: uniform in memory of its own, on the
// QPs of every tenant but the first. Random numbers,
// logarithm and exponential are the package's own, so that a seed gives the
// same accesses under every version of Go and on every processor.
//
// # Text traces, plain or gzip
//
// CSV: a header with at least op,va,len. op is R, W or S (SEND), the name of an
// operation as result files print it, or a BTH opcode's name or number
// (RC_RDMA_WRITE_ONLY, RDMA_WRITE_ONLY, 10, 0x0a; numbers are of the whole
// field, so 0 to 0x1f are RC). va is hex after 0x or decimal; len is in bytes.
// Optional: time_ns (up to three decimals), qp, key or rkey; an empty field
// says nothing. Other columns are ignored, so are empty lines and lines that
// begin with #; two columns for one field are an error. Rows whose opcode is no
// request are skipped and counted.
//
// Valgrind's lackey (--trace-mem=yes): loads are READs, stores WRITEs, a
// modify is a READ and then a WRITE, instructions are left out.
//
// Akita's memory trace: the starts of reads and writes at the first component
// that the file names.
//
// # Captures
//
// pcap and pcapng with link type Ethernet (RoCEv1, EtherType 0x8915; RoCEv2,
// UDP port 4791 over IPv4 and IPv6; VLAN tags), ERF records of type InfiniBand,
// and InfiniBand (LINKTYPE_INFINIBAND). Each destination address is an address
// space of its own. The rules by which packets become accesses stand with the
// type replay in this package, in short: requests only, WRITE at its first
// packet, SEND when whole, retransmissions not again. SENDs of management
// datagrams (QP 0 and 1) are SENDs like any other.
//
// RC, UC, RD, UD and XRC are decoded as [IBA] says. The opcodes of NVIDIA's dynamically connected transport
// (DC) are not published: the specification gives 0xC0 to 0xFF to
// manufacturers. Packets in that range are read with RC's headers and
// operations, named DC_…, and are malformed unless the lengths of RETH and
// payload agree; the packets that set up a DC connection are among those
// skipped.
//
// # Not modelled
//
// An aggressor that has a pattern.
// CRCs are not checked (many cards strip or zero them in captures). IP
// fragments and tunnels are foreign. READ responses and acknowledgements are
// counted, never replayed.
package workload
