package worktree

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/command"
)

// bench is a repository with a program in the folder app, and a store.
type bench struct {
	t           *testing.T
	x           *Executor
	repo, store string
	dir         string // of both
	points      int
	killAt      int // the point at which the process dies; 0: it lives
}

type killed struct{}

func newBench(t *testing.T) *bench {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := benchIn(t, t.TempDir())
	if err := os.MkdirAll(filepath.Join(b.repo, "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	b.commit(b.repo, "app/a.txt", "first")
	return b
}

// benchIn is the bench of a folder, as it is.
func benchIn(t *testing.T, dir string) *bench {
	b := &bench{t: t, dir: dir, repo: filepath.Join(dir, "repo"), store: filepath.Join(dir, "store")}
	registry := executor.Registry{}
	registry.Register(command.New(command.Options{LogDir: t.TempDir()}), event.RunAttempt)
	b.x = New(registry, b.store)
	b.x.at = func(string) {
		if b.points++; b.points == b.killAt {
			panic(killed{})
		}
	}
	return b
}

func (b *bench) gitIn(dir string, args ...string) string {
	b.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *bench) git(args ...string) string { b.t.Helper(); return b.gitIn(b.repo, args...) }

func (b *bench) commit(dir, file, message string) {
	b.t.Helper()
	b.put(filepath.Join(dir, file), message)
	b.gitIn(dir, "add", "-A")
	b.gitIn(dir, "commit", "-qm", message)
}

func (b *bench) put(file, text string) {
	b.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// do carries out an attempt, and reports whether the process lived to its end.
func (b *bench) do(remove bool, run string) (w event.Worktree, lived bool) {
	b.t.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(killed); !is {
				panic(r)
			}
		}
	}()
	f := b.x.Execute(context.Background(), event.Attempt{Ticket: 1, Node: "n", Kind: event.WorktreeAttempt, Dir: filepath.Join(b.repo, "app"), Timeout: time.Minute,
		Base:     map[string]string{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME")},
		Worktree: &event.WorktreeRequest{Remove: remove, Run: run, Branch: "flowrun/l/" + run, Loop: "l", Item: "dispatch/" + run}})
	w, err := event.WorktreeOf(f.Output)
	if f.Outcome != event.OK || err != nil {
		b.t.Fatalf("remove %v of %s: %+v, %v", remove, run, f.Error, err)
	}
	return w, true
}

func (b *bench) must(remove bool, run string) event.Worktree {
	b.t.Helper()
	w, lived := b.do(remove, run)
	if !lived {
		b.t.Fatal("killed")
	}
	return w
}

// all are the branches of runs, the worktrees that git knows beside the first, and what lies in the store.
func (b *bench) all() string {
	b.t.Helper()
	var out []string
	for _, line := range strings.Split(b.git("worktree", "list", "--porcelain"), "\n") {
		if branch, is := strings.CutPrefix(line, "branch refs/heads/"); is && branch != "main" {
			out = append(out, "worktree "+branch)
		}
	}
	for _, line := range strings.Fields(b.git("for-each-ref", "--format=%(refname:short)", "refs/heads/flowrun")) {
		out = append(out, "branch "+line)
	}
	files, _ := os.ReadDir(filepath.Join(b.store, "worktrees"))
	for _, f := range files {
		if f.Name() != "lock" && !strings.HasPrefix(f.Name(), "new-") {
			out = append(out, f.Name())
		}
	}
	return strings.Join(out, ", ")
}

const one = "worktree flowrun/l/r1, branch flowrun/l/r1, r1, r1.json"

// A worktree is made once, lies where the program lies in its repository, and is removed with its branch when nothing in it would be lost.
func TestMakeAndRemove(t *testing.T) {
	b := newBench(t)
	w := b.must(false, "r1")
	if again := b.must(false, "r1"); again != w || b.all() != one {
		t.Errorf("%+v, %+v, %s", w, again, b.all())
	}
	if text, err := os.ReadFile(filepath.Join(w.Dir, "a.txt")); err != nil || string(text) != "first" || w.Branch != "flowrun/l/r1" {
		t.Errorf("%+v: %q, %v", w, text, err)
	}
	for range 2 {
		if w = b.must(true, "r1"); w.Kept != "" || b.all() != "" {
			t.Errorf("%+v, %s", w, b.all())
		}
	}
}

// A worktree with changes or commits of its own stays, with its branch, until both are elsewhere, too; then the next attempt removes it.
func TestNothingIsLost(t *testing.T) {
	b := newBench(t)
	w := b.must(false, "r1")
	b.put(filepath.Join(w.Dir, "new.txt"), "x")
	if w = b.must(true, "r1"); w.Kept != "1 file is not committed" || b.all() != one {
		t.Errorf("%+v, %s", w, b.all())
	}
	b.commit(w.Root, "app/new.txt", "second")
	b.commit(w.Root, "app/new.txt", "third")
	if w = b.must(true, "r1"); w.Kept != "2 commits are not merged" || b.all() != one {
		t.Errorf("%+v, %s", w, b.all())
	}
	if list := List(b.store); len(list) != 1 || list[0].Kept != w.Kept || list[0].Item != "dispatch/r1" || !list[0].Ready {
		t.Errorf("%+v", list)
	}
	tip := b.git("rev-parse", w.Branch)
	b.git("merge", "-q", w.Branch)
	w2 := b.must(false, "r2") // and r1 goes
	if got := b.all(); got != "worktree flowrun/l/r2, branch flowrun/l/r2, r2, r2.json" || b.git("rev-parse", "main") != tip {
		t.Error(got)
	}
	b.gitIn(w2.Root, "checkout", "-q", "--detach") // a commit that no branch has
	b.commit(w2.Root, "app/new.txt", "fourth")
	if w = b.must(true, "r2"); w.Kept != "1 commit is not merged" {
		t.Errorf("%+v", w)
	}
	b.gitIn(w2.Root, "branch", "-f", "other")
	if w = b.must(true, "r2"); w.Kept != "" || b.all() != "" {
		t.Errorf("%+v, %s", w, b.all())
	}
}

// A branch that was squashed into a commit of another branch is removed, also when others have changed other lines since. One whose changes
// are there in part, or differ in a space, or cancel each other, stays.
func TestSquashed(t *testing.T) {
	b := newBench(t)
	lines := func(first, last string) string { return first + "\n2\n3\n4\n5\n6\n7\n8\n" + last + "\n" }
	b.put(filepath.Join(b.repo, "app", "b.txt"), lines("1", "9"))
	b.git("add", "-A")
	b.git("commit", "-qm", "b")
	work := func(run string, texts ...string) event.Worktree {
		w := b.must(false, run)
		for _, text := range texts {
			b.put(filepath.Join(w.Dir, "b.txt"), text)
			b.gitIn(w.Root, "commit", "-qam", "work")
		}
		return w
	}
	onMain := func(text string) {
		b.put(filepath.Join(b.repo, "app", "b.txt"), text)
		b.git("commit", "-qam", "squashed")
	}
	work("r1", lines("one", "9"), lines("uno", "9"))
	work("r2", lines("x y", "9"))
	work("r3", lines("gone", "9"), lines("1", "9"))
	work("r4", lines("uno", "nove"))
	onMain(lines("uno", "9"))
	onMain(lines("uno", "nine"))
	onMain(lines("x  y", "nine"))
	for run, why := range map[string]string{"r1": "", "r2": "1 commit is not merged", "r3": "2 commits are not merged", "r4": "1 commit is not merged"} {
		if w := b.must(true, run); w.Kept != why {
			t.Errorf("%s stays: %q, want %q", run, w.Kept, why)
		}
	}
	if got := b.all(); strings.Contains(got, "r1") || strings.Count(got, "branch flowrun/l/") != 3 {
		t.Error(got)
	}
}

// A branch of another one with the same name is left alone.
func TestBranchOfSomebodyElse(t *testing.T) {
	b := newBench(t)
	b.git("branch", "flowrun/l/r1")
	w := b.must(false, "r1")
	if w.Branch != "flowrun/l/r1-2" {
		t.Error(w)
	}
	b.must(true, "r1")
	if got := b.all(); got != "branch flowrun/l/r1" {
		t.Error(got)
	}
}

// The process dies at each point of making a worktree and of removing it, and the next one goes on: there is one worktree, then none, and a
// commit is never lost.
func TestKilledAnywhere(t *testing.T) {
	for _, remove := range []bool{false, true} {
		for at := 1; ; at++ {
			b := newBench(t)
			tip := ""
			if remove {
				w := b.must(false, "r1")
				b.commit(w.Root, "app/new.txt", "second")
				tip = b.git("rev-parse", w.Branch)
				b.git("merge", "-q", w.Branch)
			}
			b.points, b.killAt = 0, at
			_, lived := b.do(remove, "r1")
			b.killAt = 0
			w, want := b.must(remove, "r1"), one
			if remove {
				want = ""
			}
			if got := b.all(); got != want || w.Kept != "" {
				t.Errorf("remove %v, killed at point %d: %s, %+v", remove, at, got, w)
			}
			if remove && b.git("rev-parse", "main") != tip {
				t.Error("a commit is lost")
			}
			if lived {
				if at < 5 {
					t.Errorf("only %d points", at)
				}
				break
			}
		}
	}
}

// git was killed while it made a worktree, and left a part of it.
func TestPartOfWorktree(t *testing.T) {
	b := newBench(t)
	b.x.at = func(point string) {
		if point == "added" {
			panic(killed{})
		}
	}
	if _, lived := b.do(false, "r1"); lived {
		t.Fatal("it lived")
	}
	root := filepath.Join(b.store, "worktrees", "r1")
	common := b.gitIn(root, "rev-parse", "--git-dir")
	if err := os.Remove(filepath.Join(root, "app", "a.txt")); err != nil {
		t.Fatal(err)
	}
	b.put(filepath.Join(common, "locked"), "initializing")
	b.put(filepath.Join(common, "index.lock"), "")
	b.x.at = func(string) {}
	w := b.must(false, "r1")
	if _, err := os.Stat(filepath.Join(w.Dir, "a.txt")); err != nil || b.all() != one || b.gitIn(root, "status", "--porcelain") != "" {
		t.Errorf("%v, %s", err, b.all())
	}
	if w = b.must(true, "r1"); w.Kept != "" || b.all() != "" {
		t.Errorf("%+v, %s", w, b.all())
	}
}

// A folder without a repository, and a repository without a commit, are refused with the words of git.
func TestNoRepository(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	f := b.x.Execute(context.Background(), event.Attempt{Ticket: 1, Kind: event.WorktreeAttempt, Dir: dir, Base: map[string]string{"PATH": os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES": filepath.Dir(dir)},
		Worktree: &event.WorktreeRequest{Run: "r1", Branch: "flowrun/l/r1"}})
	if f.Outcome == event.OK || f.Error == nil || !strings.Contains(f.Error.Message, "not a git repository") {
		t.Errorf("%+v", f.Error)
	}
	if len(List(b.store)) != 0 {
		t.Error("it wrote something down")
	}
}

var kills = flag.Int("worktree.kills", 4, "how often the process is killed that makes and removes worktrees")

// The whole process is killed at a moment while it makes and removes worktrees, and with it nothing but itself: a git that it has started may
// live on for a while. The next process goes on, and a commit is never lost. Many kills:
//
//	go test ./loop/worktree -run TestKilledProcess -worktree.kills 500
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv("WORKTREE_TEST"); dir != "" {
		b := benchIn(t, dir)
		for _, remove := range []bool{false, true} {
			if b.must(remove, "r1"); !remove {
				fmt.Println("made")
			}
		}
		return
	}
	rng := rand.New(rand.NewPCG(1, uint64(*kills)))
	ended := 0
	for i := range *kills {
		b := newBench(t)
		w := b.must(false, "r1") // the tip of the branch must survive, whatever happens to the worktree
		b.commit(w.Root, "app/new.txt", "second")
		tip := b.git("rev-parse", w.Branch)
		if i%2 == 0 {
			b.git("merge", "-q", w.Branch)
			b.must(true, "r1")
		}
		c := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
		c.Env = append(os.Environ(), "WORKTREE_TEST="+b.dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		made := make(chan bool, 1)
		go func() {
			found := false
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if lines.Text() == "made" && !found {
					found = true
					made <- true
				}
			}
			close(made)
		}()
		if i%4 > 1 { // while it removes
			<-made
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		_ = c.Process.Kill()
		if c.Wait() == nil {
			ended++
		}
		w = b.must(false, "r1")
		if got := b.all(); got != one || b.gitIn(w.Root, "status", "--porcelain") != "" {
			t.Errorf("kill %d: %s", i, got)
		}
		if b.gitIn(b.repo, "cat-file", "-t", tip) != "commit" || b.gitIn(b.repo, "for-each-ref", "--contains", tip) == "" {
			t.Errorf("kill %d: a commit is lost", i)
		}
		w, want := b.must(true, "r1"), ""
		if i%2 == 1 {
			want = one
		}
		if got := b.all(); got != want {
			t.Errorf("kill %d: %s stays: %s", i, got, w.Kept)
		}
	}
	t.Logf("%d of %d processes had ended before", ended, *kills)
}
