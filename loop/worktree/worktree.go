// Package worktree makes and removes the git worktrees of the runs of a loop.
//
// It carries out attempts of kind worktree. A worktree is the folder worktrees/RUN of the store, with a branch of its own; the file
// worktrees/RUN.json says whose it is and how far it is made. A worktree is removed when its branch has no commit that no other branch or
// tag has, or was squashed into one of them, and each change in it is committed. If not, both stay, and each later attempt to make a worktree tries to remove them again.
//
// What always holds: an attempt that is carried out a second time, because its process was killed anywhere or its answer got lost, gives the
// same worktree, and no second one. A commit is never lost: a branch is deleted only at the commit that was looked at. Attempts of all
// processes of a store take turns.
//
// The executor of programs carries out git, so that its bounds and timeouts hold; a look at a worktree that stays ([State.Stays]) needs no executor. The package knows no machine and no engine. Enter at [New].
package worktree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

const (
	// Timeout bounds an attempt that has no timeout of its own.
	Timeout = 5 * time.Minute
	// MaxAgain bounds how many worktrees that stay are looked at again at once.
	MaxAgain = 20
	// maxNames bounds how many names are tried for a branch.
	maxNames = 100
	// maxSquashes bounds how many of the newest commits of other branches may be the one that a branch was squashed into.
	maxSquashes = 20
)

// Executor makes and removes worktrees. It is safe for concurrent use.
type Executor struct {
	next executor.Executor // for git
	dir  string            // of all worktrees of the store
	at   func(point string)
}

var _ executor.Executor = (*Executor)(nil)

// New makes an Executor that keeps worktrees in a store, a folder, and has git carried out by another executor.
func New(next executor.Executor, store string) *Executor {
	return &Executor{next: next, dir: Folder(store), at: func(string) {}}
}

// Folder is the folder of the worktrees of a store.
func Folder(store string) string { return filepath.Join(store, "worktrees") }

// State is a worktree as its file describes it.
type State struct {
	Run        string `json:"run"`
	Loop       string `json:"loop"`
	Item       string `json:"item"`
	Branch     string `json:"branch"`
	Root       string `json:"root"`
	Dir        string `json:"dir"`            // the program's folder in it
	Repository string `json:"repository"`     // the folder of the program, from which it was made
	Base       string `json:"base"`           // the commit from which it was made
	Ready      bool   `json:"ready"`          // it is made; false: somebody makes it, or was killed then
	Kept       string `json:"kept,omitempty"` // why it was not removed when its run had ended, in words; "": the run has not ended
}

// List returns the worktrees of a store, in the order of their runs. A file that cannot be read is left out.
func List(store string) (list []State) {
	files, _ := filepath.Glob(filepath.Join(Folder(store), "*.json"))
	for _, name := range files {
		var s State
		if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &s) == nil {
			list = append(list, s)
		}
	}
	return list
}

// Execute makes or removes a worktree.
func (x *Executor) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	ans := executor.Answer(a)
	ans.StartedAt = event.At(time.Now())
	limit := a.Timeout
	if limit == 0 {
		limit = Timeout
	}
	within, done := context.WithTimeout(ctx, limit)
	defer done()
	w, err := x.carryOut(within, &a)
	var f *failure
	switch {
	case err == nil:
		ans.Outcome, ans.Output = event.OK, w.Object()
	case ctx.Err() != nil:
		executor.Fail(&ans, executor.WasCancelled())
	case within.Err() != nil:
		executor.Fail(&ans, &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1, Message: fmt.Sprintf("git exceeded its timeout of %s", limit)})
	case errors.As(err, &f):
		executor.Fail(&ans, &f.err)
	default:
		executor.Fail(&ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonUnexplained, ExitCode: -1, Message: err.Error()})
	}
	return ans
}

// failure is an error with what the machine wants to know of it.
type failure struct{ err event.Error }

func (f *failure) Error() string { return f.err.Message }

func (x *Executor) carryOut(ctx context.Context, a *event.Attempt) (w event.Worktree, err error) {
	r := a.Worktree
	if r == nil || !validRun(r.Run) {
		return w, errors.New("the attempt does not name a run")
	}
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return w, err
	}
	unlock, err := x.lock(ctx)
	if err != nil {
		return w, err
	}
	defer unlock()
	g := git{ctx, x, a}
	s, err := x.read(r.Run)
	if err != nil {
		return w, err
	}
	if r.Remove {
		if s == nil {
			return event.Worktree{Branch: r.Branch}, nil
		}
		err = g.remove(s)
	} else {
		if s, err = g.add(s); err == nil {
			g.again(r.Run)
		}
	}
	if err != nil {
		return w, err
	}
	return event.Worktree{Root: s.Root, Dir: s.Dir, Branch: s.Branch, Kept: s.Kept}, nil
}

