package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

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

func TestProgramsIn(t *testing.T) {
	fsys := fstest.MapFS{"a/b/three.flow.hcl": {}, "a/b/c/four.flow.hcl": {}, "a/one.hcl": {}, "other/five.flow.hcl": {}, "a/.git/no.flow.hcl": {}, "a/node_modules/no.flow.hcl": {}}
	for dir, want := range map[string][]string{"a": {"a/b/c", "a/b"}, ".": {"a/b/c", "a/b", "other"}} {
		if have, err := ProgramsIn(fsys, dir); err != nil || !slices.Equal(have, want) {
			t.Errorf("%s: %v, %v; want %v", dir, have, err, want)
		}
	}
	if _, err := ProgramsIn(fsys, "none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

func TestTests(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"a/one.flowtest.hcl", "a/b/two.flowtest.hcl", "a/b/no.flow.hcl", "a/.git/no.flowtest.hcl", "a/node_modules/no.flowtest.hcl", "a/.no.flowtest.hcl"} {
		file := filepath.Join(dir, f)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	one, two := filepath.Join(dir, "a/one.flowtest.hcl"), filepath.Join(dir, "a/b/two.flowtest.hcl")
	for path, want := range map[string][]string{dir + "/a/...": {two, one}, dir + "/a": {one}, two: {two}} {
		if have, err := Tests([]string{path}); err != nil || !slices.Equal(have, want) {
			t.Errorf("%s: %v, %v; want %v", path, have, err, want)
		}
	}
	var none *NoTests
	for _, path := range []string{dir, dir + "/a/b/no.flow.hcl"} {
		if _, err := Tests([]string{path}); !errors.As(err, &none) || none.Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{dir + "/none", dir + "/none/..."} {
		_, err := Tests([]string{path})
		_, other := Programs([]string{dir + "/none/..."})
		if !errors.Is(err, os.ErrNotExist) || !errors.Is(other, os.ErrNotExist) {
			t.Errorf("%s: %v, %v", path, err, other)
		}
	}
}
