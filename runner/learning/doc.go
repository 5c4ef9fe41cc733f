// Package learning connects runs with a memory: agents recall from the memory before an attempt, and the memory learns from the tasks
// that agents finish.
//
// A process has one [Library] for each store of runs. Each tree of runs, a run and the runs that it calls, has a [Binding]: the memory
// that its program describes, and the tasks that are still to be learned from. Bindings share an open memory where their programs
// describe it alike.
//
// What always holds:
//
//   - A drive never waits for a memory. Tasks go into a bounded queue; if the queue is full, the memory learns from the
//     journal when the run has ended.
//   - An attempt that recalls waits only for the earlier tasks of its own tree, and for a bounded time.
//   - A task is learned from once it is durable in its journal, under ids that its run and its step make. Learning from it twice
//     changes nothing.
//   - Before the first task of a run begins, a durable note says that its learnings are pending. A process that dies leaves the note,
//     and another process learns from the journal.
//
// The package knows no host, no store and no command line. Enter at [New].
package learning
