package artifact

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner/event"
)

// real is the disk of the operating system. It notes the syncs.
type real struct{ synced *[]string }

type noted struct {
	*os.File
	real
}

func (r real) Open(path string, flag int) (File, error) {
	f, err := private.Open(path, flag)
	return noted{f, r}, err
}
func (real) Rename(from, to string) error { return os.Rename(from, to) }
func (real) Remove(path string) error     { return os.Remove(path) }

func (n noted) Sync() error {
	*n.synced = append(*n.synced, filepath.Base(n.Name()))
	return n.File.Sync()
}

func newRun(t *testing.T) (*Store, *Run, *[]string) {
	t.Helper()
	var synced []string
	s := New(t.TempDir(), real{&synced})
	return s, s.Run("abcabcabcabc"), &synced
}

func answer() *event.AttemptFinished {
	return &event.AttemptFinished{Ticket: 1, Node: "a", Outcome: event.OK, Stdout: strings.Repeat("x", limits.MaxInline+1),
		Stderr: strings.Repeat("y", limits.MaxInline), Output: map[string]any{"list": []any{strings.Repeat("é\n<", limits.MaxInline), nil, 1.5}}}
}

// Parts that are too long are taken out of the answer, and Whole gives them back. The other parts stay.
func TestTake(t *testing.T) {
	_, r, synced := newRun(t)
	f := answer()
	if err := event.Shorten(f, r.Put); err != nil {
		t.Fatal(err)
	}
	if f.Stdout != "" || f.Output != nil || f.Stderr != answer().Stderr || f.Artifact == nil {
		t.Fatalf("the answer is %+v", f)
	}
	w, err := f.Whole()
	if err != nil {
		t.Fatal(err)
	}
	want := answer()
	want.Artifact, want.Short = f.Artifact, f
	if !reflect.DeepEqual(w, want) {
		t.Errorf("the whole answer is %.300q", fmt.Sprint(w))
	}
	if have := strings.Join(*synced, " "); !strings.HasPrefix(have, Dir) || !strings.HasSuffix(have, " abcabcabcabc") || !strings.Contains(have, prefix) {
		t.Errorf("synced are %s", have)
	}
	short := &event.AttemptFinished{Stdout: strings.Repeat("x", limits.MaxInline), Output: []any{1.0}}
	if err := event.Shorten(short, r.Put); err != nil || short.Artifact != nil || short.Stdout == "" || short.Output == nil {
		t.Errorf("a short answer is %+v, %v", short, err)
	}
}

// An artifact that is damaged, missing or foreign is an error, and never other parts.
func TestDamage(t *testing.T) {
	_, r, _ := newRun(t)
	f := answer()
	if err := event.Shorten(f, r.Put); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.dir, f.Artifact.Hash)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content[20] ^= 1
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Whole(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("the error is %v", err)
	}
	os.Remove(file)
	if _, err := f.Whole(); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the error is %v", err)
	}
	if w := f.Shown(); !strings.Contains(w.Stderr, "missing") {
		t.Errorf("shown is %q", w.Stderr)
	}
	f.Artifact.Hash = "../" + f.Artifact.Hash
	if _, err := f.Whole(); err == nil || !strings.Contains(err.Error(), "not the hash") {
		t.Errorf("the error is %v", err)
	}
}

// A copy has all artifacts, and replaces damaged ones. Clean leaves what is named, and Remove nothing.
func TestCopyCleanRemove(t *testing.T) {
	s, r, _ := newRun(t)
	f, g := answer(), answer()
	g.Stdout += "z"
	for _, f := range []*event.AttemptFinished{f, g} {
		if err := event.Shorten(f, r.Put); err != nil {
			t.Fatal(err)
		}
	}
	to, copied, _ := newRun(t)
	if err := s.Copy(to); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied.dir, f.Artifact.Hash), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if copied.Check(f.Artifact) == nil || copied.Check(g.Artifact) != nil {
		t.Error("damage is not noticed, or an artifact is missing")
	}
	if err := s.Copy(to); err != nil || copied.Check(f.Artifact) != nil {
		t.Errorf("a damaged artifact is not replaced: %v", err)
	}
	if err := os.WriteFile(filepath.Join(copied.dir, prefix+"1-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copied.Clean(map[string]bool{g.Artifact.Hash: true}); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(copied.dir); len(files) != 1 || files[0].Name() != g.Artifact.Hash {
		t.Errorf("left are %v", files)
	}
	if n, err := copied.Size(); err != nil || n != g.Artifact.Size {
		t.Errorf("the size is %d, %v", n, err)
	}
	if err := copied.Remove(); err != nil {
		t.Fatal(err)
	}
	if ids, err := to.Runs(); err != nil || len(ids) != 0 {
		t.Errorf("left are %v, %v", ids, err)
	}
}

// An answer whose artifact cannot be written stays whole.
func TestDiskRefuses(t *testing.T) {
	s, r, _ := newRun(t)
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil { // in the place of the folder
		t.Fatal(err)
	}
	f := answer()
	if err := event.Shorten(f, r.Put); err == nil || !reflect.DeepEqual(f, answer()) {
		t.Errorf("the answer is %+v, %v", f, err)
	}
}
