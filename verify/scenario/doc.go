// Package scenario reads and runs directed scenarios: text files that say what
// happens in a system and when, and what must come of it. docs/scenario.md has
// the language.
//
//	file ─▶ blocks ─▶ Scenario ─▶ platform.Script ─▶ platform.System
//	                      │           ▲   │ player: acts between instants
//	                      │           │   │ watcher: names what the links carry
//	                      ▼           │   ▼
//	                  expectations ◀──figures, statuses, times, log
//
// The system is the whole cycle model. A player acts between its instants, so
// that the order in which units tick decides nothing.
package scenario
