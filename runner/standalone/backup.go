package standalone

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/flowrun/flowrun/runner/engine/local"
)

// Parts says what of a store is restored.
type Parts = local.Parts

// Backup writes a copy of the store into a folder that does not exist, and checks it: each journal is read from its first event to its last.
// A copy that is not whole is removed. It returns the number of runs in the copy.
func (s *Store) Backup(ctx context.Context, to string) (runs int, err error) {
	if _, err := os.Lstat(to); err == nil {
		return 0, fmt.Errorf("%s exists already", to)
	}
	err = s.Keeper.Backup(ctx, to)
	if err == nil {
		runs, err = Verify(ctx, to)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(to))
	}
	return runs, err
}

// Verify reads a backup, and returns an error if anything in it is damaged, or else the number of its runs.
func Verify(ctx context.Context, from string) (runs int, err error) {
	s, err := Read(from)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	h, err := s.Examine(ctx, 0)
	switch {
	case err != nil:
		return 0, err
	case h.Database != "":
		return 0, fmt.Errorf("the backup %s is damaged: %s", from, h.Database)
	case len(h.Broken) > 0:
		return 0, fmt.Errorf("the backup %s is damaged: run %s: %w", from, h.Broken[0].Run, h.Broken[0].Err)
	}
	return h.Runs, nil
}

// Restore gives the store in a folder the content of a backup of it. See local.Restore.
func Restore(ctx context.Context, dir, from string, p Parts) error {
	return local.Restore(ctx, dir, from, p)
}
