package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Engine is an open store. It is safe for concurrent use and must be closed.
type Engine struct {
	dir     string
	options Options
	read    *reader
	commits *committer // nil for reading only
	file    os.FileInfo

	driver atomic.Pointer[driver] // this process as an owner, from the first Drive on

	mu        sync.Mutex
	drives    map[string]*drive                  // by run; nil while one is being taken over
	watch     *watcher                           // runs while anything is driven
	renewals  map[string]map[string]event.Secret // by run: see Renew
	closed    bool
	leftovers bool        // attempts outlived a drive
	inLine    atomic.Bool // a run of this process may wait for a grant
	watching  atomic.Int64
	line      line
	halts     halts
	artifacts *artifact.Store
	fresh     *fresh         // the run that was started here last, if it was not driven here; or nil
	idle      sync.WaitGroup // of drives
	forks     time.Duration  // see lastForks
	wake      wakeful
	stamps    stamper
	adopted   map[string]event.Time            // when, by run: see Adopt
	handed    map[string]map[string]*event.End // called runs that were handed back, by caller and run: see handBack
}

var (
	_ engine.Engine = (*Engine)(nil)
	_ engine.Reader = (*Engine)(nil)
	_ engine.Writer = (*Engine)(nil)
	_ engine.Keeper = (*Engine)(nil)
	_ engine.Parker = (*Engine)(nil)
	_ engine.Sharer = (*Engine)(nil)
)

// Open opens the store in dir, and makes it (but for reading) where there is none. Errors: *engine.NewerStore, *engine.OlderStore,
// *engine.Damaged, *private.Refused, or one that wraps engine.ErrNoStore, ErrReplaced or the operating system's.
func Open(dir string, o Options) (*Engine, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = wall{}
	}
	if o.StopGrace == 0 {
		o.StopGrace = engine.DefaultStopGrace
	}
	if o.disk == nil {
		o.disk = realDisk
	}
	e := &Engine{dir: dir, options: o, drives: map[string]*drive{}, forks: lastForks}
	e.artifacts = artifact.New(dir, artifactDisk{o.disk, &e.options})
	e.line.open(e)
	e.wake.woken = make(chan struct{}, 1)
	write, read, err := openDatabase(dir, o.disk, o.ReadOnly)
	if err != nil {
		if err = explainDamage(dir, err); errors.As(err, new(*engine.Damaged)) || errors.As(err, new(*engine.OlderStore)) || errors.As(err, new(*engine.NewerStore)) || errors.As(err, new(*private.Refused)) {
			return nil, err // it names the store
		}
		if durable.IsFull(err) {
			return nil, fmt.Errorf("%w: %s has no room left, not even to open the store (%w)", engine.ErrFull, dir, err)
		}
		return nil, fmt.Errorf("store %s: %w", dir, err)
	}
	e.read = newReader(read)
	if write != nil {
		e.commits = newCommitter(write, newLog(write.Conn, dir, o.disk), func() bool { return o.disk.spendReserve(dir) }, e.options.reportPoint)
		e.commits.woken = e.noteWoken
	}
	if e.file, err = os.Lstat(filepath.Join(dir, databaseFile)); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Renew tells which secrets of a run, which is driven next, have another value from there on. Its journal keeps that.
func (e *Engine) Renew(run string, secrets map[string]event.Secret) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.renewals == nil {
		e.renewals = map[string]map[string]event.Secret{}
	}
	e.renewals[run] = secrets
}

// takeRenewed returns the secrets that Renew received for a run, once.
func (e *Engine) takeRenewed(run string) map[string]event.Secret {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer delete(e.renewals, run)
	return e.renewals[run]
}

// Dir is the store's folder, absolute.
func (e *Engine) Dir() string { return e.dir }

// Close ends all drives as if their contexts were done, waits for them, and closes the store.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	for _, d := range e.drives {
		if d != nil {
			d.stop(engine.ErrClosed)
		}
	}
	e.mu.Unlock()
	e.idle.Wait()
	e.line.close()
	e.wake.mu.Lock()
	if e.wake.conn != nil {
		e.wake.conn.Close()
	}
	e.wake.mu.Unlock()
	e.stamps.close()
	err := e.unregister()
	if e.commits != nil {
		err = errors.Join(err, e.commits.close())
	}
	return errors.Join(err, e.read.Close())
}

// write hands a request to the committer.
func (e *Engine) write(do func(*transaction) error) error {
	if e.commits == nil {
		return engine.ErrReadOnly
	}
	return e.commits.write(do, false)
}

