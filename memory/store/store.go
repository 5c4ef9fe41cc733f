package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// Options are how a store is opened. The zero value opens it for reading and writing.
type Options struct {
	// ReadOnly makes nothing where there is nothing, and refuses to append. What is damaged is rebuilt all the same.
	ReadOnly bool
	// Look is ReadOnly, and nothing on the disk changes: what is damaged is told by Check and stays as it is.
	Look bool
	// Warn hears of damage, in a sentence for people; nil drops it. It may not call the store.
	Warn func(string)

	sqlite string // the name of SQLite's file system; "" is its default
	frozen bool   // take the folder for one that nobody can write to
}

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	dir     string
	options Options

	working sync.Mutex // one transaction or load at a time; guards what follows
	lock    *os.File   // nil where the folder cannot be written to
	marks   *os.File
	db      *database // nil where SQLite is not asked
	id      storeID
	closed  bool
	failed  error // why nothing more is written

	mu    sync.RWMutex // guards state against View
	state *entry.State
}

// Open opens the store in a .flowrun folder, and makes it where there is none; ErrNoStore if it may not. Close gives it up.
func Open(dir string, o Options) (*Store, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s := &Store{dir: dir, options: o, state: &entry.State{}}
	s.options.ReadOnly = o.ReadOnly || o.Look
	if s.options.ReadOnly && !s.exists() {
		return nil, ErrNoStore
	}
	if err := s.open(); err != nil {
		s.release()
		return nil, inStore(dir, err)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	if s.exists() && !(writable(s.dir) && (writable(s.path(databaseFile)) || s.size(databaseFile) == 0)) {
		s.options.frozen = true
	}
	if s.options.frozen || s.options.Look {
		if err := private.Check(s.dir); err != nil {
			return err
		}
	}
	if s.options.Look && !s.options.frozen {
		s.lock, err = private.Open(s.path(lockFile), os.O_RDONLY)
		if err == nil {
			s.marks, err = private.Open(s.path(markFile), os.O_RDONLY)
		}
		s.options.frozen = errors.Is(err, fs.ErrNotExist) // no process has it open
		if err != nil && !s.options.frozen {
			return err
		}
	}
	if s.options.frozen {
		return s.readBare()
	}
	if s.options.Look {
		return s.look(context.Background(), nil)
	}
	if err := prepareFolder(s.dir); err != nil {
		return err
	}
	if s.lock, err = private.Open(s.path(lockFile), os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	if s.marks, err = private.Open(s.path(markFile), os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	err = s.load(context.Background(), nil)
	if errors.Is(err, ErrFull) && s.exists() {
		return s.readWithoutRoom(err)
	}
	return err
}

// Close gives the store up, and writes the log back if this process added to it.
func (s *Store) Close() error {
	s.working.Lock()
	defer s.working.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.release()
}

func (s *Store) release() error {
	var errs []error
	if s.db != nil { // SQLite writes back what is left, and nobody may be looking at the pages meanwhile
		unlock, err := s.locked(context.Background(), shared)
		if err == nil {
			if s.failed == nil && s.db.wrote {
				err = durable.Settle(s.db.Conn)
			}
			err = errors.Join(err, s.db.Close())
			unlock()
		}
		errs = append(errs, err)
	}
	for _, f := range []*os.File{s.marks, s.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// View shows the state to f, and keeps it as it is meanwhile. f may not call the store.
func (s *Store) View(f func(*entry.State)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(s.state)
}

// exists tells whether the folder has, or ought to have, a store.
func (s *Store) exists() bool {
	for _, name := range []string{databaseFile, freshFile, markFile} {
		if info, err := os.Lstat(s.path(name)); err == nil && info.Size() > 0 {
			return true
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true // it is there and can't be looked at: opening it tells why
		}
	}
	return false
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }
