// Package store keeps the memory's records in a folder, so that none is lost in silence.
//
// It knows files, locks, SQLite and how SQLite lays out its pages, and of records only their numbers and the ids that they
// name. It must never import anything of runner, dsl or cmd, nor what searches and ranks.
//
// What always holds:
//
//   - A record is only added, never changed. When Append returns it is durable (WAL, synchronous=FULL), and the state in
//     memory is what a fresh open would read.
//   - Every record stands in two tables, each time with a checksum, and its name in a third: one damaged page loses nothing.
//   - What Open reads it verifies, up to the number that a file beside the database says was stored. Anything wrong leads to
//     a rebuild: every page of the database and of its log is searched for records, those that verify go into a fresh
//     database, and a record of the loss stands where some are missing. The damaged files are kept.
//   - Any number of processes may have the store open. Each transaction holds a shared flock, a rebuild the exclusive one,
//     and who finds the database replaced opens the new one before going on.
//   - After an I/O error of a write the open store writes nothing more: what the disk holds is unknown until it is opened
//     afresh. A full disk is not such an error.
//
// Enter at [Open]; turn.go is who may do what when, load.go the way from files to a state, append.go the way back, mark.go the
// number beside the database, scan.go and log.go how pages are read without SQLite, rebuild.go what is made of them, swap.go
// how the new database takes the place of the old one, check.go what doctor asks.
package store