// writeUrgent is write that may use the reserve of a full disk: for ends, cancels, and runs that are given back.
func (e *Engine) writeUrgent(do func(*transaction) error) error {
	if e.commits == nil {
		return engine.ErrReadOnly
	}
	return e.commits.write(do, true)
}

// enterRun notes that a run is about to be driven here.
func (e *Engine) enterRun(run string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return engine.ErrClosed
	}
	if _, here := e.drives[run]; here {
		return fmt.Errorf("%w: run %s, by this one (%d) already", engine.ErrOwned, run, os.Getpid())
	}
	e.drives[run] = nil
	e.idle.Add(1)
	return nil
}

// enlistDrive registers a drive for pokes and for Close.
func (e *Engine) enlistDrive(d *drive) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drives[d.run.id] = d
	if e.closed {
		d.stop(engine.ErrClosed)
	}
	if e.watch == nil {
		e.watch = startWatcher(e)
	}
}

func (e *Engine) leaveRun(run string) {
	e.mu.Lock()
	delete(e.drives, run)
	var last *watcher
	if len(e.drives) == 0 {
		last, e.watch = e.watch, nil
	}
	e.mu.Unlock()
	if last != nil {
		last.endWatch()
	}
	e.idle.Done()
}

// recordLeftovers records that an attempt outlives this process.
func (e *Engine) recordLeftovers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leftovers = true
}

func (e *Engine) leftSomething() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leftovers
}

// pokeRun makes a drive look at its inbox and at its ownership.
func (e *Engine) pokeRun(run string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.drives[run]; d != nil {
		d.poke()
	}
}

// stopDrive ends the drive of a run, if there is one.
func (e *Engine) stopDrive(run string, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.drives[run]; d != nil {
		d.stop(cause)
	}
}

func (e *Engine) listDrives() []*drive {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*drive, 0, len(e.drives))
	for _, d := range e.drives {
		if d != nil {
			list = append(list, d)
		}
	}
	return list
}

// Signal implements engine.Engine: whichever process drives the run takes the message, and its next driver where none does.
func (e *Engine) Signal(_ context.Context, run string, x event.External) error {
	return e.signalRun(run, x, func(int) int { return 1 })
}

// Cancel implements engine.Engine.
func (e *Engine) Cancel(ctx context.Context, run, reason string) error {
	return e.Signal(ctx, run, event.External{Kind: event.ExternalCancel, Reason: reason})
}

// signalRun puts x into a run's inbox. more returns the number of copies; for a cancel it receives the
// number of earlier cancels of the run. A cancel may use the disk's reserve.
func (e *Engine) signalRun(run string, x event.External, more func(before int) int) error {
	packed, err := engine.PackExternal(x, e.options.Externals)
	if err != nil {
		return err
	}
	write := e.write
	if x.Kind == event.ExternalCancel {
		write = e.writeUrgent
	}
	if err = write(func(tx *transaction) error { return e.postPacked(tx, run, x.Kind, packed, more) }); err == nil {
		e.pokeRun(run)
	}
	return e.explainError(err)
}

// postSignal is signalRun in a transaction.
func (e *Engine) postSignal(tx *transaction, run string, x event.External, more func(before int) int) error {
	packed, err := engine.PackExternal(x, e.options.Externals)
	if err != nil {
		return err
	}
	return e.postPacked(tx, run, x.Kind, packed, more)
}

// postPacked puts a message into a run's inbox.
func (e *Engine) postPacked(tx *transaction, run string, kind event.ExternalKind, packed []byte, more func(before int) int) error {
	cancel := kind == event.ExternalCancel
	var key, ended, waiting int64
	var cancels int
	err := tx.readRow("SELECT key, ended, cancels, (SELECT count(*) FROM inbox WHERE run = key) FROM runs WHERE id = ?", []any{run},
		&key, &ended, &cancels, &waiting)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return refused{e.noRun(run)}
	case err != nil || ended != 0 && cancel:
		return err
	case ended != 0:
		return refused{fmt.Errorf("%w: run %s", engine.ErrEnded, run)}
	case waiting >= engine.MaxInbox && !cancel:
		return refused{fmt.Errorf("%w: run %s", engine.ErrInboxFull, run)}
	}
	for range more(cancels) {
		if _, err = tx.exec("INSERT INTO inbox (run, body, created) VALUES (?, ?, ?)", key, packed, int64(e.now())); err != nil {
			return err
		}
		if cancel {
			if _, err = tx.exec("UPDATE runs SET cancels = cancels + 1 WHERE key = ?", key); err != nil {
				return err
			}
		}
	}
	return tx.wakeByMessage(key)
}
