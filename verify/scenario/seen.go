package scenario

import (
	"errors"
	"fmt"

	"rnicmmu/model/frame"
)

// resident counts a region's pages that are in frames.
func (p *player) resident(m *region) (n int) {
	r := p.sys.Region(p.index[m])
	for i := range r.Pages {
		if _, resident, _ := p.sys.Kernel().Locate(r.FirstPage + i); resident {
			n++
		}
	}
	return n
}

// timeOf is when a moment was, or how long after its begin an event ended.
func (p *player) timeOf(m *moment, latency bool) (float64, error) {
	at, ok := m.of(p)
	if !ok {
		return 0, fmt.Errorf("%s has not been", m)
	}
	if latency {
		at -= p.events[m.event.number].started
	}
	return float64(at), nil
}

// holds tells whether a page has the content that the stores of some events, one
// after the other, leave.
func (p *player) holds(c *content) error {
	page := p.sys.Region(p.index[c.region]).FirstPage + c.page
	f, resident, swapped := p.sys.Kernel().Locate(page)
	want := frame.Tag(0)
	for _, e := range c.events {
		n := 0
		for _, st := range p.watch.stores[page] {
			if st.event == e.number {
				want = frame.Mix(want, st.id, st.offset)
				n++
			}
		}
		if n == 0 {
			return fmt.Errorf("%s has not stored to the page", e.name)
		}
	}
	if got := p.sys.Memory().Tag(page, f, resident, swapped); got != want {
		return errors.New("the page holds something else")
	}
	return nil
}
