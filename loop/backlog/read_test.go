package backlog

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

func read(t testing.TB, path, source string) *Document {
	t.Helper()
	d, err := Read([]byte(source), Options{Path: path, Today: today})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// flowrun's own list of work: each box is an item with the status of the box, and nothing else is one.
func TestOwnRoadmap(t *testing.T) {
	source, err := os.ReadFile("../../ROADMAP.md")
	if err != nil {
		t.Fatal(err)
	}
	d := read(t, "ROADMAP.md", string(source))
	lines := strings.Split(string(source), "\n")
	want := map[int]Status{}
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "- [x] "):
			want[i+1] = Done
		case strings.HasPrefix(line, "- [ ] "):
			want[i+1] = Todo
		}
	}
	have := map[int]Status{}
	for _, it := range d.Items {
		have[it.Line] = it.Status
		if it.Parent != "" || it.Owner != "" || it.Due != "" || it.Priority != nil || len(it.Needs)+len(it.Tags) > 0 || it.Explicit {
			t.Errorf("line %d has metadata: %+v", it.Line, it)
		}
		first := strings.TrimPrefix(strings.TrimPrefix(lines[it.Line-1], "- [ ] "), "- [x] ")
		if !strings.HasPrefix(it.Title, strings.TrimRight(first, ":;,. ")[:min(20, len(first))]) {
			t.Errorf("line %d has the title %q", it.Line, it.Title)
		}
	}
	if !reflect.DeepEqual(have, want) || len(want) < 50 {
		t.Errorf("statuses by line: %v, want %v", have, want)
	}
}

// A file reads the same with a byte order mark, with CRLF and with CR alone.
func TestLineEnds(t *testing.T) {
	names, _ := filepath.Glob("testdata/shapes/*.md")
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		source, _, _ := strings.Cut(string(raw), "\n----\n")
		want := describeAll(read(t, name, source))
		for kind, other := range map[string]string{
			"CRLF": strings.ReplaceAll(source, "\n", "\r\n"), "BOM": "\ufeff" + source, "CR": strings.ReplaceAll(source, "\n", "\r"),
		} {
			if have := describeAll(read(t, name, other)); have != want {
				t.Errorf("%s with %s:\n%s\nwant\n%s", name, kind, have, want)
			}
		}
	}
}

