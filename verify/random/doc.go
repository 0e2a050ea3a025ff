// Package random runs systems that are drawn from a seed, with every check of
// package verify beside them.
//
//	seed ──▶ Settings: a legal configuration ──▶ Run ──▶ Outcome
//	                                                      │ by rule or message
//	         command to repeat it ◀── Shrink ◀── bucket ◀─┘
package random
