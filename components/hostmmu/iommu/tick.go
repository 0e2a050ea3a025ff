package iommu

import "rnicmmu/clocked"

// Tick does what is due: takes answers, lets walks go on, takes requests and
// commands in, and sends what may go.
func (u *Unit) Tick(now clocked.Time) {
	for _, i := range u.present {
		u.takeAnswers(now, &u.adapters[i])
	}
	u.finishReads(now)
	for _, i := range u.present {
		a := &u.adapters[i]
		for u.depart(now, a); u.accept(now, a); {
			u.depart(now, a) // what has left may have made room
		}
	}
	u.tickCommands(now)
	u.beginWalks(now)
	for _, i := range u.present {
		a := &u.adapters[i]
		u.sendFlushes(now, a)
		u.sendAnswers(now, a)
		u.sendMessages(now, a)
	}
	u.sendEvents(now)
}
