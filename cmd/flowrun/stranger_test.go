package main_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/local"
	_ "modernc.org/sqlite"
)

var strangerAll = flag.Bool("stranger.all", false, "each command in each stranger's store, and not two of them")

// strangerBound is the time in which each command has to return, in the best of five tries.
const strangerBound = 2 * time.Second

const strangerFlow = `workflow "w" {
  input "wait" { default = "0" }
  step "a" { run = "i=0; while [ $i -lt 4000 ]; do echo 'a line of twenty bytes'; i=$((i+1)); done" }
  step "b" {
    depends_on = [step.a]
    run        = "[ -e go ] || sleep ${input.wait}"
  }
}
`

// stranger is a store that a test may spoil, with a run that has ended and one that can go on.
type stranger struct {
	binary      string
	repository  string // holds .flowrun and w.flow.hcl
	ended, left string // runs
	canary      string // a file outside
}

func (s *stranger) store() string { return filepath.Join(s.repository, ".flowrun") }

// commands are those that touch a store.
func (s *stranger) commands() [][]string {
	return [][]string{
		{"runs", "list"}, {"runs", "show", s.ended}, {"apply", "w.flow.hcl"}, {"resume", s.left}, {"retry", s.ended},
		{"doctor"}, {"doctor", "--all"}, {"memory", "list"}, {"memory", "search", "parser"}, {"memory", "add", "more"}, {"memory", "doctor"},
		{"runs", "prune", "--keep", "0", "--all"}, {"cancel", s.left}, {"logs", s.ended}, {"logs", "--follow", s.ended}, {"events", s.ended},
		{"console", s.ended, "1 + 1"}, {"replay", s.ended}, {"runs", "watch", s.ended}, {"graph", s.ended}, {"plan", "w.flow.hcl"},
	}
}

// run carries out a command, which must return in time, and gives its exit code and what it printed.
func (s *stranger) run(t *testing.T, words ...string) (code int, out string) {
	t.Helper()
	for try := 0; ; try++ { // again, should the machine have been busy
		ctx, cancel := context.WithTimeout(context.Background(), 10*strangerBound)
		cmd := exec.CommandContext(ctx, s.binary, words...)
		cmd.Dir = s.repository
		var all bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &all, &all, time.Second
		begun := time.Now()
		err := cmd.Run()
		took := time.Since(begun)
		cancel()
		if took <= strangerBound || try == 4 {
			if took > strangerBound {
				t.Errorf("%v took %v", words, took)
			}
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			return cmd.ProcessState.ExitCode(), all.String()
		}
	}
}

// makeStranger makes the store that others are copies of, and lists the places in it while a run is driven: those are the files that a
// store has, now and in releases to come.
func makeStranger(t *testing.T) (s *stranger, places []string) {
	t.Helper()
	s = &stranger{binary: build(t), repository: filepath.Join(t.TempDir(), "repository")}
	if err := os.MkdirAll(s.repository, 0o700); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(s.repository, "w.flow.hcl"), []byte(strangerFlow), 0o600)
	must := func(words ...string) string {
		t.Helper()
		cmd := exec.Command(s.binary, words...)
		cmd.Dir = s.repository
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	must("apply", "w.flow.hcl")
	must("memory", "add", "the parser test is flaky")
	must("memory", "search", "parser")
	driven := exec.Command(s.binary, "apply", "w.flow.hcl", "--input", "wait=60")
	driven.Dir = s.repository
	if err := driven.Start(); err != nil {
		t.Fatal(err)
	}
	for due := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if i, err := os.Stat(filepath.Join(s.store(), "reserve")); err == nil && i.Size() == local.ReserveSize {
			break
		} else if time.Now().After(due) {
			t.Fatal("the run has made no reserve")
		}
	}
	filepath.WalkDir(s.store(), func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(s.store(), path); rel != "." {
			places = append(places, rel)
		}
		return nil // what is gone meanwhile is none
	})
	driven.Process.Kill()
	driven.Wait()
	if err := os.WriteFile(filepath.Join(s.repository, "go"), nil, 0o600); err != nil { // who resumes does not sleep
		t.Fatal(err)
	}
	s.ended, s.left = must("runs", "list", "--json", "--status", "succeeded"), must("runs", "list", "--json", "--status", "running")
	for _, id := range []*string{&s.ended, &s.left} {
		_, after, ok := strings.Cut(*id, `"run":"`)
		if !ok {
			_, after, ok = strings.Cut(*id, `"run": "`)
		}
		if !ok {
			t.Fatalf("no run stands in %s", *id)
		}
		*id, _, _ = strings.Cut(after, `"`)
	}
	return s, places
}