func TestBrokenText(t *testing.T) {
	d := read(t, "x.md", "- [ ] a\xff\xfeb \xf0\x9f #t\n- [x\xff] no\n- [ ] \x00nul\n\n\xef\xbb")
	if len(d.Items) != 2 || d.Items[0].Title != "a\ufffdb \ufffd" || d.Items[1].Title != "nul" {
		t.Errorf("%+v", d.Items)
	}
	if _, err := Read(make([]byte, MaxFile+1), Options{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

// Ids stay when statuses change, when items move and when others come, and are different in other files.
func TestIDsStay(t *testing.T) {
	ids := func(path, source string) map[string]string {
		m := map[string]string{}
		for _, it := range read(t, path, source).Items {
			m[it.Title] = it.ID
		}
		return m
	}
	was := ids("a.md", "# T\n- [ ] one\n  - [ ] in\n- [ ] two\n")
	now := ids("a.md", "# T\n\nText.\n\n- [x] two @ann #tag\n- [ ] new\n- [/] one !!!\n  - [x] in\n")
	for _, title := range []string{"one", "two", "in"} {
		if was[title] == "" || was[title] != now[title] {
			t.Errorf("%s was %s and is %s", title, was[title], now[title])
		}
	}
	if other := ids("b.md", "# T\n- [ ] one\n"); other["one"] == was["one"] {
		t.Error("two files have one id")
	}
	if other := ids("a.md", "# U\n- [ ] one\n"); other["one"] == was["one"] {
		t.Error("two headings have one id")
	}
}

// editable is a source with each kind of mark.
const editable = "# Plan\r\n\r\n- [ ] one\r\n- [x] two \xff broken\r\n  - [/] in\r\n\t- [ ] tab\r\n- ✅ shipped\r\n- building 🚧\r\n\r\n" +
	"## Next\r\n- plain\r\n- other ~~word~~\r\n\r\n| Task | Status |\r\n|---|---|\r\n| a | ✅ Done |\r\n| b | In progress |\r\n| c | |\r\n\r\n" +
	"```\r\n- [ ] code\r\n```\r\n\r\n- TODO keyword\r\n\r\n1. [ ] last"

// TestEdits marks random items of all shapes with random statuses: only the bytes of the mark change, and only this item.
func TestEdits(t *testing.T) {
	sources := map[string][]byte{"editable.md": []byte(editable)}
	names, _ := filepath.Glob("testdata/shapes/*")
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		source, _, _ := strings.Cut(string(raw), "\n----\n")
		sources[name] = []byte(source)
	}
	names = append(names, "editable.md")
	rng := rand.New(rand.NewPCG(1, 2))
	edits, refused := 0, 0
	for edits < 1000 {
		name := names[rng.IntN(len(names))]
		source := sources[name]
		d := read(t, name, string(source))
		if len(d.Items) == 0 {
			continue
		}
		i, s := rng.IntN(len(d.Items)), Statuses[rng.IntN(len(Statuses))]
		e, err := d.Mark(i, s)
		if err == nil && s == d.Items[i].Status && e != (Edit{}) {
			t.Fatalf("%s line %d has this status: %+v", name, d.Items[i].Line, e)
		}
		if s == d.Items[i].Status {
			continue
		}
		if err != nil {
			if refused++; refused > 5000 {
				t.Fatalf("5000 edits refused, the last: %v", err)
			}
			continue
		}
		edits++
		out := e.Apply(source)
		if e.End-e.Start > 40 || len(e.Text) > 40 {
			t.Fatalf("%s line %d to %s: the edit %+v is not a mark", name, d.Items[i].Line, s, e)
		}
		if !bytes.Equal(out[:e.Start], source[:e.Start]) || !bytes.Equal(out[e.Start+len(e.Text):], source[e.End:]) {
			t.Fatalf("%s line %d: bytes beside the mark differ", name, d.Items[i].Line)
		}
		if strings.Contains(string(source[e.Start:e.End]), "\n") {
			t.Fatalf("%s line %d: the mark has a line end", name, d.Items[i].Line)
		}
		line := 1 + bytes.Count(bytes.ReplaceAll(source[:e.Start], []byte("\r\n"), []byte("\n")), []byte("\n"))
		if line != d.Items[i].Line {
			t.Fatalf("%s: the edit of line %d is in line %d", name, d.Items[i].Line, line)
		}
		after := read(t, name, string(out))
		if after.Items[i].Status != s || after.Items[i].ID != d.Items[i].ID {
			t.Fatalf("%s line %d: %+v after the edit", name, d.Items[i].Line, after.Items[i])
		}
		sources[name] = out
	}
	t.Logf("%d edits, %d refused", edits, refused)
}

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		source string
		to     Status
		want   string
	}{
		{"- [ ] a", Done, "- [x] a"},
		{"- [] a", Doing, "- [/] a"},
		{"- ⏸️ a\n- ✅ b", Done, ""}, // no item: a soft emoji on a plain bullet
		{"- 🚧 a", Done, "- ✅ a"},
		{"## Next\n- a", Done, "## Next\n- [x] a"},
		{"- TODO a", Done, "- DONE a"},
		{"| Task | Status |\n|---|---|\n| a | Todo |", Done, "| Task | Status |\n|---|---|\n| a | Done |"},
		{"| Task | Status |\n|---|---|\n| a | 🚧 |\n| b | ✔️ ok |", Done, "| Task | Status |\n|---|---|\n| a | ✔️ ok |\n| b | ✔️ ok |"},
		{"Legend: `[~]` done, `[ ]` todo\n\n- [ ] a", Done, "Legend: `[~]` done, `[ ]` todo\n\n- [~] a"},
		{"- [ ] ~~a~~", Done, "- [x] ~~a~~"},
		{`{"title": "a", "x": [1, 2]}`, Done, `{"title": "a", "x": [1, 2], "status": "done"}`},
		{`{"title":"a","status":"open","status":"open" }`, Done, `{"title":"a","status":"open","status":"done" }`},
		{`{"done":false,"title":"a"}`, Done, `{"done":true,"title":"a"}`},
		{`{"title":"a","status":"open"}` + "\n" + `{"title":"b","status":"closed"}`, Done, `{"title":"a","status":"closed"}` + "\n" + `{"title":"b","status":"closed"}`},
	} {
		path := "x.md"
		if c.source[0] == '{' {
			path = "x.jsonl"
		}
		d := read(t, path, c.source)
		if c.want == "" {
			if len(d.Items) != 1 || d.Items[0].Title != "b" {
				t.Errorf("%q: %+v", c.source, d.Items)
			}
			continue
		}
		if len(d.Items) == 0 {
			t.Errorf("%q has no item", c.source)
			continue
		}
		e, err := d.Mark(0, c.to)
		if have := string(e.Apply([]byte(c.source))); err != nil || have != c.want {
			t.Errorf("%q: %q, %v; want %q", c.source, have, err, c.want)
		}
	}
	for source, to := range map[string]Status{
		"## Doing\n- [ ] a": Todo, "- [ ] ~~a~~": Todo, "- TODO a": Question, "| To do | Done |\n|---|---|\n| a | |": Done,
	} {
		if e, err := read(t, "x.md", source).Mark(0, to); !errors.Is(err, ErrNoMark) {
			t.Errorf("%q to %s: %+v, %v", source, to, e, err)
		}
	}
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ source, section, title, want string }{
		{"", "", "a", "- [ ] a\n"},
		{"# T\n\n* [ ] a\n* [x] b\n\nText.\n", "", "c", "# T\n\n* [ ] a\n* [x] b\n* [ ] c\n\nText.\n"},
		{"## A\r\n- [ ] a\r\n\r\n## B\r\n- [ ] b\r\n", "a", "c", "## A\r\n- [ ] a\r\n- [ ] c\r\n\r\n## B\r\n- [ ] b\r\n"},
		{"## A\n\n## B\n- [ ] b", "A", "c", "## A\n\n- [ ] c\n\n## B\n- [ ] b"},
		{"A\n---\nText", "A", "c", "A\n---\n\n- [ ] c\n\nText"},
		{"- [ ] b", "", "c", "- [ ] b\n- [ ] c\n"},
		{"- [ ] b\n  - [ ] deep\n    more\n", "", "c", "- [ ] b\n  - [ ] deep\n    more\n- [ ] c\n"},
		{"- [ ] b\n  ```\n  code\n  ```\n", "", "c", "- [ ] b\n  ```\n  code\n  ```\n- [ ] c\n"},
		{"", "", "Fix <!-- #12 (due 2026-01-05) @x", "- [ ] Fix \\<\\!-- \\#12 \\(due 2026-01-05\\) \\@x\n"},
		{"{\"title\":\"a\"}", "", "b", "{\"title\":\"a\"}\n{\"title\":\"b\",\"status\":\"todo\"}\n"},
	} {
		path := "x.md"
		if strings.HasPrefix(c.source, "{") {
			path = "x.jsonl"
		}
		e, err := read(t, path, c.source).Append(New{Title: c.title, Section: c.section})
		if have := string(e.Apply([]byte(c.source))); err != nil || have != c.want {
			t.Errorf("%q: %q, %v; want %q", c.source, have, err, c.want)
		}
	}
	if _, err := read(t, "x.md", "# A").Append(New{Title: "t", Section: "B"}); !errors.Is(err, ErrNoSection) {
		t.Errorf("no section: %v", err)
	}
}

