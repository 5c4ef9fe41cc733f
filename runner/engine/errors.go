package engine

import (
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/runner/event"
)

// Errors that hosts return, wrapped. Damage to a journal wraps journal.ErrBroken.
var (
	ErrNoRun    = errors.New("no such run")
	ErrOwned    = errors.New("the run is driven by another process")
	ErrFenced   = errors.New("the run was taken over by another process")
	ErrDiverged = errors.New("the machine does not repeat what it did")
	// ErrParked: nothing of the run is in flight, and its driver let go of it. It is wrapped by *Parked.
	ErrParked = errors.New("the run is parked")
	// ErrNoStore: the store was to be opened for reading, and there is none.
	ErrNoStore = errors.New("there is no store")
	// ErrReadOnly: the store was opened for reading only.
	ErrReadOnly = errors.New("the store is open for reading only")
	// ErrForeign: the store holds something that flowrun never puts there, such as a trigger.
	ErrForeign = errors.New("the store is not one that flowrun made")
	// ErrFull: the host drives and starts nothing until the disk has room.
	ErrFull = errors.New("the disk is full")
	// ErrClosed: the host was closed.
	ErrClosed = errors.New("the store is closed")
	// ErrUnreleased: the store is from before the first release of flowrun.
	ErrUnreleased = errors.New("a flowrun from before the first release made this store, and this release does not read it: remove the store, or use another")
	// ErrRefused: the host does not carry the program of a run. It would be refused again.
	ErrRefused = errors.New("the engine does not carry the program")
	// ErrExternal: the message itself is wrong. It would be refused again.
	ErrExternal = errors.New("the message is refused")
	// ErrInboxFull: [MaxInbox] messages wait already. The run takes them when it is driven.
	ErrInboxFull = errors.New("the run's inbox is full")
	// ErrEnded: the run has ended and takes no messages.
	ErrEnded = errors.New("the run has ended")
)

// Diverged says where a replay went another way. It wraps ErrDiverged.
type Diverged struct {
	Run        string
	Event      uint64 // the last event of the batch with the wrong digest
	Want, Have uint64
}

func (d *Diverged) Error() string {
	return fmt.Sprintf("run %s diverged at event %d: its journal says %016x, this release gives %016x; "+
		"resume it with the release that started it", d.Run, d.Event, d.Want, d.Have)
}

// Unwrap gives ErrDiverged.
func (d *Diverged) Unwrap() error { return ErrDiverged }

// Parked says when a parked run must be driven again. It wraps ErrParked.
type Parked struct {
	Run string
	Due event.Time // 0: no timer of the run is set, and it waits for a message or for its turn
}

func (p *Parked) Error() string { return fmt.Sprintf("run %s is parked until %s", p.Run, p.Due) }

// Unwrap gives ErrParked.
func (p *Parked) Unwrap() error { return ErrParked }

// Ambiguous says that a name fits several runs.
type Ambiguous struct {
	Name string
	Runs []string // some of them
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%q fits several runs: %v", e.Name, e.Runs)
}

// NewerStore says that a newer release wrote the store.
type NewerStore struct {
	Dir         string
	Have, Known int // versions of the store's form
}

func (e *NewerStore) Error() string {
	return fmt.Sprintf("the store %s has version %d; this release knows versions up to %d: use a newer flowrun", e.Dir, e.Have, e.Known)
}

// OlderStore says that an older release wrote a store that was opened for reading only.
type OlderStore struct {
	Dir         string
	Have, Known int // versions of the store's form
}

func (e *OlderStore) Error() string {
	return fmt.Sprintf("the store %s has version %d and this release reads version %d: a command that writes to it brings it forward, and keeps a copy", e.Dir, e.Have, e.Known)
}

// Damaged says that the store itself cannot be read any more, wherever that is noticed. Damage to one journal wraps journal.ErrBroken.
type Damaged struct {
	Dir string
	Err error // the database's error, or the difference in its schema
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("the database of the store %s is damaged (%v): copy the folder before you change anything in it", e.Dir, e.Err)
}

// Unwrap returns the database's error.
func (e *Damaged) Unwrap() error { return e.Err }
