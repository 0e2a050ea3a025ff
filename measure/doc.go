// Package measure turns what a run does into figures and files: the ledger that
// splits an access's latency into causes, the records of accesses and
// invalidations, the summary with its identities, and the result files.
//
//	units ─Counts, Ledger─▶ Access ───────┐
//	notifier ─────────────▶ Invalidation ─┤
//	units ─hazard windows─────────────────┤
//	                                      ▼
//	               Recorder: hold one instant, order by (adapter, id)
//	                  │            │                 │
//	                  ▼            ▼                 ▼
//	             histograms    row digests     table (own goroutine)
//	                  │            │                 │
//	units' counters ─▶ Summary ◀───┘                 ▼
//	                  │  Check                 *.parquet
//	                  ▼
//	             summary.json
//
// # Order
//
// Rows that finish at one instant may be reported in any order: they are held
// until a later instant is reported and then leave ordered by adapter and id,
// so neither a table nor result_hash depends on the order in which units tick.
//
// # Figures
//
// Warm-up rows are in the tables (column warmup) and in result_hash, not in the
// figures. Latency and causes cover completed accesses; failed ones have a
// latency distribution of their own. Times are int64 picoseconds.
//
// Quantiles are nearest-rank: the smallest recorded value that at least the
// stated share of all values does not exceed. They come from an HdrHistogram
// with 3 significant digits: exact below 2048 ps, above that rounded up to the
// top of a bucket whose width is under 0.1 % of the value, and never above the
// exact maximum. Values beyond 100 s count as 100 s in quantiles; mean, total
// and max stay exact. Quantiles of an empty set are 0.
//
// # result_hash
//
// The 64-bit xxHash, in hexadecimal, of these 64-bit little-endian words:
//
//   - the number of rows of accesses.parquet and the xxHash of the rows, each
//     the words id, adapter, op, status, warmup, qp, key, len, va, issue,
//     complete, the counts in column order and the causes in their order;
//   - the same of invalidations.parquet, each row the words id, adapter,
//     trigger, pages, the eleven instants in column order, timed_out, warmup;
//   - every integer of the summary in declaration order, and the length of
//     every list before its elements; none of a group that is left out. Floating-point numbers (wall time, rates,
//     utilisation), strings and flags are left out.
//
// It does not depend on whether files are written.
//
// # Files
//
// All files of a run are written under temporary names in the target folder
// and renamed when all of them are complete: a full disk leaves no cut file.
// The temporaries of a killed process are removed by the next run into the
// folder. An interrupted run does not replace the results of a complete one.
// Tables hold a column a field, delta-encoded and compressed by snappy; their
// bytes are a function of the rows alone.
//
// Not modelled here: time series within a run.
package measure
