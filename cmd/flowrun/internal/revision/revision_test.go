package revision

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository makes a repository with one commit, whose files are no longer on the disk.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	git := func(words ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.example"}, words...)...)
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", words, err, said)
		}
	}
	git("init", "-q", "-b", "main")
	for name, text := range files {
		at := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at), 0o777)
		if target, link := strings.CutPrefix(text, "->"); link {
			err = errors.Join(err, os.Symlink(target, at))
		} else {
			err = errors.Join(err, os.WriteFile(at, []byte(text), 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-A")
	git("commit", "-q", "--allow-empty", "-m", "a")
	git("rm", "-q", "-r", "--ignore-unmatch", ".")
	return dir
}

func TestFiles(t *testing.T) {
	dir := repository(t, map[string]string{"a.b": "1", "a/x.hcl": "2", "a/b/c/deep.hcl": "3", "a/empty": "", "é ü.hcl": "4", "link": "->a/x.hcl", "a/up": "->../link",
		"out": "->../../etc/passwd", "abs": "->/etc/passwd", "loop": "->loop", "folder": "->a", ".gitattributes": "a.b export-ignore\n* text eol=crlf\n"})
	f, err := Open(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.b": "1", "a/x.hcl": "2", "a/b/c/deep.hcl": "3", "a/empty": "", "é ü.hcl": "4", "link": "2", "a/up": "2"} {
		if have, err := fs.ReadFile(f, name); err != nil || string(have) != want {
			t.Errorf("%s: %q, %v; want %q", name, have, err, want)
		}
		if info, err := fs.Stat(f, name); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, name := range []string{"none", "a/none", "out", "abs", "loop"} {
		if _, err := fs.Stat(f, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Open("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a path out of the repository: %v", err)
	}
	var names []string
	if err := fs.WalkDir(f, ".", func(p string, _ fs.DirEntry, err error) error { names = append(names, p); return err }); err != nil {
		t.Error(err)
	}
	want := []string{".", ".gitattributes", "a", "a/b", "a/b/c", "a/b/c/deep.hcl", "a/empty", "a/up", "a/x.hcl", "a.b", "abs", "folder", "link", "loop", "out", "é ü.hcl"}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if list, err := f.ReadDir("folder"); err != nil || len(list) != 4 || list[0].Name() != "b" {
		t.Errorf("a link to a folder: %v, %v", list, err)
	}
}

func TestRevisions(t *testing.T) {
	dir := repository(t, nil)
	if f, err := Open(dir, "HEAD"); err != nil || len(f.entries) != 1 {
		t.Errorf("a revision without files: %v", err)
	}
	var unknown *Unknown
	for _, name := range []string{"none", "--help", "HEAD:x", "--output=x", "-", ""} {
		if _, err := Open(dir, name); !errors.As(err, &unknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a revision became a flag of git")
	}
	if _, err := Open(t.TempDir(), "HEAD"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("not a repository: %v", err)
	}
}
