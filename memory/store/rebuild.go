package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/memory/private/durable"
)

// rebuild makes a fresh database of what is left and puts it in the place of the damaged one. It is called under the exclusive lock.
// Where the disk does not let it, what was found is at least shown, and nothing can be appended.
func (s *Store) rebuild(cause error) (err error) {
	defer func() {
		if err != nil {
			s.failed = err
		}
	}()
	damaged := s.db
	s.db = nil // and not closed before its file has been replaced: SQLite would tidy up what is to be searched
	f, err := s.search()
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	h, err := f.history(cause, now)
	if err != nil {
		return err
	}
	if err := s.replace(h); err != nil {
		s.failed = fmt.Errorf("the memory is damaged (%v), and could not be rebuilt: %w", cause, sort(err))
		s.options.Warn(s.failed.Error() + h.told())
		s.id = h.id
		s.show(h.state)
		return nil
	}
	s.options.Warn(fmt.Sprintf("the memory in %s was damaged (%v) and has been rebuilt%s; the damaged files are kept beside it", s.dir, cause, h.told()))
	if damaged != nil {
		damaged.Close() // its file is no longer in its place, so that nothing is written
	}
	return sort(s.read(true))
}

func (s *Store) replace(h *history) error {
	if err := s.writeFresh(h); err != nil {
		return err
	}
	if err := s.finishSwap(); err != nil {
		return err
	}
	m := mark{seq: h.state.Last(), store: h.id}
	if len(h.rows) > 0 {
		m.sum = [sumSize]byte(h.rows[len(h.rows)-1].sum)
	}
	return m.set(s.marks)
}

// told says for people what was kept and what was lost.
func (h *history) told() string {
	if h.losses == 0 {
		return fmt.Sprintf(": all %d records are there", h.state.Last())
	}
	text := fmt.Sprintf(": %d of %d records are lost", h.losses, h.state.Last())
	if len(h.lost) > 0 {
		text += ", about " + strings.Join(h.lost[:min(len(h.lost), namedInReason)], ", ")
	}
	if more := len(h.lost) - namedInReason; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// readBare takes the state from the files without SQLite, which would have to write beside them. Nothing can be appended.
func (s *Store) readBare() error {
	f, err := s.search()
	if err != nil {
		return err
	}
	cause := errors.New("found where writing is impossible")
	h, err := f.history(cause, time.Now().UTC())
	if err != nil {
		return err
	}
	if h.losses > 0 {
		s.options.Warn(fmt.Sprintf("the memory in %s is damaged%s", s.dir, h.told()))
	}
	s.id, s.failed = h.id, ErrReadOnly
	s.show(h.state)
	return nil
}

// readWithoutRoom does the same where SQLite finds no room for what its processes share. Once there is room, the store goes on by
// itself.
func (s *Store) readWithoutRoom(cause error) error {
	unlock, err := s.locked(context.Background(), shared)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.readBare(); err != nil {
		return errors.Join(cause, err)
	}
	s.failed = nil
	s.options.Warn(fmt.Sprintf("the memory in %s is only read until there is room: %v", s.dir, cause))
	return nil
}

// writeFresh writes a whole database, synced, under the name that finishSwap looks for.
func (s *Store) writeFresh(h *history) error {
	for _, name := range []string{newFile, newFile + "-journal", newFile + "-wal", newFile + "-shm"} {
		if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	path := s.path(newFile)
	if err := createEmpty(path); err != nil {
		return err
	}
	d, err := connect(durable.Source(path, "&_pragma=journal_mode(OFF)&_pragma=synchronous(0)", s.options.sqlite))
	if err != nil {
		return err
	}
	err = d.migrate(h.id, 0)
	if err == nil {
		err = d.exec("BEGIN")
	}
	if err == nil {
		err = d.insert(h.rows, h.names)
	}
	if err == nil {
		err = d.exec("COMMIT")
	}
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	if err := syncFile(path); err != nil {
		return err
	}
	if err := os.Rename(path, s.path(freshFile)); err != nil {
		return err
	}
	return s.syncFolder()
}

func syncFile(path string) error {
	f, err := private.Open(path, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