// large is 10 MB of one shape. Each was chosen because a reader that is written without care takes quadratic time for it.
func large(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	nested := ""
	for i := 0; len(nested) < size/4; i++ {
		nested += strings.Repeat(" ", 2*(i%400)) + "- [ ] x\n"
	}
	return map[string]string{
		"tasks":      fill("- [ ] write the **parser** #12 @anna P1 (depends on #3) 📅 2026-01-05\n"),
		"one line":   "- [ ] " + fill("a"),
		"brackets":   "- [ ] " + fill("["),
		"stars":      fill("- [ ] " + strings.Repeat("*a _b ", 600) + "\n"),
		"backquotes": fill("- [ ] " + strings.Repeat("`", 90) + " " + strings.Repeat("`", 80) + "\n"),
		"quotes":     fill(">"),
		"lists":      fill("- "),
		"deep":       nested,
		"paragraph":  fill("word | word\n"),
		"table":      "|" + strings.Repeat("a|", 60) + "\n|" + strings.Repeat("-|", 60) + "\n" + fill("|a\n"),
		"wide table": fill("a|") + "\n" + fill("-|") + "\n",
		"definition": fill("[a]: http://x\n"),
		"html":       fill("<!-- \n"),
		"comments":   fill("%%\n"),
		"headings":   fill("# a\n"),
		"needs":      fill("- [ ] a depends on b depends on c\n"),
		"same":       fill("- [ ] same\n"),
	}
}

