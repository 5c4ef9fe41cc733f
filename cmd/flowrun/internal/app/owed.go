package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/memory/private"
)

// owedDir holds, below the store, an empty file for each run of which the memory may not have learned yet: made before its first
// task begins, removed when all of its tasks have left their learnings. Whoever drives runs next learns what a crash left over.
const owedDir = "learning"

// owed are the runs to which something is owed. It is guarded by its owner.
type owed struct {
	dir   string
	begun map[string]bool
}

// begin notes a run, durably, the first time.
func (o *owed) begin(run string) error {
	if o.begun[run] {
		return nil
	}
	if err := private.Mkdir(o.dir); err != nil {
		return err
	}
	f, err := private.Open(filepath.Join(o.dir, run), os.O_CREATE|os.O_WRONLY)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), syncDir(o.dir))
	}
	if err != nil {
		return err
	}
	if o.begun == nil {
		o.begun = map[string]bool{}
	}
	o.begun[run] = true
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// paid strikes a run off.
func (o *owed) paid(run string) error {
	if err := os.Remove(filepath.Join(o.dir, run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// left are the runs that other processes have noted.
func (o *owed) left() (runs []string) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return nil // most often there is no folder
	}
	for _, e := range entries {
		if !o.begun[e.Name()] && e.Type().IsRegular() {
			runs = append(runs, e.Name())
		}
	}
	return runs
}
