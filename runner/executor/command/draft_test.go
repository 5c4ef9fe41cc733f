package command

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// What an attempt has said stands in its log file once it has lived for a while, so that it is there if the driver is killed. It stays
// until the answer is durable, and the answer does not name it.
func TestDraft(t *testing.T) {
	dir := t.TempDir()
	x := New(Options{LogDir: dir})
	defer x.Close()
	a := event.Attempt{Run: "r", Ticket: 1, Name: "talk", Node: "talk", Attempt: 1, Dir: dir,
		Argv: []string{"sh", "-c", "echo early; until [ -e more ]; do sleep 0.01; done; echo late; until [ -e go ]; do sleep 0.01; done"}}
	answer := make(chan event.AttemptFinished, 1)
	go func() { answer <- x.Execute(context.Background(), a) }()
	log := filepath.Join(dir, LogName(&a, "stdout"))
	waitForText(t, log, "early\n")
	touch(t, filepath.Join(dir, "more"))
	waitForText(t, log, "early\nlate\n")
	touch(t, filepath.Join(dir, "go"))
	f := <-answer
	if f.Stdout != "early\nlate\n" || f.StdoutLog != "" || f.StderrLog != "" {
		t.Errorf("the answer is %+v", f)
	}
	if _, err := os.Stat(filepath.Join(dir, LogName(&a, "stderr"))); !os.IsNotExist(err) {
		t.Errorf("there is a log of a stream that said nothing: %v", err)
	}
	if _, err := os.Stat(log); err != nil {
		t.Errorf("the draft is gone before the answer is durable: %v", err)
	}
	x.Settle("other", []event.Event{{AttemptFinished: &f}})
	if _, err := os.Stat(log); err != nil {
		t.Errorf("the draft went with an answer of another run: %v", err)
	}
	x.Settle("r", []event.Event{{AttemptFinished: &f}})
	if _, err := os.Stat(log); !os.IsNotExist(err) || len(x.drafts) != 0 {
		t.Errorf("the draft stays behind the answer: %v, %v", err, x.drafts)
	}
}

// An attempt that ends at once costs no file.
func TestNoDraftOfAShortAttempt(t *testing.T) {
	dir := t.TempDir()
	x := New(Options{LogDir: dir})
	defer x.Close()
	for i := range 5 {
		a := event.Attempt{Run: "r", Ticket: uint64(i), Name: "talk", Node: "talk", Attempt: 1, Dir: dir, Argv: []string{"sh", "-c", "echo hello; sleep 0.02"}}
		began := time.Now()
		f := x.Execute(context.Background(), a)
		short := time.Since(began) < draftAfter // one may take long on a busy machine
		if f.Stdout != "hello\n" {
			t.Errorf("the answer is %+v", f)
		}
		if _, err := os.Stat(filepath.Join(dir, LogName(&a, "stdout"))); short && err == nil {
			t.Error("a short attempt left a file")
		}
	}
}

// A draft becomes the log of an attempt that says more than the journal takes.
func TestDraftBecomesTheLog(t *testing.T) {
	dir := t.TempDir()
	x := New(Options{LogDir: dir})
	defer x.Close()
	a := event.Attempt{Run: "r", Ticket: 1, Name: "talk", Node: "talk", Attempt: 1, Dir: dir,
		Argv: []string{"sh", "-c", "echo early; until [ -e go ]; do sleep 0.01; done; head -c 100000 /dev/zero | tr '\\0' x"}}
	answer := make(chan event.AttemptFinished, 1)
	go func() { answer <- x.Execute(context.Background(), a) }()
	log := filepath.Join(dir, LogName(&a, "stdout"))
	waitForText(t, log, "early\n")
	touch(t, filepath.Join(dir, "go"))
	f := <-answer
	x.Settle("r", []event.Event{{AttemptFinished: &f}})
	if text, err := os.ReadFile(log); len(text) != 100006 || f.StdoutLog == "" {
		t.Errorf("the log has %d bytes (%v), the answer names %q", len(text), err, f.StdoutLog)
	}
}

func waitForText(t *testing.T, file, want string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(file)
		if string(text) == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s holds %q, want %q", file, text, want)
		}
	}
}

func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An attempt that begins again with the same ticket, as it does after its driver went away, leaves what was there.
func TestDraftBeforeIsKept(t *testing.T) {
	dir := t.TempDir()
	a := event.Attempt{Run: "r", Ticket: 1, Name: "talk", Node: "talk", Attempt: 1}
	for n := 1; n <= MaxEarlier+2; n++ {
		x := New(Options{LogDir: dir})
		l := x.logFile(&a, "stdout")
		l.begin([]byte{byte('a' + n)})
		l.close()
		x.Close()
	}
	log := filepath.Join(dir, LogName(&a, "stdout"))
	for file, want := range map[string]string{log: "w", Earlier(log, 1): "b", Earlier(log, 2): "c", Earlier(log, MaxEarlier): "v"} {
		if text, err := os.ReadFile(file); string(text) != string(want) {
			t.Errorf("%s holds %q (%v), want %q", file, text, err, want)
		}
	}
}

// A draft holds no secret, and no half of one, while the attempt is under way.
func TestDraftIsMasked(t *testing.T) {
	dir := t.TempDir()
	x := newTest(t, Options{LogDir: dir})
	a := script("printf 'it is canary-01'; sleep 0.3; printf '23456789 and canary-0123'; touch said; until [ -e go ]; do sleep 0.01; done")
	a.Run, a.Ticket, a.Name, a.Dir = "r", 1, "talk", dir
	answer := make(chan event.AttemptFinished, 1)
	go func() { answer <- masked(x, a) }()
	waitForText(t, filepath.Join(dir, LogName(&a, "stdout")), "it is (sensitive) and ")
	touch(t, filepath.Join(dir, "go"))
	if f := <-answer; f.Stdout != "it is (sensitive) and canary-0123" {
		t.Errorf("the answer is %+v", f)
	}
}
