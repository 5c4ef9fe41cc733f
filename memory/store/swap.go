package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// keptDamaged is how many damaged databases are kept, the last ones.
	keptDamaged = 5
	// damagedTime is how a damaged file is named, in UTC: in the order of time.
	damagedTime = "20060102T150405.000000000Z"
)

// finishSwap puts a fresh database in its place, if there is one, and is called again by the next open where it was cut off. The
// old log goes first: it would be taken for the fresh database's.
func (s *Store) finishSwap() error {
	if s.size(freshFile) == 0 {
		return nil
	}
	kept := s.path(damagedFile) + time.Now().UTC().Format(damagedTime)
	for _, step := range []func() error{
		func() error { return os.Rename(s.path(logFile), kept+"-wal") },
		func() error { return os.Remove(s.path(sharedFile)) },
		s.syncFolder,
		func() error { return os.Rename(s.path(databaseFile), kept) },
		func() error { return os.Rename(s.path(freshFile), s.path(databaseFile)) },
		s.syncFolder,
		s.prune,
	} {
		if err := step(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// prune removes the oldest of the damaged files.
func (s *Store) prune() error {
	names, err := s.Damaged()
	if err != nil {
		return err
	}
	var stamps []string
	for _, name := range names {
		stamps = append(stamps, strings.TrimSuffix(name, "-wal"))
	}
	stamps = slices.Compact(stamps)
	if len(stamps) <= keptDamaged {
		return nil
	}
	for _, name := range names {
		if strings.TrimSuffix(name, "-wal") < stamps[len(stamps)-keptDamaged] {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// Damaged lists the files that rebuilds have kept, in the order of time.
func (s *Store) Damaged() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), damagedFile) {
			names = append(names, filepath.Join(s.dir, e.Name()))
		}
	}
	return names, nil
}
