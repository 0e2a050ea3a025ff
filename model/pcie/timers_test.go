package pcie

import "testing"

// The limits in symbol times as published for MPS 128 … 4096: Gen1 in full, Gen2
// where a usual table slips, Gen3 on for the widths of cards.
func TestAckLimit(t *testing.T) {
	sizes := []uint32{128, 256, 512, 1024, 2048, 4096}
	for _, c := range []struct {
		gen, lanes int
		want       []int64
	}{
		{1, 1, []int64{237, 416, 559, 1071, 2095, 4143}},
		{1, 2, []int64{128, 217, 289, 545, 1057, 2081}},
		{1, 4, []int64{73, 118, 154, 282, 538, 1050}},
		{1, 8, []int64{67, 107, 86, 150, 278, 534}},
		{1, 12, []int64{58, 90, 109, 194, 365, 706}},
		{1, 16, []int64{48, 72, 86, 150, 278, 534}},
		{1, 32, []int64{33, 45, 52, 84, 148, 276}},
		{2, 32, []int64{84, 96, 103, 135, 199, 327}},
		{3, 1, []int64{333, 512, 655}},
		{3, 4, []int64{169, 214, 250}},
		{4, 8, []int64{163, 203, 182}},
		{5, 16, []int64{144, 168, 182}},
		{6, 16, []int64{0, 0, 0}},
	} {
		for i, want := range c.want {
			if got := AckLimit(c.gen, c.lanes, sizes[i]); got != want {
				t.Errorf("Gen%d x%d, MPS %d: %d symbols, want %d", c.gen, c.lanes, sizes[i], got, want)
			}
		}
	}
}

// Three times the limit of Ack, as published for Gen1 x1, then the simplified
// timer.
func TestReplayLimit(t *testing.T) {
	for _, c := range []struct {
		gen, lanes int
		mps        uint32
		want       int64
	}{{1, 1, 128, 711}, {1, 1, 256, 1248}, {1, 16, 4096, 1602}, {3, 8, 256, 609}, {4, 16, 256, 24000}, {5, 1, 128, 24000}, {6, 16, 256, 24000}} {
		if got := ReplayLimit(c.gen, c.lanes, c.mps); got != c.want {
			t.Errorf("Gen%d x%d, MPS %d: %d symbols, want %d", c.gen, c.lanes, c.mps, got, c.want)
		}
	}
}
