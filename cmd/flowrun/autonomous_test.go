package main_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/standalone"
)

var autonomousFor = flag.Duration("autonomous.for", 5*time.Second, "how long TestAutonomousForAWhile hands work to the loop of examples/autonomous")

// The loop of examples/autonomous does its work with real processes: what is handed in comes first, then the roadmap, each item once, and the
// roadmap is ticked off. Its test runs the same loop for a week in virtual time.
func TestAutonomous(t *testing.T) {
	binary := linked(t)
	dir := copied(t, "autonomous")
	for _, words := range [][]string{
		{"dispatch", "add", "the login", "--label", "bug", "--priority", "5", "--to", "sam"},
		{"loop", "run", "engineering", "--until-idle"},
	} {
		if out, code := flow(t, binary, dir, nil, words...); code != 0 {
			t.Fatalf("flowrun %s: exit code %d\n%s", strings.Join(words, " "), code, out)
		}
	}
	roadmap, err := os.ReadFile(filepath.Join(dir, "ROADMAP.md"))
	if text := string(roadmap); err != nil || strings.Count(text, "- [x]") != 6 || strings.Contains(text, "- [ ]") {
		t.Errorf("%v\n%s", err, text)
	}
	log, err := os.ReadFile(filepath.Join(dir, "work.log"))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	first := "" // of sam
	for _, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
		who, task, _ := strings.Cut(line, ": ")
		if tasks = append(tasks, task); who == "sam" && first == "" {
			first = task
		}
	}
	slices.Sort(tasks)
	if got := strings.Join(tasks, "|"); first != "Find the cause: the login" ||
		got != "Count the words of a file|Find the cause: the login|Make one thing simpler|Repair it: done|Say hello in three languages|The first chapter|The second chapter|Write the manual" {
		t.Errorf("sam began with %q\n%s", first, got)
	}
}

// The loop of examples/autonomous runs for a while with real processes. It does the roadmap, and then what is handed in, piece by piece. It is
// killed with a piece in work, and the next process goes on. While there is nothing to do, no agent is called.
//
// A minute: go test ./cmd/flowrun -run TestAutonomousForAWhile -autonomous.for=1m -v
func TestAutonomousForAWhile(t *testing.T) {
	t.Parallel()
	binary, dir := linked(t), copied(t, "autonomous")
	store := filepath.Join(dir, "store")
	s, err := standalone.Open(store, standalone.Options{AnyRoom: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var loop *exec.Cmd
	var said bytes.Buffer
	begin := func() {
		loop = exec.Command(binary, "loop", "run", "engineering", "--store", store)
		loop.Dir, loop.Stdout, loop.Stderr = dir, &said, &said
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	defer func() {
		_ = loop.Process.Kill()
		_ = loop.Wait()
	}()
	ask := func(r event.StoreRequest) any {
		t.Helper()
		v, err := s.Ask(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	calls := func() []string {
		log, _ := os.ReadFile(filepath.Join(dir, "work.log"))
		return strings.Split(strings.TrimSpace(string(log)), "\n")
	}
	count := func(task string) (n int) {
		for _, line := range calls() {
			if strings.HasSuffix(line, ": "+task) {
				n++
			}
		}
		return n
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for due := time.Now().Add(3 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(due) {
				t.Fatalf("%s: never\n%s\n%s", what, said.String(), strings.Join(calls(), "\n"))
			}
		}
	}
	open := func() (n int) { // items that somebody has
		for _, row := range ask(event.StoreRequest{Claims: true}).([]any) {
			if c, err := event.ClaimOf(row); err == nil && c.State != event.ClaimClosed {
				n++
			}
		}
		return n
	}
	until("the roadmap is done, and then there is time to tidy", func() bool {
		return count("Write the manual") == 1 && count("The second chapter") == 1 && count("Make one thing simpler") == 1 && open() == 0
	})
	pieces, rests, rest := 0, 0, max(500*time.Millisecond, *autonomousFor/40) // the loop begins 60 items an hour at most
	for begun := time.Now(); pieces < 3 || time.Since(begun) < *autonomousFor; {
		pieces++
		id := fmt.Sprint("piece-", pieces)
		ask(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &event.Item{ID: id, Title: id}}})
		if pieces == 2 {
			until("the piece is in work", func() bool { return open() == 1 || count(id) > 0 })
			_ = loop.Process.Kill()
			_ = loop.Wait()
			begin()
		}
		until("the piece is done", func() bool { return count(id) > 0 && open() == 0 })
		before := len(calls())
		time.Sleep(rest)
		if rests++; len(calls()) != before {
			t.Errorf("there is nothing to do, and an agent is called: %v", calls()[before:])
		}
	}
	ask(event.StoreRequest{Loop: &event.LoopRequest{Operation: event.LoopStop, Loop: "engineering"}})
	if err := loop.Wait(); err != nil {
		t.Errorf("the loop ends with %v\n%s", err, said.String())
	}
	for i := range pieces {
		id := fmt.Sprint("piece-", i+1)
		if n := count(id); n != 1 && (i != 1 || n != 2) { // the attempt that was killed may be made again
			t.Errorf("%s was done %d times", id, n)
		}
	}
	t.Logf("%d pieces, %d rests, %d calls", pieces, rests, len(calls()))
}
