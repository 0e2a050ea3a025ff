package pcie

// Tags are the tags that a requester with tags of so many bits may use: count of
// them from first on. Those of 10 bits leave out 0 … 255, so that a completer
// which returns 8 bits is found out ([R-Tile]); those of 14 bits, of flit mode,
// leave out 0 … 1023 (recalled). Other widths have none.
func Tags(bits int) (first, count int) {
	switch bits {
	case 5, 8:
		return 0, 1 << bits
	case 10:
		return 1 << 8, 1<<10 - 1<<8
	case 14:
		return 1 << 10, 1<<14 - 1<<10
	}
	return 0, 0
}
