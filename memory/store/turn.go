package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/flowrun/flowrun/memory/private/durable"
)

const (
	// tries is how often a transaction is begun: once, once more when the database was replaced, and once more when it was rebuilt.
	tries = 3
)

// What a process may hold of the store's lock.
const (
	shared    = syscall.LOCK_SH // transactions, reading, giving up
	exclusive = syscall.LOCK_EX // making, migrating, rebuilding
)

var (
	// errReplaced: the folder's database is another file than the one that is open.
	errReplaced = errors.New("the memory's database was replaced")
	// errGone: so is its lock, which would not keep others away.
	errGone = errors.New("the folder was taken away or replaced while the memory was open")
)

// turn runs f under the shared lock, on the database that the folder holds. Where f finds it damaged, it is rebuilt, and f runs
// once more.
func (s *Store) turn(ctx context.Context, f func() error) error {
	s.working.Lock()
	defer s.working.Unlock()
	if s.closed {
		return ErrClosed
	}
	err := errReplaced
	for range tries {
		if s.db == nil && s.failed != nil {
			return s.failed
		}
		if s.db != nil {
			if err = s.underLock(ctx, f); !isDamage(err) && !errors.Is(err, errReplaced) {
				return err
			}
		}
		if failed := s.load(ctx, err); failed != nil {
			return failed
		}
	}
	return err
}

func (s *Store) underLock(ctx context.Context, f func() error) error {
	unlock, err := s.locked(ctx, shared)
	if err != nil {
		return err
	}
	defer unlock()
	if s.isReplaced() {
		return errReplaced
	}
	return sort(f())
}

// isReplaced tells whether the folder has another database than the one that is open, or none.
func (s *Store) isReplaced() bool {
	info, err := os.Lstat(s.path(databaseFile))
	return err != nil || !os.SameFile(info, s.db.info)
}

// locked takes the store's lock, and gives what lets go of it. A process that was stopped with the lock in its hands must not
// hold up all others without a word: ErrBusy.
func (s *Store) locked(ctx context.Context, how int) (unlock func(), err error) {
	err = durable.Lock(ctx, s.lock, how, durable.BusyTimeout)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, err
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", lockFile, err)
	}
	unlock = func() { durable.Flock(s.lock, syscall.LOCK_UN) }
	if !sameFile(s.path(lockFile), s.lock) {
		unlock()
		return nil, errGone
	}
	return unlock, nil
}

func sameFile(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(there, open)
}
