package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/doctor"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/trace/otlp"
)

// storeName is the default folder of runs.
const storeName = ".flowrun"

// storeDir returns the folder of a program's store: --store, else FLOWRUN_STORE, else .flowrun at
// the root of the repository of path (the nearest folder upwards with a .git), else beside the
// file. An empty path means the current folder. A link is followed if the user named it, and
// refused if it was only found.
func (a *app) storeDir(path string) (string, error) {
	dir := a.global.Store
	if given := cmp.Or(dir, a.getenv("FLOWRUN_STORE")); strings.Contains(given, "://") {
		return "", &args.Error{Message: fmt.Sprintf("a store is a folder, and %q is the address of a server", given), Hint: "Give the address of a Temporal server to --engine."}
	}
	var err error
	if dir == "" {
		dir, err = a.usualStore(path)
		for at, outer := dir, filepath.Dir(a.outsideEnvironment(dir)); err == nil && at != outer && a.getenv("FLOWRUN_STORE") == ""; at = filepath.Dir(at) {
			if info, missing := os.Lstat(at); missing == nil && info.Mode()&fs.ModeSymlink != 0 {
				return "", fmt.Errorf("the store %s is a symbolic link, which may have come with the repository\nIf it is yours, name it with --store or FLOWRUN_STORE. If it is not, remove it: rm %s",
					at, ui.Quote(disk.Short(at)))
			}
		}
	} else {
		if dir, err = filepath.Abs(dir); err == nil {
			dir, err = a.inEnvironment(dir)
		}
	}
	if info, missing := os.Stat(dir); err == nil && missing == nil && !info.IsDir() {
		return "", fmt.Errorf("the store %s is not a folder", dir)
	}
	return dir, err
}

// usualStore returns the folder of the store without the flag.
func (a *app) usualStore(path string) (string, error) {
	if given := a.getenv("FLOWRUN_STORE"); given != "" {
		dir, err := filepath.Abs(given)
		if err != nil {
			return "", err
		}
		return a.inEnvironment(dir)
	}
	dir, err := disk.Folder(path)
	if err != nil {
		return "", err
	}
	if root := disk.Repository(dir); root != "" {
		dir = root
	}
	return a.inEnvironment(filepath.Join(dir, storeName))
}

// store is an open store of runs.
type store = standalone.Store

// carryOptions are the options of a process that carries out attempts.
func (a *app) carryOptions() standalone.Options {
	return standalone.Options{Release: Release, Environ: a.Environ, Guardian: process.Self(guardianName), At: a.At, Say: a.saySo, Waiting: a.sayWaiting, Leftover: a.sayLeftover, Grace: a.grace}
}

// openStore opens the store in dir for driving runs, and creates the store if there is none.
func (a *app) openStore(dir string, d args.Drive) (*store, error) {
	if a.engine() != "" {
		return a.openFleet()
	}
	o := a.carryOptions()
	o.AnyRoom, o.TakeOver, o.DeathLimit = d.MakeDo, d.TakeOver, d.DeathLimit
	var err error
	if o.Traces, err = otlp.Configure(a.getenv, Release); err != nil {
		a.saySo("traces are not sent: " + err.Error())
	}
	s, err := standalone.Open(dir, o)
	return s, adviseOtherStore(err)
}

// adviseOtherStore adds advice to the error of a store that this user may not use.
func adviseOtherStore(err error) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w\n%s", err, doctor.OtherStore)
	}
	return err
}

// openExisting opens the store in dir, for reading if drive is nil. It returns engine.ErrNoStore if
// there is none. A store of an older version is migrated if the command writes to it.
func (a *app) openExisting(dir string, drive *args.Drive) (*store, error) {
	if a.engine() != "" {
		return a.openFleet()
	}
	s, err := standalone.Read(dir)
	if drive == nil || err != nil && !errors.As(err, new(*engine.OlderStore)) {
		return s, adviseOtherStore(err)
	}
	if err == nil {
		s.Close()
	}
	return a.openStore(dir, *drive)
}

