// Package runner is the run service: it starts runs, drives them and looks at them, beside a host that keeps their journals and executors
// that carry out their attempts. The command line is one user of it.
//
// The package knows no particular host, no command line and no screen. It must never import a host, and its messages name no command.
// Package standalone joins it with the host and the executors of one process.
//
// What always holds:
//
//   - A program is loaded once, however many runs pin it, and the programs that are kept are bounded.
//   - A tree of runs, a run and the runs that it calls, has one [Session]: secrets, masks, evaluator and memory. Trees of one process
//     share none of these.
//   - A drive never waits for a memory. A parked tree keeps its secrets and no session.
//
// Enter at [New]: then [Service.Start] and [Service.Drive] for a new run, [Service.Resume] for a run of another process, and
// [Service.Past] for a run that somebody looks at. [Service.Entries] gives a journal with its consequences, and [Service.Prospect] what the
// next driver would do first. A [Supervisor] drives many runs of a service at once.
package runner
