package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/executor"
)

// logsDir is where full texts of attempts lie, below the store.
const logsDir = "logs"

// store is an open host of runs, with the executors that carry out their attempts.
type store struct {
	engine.Reader
	engine.Writer // its methods return engine.ErrReadOnly where the store was opened for reading
	engine.Keeper
	exec  *executors // nil for reading only
	known *runner.Programs
}

// openStore opens the store in dir for driving runs, and makes it where there is none.
func (a *app) openStore(dir string, d args.Drive) (*store, error) {
	room, err := executor.MakeRoom()
	if err != nil && !d.MakeDo {
		return nil, err
	}
	x, known := a.newExecutors(dir, room), new(runner.Programs)
	e, err := local.Open(dir, local.Options{Factory: known.Machine, Executor: x, TakeOver: d.TakeOver, DeathLimit: d.DeathLimit,
		Group: groupOf(known), Waiting: a.waiting, Leftover: a.leftover(x), Watch: x.durable, At: a.At})
	if err != nil {
		x.Close()
		if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
			err = fmt.Errorf("%w\n%s", err, otherStore)
		}
		return nil, err
	}
	s := &store{e, e, e, x, known}
	x.learner.past = s.pastOf
	return s, nil
}

// oldStore opens the store in dir, for looking if drive is nil. It makes none: the error is engine.ErrNoStore then. One of an
// older version is brought forward where something is to be written to it.
func (a *app) oldStore(dir string, drive *args.Drive) (*store, error) {
	s, err := a.readStore(dir)
	if drive == nil || err != nil && !errors.As(err, new(*engine.OlderStore)) {
		return s, err
	}
	if err == nil {
		s.Close()
	}
	return a.openStore(dir, *drive)
}

// readStore opens the store in dir for looking.
func (a *app) readStore(dir string) (*store, error) {
	known := new(runner.Programs)
	e, err := local.Open(dir, local.Options{Factory: known.Machine, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &store{e, e, e, nil, known}, nil
}

// Close closes the store, once all that ended is learned from, then what carries out attempts.
func (s *store) Close() error {
	if s.exec != nil {
		s.exec.afterwards()
	}
	err := s.Reader.Close()
	if s.exec != nil {
		s.exec.Close()
	}
	return err
}

// find gives the run that a word means: an id or the beginning of one, "latest", a workflow's name, or a file or folder
// (the newest run of one of its workflows).
func (a *app) find(ctx context.Context, s *store, word string) (engine.Info, error) {
	info, err := s.Find(ctx, word)
	var many *engine.Ambiguous
	switch {
	case errors.As(err, &many):
		return info, &args.Error{Message: many.Error(), Hint: "Give more of the run's id."}
	case !errors.Is(err, engine.ErrNoRun):
		return info, err
	}
	if _, missing := os.Stat(word); missing == nil {
		return a.newestOf(ctx, s, word)
	}
	return info, &args.Error{Message: fmt.Sprintf("there is no run %q in %s", word, s.Dir()), Hint: "See flowrun runs list."}
}

// newestOf finds the newest run of a program's workflows that no other run called.
func (a *app) newestOf(ctx context.Context, s *store, path string) (engine.Info, error) {
	p, err := a.load(path)
	if err != nil {
		return engine.Info{}, err
	}
	all, err := s.List(ctx, 0)
	if err != nil {
		return engine.Info{}, err
	}
	for _, info := range all {
		if info.Parent == "" && p.ir.Workflow(info.Workflow) != nil {
			return info, nil
		}
	}
	return engine.Info{}, &args.Error{Message: fmt.Sprintf("no workflow of %s has a run in %s", path, s.Dir())}
}

// onRun does something with the run that a word means: see lookup.
func (a *app) onRun(word string, drive *args.Drive, do func(*store, engine.Info) error) error {
	s, info, err := a.lookup(word, drive)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s, info)
}

// lookup opens the store that a command about a run means, for reading if drive is nil, and finds the run. A store is never
// made here.
func (a *app) lookup(word string, drive *args.Drive) (*store, engine.Info, error) {
	at := a.memoryFile // "" but with memory --file
	if _, err := os.Stat(word); err == nil {
		at = word
	}
	dir, err := a.storeDir(at)
	if err != nil {
		return nil, engine.Info{}, err
	}
	s, err := a.oldStore(dir, drive)
	if errors.Is(err, engine.ErrNoStore) {
		return nil, engine.Info{}, &args.Error{Message: fmt.Sprintf("there is no run %q: nothing has run in %s yet", word, dir)}
	}
	if err != nil {
		return nil, engine.Info{}, err
	}
	info, err := a.find(context.Background(), s, word)
	if err != nil {
		s.Close()
		return nil, info, err
	}
	return s, info, nil
}

// top is the run that must be driven for a run to go on: itself, or the one from which the calls came. A caller that has ended
// drives nothing any more.
func (s *store) top(info engine.Info) string {
	for seen := map[string]bool{}; info.Parent != "" && !info.Status.Terminal() && !seen[info.Run]; {
		seen[info.Run] = true
		parent, err := s.Get(context.Background(), info.Parent)
		if err != nil || parent.Status.Terminal() {
			break
		}
		info = parent
	}
	return info.Run
}

// undriven says how a run goes on that nobody drives.
func (a *app) undriven(s *store, info engine.Info) string {
	return "Interrupted: no process drives this run. Go on with:\n  flowrun resume " + s.top(info) + a.scene(s, nil).Flags
}

// scene says how runs of a store are spoken of from here.
func (a *app) scene(s *store, where func(string) string) ui.Scene {
	return ui.Scene{Where: where, Store: shorter(s.Dir()), Flags: a.flagsFor(s.Dir())}
}

// flagsFor are those that a command on a store needs: none on the usual one.
func (a *app) flagsFor(dir string) string {
	if usual, err := a.usualStore(""); err != nil || usual != dir {
		return " --store " + ui.Quote(shorter(dir))
	}
	return ""
}

// shorter writes a path relative to the current folder where it lies below it.
func shorter(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
