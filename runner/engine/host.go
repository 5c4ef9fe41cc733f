package engine

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Watcher sees what happened in a run once it is durable. During a resume it sees the replayed past too, with
// replayed set. Calls come one at a time.
type Watcher func(events []event.Event, r *event.Reaction, replayed bool)

// DefaultStopGrace is how long a host waits for live attempts when it stops. It is longer than an executor's own grace of
// 5 s between TERM and KILL.
const DefaultStopGrace = 10 * time.Second

// Starter starts runs.
type Starter interface {
	// Start makes a run durable and returns its id. It does not drive it. Starting an id again is a no-op.
	Start(ctx context.Context, s Start) (run string, err error)
}

// Driver drives runs.
type Driver interface {
	// Drive takes the run over and drives it to its end, or until ctx is done (the error is then ctx's cause, and the
	// run stays resumable). For a run that has ended it replays and returns the end.
	Drive(ctx context.Context, run string, w Watcher) (event.End, error)
}

// Parker drives runs, and lets go of them while nothing of them is in flight: a parked run takes a row in the store and no
// memory. Its clocks run on as if it were driven, it keeps its turn in a group, and its journal does not show that it was parked. If the process that parked it dies or closes the
// host, the run is one that nobody drives.
//
// A host may park a run while runs that it called are parked, too. Such a called run is woken as any other, and then driven beside
// its caller. When it ends, its caller is woken.
type Parker interface {
	// DriveUntilParked is Drive that also returns when the run is parked. The error is *Parked then. A run that this process fails to drive
	// is not parked any more: its turn in its group goes to the next run, and its requests leave their lines.
	DriveUntilParked(ctx context.Context, run string, w Watcher) (event.End, error)
	// Wakeable returns up to limit of the runs that this process parked and that must be driven again: their due has come, a message is
	// there, or it is their turn. next is the due of the first of the others, 0 if no timer is set.
	Wakeable(ctx context.Context, limit int) (runs []string, next event.Time, err error)
	// Woken returns a channel that holds a token when this process may have made a parked run wakeable since the last token was taken. Another
	// process can do that, too: only Wakeable tells that.
	Woken() <-chan struct{}
}

// LeftFinder finds the runs that a process left when it stopped or died.
type LeftFinder interface {
	// Left returns the runs that have not ended, that no process drives and that no run called. The run that is due first is the first;
	// a run without a due, of which something may be in flight, is due at once.
	Left(ctx context.Context) ([]Info, error)
	// Adopt parks the runs here that a process had parked which has ended since, without a look at their journals, and returns how many there
	// were. Only runs that wait for nothing but a timer or a message are adopted: the others are left. When an adopted run is woken, its
	// journal gets the change of driver, and the clocks of the run stood still until it was adopted.
	Adopt(ctx context.Context) (int, error)
	// Alone reports whether no other process lives that has started or driven a run since it opened the store: a run that was just made here
	// and never driven is then left, too.
	Alone() (bool, error)
}

// Renewer changes the secrets of a run.
type Renewer interface {
	// Renew gives secrets of a run new values, by name, from its next drive on. The drive records them in the journal.
	Renew(run string, secrets map[string]event.Secret)
}

// Signaller puts messages into the inboxes of runs that any process drives, or none.
type Signaller interface {
	// Signal returns when the message is durable. The run takes the message once, when a process drives the run. Errors wrap ErrExternal,
	// ErrInboxFull or ErrEnded. A cancel of a run that has ended does nothing.
	Signal(ctx context.Context, run string, x event.External) error
	// Cancel is Signal of a cancel. The run has ended some time after Cancel returns.
	Cancel(ctx context.Context, run, reason string) error
}

// Sharer holds what the runs of a store share.
type Sharer interface {
	// Ask carries out one operation for a person, and returns its answer when it is durable. The error is one of the host, or
	// *shared.Refusal if the operation is not possible.
	Ask(ctx context.Context, r event.StoreRequest) (value.Value, error)
	// Limits returns the state of the agents and quotas that bound attempts, in the order of their kinds and names.
	Limits(ctx context.Context) ([]event.Limit, error)
	// ChangeLimit closes a breaker, or stops or starts an agent, for a person. It reports whether that has changed anything.
	ChangeLimit(ctx context.Context, c event.LimitChange) (changed bool, err error)
}