// copied is a copy of the stranger's repository, with a canary beside it.
func (s *stranger) copied(t *testing.T) *stranger {
	t.Helper()
	c := *s
	dir := t.TempDir()
	c.repository, c.canary = filepath.Join(dir, "repository"), filepath.Join(dir, "canary")
	if out, err := exec.Command("cp", "-a", s.repository, c.repository).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(c.canary, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &c
}

func (s *stranger) checkCanary(t *testing.T, words []string) {
	t.Helper()
	if b, err := os.ReadFile(s.canary); err != nil || string(b) != "canary" {
		t.Errorf("%v: the file outside says %q, %v", words, b, err)
	}
	if i, err := os.Stat(s.canary); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v: the file outside is %v, %v", words, i.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(s.canary)); len(entries) != 2 {
		t.Errorf("%v: outside there is %v now", words, entries)
	}
}

// each lets commands meet a copy of the store that was spoiled: all of them, or two that are others each time.
func (s *stranger) each(t *testing.T, n int, spoil func(*stranger) error, check func(t *testing.T, words []string, code int, out string)) {
	t.Helper()
	all := s.commands()
	some := all
	if !*strangerAll {
		some = [][]string{all[n%len(all)], all[(n*5+3)%len(all)]}
	}
	for _, words := range some {
		c := s.copied(t)
		if err := spoil(c); err != nil {
			t.Skip(err) // a folder has one name
		}
		code, out := c.run(t, words...)
		c.checkCanary(t, words)
		if words[0] != "plan" { // it asks the store for durations only, and does without
			check(t, words, code, out)
		}
		if t.Failed() {
			t.Fatalf("%v: exit code %d\n%s", words, code, out)
		}
	}
}

// alter changes a database behind the back of flowrun.
func (s *stranger) alter(database, statement string) error {
	db, err := sql.Open("sqlite", filepath.Join(s.store(), database))
	if err == nil {
		_, err = db.Exec(statement)
		err = errors.Join(err, db.Close())
	}
	return err
}

// refused asks that a command did nothing but refuse, and that doctor names the reason.
func refused(want string) func(*testing.T, []string, int, string) {
	return func(t *testing.T, words []string, code int, out string) {
		t.Helper()
		wanted := 3
		if slices.Contains(words, "doctor") && (words[0] != "memory" || code != 3) { // the memory's own may have no store to look at
			wanted = 1
		}
		if code != wanted || !strings.Contains(out, want) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s", words, code, wanted, want, out)
		}
	}
}

// TestStrangersStore spoils a store in the ways that a stranger could, and lets the commands meet that: nothing outside is touched, each
// returns in time, and none carries anything of it out.
func TestStrangersStore(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts hundreds of processes")
	}
	made, places := makeStranger(t)
	t.Run("files", func(t *testing.T) { strangersFiles(t, made, places) })
	t.Run("database", func(t *testing.T) { strangersDatabase(t, made) })
	t.Run("repository", func(t *testing.T) { strangersRepository(t, made) })
	t.Run("rows", func(t *testing.T) { strangersRows(t, made) })
	t.Run("names", func(t *testing.T) { strangersNames(t, made) })
	t.Run("modes", func(t *testing.T) { strangersModes(t, made) })
	t.Run("signals", func(t *testing.T) { strangersSignals(t, made) })
}

