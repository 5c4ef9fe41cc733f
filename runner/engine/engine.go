// Package engine defines the duties of a host of machines, and holds the code that all hosts share.
//
// A host's duties, in this order, for every run that it drives:
//
//  1. Own the run. No other process may append to its journal.
//  2. Rebuild: feed the journal's events to a fresh machine; compare the digest that each batch stores ([Fold.Replay]).
//     Do not carry out the commands of the replay: an earlier driver has done so.
//  3. If the run was driven before, end the processes that its driver left running. If the run was driven, has
//     messages in its inbox, or has a running clock: feed the inbox, then a driver_changed event with the
//     time of the journal's last event before it. The machine then sets its clocks again and repeats the
//     command of each attempt that is in flight and still wanted. After that, every set timer
//     ([Fold.Timers]) fires in order of (due, number), overdue timers at once. Otherwise the run is new:
//     carry out the commands of its first event.
//  4. Gather events: answers of executors, timers that are due, rows of the inbox. Feed them ([Fold.Feed]).
//  5. Make the batch durable. Stop on the first error: never append again, never retry a sync.
//  6. Only then carry out the commands, in order, and show the transitions. Attempts that
//     the same commands start and cancel never start ([Unwanted]), and give back what they were granted. Attempts that they start twice start
//     once ([Once]).
//  7. After the End command nothing else happens.
//
// A call is a run of its own, the child, with its own journal, and all of the above applies to it:
//
//  8. A start_child makes the child durable ([Child]), unless a run of that id is there, and drives it for as long as the
//     parent is driven or parked. One that is too deep ([TooDeep]) is answered and not made.
//  9. Once the child's end is durable, the parent gets one child_finished ([Finished]). A host that dies in between finds
//     the end in the child's journal when the parent's next driver is asked for the child again. If somebody
//     cancels the child itself, the parent gets its end too.
//  10. A cancel_child is a cancel in the child's inbox. However often it is asked for, the child gets one, and with Now two
//     in all. A child that is cancelled before it was made never is ([Unmade]).
//  11. A stop or a crash of the parent's driver is one of the child's, too; so is taking over. A parent that ends while a child
//     lives (a third cancel does not wait) leaves it as any run that nobody drives.
//
// [Session] has those duties that need no clock, no disk and no goroutine: 2, 4, 7, and the rules of 3, 6 and 8 to 11.
//
// The package knows no particular machine and no particular executor, and does no I/O itself. The hosts are
// engine/local (SQLite) and engine/sim (virtual time, faults from a seed); enginetest is the suite both must pass.
package engine

import (
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Machine is the state machine that a host drives, such as the one of runner/machine. It is not safe for concurrent use.
type Machine interface {
	// Step takes one event. An error means that the event cannot be part of this run at all (a defect, or a journal of
	// something else); the run stops there with its journal intact. A late or unknown answer is not an error.
	Step(event.Event) error
	// Advance does at most budget units of work and appends the reaction to out. It reports whether
	// work is left. Hosts call it until no work is left, and then Step. The slices leave no trace.
	Advance(budget int, out *event.Reaction) (more bool)
}

// Factory makes a fresh machine for a run: h is its journal's header, definition the canonical program that it pins.
type Factory func(h journal.Header, definition []byte) (Machine, error)

// Start is a new run: its definition, and its first event. Source is kept beside the definition for people (snippets);
// it is not a part of the hash.
type Start struct {
	Header     journal.Header // Run and Created may be left empty: the host gives them
	Definition []byte
	Source     []byte
	First      event.RunStarted // Run may be left empty
	Queue      string           // the task queue of the run, where a host has some; "" is the host's
}
