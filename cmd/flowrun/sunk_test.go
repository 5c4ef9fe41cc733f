package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// sunk is a run whose attempts go through the sink, whatever becomes of the processes that drive it.
type sunk struct {
	binary, dir string
	cancel      string // of the shape; "" once it is done
	run         string // "" while it is not known to be durable
	died        []string
	shown       uint64 // the last line
	// acknowledged is how often the sink had noted an attempt when its end was found in a journal.
	acknowledged map[string]int
	past         []journal.Link // of the run's journal, when it was last looked at
}

func (s *sunk) store() string { return filepath.Join(s.dir, ".flowrun") }

// command is flowrun in the run's folder.
func (s *sunk) command(at string, words ...string) *exec.Cmd {
	c := exec.Command(s.binary, append(words, "--store", s.store())...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "WITNESS="+filepath.Join(s.dir, "witness"), mortalAt+"="+at, mortalNote+"="+filepath.Join(s.dir, "note"))
	return c
}

// apply starts the run and drives it. It tells whether that came to its end.
func (s *sunk) apply(t *testing.T, at string) bool {
	t.Helper()
	return s.drive(t, s.command(at, "apply", "w.flow.hcl", "--json", "--death-limit", "1000"))
}

// resume goes on with the run, or starts it where that has not become durable.
func (s *sunk) resume(t *testing.T, at string) bool {
	t.Helper()
	if s.run == "" {
		return s.apply(t, at)
	}
	return s.drive(t, s.command(at, "resume", s.run, "--json", "--death-limit", "1000"))
}

// drive waits for a process and looks at what it left.
func (s *sunk) drive(t *testing.T, c *exec.Cmd) (ended bool) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(exited)
	}()
	s.cancels(t, exited)
	switch w := c.ProcessState.Sys().(syscall.WaitStatus); {
	case w.Signaled() && w.Signal() == syscall.SIGKILL:
		point, err := os.ReadFile(filepath.Join(s.dir, "note"))
		if err != nil {
			t.Fatalf("somebody else killed it: %v", err)
		}
		s.died = append(s.died, string(point))
	case w.ExitStatus() != 0 && w.ExitStatus() != 1 && w.ExitStatus() != 5:
		t.Fatalf("%q: %v\n%s%s", c.Args[1:], c.ProcessState, stdout.Bytes(), stderr.Bytes())
	default:
		ended = true
	}
	s.hear(t, stdout.Bytes())
	s.look(t)
	return ended
}

// cancels waits for a process, and cancels its run as soon as the sink has heard of the step over which that is to be done.
func (s *sunk) cancels(t *testing.T, exited <-chan struct{}) {
	t.Helper()
	for s.cancel != "" {
		for _, l := range s.lines(t) {
			if words := strings.Fields(l); words[1] == s.cancel {
				if out, err := s.command("", "cancel", words[0]).CombinedOutput(); err != nil {
					t.Fatalf("cancel: %v\n%s", err, out)
				}
				s.cancel = ""
			}
		}
		select {
		case <-exited:
			return
		case <-time.After(3 * time.Millisecond):
		}
	}
	<-exited
}

// hear takes in the lines that a process has shown. They are numbered, and those of the past are not shown again: a number that
// comes twice had been shown and was lost. But the end is said again to whoever resumes a run that has ended.
func (s *sunk) hear(t *testing.T, out []byte) {
	t.Helper()
	for _, text := range bytes.Split(out, []byte("\n")) {
		var line struct {
			Seq          uint64
			Node, Status string
		}
		if json.Unmarshal(text, &line) != nil {
			continue // the last one of a process that was killed
		}
		again := line.Node == "" && line.Seq == s.shown && event.Status(line.Status).Terminal()
		if line.Seq <= s.shown && !again {
			t.Errorf("after line %d there is line %d: %s", s.shown, line.Seq, text)
		}
		s.shown = line.Seq
	}
}

