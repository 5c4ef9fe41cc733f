package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

import ()

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"a/one.hcl", "a/two.hcl", "a/b/three.flow.hcl", "a/.git/no.hcl", "a/c/no.flowtest.hcl", "a/d/.no.hcl", "a/e/no.txt"} {
		file := filepath.Join(dir, f)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	have, err := Programs([]string{dir + "/a/...", "x"})
	if want := []string{filepath.Join(dir, "a/b"), "x"}; err != nil || !slices.Equal(have, want) {
		t.Errorf("%v, %v; want %v", have, err, want)
	}
}
