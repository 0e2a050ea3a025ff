package kernel

// Locate tells where the content of a process page is when the kernel is at
// rest: in a frame, in its swap slot (which has the page's number), or nowhere,
// for no one has stored to it.
func (k *Kernel) Locate(p uint32) (frame uint32, resident, swapped bool) {
	pg := &k.pages[p]
	return pg.frame, pg.state == pageResident, pg.flags&slotValid != 0
}
