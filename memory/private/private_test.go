package private

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// newFolder makes a store's folder as a run leaves it.
func newFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo", ".flowrun")
	if err := os.MkdirAll(filepath.Join(dir, "marks"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"flowrun.db", "store", "reserve", "marks/run"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheckRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(dir string) error
		want string
		deep bool // only Inspect looks there
	}{
		"nothing":         {func(string) error { return nil }, "", false},
		"a link":          {func(dir string) error { return os.Symlink("/etc/passwd", dir+"/memory.mark") }, "memory.mark is a symbolic link", false},
		"a dangling link": {func(dir string) error { return os.Symlink("/nowhere", dir+"/flowrun.db-wal") }, "flowrun.db-wal is a symbolic link", false},
		"a linked folder": {func(dir string) error { return os.Symlink("/tmp", dir+"/logs") }, "logs is a symbolic link", false},
		"a fifo":          {func(dir string) error { return syscall.Mkfifo(dir+"/setup.lock", 0o600) }, "setup.lock is neither a file nor a folder", false},
		"another name":    {func(dir string) error { return os.Link(dir+"/reserve", dir+"/../outside") }, "reserve has another name", false},
		"a mode":          {func(dir string) error { return os.Chmod(dir+"/flowrun.db", 0o666) }, "chmod go-w", false},
		"a group's mode":  {func(dir string) error { return os.Chmod(dir+"/marks", 0o770) }, "marks can be written by others", false},
		"the folder":      {func(dir string) error { return os.Chmod(dir, 0o777) }, "chmod -R go-w", false},
		"a super-journal": {func(dir string) error {
			return os.WriteFile(dir+"/flowrun.db-journal", []byte("........"+journalMagic), 0o600)
		}, "names another file", false},
		"a plain journal": {func(dir string) error { return os.WriteFile(dir+"/flowrun.db-journal", make([]byte, 512), 0o600) }, "", false},
		"a link below":    {func(dir string) error { return os.Symlink("/etc/passwd", dir+"/marks/x") }, "marks/x is a symbolic link", true},
		"a mode below":    {func(dir string) error { return os.Chmod(dir+"/marks/run", 0o666) }, "marks/run can be written by others", true},
		"a reading mode":  {func(dir string) error { return os.Chmod(dir, 0o755) }, "", false},
	} {
		dir := newFolder(t)
		if err := c.harm(dir); err != nil {
			t.Fatal(name, err)
		}
		err := Check(dir)
		if want := c.want; c.deep {
			if err != nil {
				t.Errorf("%s: Check looks too deep: %v", name, err)
			}
			problems, _ := Inspect(dir)
			if len(problems) != 1 || !strings.Contains(problems[0].What, want) || problems[0].All || problems[0].Open != (name == "a link below") {
				t.Errorf("%s: %v", name, problems)
			}
		} else if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestCheckRefusesAnotherOwner takes root, who can give files away.
func TestCheckRefusesAnotherOwner(t *testing.T) {
	for _, name := range []string{"", "flowrun.db"} {
		dir := newFolder(t)
		if os.Chown(filepath.Join(dir, name), 4711, -1) != nil {
			t.Skip("only root can give files away")
		}
		var no *Refused
		if err := Check(dir); !errors.As(err, &no) || !strings.Contains(err.Error(), "belongs to user 4711") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := newFolder(t)
	outside := filepath.Join(dir, "..", "canary")
	os.WriteFile(outside, []byte("canary"), 0o600)
	os.Symlink(outside, dir+"/link")
	os.Link(outside, dir+"/hard")
	syscall.Mkfifo(dir+"/fifo", 0o600)
	os.Symlink("..", dir+"/up")
	for _, name := range []string{"link", "hard", "fifo"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			f, err := Open(filepath.Join(dir, name), flag)
			if err == nil {
				f.Close()
				t.Errorf("%s is opened with %x", name, flag)
			} else if !strings.HasSuffix(err.Error(), ": rm "+filepath.Join(dir, name)) {
				t.Errorf("%s: no word of what to type: %v", name, err)
			}
		}
	}
	for _, name := range []string{"up/canary", "../canary", "/etc/passwd", "", "marks/../../canary", "up/../store"} {
		if f, err := OpenBelow(dir, name, os.O_RDONLY); err == nil {
			f.Close()
			t.Errorf("%s is opened", name)
		}
	}
	if b, err := os.ReadFile(outside); string(b) != "canary" {
		t.Errorf("the canary says %q, %v", b, err)
	}
	f, err := OpenBelow(dir, "marks/run", os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func git(t *testing.T, dir string, words ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, words...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", words, err, out)
	}
}

// TestTracked asks git itself for indexes of each kind.
func TestTracked(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	for name, c := range map[string]struct {
		init, then []string
	}{
		"version 2": {nil, nil},
		"version 3": {nil, []string{"add", "--intent-to-add", "-f", "later"}},
		"version 4": {nil, []string{"update-index", "--index-version", "4"}},
		"split":     {nil, []string{"update-index", "--split-index"}},
		"SHA-256":   {[]string{"--object-format=sha256"}, nil},
	} {
		for _, track := range []string{"", ".flowrun/.gitignore", ".flowrun/flowrun.db", ".flowrun/marks/run"} {
			dir := newFolder(t)
			root := filepath.Dir(dir)
			for _, file := range []string{".circleci", ".flowrun-x", ".flowrun.txt", "a/b", "zebra", "later", ".flowrun/.gitignore"} {
				os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o700)
				os.WriteFile(filepath.Join(root, file), nil, 0o600)
			}
			git(t, root, append([]string{"init", "-q"}, c.init...)...)
			git(t, root, "add", ".circleci", ".flowrun-x", ".flowrun.txt", "a/b", "zebra")
			if track != "" {
				git(t, root, "add", "-f", track)
			}
			if c.then != nil {
				git(t, root, c.then...)
			}
			want := strings.TrimPrefix(track, ".flowrun/.gitignore")
			if have := Tracked(dir); have != want {
				t.Errorf("%s, %q is tracked: %q", name, track, have)
			}
		}
	}
}

// TestTrackedElsewhere looks at work trees, submodules, and a repository that is a store.
func TestTrackedElsewhere(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	dir := newFolder(t)
	root := filepath.Dir(dir)
	git(t, root, "init", "-q")
	git(t, root, "add", "-f", ".flowrun")
	git(t, root, "commit", "-q", "-m", "x")
	git(t, root, "worktree", "add", "-q", "../tree")
	if Tracked(filepath.Join(root, "../tree/.flowrun")) == "" {
		t.Error("a work tree's store is not noticed")
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-f", ".")
	if Tracked(dir) == "" {
		t.Error("a repository that is a store is not noticed")
	}
	git(t, dir, "commit", "-q", "-m", "x")
	os.Mkdir(root+"/../outer", 0o700)
	outer := root + "/../outer"
	git(t, outer, "init", "-q")
	git(t, outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", dir, ".flowrun")
	if Tracked(outer+"/.flowrun") == "" {
		t.Error("a submodule that is a store is not noticed")
	}
}

func BenchmarkCheck(b *testing.B) {
	dir := filepath.Join(b.TempDir(), ".flowrun")
	os.MkdirAll(dir+"/marks", 0o700)
	for _, name := range []string{"flowrun.db", "flowrun.db-wal", "flowrun.db-shm", "store", "reserve", "setup.lock", "memory.db", "memory.lock", "memory.mark", ".gitignore"} {
		os.WriteFile(filepath.Join(dir, name), nil, 0o600)
	}
	for b.Loop() {
		if err := Check(dir); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMakeFolderTakesOverAClone makes folders that others may write to, as git does where the umask is 002.
func TestMakeFolderTakesOverAClone(t *testing.T) {
	for name, c := range map[string]struct {
		fill  func(dir string) error
		taken bool
	}{
		"nothing":             {func(string) error { return nil }, true},
		"what git tracks":     {func(dir string) error { return os.WriteFile(dir+"/.gitignore", []byte("*\n"), 0o600) }, true},
		"a link of that name": {func(dir string) error { return os.Symlink("../victim", dir+"/.gitignore") }, false},
		"another name of it":  {func(dir string) error { return os.Link(dir+"/../victim", dir+"/.gitignore") }, false},
		"a folder":            {func(dir string) error { return os.Mkdir(dir+"/.gitignore", 0o700) }, false},
		"more": {func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/.gitignore", nil, 0o600), os.WriteFile(dir+"/flowrun.db", nil, 0o600))
		}, false},
	} {
		dir := filepath.Join(t.TempDir(), ".flowrun")
		victim := filepath.Join(dir, "..", "victim")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(victim, nil, 0o600), os.Chmod(victim, 0o664), c.fill(dir), os.Chmod(dir, 0o775)); err != nil {
			t.Fatal(name, err)
		}
		if info, err := os.Lstat(dir + "/.gitignore"); err == nil && info.Mode().IsRegular() {
			os.Chmod(dir+"/.gitignore", 0o664)
		}
		err := MakeFolder(dir)
		if err == nil {
			err = Check(dir)
		}
		if (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(victim); err != nil || info.Mode().Perm() != 0o664 {
			t.Errorf("%s: the file outside is %v, %v", name, info, err)
		}
	}
}

// Another process makes the store's first journals, shortens and removes them, while this one looks at the store.
func TestJournalsComeAndGo(t *testing.T) {
	dir := newFolder(t)
	path := filepath.Join(dir, "flowrun.db-journal")
	if namesAnother(path) {
		t.Error("a journal that is not there any more names another file")
	}
	over := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			if err := errors.Join(os.WriteFile(path, make([]byte, 512), 0o600), os.Truncate(path, 0), os.Remove(path)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2000 {
		if err := Check(dir); err != nil {
			t.Error(err)
			break
		}
	}
	close(over)
	other.Wait()
}
