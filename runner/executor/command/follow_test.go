package command

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// A log is begun for whoever follows the run, in the middle of an attempt, with all that was said before; and for nobody else.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	x := New(Options{LogDir: dir})
	defer x.Close()
	attempt := func(run string) event.Attempt {
		return event.Attempt{Run: run, Ticket: 1, Name: "talk", Node: "talk", Attempt: 1, Dir: dir,
			Argv: []string{"sh", "-c", "echo early; until [ -e go ]; do sleep 0.01; done; echo late"}}
	}
	answers := map[string]chan event.AttemptFinished{}
	for _, run := range []string{"followed", "alone"} {
		answer := make(chan event.AttemptFinished, 1)
		answers[run] = answer
		go func() { answer <- x.Execute(context.Background(), attempt(run)) }()
	}
	a := attempt("followed")
	log := filepath.Join(dir, LogName(&a, "stdout"))
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		x.Follow(map[string]bool{"followed": true, time.Now().String(): true}) // another set each time: all are woken
		if text, _ := os.ReadFile(log); string(text) == "early\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("there is no log of an attempt that is followed")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, alone := <-answers["followed"], <-answers["alone"]
	if text, err := os.ReadFile(log); string(text) != "early\nlate\n" || f.Stdout != string(text) || f.StdoutLog == "" {
		t.Errorf("the log is %q (%v), the answer %+v", text, err, f)
	}
	if alone.Stdout != "early\nlate\n" || alone.StdoutLog != "" {
		t.Errorf("an attempt that nobody follows: %+v", alone)
	}
	if len(x.busy) != 0 {
		t.Errorf("%d slots are said to be busy", len(x.busy))
	}
}