// look reads the store while nobody drives: what had been there before must be there.
func (s *sunk) look(t *testing.T) {
	t.Helper()
	e, err := local.Open(s.store(), local.Options{ReadOnly: true})
	if errors.Is(err, engine.ErrNoStore) && s.run == "" && s.shown == 0 {
		return // it died while it made the store
	}
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	runs, err := e.List(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := s.lines(t)
	for _, info := range runs {
		links := s.acknowledge(t, e, info.Run, lines)
		if info.Parent != "" {
			continue
		}
		if s.run != "" && s.run != info.Run {
			t.Fatalf("there are the runs %s and %s", s.run, info.Run)
		}
		s.run = info.Run
		if len(links) < len(s.past) || !slices.Equal(links[:len(s.past)], s.past) {
			t.Fatalf("the journal had %d batches and has %d, or others", len(s.past), len(links))
		}
		s.past = links
	}
	if len(runs) == 0 && (s.shown > 0 || s.run != "") {
		t.Fatal("the run is gone")
	}
}

// acknowledge notes whose end a journal has, and gives the links of its chain.
func (s *sunk) acknowledge(t *testing.T, e *local.Engine, run string, lines []string) (links []journal.Link) {
	t.Helper()
	h, _, err := e.Journal(context.Background(), run, func(journal.Batch) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r := journal.NewReader(h)
	_, _, err = e.Journal(context.Background(), run, func(b journal.Batch) error {
		links = append(links, b.Link)
		events, err := r.Read(b)
		for _, ev := range events {
			if f := ev.AttemptFinished; f != nil && (f.Outcome == event.OK || f.Outcome == event.Failed) {
				s.note(run, f, lines)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return links
}

func (s *sunk) note(run string, f *event.AttemptFinished, lines []string) {
	what := "work"
	switch {
	case f.Compensate:
		what = "undo"
	case f.Gate != "":
		what = "gate"
	}
	id := fmt.Sprint(run, " ", f.Node, " ", f.Attempt, " ", what)
	if _, known := s.acknowledged[id]; !known {
		s.acknowledged[id] = count(lines, id)
	}
}

// count tells how often the sink noted an attempt: a line has the key before the last word.
func count(lines []string, id string) (n int) {
	for _, l := range lines {
		if attemptOf(l) == id {
			n++
		}
	}
	return n
}

func attemptOf(line string) string {
	words := strings.Fields(line)
	return strings.Join(append(words[:3:3], words[4:]...), " ")
}

// judge holds the sink against the journals. What was acknowledged has not run again; an attempt that ran again
// had its key; and it was made at most once by each process.
func (s *sunk) judge(t *testing.T) {
	t.Helper()
	lines := s.lines(t)
	for id, before := range s.acknowledged { // any order: each is a fault of its own
		if now := count(lines, id); now != before {
			t.Errorf("%q had been made %d times when its end was journaled, and now %d times", id, before, now)
		}
	}
	for id, n := range s.keys(t) { // any order
		if n > len(s.died)+1 {
			t.Errorf("%q was made %d times by %d processes", id, n, len(s.died)+1)
		}
	}
	if len(s.acknowledged) < 3 {
		t.Errorf("%d attempts were acknowledged: this proves little", len(s.acknowledged))
	}
}

// judgeArtifacts holds the artifacts against the journal: each one that the journal names is whole, and after a prune there is no other.
func (s *sunk) judgeArtifacts(t *testing.T) {
	t.Helper()
	e, err := local.Open(s.store(), local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	if h, err := e.Examine(context.Background(), 0); err != nil || len(h.Broken) > 0 {
		t.Errorf("after the prune the store is %+v, %v", h, err)
	}
	named := map[string]bool{}
	_, _, err = e.Journal(context.Background(), s.run, func(b journal.Batch) error {
		for _, line := range bytes.Split(bytes.TrimSpace(b.Body), []byte("\n")) {
			var ev event.Event
			if err := json.Unmarshal(line, &ev); err != nil {
				return err
			}
			for _, a := range ev.Artifacts() {
				named[a.Hash] = true
			}
		}
		return nil
	})
	files, wrong := os.ReadDir(filepath.Join(s.store(), artifact.Dir, s.run))
	if err != nil || wrong != nil || len(named) == 0 {
		t.Errorf("the journal names %d artifacts: %v, %v", len(named), err, wrong)
	}
	for _, f := range files {
		if !named[f.Name()] {
			t.Errorf("after the prune there is %s, which the journal does not name", f.Name())
		}
	}
}

// keys checks that each attempt had one key, however often it was made, and tells how often that was.
func (s *sunk) keys(t *testing.T) map[string]int {
	t.Helper()
	keys, made := map[string]string{}, map[string]int{}
	for _, l := range s.lines(t) {
		id, key := attemptOf(l), strings.Fields(l)[3]
		if was, seen := keys[id]; seen && was != key {
			t.Errorf("%q was made with the keys %s and %s", id, was, key)
		}
		keys[id] = key
		made[id]++
	}
	return made
}

// epochs are the owners of which the journal says that they took the run.
func (s *sunk) epochs(t *testing.T) (list []int64) {
	t.Helper()
	e, err := local.Open(s.store(), local.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h, _, err := e.Journal(context.Background(), s.run, func(journal.Batch) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r := journal.NewReader(h)
	if _, _, err = e.Journal(context.Background(), s.run, func(b journal.Batch) error {
		events, err := r.Read(b)
		for _, ev := range events {
			if d := ev.DriverChanged; d != nil {
				list = append(list, d.Driver)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// ended says how the run ended, and those that it called.
func (s *sunk) ended(t *testing.T) string {
	t.Helper()
	show := s.command("", "runs", "show", s.run, "--json")
	show.Stderr = new(strings.Builder)
	document, err := show.Output()
	if err != nil {
		t.Fatalf("runs show: %v: %s", err, show.Stderr)
	}
	e, err := local.Open(s.store(), local.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	runs, err := e.List(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := ended(t, document)
	for _, i := range runs {
		outputs, _ := json.Marshal(i.Summary.Outputs)
		lines = append(lines, fmt.Sprintf("run of %s for %q: %s %s", i.Workflow, i.ParentNode, i.Status, outputs))
	}
	return strings.Join(lines, "\n")
}
