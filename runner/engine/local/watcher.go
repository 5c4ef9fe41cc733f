package local

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/engine"
)

const (
	// lookEvery is the interval of looks at the inbox for rows of other processes.
	lookEvery = 100 * time.Millisecond
	// checkEvery is how soon a store that was removed or replaced under an open connection is noticed.
	checkEvery = time.Second
)

// waitForLook waits until the next look, or returns the cause of ctx when ctx is done.
func waitForLook(ctx context.Context) error {
	next := time.NewTimer(lookEvery)
	defer next.Stop()
	select {
	case <-next.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watcher watches the database for writes of other processes, while anything is driven.
type watcher struct {
	engine *Engine
	stop   context.CancelFunc
	gone   chan struct{}
}

func startWatcher(e *Engine) *watcher {
	ctx, stop := context.WithCancel(context.Background())
	l := &watcher{engine: e, stop: stop, gone: make(chan struct{})}
	go l.watchStore(ctx)
	return l
}

func (l *watcher) endWatch() {
	l.stop()
	<-l.gone
}

func (l *watcher) watchStore(ctx context.Context) {
	defer close(l.gone)
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	var checked time.Time
	began := time.Now()
	var version int64
	conn, err := l.engine.read.Conn(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.failStore(fmt.Errorf("reading the store: %w", err))
		}
		return
	}
	defer conn.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			if err := l.wakeDrives(conn, &version); err != nil {
				l.failStore(fmt.Errorf("reading the store: %w", err))
				return
			}
			l.engine.watchLine()
			if now.Sub(checked) >= checkEvery {
				checked = now
				if err := l.engine.checkFile(); err != nil {
					l.failStore(err)
					return
				}
				l.checkReserve(now.Sub(began))
			}
		}
	}
}

// checkReserve checks the free room of the disk. If the disk is full, it tells the drives, which
// then stop by themselves. A reserve that cannot be made is not a failure of the store.
func (l *watcher) checkReserve(open time.Duration) {
	if open >= checkEvery {
		_ = l.engine.replenish()
	}
	if l.engine.commits.isFull() {
		for _, d := range l.engine.listDrives() {
			d.poke()
		}
	}
}

// wakeDrives wakes the drives that have rows in their inbox or lost their run, if a commit came
// since the last look. data_version costs almost nothing, and the query after it grows with the
// runs that are driven here, not with the store.
func (l *watcher) wakeDrives(conn *sql.Conn, version *int64) error {
	var now int64
	if err := conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&now); err != nil || now == *version {
		return err
	}
	*version = now
	posted, err := readColumn(conn, postedRuns, l.engine.driverEpoch())
	if err != nil {
		return err
	}
	owned, err := readColumn(conn, "SELECT id FROM runs WHERE owner = ?", l.engine.driverEpoch())
	if err != nil {
		return err
	}
	for _, d := range l.engine.listDrives() {
		if posted[d.run.id] || !owned[d.run.id] {
			d.poke()
		}
	}
	return nil
}

// postedRuns finds the runs of a driver that have messages. It looks at the runs of the driver alone, however many messages wait for others.
const postedRuns = "SELECT id FROM runs WHERE owner = ? AND EXISTS (SELECT 1 FROM inbox WHERE inbox.run = runs.key)"

// readColumn is the set of texts in a query's only column.
func readColumn(conn *sql.Conn, query string, args ...any) (map[string]bool, error) {
	list, err := readTexts(conn.QueryContext(context.Background(), query, args...))
	set := make(map[string]bool, len(list))
	for _, text := range list {
		set[text] = true
	}
	return set, err
}

// readTexts reads the only column of a query.
func readTexts(rows *sql.Rows, err error) (list []string, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// failStore ends all drives with the error of the store.
func (l *watcher) failStore(err error) { l.engine.commits.failStore(l.engine.explainError(err)) }

// checkFile notices that the database was removed or replaced: SQLite goes on writing to the file that has no name.
func (e *Engine) checkFile() error {
	now, err := os.Lstat(filepath.Join(e.dir, databaseFile))
	if err != nil {
		return fmt.Errorf("%w: %s was taken away while it was in use (%w); bring it back, or a copy, and resume what was stopped", ErrReplaced, databaseFile, err)
	}
	if !os.SameFile(e.file, now) {
		return fmt.Errorf("%w: %s was replaced while it was in use; look at which is the right one, and resume what was stopped", ErrReplaced, databaseFile)
	}
	return nil
}

// explainError returns the cause of an error if the database is gone or damaged, and else the error.
func (e *Engine) explainError(err error) error {
	if err == nil {
		return nil
	}
	if gone := e.checkFile(); gone != nil {
		if e.commits != nil {
			e.commits.failStore(gone)
		}
		return gone
	}
	if strings.Contains(err.Error(), "sql: database is closed") { // package sql has no name for it
		return engine.ErrClosed
	}
	return e.explainFull(explainDamage(e.dir, err))
}
