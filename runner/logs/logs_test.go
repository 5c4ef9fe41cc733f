package logs

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/command"
	"github.com/flowrun/flowrun/runner/view"
)

// An attempt that lost its driver begins again with the same ticket and new files: each try has its own output.
func TestEachTryHasItsOwnOutput(t *testing.T) {
	dir := t.TempDir()
	a := &event.Attempt{Run: "abcabcabcabc", Ticket: 3, Name: "build", Attempt: 1}
	name := nameOf(a, "stdout")
	start := time.Now().Add(-time.Hour)
	at := func(minutes int) event.Time { return event.At(start.Add(time.Duration(minutes) * time.Minute)) }
	write := func(log, text string, minutes int) {
		t.Helper()
		file := filepath.Join(dir, log)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at(minutes).Go(), at(minutes).Go()); err != nil {
			t.Fatal(err)
		}
	}
	write(command.Earlier(name, 2), "first\n", 1)
	write(command.Earlier(name, 1), "second\n", 11)
	write(name, strings.Repeat("x", maxEnd)+"\nthird\n", 21)
	for want, c := range map[string]struct{ began, over event.Time }{
		"first\n": {at(0), at(2)}, "second\n": {at(10), at(12)}, "third\n": {at(20), 0}, "": {at(30), 0},
	} {
		b := &view.Begun{Run: a.Run, Ticket: a.Ticket, Name: a.Name, Attempt: a.Attempt, StartedAt: c.began, Over: c.over}
		Folder(dir).ReadEnds(b)
		if b.Stdout != want || (b.StdoutLog == "") != (want == "") || b.Stderr != "" || want != "" && b.Heard < c.began {
			t.Errorf("the try that began at %v wrote %q, want %q: %+v", c.began, b.Stdout, want, b)
		}
	}
	if size, err := Folder(dir).Size(a.Run); err != nil || size != int64(len("first\nsecond\nthird\n")+maxEnd+1) {
		t.Errorf("the logs take %d bytes, %v", size, err)
	}
	if err := Folder(dir).Remove(a.Run); err != nil {
		t.Error(err)
	}
	if size, err := Folder(dir).Size(a.Run); err != nil || size != 0 {
		t.Errorf("removed logs take %d bytes, %v", size, err)
	}
}

// A tail gives the lines of an attempt while it writes, then the rest, and names what ended; an attempt without a file gives what the
// journal has.
func TestTail(t *testing.T) {
	dir := t.TempDir()
	a := &event.Attempt{Run: "abcabcabcabc", Ticket: 1, Node: "build", Name: "build", Attempt: 1}
	file := filepath.Join(dir, nameOf(a, "stdout"))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	var said []string
	tail := &Tail{Folder: Folder(dir), Wants: func(path string) bool { return path != "other" },
		Lines:       func(node, _ string, lines []string) { said = append(said, node+": "+strings.Join(lines, "|")) },
		Finished:    func(f *event.AttemptFinished) { said = append(said, f.Node+" finished") },
		Interrupted: func(a *event.Attempt, why string) { said = append(said, a.Node+" interrupted: "+why) },
		Called:      func(c *event.ChildFinished) { said = append(said, c.Node+" called") },
		Warn:        func(err error) { t.Error(err) }}
	kept := map[string]string{"logs/far": "far away\nto the end"}
	tail.Kept = func(log string) (io.ReadCloser, error) {
		if text, known := kept[log]; known {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		return nil, fs.ErrNotExist
	}
	defer tail.Close()
	begin := func(a *event.Attempt) {
		tail.Apply([]event.Event{{At: event.At(time.Now().Add(-time.Minute))}}, &event.Reaction{Commands: []event.Command{{Start: a}}})
	}
	grow := func(text string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	begin(a)
	tail.Look()
	grow("one\ntw")
	tail.Look()
	grow("o\nthree")
	begin(&event.Attempt{Run: a.Run, Ticket: 2, Node: "other", Name: "other", Attempt: 1})
	begin(&event.Attempt{Run: a.Run, Ticket: 3, Node: "lost", Name: "lost", Attempt: 1})
	tail.Apply([]event.Event{
		{AttemptFinished: &event.AttemptFinished{Ticket: 1, Node: "build", Stdout: "not this"}},
		{AttemptFinished: &event.AttemptFinished{Ticket: 2, Node: "other", Stdout: "not that"}},
		{AttemptFinished: &event.AttemptFinished{Ticket: 4, Node: "short", Stdout: "at once\n"}},
		{AttemptFinished: &event.AttemptFinished{Ticket: 5, Node: "remote", Stdout: "far ... end", StdoutLog: "logs/far", Stderr: "aside", StderrLog: "logs/gone"}},
		{ChildFinished: &event.ChildFinished{Node: "call"}},
		{At: event.At(time.Now()), DriverChanged: &event.DriverChanged{Lost: true}},
	}, &event.Reaction{})
	want := "build: one / build: two / build: three / build finished / short: at once / short finished / " +
		"remote: far away / remote: to the end / remote: aside / remote finished / call called / lost interrupted: " + view.DriverDied
	if have := strings.Join(said, " / "); have != want {
		t.Errorf("the tail says\n%s\nwant\n%s", have, want)
	}
}
