package standalone

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
)

// Remote is a store whose runs a server keeps: the same readers and the same service, and no keeper of files. folder is where workers leave
// logs and long outputs, "" if this process does not see them. kept, if set, opens the log of an attempt that has ended, where there is no folder; at says
// when the log was written, 0 if that is not known.
func Remote(s *runner.Service, address, folder string, kept OpenLog) *Store {
	return &Store{Service: s, Keeper: server{folder}, address: address, kept: kept}
}

// OpenLog opens a log by its name in the answer of its attempt. The error wraps fs.ErrNotExist if there is none.
type OpenLog func(name string) (f io.ReadSeekCloser, at time.Time, err error)

// OpenLog opens a log that the answer of an attempt names: an [OpenLog].
func (s *Store) OpenLog(name string) (f io.ReadSeekCloser, at time.Time, err error) {
	if s.kept != nil {
		return s.kept(name)
	}
	file, err := s.Logs().Open(name)
	if err != nil {
		return nil, time.Time{}, err
	}
	if info, err := file.Stat(); err == nil {
		at = info.ModTime()
	}
	return file, at, nil
}

// SeesLogs reports whether this process sees what attempts write while they run, and SeesKept whether it sees the logs of those that have ended.
func (s *Store) SeesLogs() bool { return s.Dir() != "" }
func (s *Store) SeesKept() bool { return s.SeesLogs() || s.kept != nil }

// Address is that of the server that keeps the runs; "" for a store on this disk.
func (s *Store) Address() string { return s.address }

// ErrServer is the error of what only a store on a disk can do.
type ErrServer struct {
	What   string // such as "removing runs"
	Advice string
}

func (e *ErrServer) Error() string {
	return fmt.Sprintf("%s is for a store on this machine, and a Temporal server keeps these runs\n%s", e.What, e.Advice)
}

// Retention is what to do where runs are to be removed.
const Retention = "The server removes a run some time after its end: set the retention of the namespace there."

const ownStorage = "Back up and compact the database of the server with its own tools."

// server is the keeper of a store whose runs a server keeps.
type server struct{ folder string }

var _ engine.Keeper = server{}

func (s server) Dir() string { return s.folder }

func (server) Remove(context.Context, []string, bool) error {
	return &ErrServer{"removing runs", Retention}
}

func (server) Stamp() string { return "" }

func (server) Sweep(context.Context) error { return nil }

func (server) Vacuum() error { return &ErrServer{"making the database smaller", ownStorage} }

func (server) Backup(context.Context, string) error { return &ErrServer{"a backup", ownStorage} }

func (server) Size(context.Context, string) (int64, error) { return 0, nil }

func (server) FileSize() (int64, error) { return 0, nil }

func (server) Examine(context.Context, int) (engine.Health, error) {
	return engine.Health{}, &ErrServer{"examining journals", "Each run can be compared with what this release does."}
}
