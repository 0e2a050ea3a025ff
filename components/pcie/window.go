package pcie

import "rnicmmu/model"

// Windows of addresses, above all of memory and the tables: each adapter has one,
// with a part for each of its clients. MMIO writes of software, and requests of
// other adapters behind the same switch, go there.
const (
	windows     model.PA = 1 << 50
	windowBytes model.PA = 1 << 40
	partBytes   model.PA = 1 << 32
	maxAdapters          = 1 << 10
)

// Window is where the part of an adapter's client begins: 4 GiB. adapter is below
// 1024.
func Window(adapter uint16, client uint8) model.PA {
	return windows + model.PA(adapter)*windowBytes + model.PA(client)*partBytes
}

// windowOf tells in whose window an address is; not ok: in none.
func windowOf(pa model.PA) (adapter uint16, client uint8, ok bool) {
	at := (pa - windows) / windowBytes
	return uint16(at), uint8(pa % windowBytes / partBytes), at < maxAdapters
}