// strangersFiles plants links, other names, fifos, modes and owners in each place of a store.
func strangersFiles(t *testing.T, made *stranger, places []string) {
	for _, more := range []string{"flowrun.db-journal", "memory.db-journal", "memory.db.new", "memory.db.new-journal", "memory.db.rebuilt", "flowrun.db.v1",
		"flowrun.db.v1-journal", "memory.db.v1", "store.new", "follow", "learning", "logs", "flowrun.db-wal", "flowrun.db-shm", "memory.db-wal"} {
		if !slices.Contains(places, more) {
			places = append(places, more)
		}
	}
	type attack struct {
		name  string
		plant func(s *stranger, path string) error
	}
	attacks := []attack{
		{"link", func(s *stranger, path string) error {
			os.RemoveAll(path)
			return os.Symlink(s.canary, path)
		}},
		{"link to a folder", func(s *stranger, path string) error {
			os.RemoveAll(path)
			return os.Symlink(filepath.Dir(s.canary), path)
		}},
		{"other name", func(s *stranger, path string) error {
			os.RemoveAll(path)
			return os.Link(s.canary, path)
		}},
		{"fifo", func(s *stranger, path string) error {
			os.RemoveAll(path)
			return syscall.Mkfifo(path, 0o600)
		}},
		{"mode", func(s *stranger, path string) error {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					return err
				}
			}
			return os.Chmod(path, 0o777)
		}},
	}
	if os.Geteuid() == 0 {
		attacks = append(attacks, attack{"owner", func(s *stranger, path string) error {
			os.WriteFile(path, nil, 0o600)
			return os.Chown(path, 4711, -1)
		}})
	}
	n := 0
	var both sync.WaitGroup
	gate := make(chan struct{}, 2)
	for _, place := range places {
		for _, a := range attacks {
			n++
			if !*strangerAll && strings.Contains(place, "/") && n%6 != 0 {
				continue // most of what lies deeper is alike
			}
			gate <- struct{}{}
			both.Go(func() {
				defer func() { <-gate }()
				t.Run(fmt.Sprintf("%s/%s", a.name, strings.ReplaceAll(place, "/", "_")), func(t *testing.T) {
					made.each(t, n, func(s *stranger) error {
						path := filepath.Join(s.store(), place)
						os.MkdirAll(filepath.Dir(path), 0o700) // it may be gone by now
						return a.plant(s, path)
					}, func(t *testing.T, words []string, code int, out string) {
						if !strings.Contains(place, "/") {
							refused(place)(t, words, code, out)
						} else if words[0] == "doctor" {
							refused(filepath.Base(place))(t, words, code, out)
						}
					})
				})
			})
		}
	}
	both.Wait()
}

// strangersDatabase plants what SQLite would carry out.
func strangersDatabase(t *testing.T, made *stranger) {
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	for n, c := range []struct{ database, statement, want string }{
		{"flowrun.db", "CREATE TRIGGER evil AFTER UPDATE ON runs BEGIN INSERT INTO inbox (run, body, created) VALUES (NEW.key, x'', 0); END", "trigger evil"},
		{"flowrun.db", "CREATE TRIGGER evil BEFORE INSERT ON drivers BEGIN SELECT (" + endless + "); END", "trigger evil"},
		{"flowrun.db", "CREATE TRIGGER evil BEFORE INSERT ON inbox BEGIN SELECT (" + endless + "); END", "trigger evil"},
		{"flowrun.db", "ALTER TABLE inbox RENAME TO kept; CREATE VIEW inbox AS SELECT kept.*, (" + endless + ") AS x FROM kept", "view inbox"},
		{"flowrun.db", "ALTER TABLE store RENAME TO kept; CREATE VIEW store AS SELECT one, id || (" + endless + ") AS id FROM kept", "view store"},
		{"flowrun.db", "CREATE VIRTUAL TABLE evil USING fts5(x)", "table evil"},
		{"flowrun.db", "CREATE TABLE evil (x)", "table evil"},
		{"flowrun.db", "ALTER TABLE turns ADD COLUMN evil INTEGER GENERATED ALWAYS AS (id) VIRTUAL", "table turns"},
		{"flowrun.db", "PRAGMA user_version = -7", "version"},
		{"memory.db", "CREATE TRIGGER evil BEFORE INSERT ON records BEGIN SELECT (" + endless + "); END", "trigger evil"},
		{"memory.db", "ALTER TABLE names RENAME TO kept; CREATE VIEW names AS SELECT kept.*, (" + endless + ") AS x FROM kept", "view names"},
	} {
		t.Run(c.want, func(t *testing.T) {
			made.each(t, n, func(s *stranger) error { return s.alter(c.database, c.statement) }, func(t *testing.T, words []string, code int, out string) {
				if (words[0] == "memory") == (c.database == "memory.db") || words[0] == "doctor" {
					refused(c.want)(t, words, code, out)
				}
			})
		})
	}
}

