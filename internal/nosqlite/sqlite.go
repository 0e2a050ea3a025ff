// Package sqlite3 stands in for the SQLite driver, which is C and which Akita's
// tracing imports for a back end that is not used here.
package sqlite3
