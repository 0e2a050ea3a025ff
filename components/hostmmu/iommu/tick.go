package iommu

import "rnicmmu/clocked"

// Tick does what is due: takes answers, lets walks go on, takes requests and
// commands in, and sends what may go.
func (u *Unit) Tick(now clocked.Time) {
	for _, r := range u.roots {
		u.takeAnswers(now, r)
	}
	u.finishReads(now)
	for _, r := range u.roots {
		for u.depart(now, r); u.accept(now, r); {
			u.depart(now, r) // what has left may have made room
		}
	}
	u.tickCommands(now)
	u.beginWalks(now)
	for _, r := range u.roots {
		u.sendFlushes(now, r)
		u.sendAnswers(now, r)
		u.sendMessages(now, r)
	}
	u.sendEvents(now)
}