// validRun reports whether the id of a run is the name of a file, too.
func validRun(run string) bool {
	return run != "" && strings.Trim(run, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// lock waits until no other attempt of the store makes or removes a worktree.
func (x *Executor) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(x.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			f.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (x *Executor) file(run string) string { return filepath.Join(x.dir, run+".json") }

// read reads the file of a worktree; nil if there is none.
func (x *Executor) read(run string) (*State, error) {
	text, err := os.ReadFile(x.file(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := &State{}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.file(run), err)
	}
	return s, nil
}

// write writes the file of a worktree, whole or not at all.
func (x *Executor) write(s *State) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(x.dir, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), x.file(s.Run))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// git is an attempt that git works for.
type git struct {
	ctx context.Context
	x   *Executor
	a   *event.Attempt
}

// run has git work in a folder, and gives the text that it prints. The error is a failure with the words of git.
func (g *git) run(dir string, args ...string) (string, error) {
	g.x.at("git " + args[0])
	a := event.Attempt{Ticket: g.a.Ticket, Node: g.a.Node, Name: g.a.Name, Attempt: g.a.Attempt, Kind: event.RunAttempt, Key: g.a.Key, Run: g.a.Run, Workflow: g.a.Workflow,
		Timeout: Timeout, Dir: dir, Env: map[string]string{"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}, Base: g.a.Base, Argv: append([]string{"git"}, args...), Parse: string(ir.ParseText)}
	ans := g.x.next.Execute(g.ctx, a)
	if ans.Outcome == event.OK {
		return strings.TrimSuffix(ans.Stdout, "\n"), nil
	}
	e := event.Error{Kind: event.Transient, Reason: event.ReasonUnexplained, ExitCode: -1, Message: "its outcome is unknown"}
	if ans.Error != nil {
		e = *ans.Error
	}
	e.Message = fmt.Sprintf("git %s: %s", args[0], e.Message)
	if text := strings.TrimSpace(ans.Stderr); text != "" {
		e.Message += ": " + executor.Clip(text, executor.MaxMessage/2)
	}
	return ans.Stdout, &failure{e}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// add makes a worktree, or goes on with making it. s is nil if nobody has begun.
func (g *git) add(s *State) (*State, error) {
	if s != nil && s.Ready && exists(s.Root) {
		return s, nil
	}
	if s == nil {
		var err error
		if s, err = g.begin(); err != nil {
			return nil, err
		}
	} else { // whatever is there is part of a worktree, in which nobody has worked yet
		_, _ = g.run(s.Repository, "worktree", "remove", "--force", "--force", s.Root)
		if err := os.RemoveAll(s.Root); err != nil {
			return nil, err
		}
		if _, err := g.run(s.Repository, "worktree", "prune"); err != nil {
			return nil, err
		}
	}
	args := []string{"worktree", "add", "--quiet", s.Root, s.Branch}
	if _, err := g.run(s.Repository, "rev-parse", "--verify", "--quiet", "refs/heads/"+s.Branch); err != nil {
		args = []string{"worktree", "add", "--quiet", "-b", s.Branch, s.Root, s.Base}
	}
	if _, err := g.run(s.Repository, args...); err != nil {
		return nil, err
	}
	g.x.at("added")
	s.Ready = true
	return s, g.x.write(s)
}

// begin chooses a branch that does not exist, and writes down that the worktree is to be made.
func (g *git) begin() (*State, error) {
	r := g.a.Worktree
	s := &State{Run: r.Run, Loop: r.Loop, Item: r.Item, Repository: g.a.Dir, Root: filepath.Join(g.x.dir, r.Run)}
	if exists(s.Root) {
		return nil, fmt.Errorf("%s exists, and flowrun has not made it", s.Root)
	}
	prefix, err := g.run(g.a.Dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	s.Dir = filepath.Join(s.Root, prefix)
	if s.Base, err = g.run(g.a.Dir, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return nil, fmt.Errorf("the repository of %s has no commit yet, and a worktree begins with one: git commit", g.a.Dir)
	}
	for n := 1; ; n++ {
		if s.Branch = r.Branch; n > 1 {
			s.Branch += "-" + strconv.Itoa(n)
		}
		if _, err := g.run(g.a.Dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+s.Branch); err != nil {
			break
		}
		if n == maxNames {
			return nil, fmt.Errorf("branch %s exists, and so do the %d names that were tried after it", r.Branch, maxNames)
		}
	}
	return s, g.x.write(s)
}

// remove removes a worktree and its branch, or writes down why both stay.
func (g *git) remove(s *State) error {
	why, err := gitIn(g.run).stays(s)
	if err == nil && why == "" {
		why, err = g.drop(s)
	}
	if err != nil {
		if g.ctx.Err() != nil {
			return err
		}
		why = err.Error()
	}
	if why != "" {
		s.Kept = why
		return g.x.write(s)
	}
	s.Kept = ""
	g.x.at("removed")
	return os.Remove(g.x.file(s.Run))
}

// gitIn has git work in a folder, and gives the text that it prints.
type gitIn func(dir string, args ...string) (string, error)

// Stays says why a worktree must stay now, which Kept says as of the last attempt to remove it; "": nothing in it would be lost. It changes
// nothing. An error is one of git.
func (s *State) Stays(ctx context.Context) (why string, err error) {
	why, err = gitIn(func(dir string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
		c.WaitDelay = time.Second // what git started may live on, and hold its output
		text, err := c.Output()
		return strings.TrimSuffix(string(text), "\n"), err
	}).stays(s)
	return why, cmp.Or(err, ctx.Err()) // a git that was stopped has not said that the branch is gone
}

// stays says why a worktree must stay; "": nothing in it would be lost.
func (run gitIn) stays(s *State) (why string, err error) {
	if exists(s.Root) {
		text, err := run(s.Root, "status", "--porcelain")
		if err != nil {
			return "", err
		}
		if text != "" {
			n := strings.Count(text, "\n") + 1
			if n == 1 {
				return "1 file is not committed", nil
			}
			return fmt.Sprintf("%d files are not committed", n), nil
		}
		if why, err := run.unmerged(s, s.Root, "HEAD"); why != "" || err != nil {
			return why, err
		}
	}
	if _, err := run(s.Repository, "rev-parse", "--verify", "--quiet", "refs/heads/"+s.Branch); err != nil {
		return "", nil // it is deleted already
	}
	return run.unmerged(s, s.Repository, "refs/heads/"+s.Branch)
}

// unmerged says how many commits of a tip nobody else has; "": none.
func (run gitIn) unmerged(s *State, dir, tip string) (why string, err error) {
	n, err := run(dir, "rev-list", "--count", tip, "--not", s.Base, "--exclude="+s.Branch, "--branches", "--tags", "--remotes")
	switch {
	case err != nil || n == "0":
		return "", err
	case run.isSquashed(s, dir, tip):
		return "", nil
	case n == "1":
		return "1 commit is not merged", nil
	}
	return n + " commits are not merged", nil
}

// isSquashed reports whether a new commit of another branch or of a tag has all that the commits of a tip change, to the byte: to merge the
// tip into it would change nothing. A tip that changes nothing in the end is not squashed: its commits may still matter. git before 2.38
// cannot tell.
func (run gitIn) isSquashed(s *State, dir, tip string) bool {
	list, err := run(dir, "rev-list", "--no-commit-header", "--format=%H %T", "--max-count="+strconv.Itoa(maxSquashes), "--exclude="+s.Branch, "--branches", "--tags", "--remotes", "--not", s.Base)
	if err != nil {
		return false
	}
	for line := range strings.Lines(list) {
		commit, tree, _ := strings.Cut(strings.TrimSpace(line), " ")
		if merged, err := run(dir, "merge-tree", "--write-tree", commit, tip); err != nil || merged != tree {
			continue
		}
		base, err := run(dir, "merge-base", commit, tip)
		if err != nil {
			return false
		}
		_, same := run(dir, "diff", "--quiet", base, tip)
		return same != nil
	}
	return false
}

// drop removes the folder and then the branch of a worktree of which nothing would be lost. It says why that could not be done.
func (g *git) drop(s *State) (why string, err error) {
	tip, _ := g.run(s.Repository, "rev-parse", "--verify", "--quiet", "refs/heads/"+s.Branch)
	gone := s.Root + ".gone" // git removes files one by one, and half a worktree would look like one with changes
	if exists(s.Root) {
		if err := os.Rename(s.Root, gone); err != nil {
			return "", err
		}
		g.x.at("folder renamed")
	}
	if err := os.RemoveAll(gone); err != nil {
		return "", err
	}
	if _, err := g.run(s.Repository, "worktree", "prune"); err != nil {
		return "", err
	}
	if tip == "" {
		return "", nil
	}
	list, err := g.run(s.Repository, "worktree", "list", "--porcelain")
	if err != nil {
		return "", err
	}
	if strings.Contains(list+"\n", "\nbranch refs/heads/"+s.Branch+"\n") {
		return "its branch is checked out in another worktree", nil
	}
	if why, err := gitIn(g.run).unmerged(s, s.Repository, tip); why != "" || err != nil {
		return why, err
	}
	_, err = g.run(s.Repository, "update-ref", "-d", "refs/heads/"+s.Branch, tip) // not if it has moved meanwhile
	return "", err
}

// again tries to remove worktrees that stayed when their runs had ended: their branches may be merged now.
func (g *git) again(but string) {
	n := 0
	for _, s := range List(filepath.Dir(g.x.dir)) {
		if s.Kept == "" || s.Run == but {
			continue
		}
		if n++; n > MaxAgain {
			return
		}
		_ = g.remove(&s) // it stays shown
	}
}
