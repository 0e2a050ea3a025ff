package random

import (
	"cmp"
	"slices"

	"rnicmmu/sweep"
)

// Summary is what a campaign found, as summary.json holds it.
type Summary struct {
	Version     string         `json:"version"`
	First       uint32         `json:"first_seed"`
	Seeds       int            `json:"seeds"`
	Done        int            `json:"done"`
	Interrupted bool           `json:"interrupted"`
	Statuses    map[string]int `json:"statuses"` // seeds by status
	Buckets     []*Bucket      `json:"buckets"`  // the fullest first

	campaign *Campaign
}

// Bucket is what failures with one rule, or with one message but for its
// numbers, have in common.
type Bucket struct {
	Bucket  string `json:"bucket"`
	Status  string `json:"status"`
	Count   int    `json:"count"`
	Seed    uint32 `json:"first_seed"`
	What    string `json:"what"`    // of that seed
	Repro   string `json:"repro"`   // runs that seed
	Minimal string `json:"minimal"` // shows the same with fewer settings; empty: not looked for
}

func newSummary(c *Campaign) *Summary {
	return &Summary{Version: sweep.Version, First: c.First, Seeds: c.Seeds, Statuses: map[string]int{}, Buckets: []*Bucket{}, campaign: c}
}

// add counts a seed. The result does not depend on the order of seeds.
func (s *Summary) add(r *Row) {
	s.Done++
	s.Statuses[r.Status]++
	if r.Bucket == "" {
		return
	}
	i := slices.IndexFunc(s.Buckets, func(b *Bucket) bool { return b.Bucket == r.Bucket })
	if i < 0 {
		i = len(s.Buckets)
		s.Buckets = append(s.Buckets, &Bucket{Bucket: r.Bucket})
	}
	b := s.Buckets[i]
	b.Count++
	if b.Count == 1 || r.Seed-s.First < b.Seed-s.First {
		b.Seed, b.Status, b.What, b.Repro = r.Seed, r.Status, r.What, s.campaign.repro(r.Seed)
	}
	slices.SortFunc(s.Buckets, func(x, y *Bucket) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Bucket, y.Bucket))
	})
}

func (s *Summary) failures() (n int) {
	for _, b := range s.Buckets {
		n += b.Count
	}
	return n
}