// strangersRepository checks a store in, clones it, and is told so whatever the modes are.
func strangersRepository(t *testing.T, made *stranger) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	git := func(dir string, words ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, words...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", words, err, out)
		}
	}
	origin := made.copied(t)
	git(origin.repository, "init", "-q")
	if code, out := origin.run(t, "runs", "list"); code != 0 {
		t.Errorf("a store that git does not track: %d\n%s", code, out)
	}
	git(origin.repository, "add", "-f", ".")
	git(origin.repository, "commit", "-q", "-m", "x")
	for n, umask := range []int{0o022, 0o077, 0} {
		clone := func(s *stranger) error {
			err := os.RemoveAll(s.repository)
			old := syscall.Umask(umask)
			git(filepath.Dir(s.repository), "clone", "-q", origin.repository, s.repository)
			syscall.Umask(old)
			return err
		}
		origin.each(t, n, clone, refused("git tracks"))
		if umask == 0 {
			origin.each(t, n, func(s *stranger) error {
				err := clone(s)
				git(s.repository, "rm", "-rq", "--cached", ".flowrun")
				return err
			}, refused("chmod -R go-w"))
		}
	}
	// A link in the place of the store, as a clone can have it.
	link := func(s *stranger) error {
		return errors.Join(os.Rename(s.store(), s.repository+"/elsewhere"), os.Symlink("elsewhere", s.store()))
	}
	made.each(t, 0, link, refused("symbolic link"))
	s := made.copied(t)
	if err := link(s); err != nil {
		t.Fatal(err)
	}
	if code, out := s.run(t, "runs", "list", "--store", ".flowrun"); code != 0 {
		t.Errorf("a link that the user names: %d\n%s", code, out)
	}
}

// acts acts on a terminal, or hides text there.
const acts = "\x1b]0;evil\a\u009b31m\u202e\u2066\u200f\u200b"

func checkWords(t *testing.T, words []string, out string) {
	t.Helper()
	if strings.ContainsAny(out, acts[:1]+"\a\u009b\u202e\u2066\u200f\u200b") {
		t.Errorf("%v prints %q", words, out)
	}
}

