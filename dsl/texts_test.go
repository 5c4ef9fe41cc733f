package dsl

import (
	"strings"
	"testing"
	"testing/fstest"
)

// file("PATH") reads from the program's folder, inside the root, text within bounds; each for itself and all together.
func TestTexts(t *testing.T) {
	fsys := fstest.MapFS{
		"a/w.hcl": {}, "a/x.md": {Data: []byte("x")}, "y.md": {Data: []byte("y")}, "a/sub/z.md": {Data: []byte("z")},
		"latin": {Data: []byte{0xe9}}, "full": {Data: []byte(strings.Repeat("x", MaxText))}, "over": {Data: []byte(strings.Repeat("x", MaxText+1))},
	}
	read := Options{Root: fsys, Dir: "a"}.reader(nil, "")
	for path, want := range map[string]string{ // any order: each for itself
		"x.md": "x", "./x.md": "x", "sub/z.md": "z", "../y.md": "y", "sub/../x.md": "x",
		"../../y.md": "outside", "/y.md": "with slashes", `sub\z.md`: "with slashes", "": "outside", "sub": "not a regular file", "none": "no such file",
		"../latin": "UTF-8", "../over": "at most", "a\x00b": "with slashes",
	} {
		got, err := read(path)
		if len(want) > 1 && (err == nil || !strings.Contains(err.Error(), want)) || len(want) == 1 && got != want {
			t.Errorf("%q: %q, %v; want %s", path, got, err, want)
		}
	}
	read = Options{Root: fsys}.reader(fsys, "a/w.hcl")
	if _, err := read("x.md"); err == nil {
		t.Error("without Dir the root is the folder")
	}
	for program, path := range map[string]string{"a/w.hcl": "x.md", "a": "x.md", ".": "a/x.md"} { // any order: each for itself
		if got, err := (Options{}).reader(fsys, program)(path); got != "x" {
			t.Errorf("without Root, the program %s reads %s as %q, %v", program, path, got, err)
		}
	}
	for i := range MaxTexts / MaxText {
		if _, err := read("full"); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := read("full"); err == nil || !strings.Contains(err.Error(), "the files of the program") {
		t.Error("more than all files may have:", err)
	}
}