// processorTime is the time that this process has used.
func processorTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestBoundedTime reads shapes of two sizes: four times the bytes may take at most 12 times the processor's time, in the best of five pairs.
// Less than 300 ms pass.
func TestBoundedTime(t *testing.T) {
	size := *bytesOfLarge
	small := large(size / 4)
	for name, source := range large(size) {
		var quarter, took time.Duration
		for range 5 {
			start := processorTime(t)
			read(t, "x.md", small[name])
			middle := processorTime(t)
			read(t, "x.md", source)
			if quarter, took = middle-start, processorTime(t)-middle; took <= 300*time.Millisecond || took <= 12*max(quarter, time.Millisecond) {
				break
			}
		}
		if took > 300*time.Millisecond && took > 12*max(quarter, time.Millisecond) {
			t.Errorf("%s: %d bytes took %s, %d took %s", name, len(source), took, len(small[name]), quarter)
		}
		if size > 1<<20 {
			t.Logf("%-12s %9d bytes %s", name, len(source), took.Round(time.Millisecond))
		}
	}
}

func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/shapes/*")
	for _, name := range names {
		raw, _ := os.ReadFile(name)
		source, _, _ := strings.Cut(string(raw), "\n----\n")
		f.Add([]byte(source), strings.HasSuffix(name, ".jsonl"))
	}
	f.Add([]byte(editable), false)
	f.Fuzz(func(t *testing.T, source []byte, jsonl bool) {
		path := "x.md"
		if jsonl {
			path = "x.jsonl"
		}
		d, err := Read(source, Options{Path: path, Today: today})
		if err != nil {
			if strings.Contains(err.Error(), "cannot be parsed") {
				t.Fatal(err)
			}
			return
		}
		ids := map[string]bool{}
		for i := range d.Items {
			it := &d.Items[i]
			if it.Title == "" || strings.ContainsAny(it.Title, "\n\r") || ids[it.ID] || it.Line < 1 || it.Line > 1+bytes.Count(source, []byte("\n"))+bytes.Count(source, []byte("\r")) {
				t.Fatalf("item %+v of %q", it, source)
			}
			ids[it.ID] = true
		}
		if len(d.Items) > 0 && len(d.Items) < 20 {
			i := len(source) % len(d.Items)
			if e, err := d.Mark(i, Done); err == nil {
				again := read(t, path, string(e.Apply(source)))
				if again.Items[i].Status != Done {
					t.Fatalf("%q: item %d is not done after %+v", source, i, e)
				}
			}
		}
	})
}
