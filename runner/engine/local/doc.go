// Package local is the host of machines for one computer: a folder with a SQLite database, and the processes that
// share it.
//
// It knows files, locks, transactions, goroutines and the wall clock, and nothing of any particular machine or
// executor: both are given to [Open]. It must never import runner/machine or anything of dsl but data types.
//
// What always holds:
//
//   - A run has at most one driver. Ownership is an epoch in the run's row; the process of that epoch holds a flock for
//     as long as it lives, so that a dead owner is known at once and a stopped one is not mistaken for a dead one. Every
//     append checks the epoch inside its own transaction.
//   - Only the driver appends to a journal. Other processes put a row into the inbox, and the driver moves the row to
//     the journal in one transaction.
//   - Nothing is done or shown before the batch that caused it is synced (WAL, synchronous=FULL). What runs share is changed in
//     that transaction or after it.
//   - After the first error of a write, or of writing the log back, the open store writes nothing more: what the disk holds
//     is unknown until the store is opened afresh.
//
// Enter at [Open]; drive.go is the loop, commit.go the way to the disk, claim.go ownership, children.go the runs that a run calls,
// turns.go the turns of runs that exclude each other (deadlock.go: no run waits forever), checkpoint.go when the log is written back,
// reserve.go what happens on a full disk, mark.go how a journal that was cut off is found out, runs.go and read.go what others
// may look at, examine.go what doctor asks, prune.go the end of runs, disk.go what tests put faults into, schema in migrations/.
package local
