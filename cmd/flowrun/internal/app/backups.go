package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	memories "github.com/flowrun/flowrun/memory/store"
	"github.com/flowrun/flowrun/runner/engine"
)

const (
	// backupsFolder is the folder in a store that holds its backups.
	backupsFolder = "backups"
	// backupName is how backups are named, in UTC: in the order of time.
	backupName = "20060102T150405.000Z"
)

// backupTime is when a backup was made, by its name.
func backupTime(name string) (time.Time, bool) {
	at, err := time.Parse(backupName, name)
	return at, err == nil
}

// backupsOf lists the backups in a store, the oldest first.
func backupsOf(dir string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, backupsFolder)) // a folder that is not there has none
	for _, e := range entries {
		if _, is := backupTime(e.Name()); is && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// copyStore makes a backup in a folder, "" for one in the store, and returns the folder and the number of runs in the copy.
func (a *app) copyStore(ctx context.Context, dir, to string, now time.Time) (folder string, runs int, err error) {
	s, err := a.openExisting(dir, nil)
	if errors.Is(err, engine.ErrNoStore) {
		return "", 0, &args.Error{Message: fmt.Sprintf("nothing has run in %s yet", dir)}
	}
	if err != nil {
		return "", 0, err
	}
	defer s.Close()
	if to == "" {
		if err := os.MkdirAll(filepath.Join(dir, backupsFolder), 0o700); err != nil {
			return "", 0, err
		}
		to = filepath.Join(dir, backupsFolder, now.UTC().Format(backupName))
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", 0, err
	}
	if runs, err = s.Backup(ctx, to); err != nil {
		return "", 0, err
	}
	there, err := memories.Copy(ctx, dir, to)
	if err == nil && there {
		err = checkMemory(to)
	}
	if err != nil {
		return "", 0, errors.Join(err, os.RemoveAll(to))
	}
	return to, runs, nil
}

// checkMemory opens the memory of a backup for looking.
func checkMemory(dir string) error {
	m, err := memories.Open(dir, memories.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return m.Close()
}
