package local

import (
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine"
)

// disk is how a store reaches its files. The zero value is the operating system; tests put their own in between, with faults,
// and are given SQLite's reads, writes and syncs too, by the name of a file system that they register with it.
type disk struct {
	files
	sqlite string // the name of SQLite's file system; "" is its default
	// loose lets commits be written and not synced: the control that a test of power loss must fail with.
	loose bool
	// checkpoint is how many pages the log holds before it is written back; 0 means checkpointPages.
	checkpoint int
}

// files are the operations of the store on files that do not belong to SQLite.
type files interface {
	// open is private.Open.
	open(path string, flag int) (file, error)
	remove(path string) error
	rename(from, to string) error
	// room is how many bytes the disk of a folder still takes.
	room(dir string) (uint64, error)
}

// file is an open one.
type file interface {
	io.Writer
	io.WriterAt
	io.Closer
	Sync() error
	Chmod(fs.FileMode) error
}

// system are the files of the operating system.
type system struct{}

func (system) open(path string, flag int) (file, error) {
	f, err := private.Open(path, flag)
	if err != nil {
		return nil, err // and no file that is not nil
	}
	return f, nil
}

func (system) remove(path string) error     { return os.Remove(path) }
func (system) rename(from, to string) error { return os.Rename(from, to) }

func (system) room(dir string) (uint64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return s.Bavail * uint64(s.Bsize), err
}

// artifactDisk is a disk as artifacts need it.
type artifactDisk struct {
	*disk
	options *Options
}

func (d artifactDisk) Open(path string, flag int) (artifact.File, error) {
	if flag != os.O_RDONLY {
		d.options.reportPoint(engine.Writing)
	}
	return d.open(path, flag)
}

func (d artifactDisk) Rename(from, to string) error {
	d.options.reportPoint(engine.Naming)
	defer d.options.reportPoint(engine.Named)
	return d.rename(from, to)
}

func (d artifactDisk) Remove(path string) error { return d.remove(path) }

// realDisk is where stores lie.
var realDisk = &disk{files: system{}}

// synchronous is the value of SQLite's pragma: FULL, which syncs each commit, or NORMAL.
func (d *disk) synchronous() int {
	if d.loose {
		return 1
	}
	return 2
}
