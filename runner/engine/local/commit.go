package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/memory/private/durable"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/shared"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// MaxGroup is how many requests share one transaction at most.
const MaxGroup = 256

// committer is the only way to the disk. It has no delay and no goroutine: writers queue their
// requests; the first waiting writer takes all queued requests into one immediate transaction, and
// the next group queues up while the transaction is synced.
type committer struct {
	conn    *writer
	prepare map[string]*sql.Stmt // touched by the holder of turn only
	turn    chan struct{}        // holds one token while somebody commits
	log     durable.Log          // likewise

	mu     sync.Mutex
	queue  []*request
	failed error         // sticky: after it nothing is written
	down   chan struct{} // closed with failed: whoever waits for something else hears of it
	full   bool          // the disk had no room for the requests
	spend  func() bool   // gives the reserve up, if there is one

	wakes bool   // the transaction wakes a parked run; touched by the holder of turn only
	woken func() // hears of such a transaction that is durable; nil: nobody

	// at hears of points.
	at func(engine.Point)
	// fault lets tests break commits; it is called before a group's COMMIT and after it.
	fault func(after bool) error
}

// request is one thing to write. do either refuses before it has written anything, by an error wrapped in refused, or
// writes all of it. A message that cannot be packed, and a reducer that refuses, undo this request alone. Any other error fails the whole
// store.
type request struct {
	do   func(*transaction) error
	last bool // last words: they may spend the reserve
	done chan struct{}
	err  error
}

// refused marks an error that says no and has left the database alone.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

// transaction is the view of the database that a request has.
type transaction struct{ c *committer }

func newCommitter(conn *writer, l durable.Log, spend func() bool, at func(engine.Point)) *committer {
	return &committer{conn: conn, log: l, spend: spend, at: at, prepare: map[string]*sql.Stmt{}, turn: make(chan struct{}, 1), down: make(chan struct{})}
}

// write returns when the writes of do are durable, or with the error. do may be called a second
// time, after its first writes have been undone.
func (c *committer) write(do func(*transaction) error, last bool) error {
	r := &request{do: do, last: last, done: make(chan struct{})}
	c.mu.Lock()
	if c.failed != nil {
		c.mu.Unlock()
		return c.failed
	}
	c.queue = append(c.queue, r)
	c.mu.Unlock()
	for {
		select {
		case <-r.done:
			return r.err
		case c.turn <- struct{}{}:
			c.commitGroup(c.takeGroup())
			<-c.turn
		}
	}
}

func (c *committer) takeGroup() []*request {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.queue), MaxGroup)
	group := c.queue[:n:n]
	c.queue = c.queue[n:]
	return group
}

// commitGroup writes a group and tells each of its requests.
func (c *committer) commitGroup(group []*request) {
	if len(group) == 0 {
		return
	}
	if err := c.currentFailure(); err != nil {
		answerGroup(group, err)
		return
	}
	err := c.writeGroup(group)
	if durable.IsFull(err) {
		if group, err = c.commitUrgent(group, err); durable.IsFull(err) {
			answerGroup(group, err)
			return
		}
	}
	if err != nil {
		err = c.failStore(fmt.Errorf("writing to the store: %w", err))
	}
	answerGroup(group, err)
}

// commitUrgent refuses the new work of a group when the disk is full, and writes the rest if the
// reserve makes room. The store has not failed: a sync that fails leaves the content of the disk
// unknown, but a write without room does not.
func (c *committer) commitUrgent(group []*request, err error) ([]*request, error) {
	var last, more []*request
	for _, r := range group {
		if r.last {
			r.err = nil
			last = append(last, r)
		} else {
			more = append(more, r)
		}
	}
	answerGroup(more, err)
	if len(last) == 0 {
		return nil, nil
	}
	c.setFull(true)
	if c.spend() {
		err = c.writeGroup(last)
	}
	return last, err
}

func (c *committer) setFull(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}

func (c *committer) isFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full
}

func answerGroup(group []*request, err error) {
	for _, r := range group {
		if err != nil {
			r.err = err
		}
		close(r.done)
	}
}

// writeGroup writes a group. A request that fails by itself is undone with the group, and the others are written without it.
func (c *committer) writeGroup(group []*request) error {
	for {
		failed, err := c.tryGroup(group)
		if failed == nil || !isOwnError(err) {
			return err
		}
		failed.err = err
		group = slices.DeleteFunc(slices.Clone(group), func(r *request) bool { return r == failed })
	}
}

// isOwnError reports whether an error is about the request alone, and not about the store.
func isOwnError(err error) bool {
	no := (*shared.Refusal)(nil)
	return errors.Is(err, engine.ErrExternal) || errors.As(err, &no)
}

// tryGroup writes a group in one transaction, or nothing of it. failed is the request whose error it returns, if one has it.
func (c *committer) tryGroup(group []*request) (failed *request, err error) {
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, explainBusy(err)
	}
	c.wakes = false
	tx := &transaction{c}
	for _, r := range group {
		r.err = nil // of an earlier try
		err := r.do(tx)
		if no := (refused{}); errors.As(err, &no) {
			r.err = no.error
		} else if err != nil {
			return r, c.rollBack(err)
		}
	}
	c.at(engine.Appending)
	if c.fault != nil {
		if err := c.fault(false); err != nil {
			return nil, c.rollBack(err)
		}
	}
	if _, err := c.exec("COMMIT"); err != nil {
		return nil, c.rollBack(err)
	}
	if c.wakes && c.woken != nil {
		c.woken()
	}
	c.at(engine.Committed)
	if c.fault != nil {
		if err := c.fault(true); err != nil {
			return nil, err
		}
	}
	return nil, c.log.Checkpoint() // if this fails, the commit is not acknowledged, although it is durable
}

// explainBusy explains an error about a lock that was not free within durable.BusyTimeout.
func explainBusy(err error) error {
	var s *sqlite.Error
	if errors.As(err, &s) && s.Code() == sqlite3.SQLITE_BUSY {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

// rollBack releases the lock, so that other processes can go on. It returns the first error and drops its own.
func (c *committer) rollBack(err error) error {
	c.exec("ROLLBACK")
	return err
}

// failStore makes err the answer to all later requests, unless there is an earlier error, and returns
// that answer.
func (c *committer) failStore(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = err
		close(c.down)
	}
	return c.failed
}

func (c *committer) currentFailure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// close waits for the current commit, refuses later requests, and closes the connection.
func (c *committer) close() error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.failStore(engine.ErrClosed)
	c.commitGroup(c.takeGroup())
	for _, s := range c.prepare {
		s.Close()
	}
	return c.conn.Close()
}

func (c *committer) exec(query string, args ...any) (sql.Result, error) {
	s, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	return s.Exec(args...)
}

// statement prepares each query once.
func (c *committer) statement(query string) (*sql.Stmt, error) {
	if s := c.prepare[query]; s != nil {
		return s, nil
	}
	s, err := c.conn.PrepareContext(context.Background(), query)
	if err == nil {
		c.prepare[query] = s
	}
	return s, err
}

// exec runs a statement and returns the number of changed rows.
func (tx *transaction) exec(query string, args ...any) (int64, error) {
	res, err := tx.c.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// readRow reads one row into dest; sql.ErrNoRows if there is none.
func (tx *transaction) readRow(query string, args []any, dest ...any) error {
	s, err := tx.c.statement(query)
	if err != nil {
		return err
	}
	return s.QueryRow(args...).Scan(dest...)
}
