package tpt

import "rnicmmu/verify/rule"

// The rules that this package watches for.
var (
	Answered = &rule.Rule{ID: "TPT-ANS-01", Title: "no request is dropped",
		Meaning: "Every Translate that a unit was asked has a Translation when nothing moves any more, and none is asked by a queue pair while one of its own waits.",
		Source:  "FLT-1; [Linux] mlx5/odp.c", Example: "Translate(qp 0); end"}
	Once = &rule.Rule{ID: "TPT-ANS-02", Title: "no answer is for nobody",
		Meaning: "Every Translation answers one Translate that waits for it, once; a call back names a translation that is given out.",
		Source:  "derived", Example: "Translate(qp 0); Translation(qp 0); Translation(qp 0)"}
	Released = &rule.Rule{ID: "TPT-REL-01", Title: "A translation is given back once",
		Meaning: "A Release names a translation that is given out, and its handle names no other until then.",
		Source:  "INV-1", Example: "Translate; Translation(handle 3); Release(3); Release(3)"}
	Current = &rule.Rule{ID: "TPT-GEN-01", Title: "no answer is older than an acknowledged invalidation",
		Meaning: "A Translation that is given out is what the table holds by the commands that were acknowledged, or by one that is under way.",
		Source:  "INV-1, INV-3; [Linux] mlx5/umr.c", Example: "CmdFill(0, frame 1); CQE; CmdInvalidate(0); CQE; Translation(entry 0, frame 1)"}
	Drained = &rule.Rule{ID: "TPT-DRAIN-01", Title: "an acknowledgement comes behind the last use",
		Meaning: "When the completion of a command that takes something away leaves the unit, no translation of that is given out.",
		Source:  "INV-1, FRW-1; [Linux] mlx5/umr.c", Example: "Translation(handle 3, entry 0); CmdInvalidate(0); CQE; Release(3)"}
	Permitted = &rule.Rule{ID: "TPT-PERM-01", Title: "no right beyond region and entry",
		Meaning: "A Translation for a store comes from an entry that allows stores, and every one from a key that grants its operation.",
		Source:  "FLT-8, KEY-1; [Linux] rxe_resp.c", Example: "CmdFill(0, read only); CQE; Translate(WRITE); Translation(write)"}
	Bounded = &rule.Rule{ID: "KEY-BND-01", Title: "no access beyond its region",
		Meaning: "All bytes of an access that is granted lie inside the region of its key, and their end does not wrap.",
		Source:  "KEY-4", Example: "region [0x1000, 0x2000); Translate(0x1800, 4 KiB); Translation(ok)"}
	Domain = &rule.Rule{ID: "KEY-PD-01", Title: "no access from another protection domain",
		Meaning: "An access that is granted comes from the protection domain of its key's region; of a type 2 window, from its queue pair.",
		Source:  "KEY-1; [Linux] rxe_resp.c", Example: "region of domain 1; Translate(domain 2); Translation(ok)"}
	Dead = &rule.Rule{ID: "KEY-DEAD-01", Title: "A dead key opens nothing",
		Meaning: "No access is granted by a key whose end is complete, or that never was one.",
		Source:  "KEY-3, FRW-1, FRW-4", Example: "KeyDeregister(key); CQE; Translate(key); Translation(ok)"}
	Untouched = &rule.Rule{ID: "KEY-ZERO-01", Title: "an access of no bytes touches nothing",
		Meaning: "No translation is asked for an access of no bytes.",
		Source:  "KEY-2; [Linux] rxe_resp.c", Example: "Translate(READ, 0 B)"}
	Open = &rule.Rule{ID: "TPT-SUS-01", Title: "what is suspended is not translated",
		Meaning: "No translation is given out of an entry, or by a key, that is suspended.",
		Source:  "SUS-2, SUS-3", Example: "CmdSuspend(0); CQE; Translation(entry 0)"}
	OneWalk = &rule.Rule{ID: "TPT-WALK-01", Title: "one walk for a line",
		Meaning: "While a read of a table line is under way none of the same line is sent.",
		Source:  "derived", Example: "read(line 4); read(line 4)"}
	Found = &rule.Rule{ID: "TPT-HIT-01", Title: "what must be cached is not read again",
		Meaning: "A line that was filled, not invalidated since, and behind whose last use fewer other lines of its set were used than the set has ways, is not read from the table. Watched for where replacement is by last use, in sets of up to 16 ways of one level without prefetch.",
		Source:  "derived", Example: "2 ways: fill A, B; hit A; invalidate A; fill A, C; read A"}
	Resolved = &rule.Rule{ID: "TPT-FLT-01", Title: "each fault has one end",
		Meaning: "A fault that was reported is resumed by one command that names it, before its place serves another.",
		Source:  "FLT-1, FLT-11; [Linux] mlx5/odp.c", Example: "Event(token 0); CmdResume(0); CmdResume(0)"}
	Single = &rule.Rule{ID: "TPT-FLT-02", Title: "one fault of a class",
		Meaning: "A queue pair reports no fault of a class while one of its own of that class is outstanding.",
		Source:  "[Lesokhin17]", Example: "Event(qp 0, write); Event(qp 0, write)"}
	Stopped = &rule.Rule{ID: "TPT-FLT-03", Title: "what is held moves nothing before its resume",
		Meaning: "A request that is held for a reported fault has no translation before the resume of that fault.",
		Source:  "FLT-2; [Lesokhin17]", Example: "Translate(hold); Event; Translation(ok)"}
	Acknowledged = &rule.Rule{ID: "TPT-INV-01", Title: "each command has one completion, in order",
		Meaning: "Commands are completed once each, in the order in which they came.",
		Source:  "INV-5, INV-9; [Linux] mlx5/umr.c", Example: "CmdFill; CmdInvalidate; CQE of the second"}
	Held = &rule.Rule{ID: "TPT-USE-01", Title: "DMA by a translation that is held",
		Meaning: "Each transfer of user data lies in the page of a translation that is given out, and a store in one that allows stores.",
		Source:  "INV-1, FLT-8", Example: "Translation(frame 1); Release; DMA(frame 1)"}
)

// Rules are those of this package.
func Rules() []*rule.Rule {
	return []*rule.Rule{Answered, Once, Released, Current, Drained, Permitted, Bounded, Domain, Dead, Untouched, Open,
		OneWalk, Found, Resolved, Single, Stopped, Acknowledged, Held}
}
