package backlog

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var bytesOfLarge = flag.Int("large", 100_000, "the bytes of the files of TestBoundedTime; over a million it prints the times")

var rewrite = flag.Bool("rewrite", false, "write what is read into testdata/shapes")

var today = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// describe is an item as the files of testdata/shapes have it: only what the file says.
func describe(i *Item) string {
	b, _ := json.Marshal(i)
	var fields map[string]any
	_ = json.Unmarshal(b, &fields)
	line := strconv.Itoa(i.Line) + " " + string(i.Status) + " " + strconv.Quote(i.Title)
	if i.Explicit {
		line += " id=" + i.ID
	}
	for _, name := range []string{"section", "owner", "priority", "due", "depends_on", "tags"} {
		v := fields[name]
		if l, ok := v.([]any); v == nil || ok && len(l) == 0 {
			continue
		}
		text, _ := json.Marshal(v)
		line += " " + name + "=" + string(text)
	}
	return line
}

func describeAll(d *Document) string {
	var b strings.Builder
	lines := map[string]int{}
	for i := range d.Items {
		it := &d.Items[i]
		lines[it.ID] = it.Line
		b.WriteString(describe(it))
		if it.Parent != "" {
			b.WriteString(" parent=line " + strconv.Itoa(lines[it.Parent]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestShapes reads each file of testdata/shapes. Behind a line "----" stands what must be found.
func TestShapes(t *testing.T) {
	names, _ := filepath.Glob("testdata/shapes/*")
	if len(names) < 40 {
		t.Fatalf("%d shapes, want 40", len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source, want, ok := strings.Cut(string(raw), "\n----\n")
			if !ok && !*rewrite {
				t.Fatal("the file has no line ----")
			}
			d, err := Read([]byte(source+"\n"), Options{Path: name, Today: today})
			if err != nil {
				t.Fatal(err)
			}
			have := describeAll(d)
			if *rewrite {
				if err := os.WriteFile(name, []byte(strings.TrimRight(source, "\n")+"\n----\n"+have), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, have); d != "" {
				t.Error(d)
			}
		})
	}
}