// strangersNames gives a file a name that acts on a terminal, and an error to tell of.
func strangersNames(t *testing.T, made *stranger) {
	s := made.copied(t)
	bad, good := "bad"+acts+".flow.hcl", "good"+acts+".flow.hcl"
	err := errors.Join(os.WriteFile(filepath.Join(s.repository, bad), []byte("workflow \"w\" {\nstep \"a\" { rum = \""+acts+"\" }\n}\n"), 0o600),
		os.WriteFile(filepath.Join(s.repository, good), []byte("workflow   \"v\" {\n  step \"a\" {\n run = [\"echo\", \"x\"]\n}\n}\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"validate", bad}, {"validate", ".", "--format", "compact"}, {"validate", ".", "--format", "github"},
		{"validate", ".", "--format", "json"}, {"validate", ".", "--format", "sarif"}, {"validate", ".", "--format", "junit"}, {"plan", bad}, {"plan", good},
		{"fmt", "--check", good}, {"fmt", "--check", bad}, {"graph", bad}, {"apply", bad}, {"apply", good}, {"apply", good, "--json"}, {"runs", "show", "v"},
		{"runs", "show", "v", "--json"}, {"runs", "list"}, {"doctor", good}, {"doctor", good, "--json"}, {"events", "v"}, {"events", "v", "--json"},
		{"console", "v", "run"}, {"memory", "add", acts}, {"memory", "list"}, {"memory", "list", "--json"}, {"memory", "search", "evil"},
		{"memory", "show", "nothing" + acts}, {"runs", "show", acts}, {"explain", acts}, {acts}, {"runs", "list", "--store", acts}} {
		_, out := s.run(t, words...)
		checkWords(t, words, out)
		if out == "" {
			t.Errorf("%q says nothing", words)
		}
	}
}

// strangersRows has rows that name files outside, call each other in a circle, and hold what acts on a terminal.
func strangersRows(t *testing.T, made *stranger) {
	for n, c := range []struct{ name, statement string }{
		{"id", "UPDATE runs SET id = '../../canary' WHERE ended != 0"},
		{"id of a folder", "UPDATE runs SET id = '../..' WHERE ended != 0"},
		{"pruned id", "UPDATE runs SET id = '../../canary', status = 'pruned' WHERE ended != 0"},
		{"circle", "UPDATE runs SET parent = (SELECT id FROM runs r WHERE r.id != runs.id)"},
		{"self", "UPDATE runs SET parent = id, retry_of = id"},
		{"status", "UPDATE runs SET status = '" + acts + "', driven = 1"},
		{"workflow", "UPDATE runs SET workflow = '" + acts + "'"},
		{"texts", "UPDATE runs SET parent_node = '" + acts + "', retry_of = '" + acts + "', definition = '" + acts + "'"},
		{"strange id", "UPDATE runs SET id = '" + acts + "' WHERE ended != 0"},
		{"inbox", "INSERT INTO inbox (run, body, created) SELECT key, CAST(json_object('kind', '" + acts + "', 'reason', '" + acts + "') AS BLOB), 0 FROM runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spoil := func(s *stranger) error { return s.alter("flowrun.db", c.statement) }
			made.each(t, n, spoil, func(t *testing.T, words []string, code int, out string) {
				checkWords(t, words, out)
			})
			s := made.copied(t)
			if err := spoil(s); err != nil {
				t.Fatal(err)
			}
			for _, words := range [][]string{{"runs", "list"}, {"runs", "list", "--json"}, {"doctor"}, {"runs", "prune", "--keep", "0", "--all"}, {"runs", "list"}} {
				_, out := s.run(t, words...)
				s.checkCanary(t, words)
				checkWords(t, words, out)
			}
			if _, err := os.Stat(s.repository + "/w.flow.hcl"); err != nil {
				t.Error(err)
			}
		})
	}
}

// lockWait is how long a command waits for the lock of a database before it gives up by itself.
const lockWait = 30 * time.Second

// strangersSignals stops commands that cannot go on: another process holds the lock of the database.
func strangersSignals(t *testing.T, made *stranger) {
	for _, words := range [][]string{{"runs", "prune", "--keep", "0"}, {"apply", "w.flow.hcl"}, {"resume", made.left}, {"cancel", made.left}, {"memory", "add", "more"}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			s := made.copied(t)
			database := "flowrun.db"
			if words[0] == "memory" {
				database = "memory.db"
			}
			db, err := sql.Open("sqlite", "file:"+filepath.Join(s.store(), database)+"?_txlock=immediate")
			if err != nil {
				t.Fatal(err)
			}
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(s.binary, words...)
			cmd.Dir = s.repository
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				t.Errorf("%v did not wait for the lock: %v", words, err)
			case <-time.After(300 * time.Millisecond):
				cmd.Process.Signal(sig)
				for sent := time.Now(); ; {
					select {
					case err = <-ended:
					case <-time.After(100 * time.Millisecond):
						if words[0] == "apply" || words[0] == "resume" { // which wait for attempts: a second one does not
							cmd.Process.Signal(sig)
						}
						continue
					}
					status := cmd.ProcessState.Sys().(syscall.WaitStatus)
					if took := time.Since(sent); status.ExitStatus() != 128+int(sig) && status.Signal() != sig || took > lockWait*2/3 {
						t.Errorf("%v ends %v after %v with %v", words, took, sig, err)
					}
					break
				}
			}
			tx.Rollback()
			db.Close()
		}
	}
}

// strangersModes makes a store while the umask keeps nobody out: whatever lies in it is its owner's alone.
func strangersModes(t *testing.T, made *stranger) {
	s := made.copied(t)
	if err := os.RemoveAll(s.store()); err != nil {
		t.Fatal(err)
	}
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, words := range [][]string{{"apply", "w.flow.hcl"}, {"memory", "add", "x"}, {"memory", "search", "x"}, {"logs", "--follow", "latest"}} {
		if code, out := s.run(t, words...); code != 0 {
			t.Fatalf("%v: %d\n%s", words, code, out)
		}
	}
	filepath.WalkDir(s.store(), func(path string, d fs.DirEntry, err error) error {
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v, %v", path, info.Mode(), err)
		}
		return nil
	})
}