// readStore returns what read finds in the store. A store that does not exist holds nothing: the
// result is the zero value.
func readStore[T any](a *app, read func(context.Context, *store) (T, error)) (T, error) {
	var nothing T
	dir, err := a.storeDir("")
	if err != nil {
		return nothing, err
	}
	s, err := a.openExisting(dir, nil)
	if errors.Is(err, engine.ErrNoStore) {
		return nothing, nil
	}
	if err != nil {
		return nothing, err
	}
	defer s.Close()
	return read(context.Background(), s)
}

// saySo prints a note that does not change the end of a run.
func (a *app) saySo(text string) { a.err.Printf("flowrun: %s\n", ui.CleanLines(text)) }

// sayWaiting tells the user for which run another run waits.
func (a *app) sayWaiting(run string, t engine.Turn) {
	a.err.Printf("flowrun: run %s waits for its turn in the group %s, behind run %s\n", run, ui.Quote(t.Group), t.Behind)
}

// sayLeftover tells the user that processes of the previous driver were ended.
func (a *app) sayLeftover(run string, processes int) {
	a.err.Printf("run %s: ended %d leftover processes of an earlier flowrun\n", run, processes)
}

// findRun returns the run that a word means: an id or the beginning of one, "latest", a workflow's
// name, or a file or folder (the newest run of one of its workflows).
func (a *app) findRun(ctx context.Context, s *store, word string) (engine.Info, error) {
	info, err := s.Find(ctx, word)
	var many *engine.Ambiguous
	switch {
	case errors.As(err, &many):
		return info, &args.Error{Message: many.Error(), Hint: "Give more of the run's id."}
	case !errors.Is(err, engine.ErrNoRun):
		return info, err
	}
	if _, missing := os.Stat(word); missing == nil {
		return a.findNewest(ctx, s, word)
	}
	return info, &noRun{&args.Error{Message: fmt.Sprintf("there is no run %q %s", word, placeOf(s)), Hint: "See flowrun runs list."}}
}

// noRun is the error of a word that means no run, file or folder.
type noRun struct{ usage *args.Error }

func (n *noRun) Error() string { return n.usage.Error() }
func (n *noRun) Unwrap() error { return n.usage }

// findNewest finds the newest run of a program's workflows that no other run called.
func (a *app) findNewest(ctx context.Context, s *store, path string) (engine.Info, error) {
	if p, _ := a.readProgram(path); p.IR == nil { // a run can be looked at while its file is broken
		if info, found, err := findStarted(ctx, s, path); found || err != nil {
			return info, err
		}
	}
	p, err := a.loadProgram(path)
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
	return engine.Info{}, &args.Error{Message: fmt.Sprintf("no workflow of %s has a run %s", path, placeOf(s))}
}

// maxStarted bounds how many of the newest runs are asked for the file that they were started from.
const maxStarted = 1000

// findStarted finds the newest run that no other run called and that was started from the file or folder at path.
func findStarted(ctx context.Context, s *store, path string) (info engine.Info, found bool, err error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return info, false, err
	}
	all, err := s.List(ctx, maxStarted)
	for _, info := range all {
		if source, err := s.SourceOf(ctx, info.Run); err == nil && info.Parent == "" && source.Path == at {
			return info, true, nil
		}
	}
	return info, false, err
}

// withRun calls a function with the run that a word means: see lookup.
func (a *app) withRun(word string, drive *args.Drive, do func(*store, engine.Info) error) error {
	s, info, err := a.openRun(word, drive)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s, info)
}

// openRun opens the store of a command about a run, for reading if drive is nil, and finds the run.
// It never creates a store.
func (a *app) openRun(word string, drive *args.Drive) (*store, engine.Info, error) {
	at := a.memoryFile // "" but with memory --file
	if _, err := os.Stat(word); err == nil {
		at = word
	}
	dir, err := a.storeDir(at)
	if err != nil {
		return nil, engine.Info{}, err
	}
	s, err := a.openExisting(dir, drive)
	if errors.Is(err, engine.ErrNoStore) {
		none := a.describeNoRuns(dir)
		none.Message = fmt.Sprintf("there is no run %q: %s", word, none.Message)
		return nil, engine.Info{}, &noRun{none}
	}
	if err != nil {
		return nil, engine.Info{}, err
	}
	info, err := a.findRun(context.Background(), s, word)
	if err != nil {
		s.Close()
		return nil, info, err
	}
	return s, info, nil
}

