package kernel

import (
	"fmt"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// Events describes what the kernel does to pages besides paging and migration.
// Each interval takes a page, or a run of them, at random.
type Events struct {
	Protect    clocked.Time `key:"protect_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"a random resident page becomes read-only, or storable again, this often" source:"assumption: off"`
	COW        clocked.Time `key:"cow_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"the process stores to a random page that a child shares, and copies it, this often; without a child, one is forked for that page" source:"assumption: off"`
	Fork       clocked.Time `key:"fork_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"a child is forked that shares a random region, this often; not while there is one" source:"assumption: off"`
	Unmap      clocked.Time `key:"unmap_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"a random run of pages is unmapped and mapped afresh, its content given up, this often" source:"assumption: off"`
	Split      clocked.Time `key:"split_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"the leaf of a random page above 4 KiB becomes 512 smaller ones this often" source:"assumption: off"`
	Collapse   clocked.Time `key:"collapse_interval" default:"0ns" min:"1us" max:"100s" zero:"never" doc:"a random page with a split leaf is copied to another frame under one leaf this often" source:"assumption: off"`
	UnmapPages int          `key:"unmap_pages" default:"1" min:"1" max:"512" doc:"pages of an unmapped run, fewer at a region's end" source:"assumption"`
	ProtectBy  string       `key:"protect_by" default:"invalidate" oneof:"invalidate,protect" doc:"what adapters are told when a page becomes read-only: to drop it, or to take the right to store from it" source:"[Linux] umem_odp.c, mlx5/odp.c: the callback drops entries whatever the reason"`
	Lifetime   clocked.Time `key:"child_lifetime" default:"1ms" min:"1ns" max:"100s" doc:"of a forked child, which keeps the frames that the process copied away from" source:"assumption: fork and exec"`
}

// Prefetch describes what follows an adapter's fault.
type Prefetch struct {
	Advice string `key:"advice" default:"none" oneof:"none,read,write,no_fault" doc:"what a fault asks for beyond its pages: nothing, pages to read, pages to store to, or the table entries of pages that are present" source:"[rdma-core] man ibv_advise_mr: the three kinds; the trigger: [Linux] mlx5/odp.c"`
	Ahead  int    `key:"ahead" default:"8" min:"0" max:"4096" doc:"pages after the faulting ones, up to the region's end" source:"assumption"`
}

// check refuses events that pages of the given size cannot have.
func (e *Events) check(shift model.PageShift) error {
	if shift == model.Shift4K && (e.Split > 0 || e.Collapse > 0) {
		return fmt.Errorf("host.events: split_interval and collapse_interval: a page of 4KiB has no smaller leaf: set host.page")
	}
	return nil
}
