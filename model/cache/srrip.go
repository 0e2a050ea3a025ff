package cache

// Predicted distances to a line's next use, two bits ([SRRIP]).
const (
	near      = 0
	long      = 2
	distant   = 3
	distances = 4
)

// classOf is the bitmap that holds the ways of a predicted distance. To age a
// set, so that every line of it is one further off, is to turn the bitmaps by
// one: the last is empty then and becomes that of near.
func (r *replacement) classOf(set int, distance uint8) uint8 {
	return (distance - r.ages[set]) % distances
}

func (r *replacement) predict(set, slot int, distance uint8) {
	class := r.classOf(set, distance)
	r.class[slot] = class
	r.predicted[class].set(set, slot-set*r.ways)
}

func (r *replacement) forget(set, slot int) {
	r.predicted[r.class[slot]].clear(set, slot-set*r.ways)
}

// mostDistant is the lowest way that is predicted distant. The set ages until
// there is one; it holds a line, so there will be.
func (r *replacement) mostDistant(set int) int {
	for {
		if way := r.predicted[r.classOf(set, distant)].first(set); way >= 0 {
			return way
		}
		r.ages[set] = (r.ages[set] + 1) % distances
	}
}