// placeOf says where the runs of a store are.
func placeOf(s *store) string {
	if s.Address() != "" {
		return "on " + ui.Clean(s.Address())
	}
	return "in " + s.Dir()
}

// answerLines are the commands that answer what a run waits for people for, or "".
func answerLines(s *store, run, flags string) (lines string) {
	tree, err := s.Tree(context.Background(), run)
	if err != nil {
		return ""
	}
	for _, q := range openAsks(s) {
		if slices.ContainsFunc(tree, func(i engine.Info) bool { return i.Run == q.Run }) {
			lines += q.Command(flags) + "\n"
		}
	}
	return lines
}

// openAsks are the asks of a store that people can answer now; none if the store cannot say.
func openAsks(s *store) []ui.Ask {
	asks, err := allAsks(context.Background(), s)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(asks, func(q ui.Ask) bool { return q.Over(time.Now()) })
}

// allAsks are the asks of a store that wait for an answer.
func allAsks(ctx context.Context, s *store) ([]ui.Ask, error) {
	out, err := s.Ask(ctx, event.StoreRequest{Asks: true})
	if err != nil {
		return nil, err
	}
	return ui.ReadAsks(out)
}

// describeUndriven explains how to resume a run that no process drives.
func (a *app) describeUndriven(s *store, info engine.Info) string {
	if s.Address() != "" {
		return "The run does not continue: " + a.describeTrouble(info)
	}
	flags, top := a.sceneOf(s, nil).Flags, s.Top(context.Background(), info)
	again := "  flowrun resume " + top + flags
	if lines := answerLines(s, info.Run, flags); lines != "" {
		if daemonContinues(s, top) {
			return "The run waits for people. Answer with:\n" + lines + "The daemon of this store continues the run then."
		}
		return "The run waits for people, and no process drives it. Answer with:\n" + lines + "Then continue with:\n" + again
	}
	return "Interrupted: no process drives this run. Continue with:\n" + again
}

// daemonContinues reports whether the daemon of the store continues a run without help: a daemon serves the store, and each secret of the run has a
// place that the daemon can read.
func daemonContinues(s *store, run string) bool {
	if s.Address() != "" || !isServed(s.Dir()) {
		return false
	}
	first, _, err := s.Beginning(context.Background(), run)
	return err == nil && toldSecret(first) == ""
}

// sceneOf returns how messages refer to the runs of a store.
func (a *app) sceneOf(s *store, where func(string) string) ui.Scene {
	if s.Address() != "" {
		folder, bucket, _ := a.artifacts() // they were read before
		return ui.Scene{Where: where, Store: cmp.Or(folder, bucket), Flags: a.engineHints()}
	}
	return ui.Scene{Where: where, Store: disk.Short(s.Dir()), Flags: a.flagsFor(s.Dir())}
}

// flagsFor returns the flags that a command on a store needs: none for the default store.
func (a *app) flagsFor(dir string) string { return a.flagsAt("", dir) }

// flagsAt is flagsFor for a command that names a program.
func (a *app) flagsAt(path, dir string) string {
	if a.engine() != "" {
		return a.engineHints()
	}
	environment := ""
	if a.global.Env != "" {
		environment = " --env " + a.global.Env
	}
	if usual, err := a.usualStore(path); err != nil || usual != dir {
		return environment + " --store " + ui.Quote(disk.Short(a.outsideEnvironment(dir)))
	}
	return environment
}

const guardianName = "guardian"

// readStore opens the store of a path to read it. It is nil if there is none, or one of an older release.
func (a *app) readStore(path string) (*standalone.Store, error) {
	dir, err := a.storeDir(path)
	if err != nil {
		return nil, err
	}
	s, err := standalone.Read(dir)
	var old *engine.OlderStore
	if errors.Is(err, engine.ErrNoStore) || errors.As(err, &old) {
		return nil, nil
	}
	return s, err
}
