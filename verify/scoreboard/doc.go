// Package scoreboard keeps a golden host beside a run and judges what the
// adapters do to memory by it.
//
//	kernel ──PageOp──▶ memory        which frame holds which page; frames' bytes
//	kernel ──Doorbell(Command)─▶     what each adapter's table lets it use …
//	root port ──MemReq(CQE)──▶       … until the invalidation is complete
//	root port ──MemReq(data)──▶      each use of a translation; bytes read and stored
//	requester ──Packet──▶ responder  what each access means
//	requester's memory ──Inbox──▶    what was acknowledged
//
// # Translations
//
// The entries of each adapter's table are kept as the kernel's commands leave
// them: a fill permits from the moment it is sent, an invalidation takes the
// permission away when its completion entry comes to memory, behind the DMA that
// used it. In between, old and new are allowed. Where an adapter has no table
// (sva, iommu by the process's table), the frame must be the page's.
//
// # Bytes
//
// Each byte has an identity: its access, and its place in the access's message.
// A store is applied twice: by meaning, to the process's page, which is worked
// out from the request's packet; and by address, to the frame. Frames move as
// page operations say.
//
// # Not checked
//
// Where in a receive buffer a SEND's bytes go; how responses are put together
// from reads beyond that their bytes were read; the memory of peers. Stores that
// a scheme gives up by design (deferred flushes, registrations that outlive
// their memory) are left out on both sides.
package scoreboard
