package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPruneTellsWhatItRemovedBeforeAnError has a second run whose logs cannot be read: a file lies in the place of their folder.
func TestPruneTellsWhatItRemovedBeforeAnError(t *testing.T) {
	dir := t.TempDir()
	file, store := filepath.Join(dir, "a.flow.hcl"), filepath.Join(dir, "store")
	if err := os.WriteFile(file, []byte("workflow \"w\" {\n  step \"a\" {\n    value = 1\n  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flowrun := func(words ...string) (int, string) {
		var said bytes.Buffer
		code := Main(append(words, "--store", store), Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
		return code, said.String()
	}
	for range 2 {
		if code, said := flowrun("apply", file); code != exitDone {
			t.Fatal(said)
		}
	}
	s, err := (&app{}).openExisting(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), 0)
	s.Close()
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	newest, oldest := list[0].Run, list[1].Run
	if err := os.MkdirAll(filepath.Join(store, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, "logs", newest), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, said := flowrun("runs", "prune", "--keep", "0")
	if code != exitCouldNot || !strings.Contains(said, "removed run "+oldest) || !strings.Contains(said, "removed 1 run") || !strings.Contains(said, newest) {
		t.Errorf("prune ends with %d and says\n%s", code, said)
	}
}
