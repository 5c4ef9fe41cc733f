package watch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestLook(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.txt", "in/c.csv", "in/deep/d.csv", "in/deep/e.txt", ".flowrun/f.csv", "in/[x].csv"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{{"in", "link"}, {"a.csv", "in/g.csv"}, {"nowhere", "in/h.csv"}} {
		if err := os.Symlink(filepath.Join(dir, link[0]), filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"a.csv": "a.csv", "*.csv": "a.csv", "*": "a.csv b.txt", "in/*.csv": "in/[x].csv in/c.csv in/g.csv", "**/*.csv": "a.csv in/[x].csv in/c.csv in/deep/d.csv in/g.csv",
		"in/**": "in/[x].csv in/c.csv in/deep/d.csv in/deep/e.txt in/g.csv", "in/**/e.txt": "in/deep/e.txt", "link/c.csv": "link/c.csv", "none/*": "", "a.csv/*": "", "in": "", "./in/../a.csv": "a.csv",
		`in/\[x\].csv`: "in/[x].csv", "?.txt": "b.txt", filepath.Join(dir, "*.txt"): filepath.Join(dir, "b.txt")} {
		files, err := Look(dir, []string{pattern})
		if got := strings.Join(slices.Sorted(maps.Keys(files)), " "); got != want || err != nil {
			t.Errorf("%s names %q (%v), want %q", pattern, got, err, want)
		}
	}
	files, err := Look(dir, []string{"*.csv", "a.*"})
	if err != nil || len(files) != 1 || files["a.csv"].Size != 5 || files["a.csv"].Modified == 0 {
		t.Errorf("%v, %v", files, err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "in"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, "in"), 0o755)
		if files, err := Look(dir, []string{"in/*"}); err == nil {
			t.Errorf("a folder that cannot be read has the files %v", files)
		}
	}
}

// What the patterns of one look may name and read is bounded.
func TestLookIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := map[string]State{}
	for n := range MaxFiles {
		full[strconv.Itoa(n)] = State{}
	}
	for want, l := range map[string]*look{"more than 10000 files": {files: full}, "more than 200000 files and folders": {files: map[string]State{}, entries: maxEntries}} {
		l.dir = dir
		if err := l.find("", []string{"*"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
