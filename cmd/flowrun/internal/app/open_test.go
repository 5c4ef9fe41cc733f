package app

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever writes to a store brings one of an older version forward; what only looks at it says that, and leaves it.
func TestOldStoresAreBroughtForward(t *testing.T) {
	for _, x := range []struct {
		line  string
		code  int
		moves bool
	}{
		{"runs prune --keep 9", 0, true},
		{"runs prune --keep 9 --dry-run", exitCouldNot, false},
		{"resume h5emyabcajdg", 0, true},
		{"retry nowhere", exitUsage, true},
		{"cancel h5emyabcajdg", 0, true},
		{"runs list", exitCouldNot, false},
		{"events h5emyabcajdg", exitCouldNot, false},
	} {
		dir := firstStore(t)
		var said bytes.Buffer
		code := Main(append(strings.Fields(x.line), "--store", dir), Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said})
		_, err := os.Stat(filepath.Join(dir, "flowrun.db.v1"))
		if code != x.code || (err == nil) != x.moves || !x.moves && !strings.Contains(said.String(), "brings it forward") {
			t.Errorf("%s ends with %d and a copy %v, and says\n%s", x.line, code, err, said.String())
		}
	}
}

// firstStore is one of the first version, with a run that has ended.
func firstStore(t *testing.T) string {
	t.Helper()
	packed, err := os.Open("../../../../testdata/stores/v1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	db, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"flowrun.db": string(db), "store": "oldstore2345\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
