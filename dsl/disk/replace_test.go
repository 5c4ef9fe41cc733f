package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that somebody wrote after it was read stays as they wrote it; nothing is left beside a file in any case.
func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hcl")
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("read before"), []byte("ours")); err == nil {
		t.Error("another's text was replaced")
	}
	check := func(want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		entries, _ := os.ReadDir(filepath.Dir(path))
		if err != nil || string(got) != want || len(entries) != 1 {
			t.Errorf("%q, %v, %d files; want %q alone", got, err, len(entries), want)
		}
	}
	check("theirs")
	if err := Replace(path, []byte("theirs"), []byte("ours")); err != nil {
		t.Error(err)
	}
	check("ours")
}

// A file that may not be written is not replaced, though its folder may be.
func TestReplaceFileThatIsReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hcl")
	if err := os.WriteFile(path, []byte("a"), 0o400); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everything")
	}
	if err := Replace(path, []byte("a"), []byte("b")); !os.IsPermission(err) {
		t.Errorf("the error is %v", err)
	}
}