// Finder finds runs. Get's and Find's errors wrap ErrNoRun where there is no such run.
type Finder interface {
	Get(ctx context.Context, run string) (Info, error)
	// Find returns the run that a person means: "latest", an id, a workflow's name (its newest run), or the beginning of
	// an id. The error is *Ambiguous where several runs fit.
	Find(ctx context.Context, name string) (Info, error)
	// List returns the runs, newest first; limit 0 means all.
	List(ctx context.Context, limit int) ([]Info, error)
	// Tree returns a run and all runs that it called, directly or not, callers first.
	Tree(ctx context.Context, run string) ([]Info, error)
}

// JournalReader reads journals, of runs that are driven meanwhile too. It holds no lock while a callback runs. Batches are
// given as stored; journal.NewReader checks them. Errors wrap ErrNoRun or journal.ErrBroken; an error of each ends the
// reading and is returned.
type JournalReader interface {
	// Journal returns a run's header and definition, and calls each with each batch in turn.
	Journal(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error)
	// Batches is Journal without the definition, so that events can be read though the definition is missing or damaged.
	Batches(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, error)
	// After calls each with the batches that follow an event, which must be the last event of a batch, or 0.
	After(ctx context.Context, run string, seq uint64, each func(journal.Batch) error) error
}

// Reader reads all that a host knows about runs.
type Reader interface {
	Finder
	JournalReader
	// Started returns the first event of a run: its inputs and settings besides the program. A run that waits for its turn has
	// one too, though its journal is still empty.
	Started(ctx context.Context, run string) (event.RunStarted, error)
	// Source returns the text that the run was started from, nil where none was kept.
	Source(ctx context.Context, run string) ([]byte, error)
	// Inbox returns what others asked of a run and its driver has not taken yet, oldest first, up to a bound.
	Inbox(ctx context.Context, run string) ([]event.External, error)
	// Expected returns the expected durations of a workflow's nodes, and the number of successful runs that they were
	// learned from. Workflows of one name in different files are one.
	Expected(ctx context.Context, workflow string) (durations.Expected, int, error)
	// Used returns the most that an attempt of each agent has used in any run that has ended, by the agent's name.
	Used() (map[string]event.Bounds, error)
	Close() error
}

// Writer is a host that starts and drives runs.
type Writer interface {
	Starter
	Driver
	Renewer
	Signaller
	Sharer
}

// Keeper looks after a store on a local disk. Other hosts have none.
type Keeper interface {
	// Dir is the store's folder, absolute.
	Dir() string
	// Stamp returns a text that changes when something is committed to the store, by whatever process, once a reader can see it. It reads no
	// data, so that asking ten times a second costs next to nothing. A store that was opened for reading has none.
	Stamp() string
	// Remove removes runs permanently. It refuses, before anything is removed, if one of them is driven, or if one has not
	// ended and unfinished is not set.
	Remove(ctx context.Context, runs []string, unfinished bool) error
	// Sweep completes removals that were interrupted, and removes programs that no run uses any more.
	Sweep(ctx context.Context) error
	// Vacuum gives the space of removed runs back to the file system. Other writers have to wait meanwhile.
	Vacuum() error
	// Backup writes a copy of the store, as it is at one moment, into a folder that does not exist.
	Backup(ctx context.Context, to string) error
	// Size is the size of a run's journal and its artifacts in bytes.
	Size(ctx context.Context, run string) (int64, error)
	// FileSize is the size of the store's database in bytes.
	FileSize() (int64, error)
	// Examine reads the journals of the newest runs, of all with newest 0, and compares them with the rest of the store.
	Examine(ctx context.Context, newest int) (Health, error)
}

// Engine is a host as the conformance suite sees it.
type Engine interface {
	Starter
	Driver
	Signaller
	Sharer
	// Journal is that of JournalReader.
	Journal(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error)
}
