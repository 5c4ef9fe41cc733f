package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

const t0 = event.Time(1_700_000_000_000_000_000)

// stage plays transitions at virtual times into a Progress.
type stage struct {
	run  *view.Run
	p    Progress
	seq  uint64
	term *Term
	out  *bytes.Buffer
}

var shipWorkflow = &ir.Workflow{Name: "ship", Nodes: []ir.Node{
	{Name: "design", Kind: ir.Step},
	{Name: "build", Kind: ir.Parallel, Children: []ir.Node{{Name: "api", Kind: ir.Step, ForEach: &ir.Expr{}}, {Name: "ui", Kind: ir.Step}}},
	{Name: "release", Kind: ir.Step, Needs: []string{"build"}},
}}

func newStage(w *ir.Workflow, columns, rows int, make func(*Term, Scene) Progress) *stage {
	out := new(bytes.Buffer)
	term := NewTerm(out, "never", none)
	term.size = func() (int, int) { return columns, rows }
	s := &stage{run: view.New(w), term: term, out: out}
	s.p = make(term, Scene{Where: func(name string) string { return "ship.hcl:" + fmt.Sprint(len(name)) }, Store: ".flowrun"})
	_, term.Live = s.p.(*Tree)
	return s
}

func (s *stage) at(d time.Duration, ts ...event.Transition) { s.batch(d, event.Event{}, nil, ts...) }

func (s *stage) batch(d time.Duration, ev event.Event, end *event.End, ts ...event.Transition) {
	s.seq++
	ev.Seq, ev.At = s.seq, t0.Add(d)
	r := &event.Reaction{Transitions: ts}
	for i := range ts {
		ts[i].At = ev.At
	}
	if s.seq == 1 { // an attempt that is live all the time
		r.Commands = append(r.Commands, event.Command{Start: &event.Attempt{Ticket: 1}})
	}
	if end != nil {
		r.Commands = append(r.Commands, event.Command{End: end})
	}
	s.p.Update(s.run, s.run.Apply([]event.Event{ev}, r), false)
}

func (s *stage) tick(d time.Duration) { s.p.Tick(t0.Add(d).Go()) }

func (s *stage) play() {
	exit2 := &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 2", ExitCode: 2}
	s.batch(0, event.Event{RunStarted: &event.RunStarted{Run: "abc", Workflow: "ship"}}, nil,
		event.Transition{To: event.Running},
		event.Transition{Node: "design", To: event.Running, Attempt: 1},
		event.Transition{Node: "build", To: event.Running},
		event.Transition{Node: "build/api", To: event.Running},
		event.Transition{Node: "build/api[0]", Name: "api", To: event.Running, Attempt: 1},
		event.Transition{Node: "build/ui", To: event.Running, Attempt: 1})
	s.p.Hear(Saying{"design", 1, "40% reading\x1b[2J the ticket"})
	s.p.Hear(Saying{"design", 2, "of an attempt that is not"})
	s.p.Hear(Saying{"nobody", 1, "of a node that is not"})
	s.p.Hear(Saying{"build/ui", 1, strings.Repeat("long ", 100)})
	s.tick(300 * time.Millisecond)
	s.at(1500*time.Millisecond,
		event.Transition{Node: "design", To: event.Succeeded, Result: &event.Result{Attempts: 1, ExitCode: 0}},
		event.Transition{Node: "build/ui", Gate: &event.Verdict{Gate: "size", Warning: true, Message: "31 MB is more than 30 MB"}},
		event.Transition{Node: "build/ui", To: event.Waiting, Reason: "attempt 2 in 1s", Result: &event.Result{Attempts: 1, ExitCode: 2, Error: exit2}})
	s.tick(1600 * time.Millisecond)
	s.at(2500*time.Millisecond, event.Transition{Node: "build/ui", To: event.Running, Attempt: 2})
	s.tick(40 * time.Second)
	s.at(41*time.Second,
		event.Transition{Node: "build/ui", To: event.FailedS, Result: &event.Result{Attempts: 2, ExitCode: 2, Error: exit2,
			Stderr: "compiling\n\x1b[31mno such file\x1b[0m\n\n", StderrLog: "logs/abc/2.err"}})
	s.batch(42*time.Second, event.Event{}, &event.End{Status: event.FailedS, Outputs: map[string]any{"size": 31.0}},
		event.Transition{Node: "build/api[0]", To: event.Succeeded, Result: &event.Result{Attempts: 1}},
		event.Transition{Node: "build/api", To: event.Succeeded},
		event.Transition{Node: "build", To: event.FailedS, Reason: "ui failed", Result: &event.Result{ExitCode: -1}},
		event.Transition{Node: "release", To: event.Blocked, Reason: "build failed"},
		event.Transition{To: event.FailedS, Reason: "build/ui failed"})
	s.p.Close(t0.Add(42 * time.Second).Go())
}

// The bytes are golden, with the escape character spelled out.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name          string
		columns, rows int
		make          func(*Term, Scene) Progress
	}{
		{"tree", 80, 24, func(t *Term, s Scene) Progress { return NewTree(t, s) }},
		{"tree_narrow", 30, 24, func(t *Term, s Scene) Progress { return NewTree(t, s) }},
		{"tree_compact", 80, 7, func(t *Term, s Scene) Progress { return NewTree(t, s) }},
		{"lines", 80, 24, func(t *Term, s Scene) Progress { return NewLines(t, s) }},
		{"events", 80, 24, func(t *Term, s Scene) Progress { return NewEvents(t) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(shipWorkflow, c.columns, c.rows, c.make)
			s.play()
			golden(t, c.name, strings.ReplaceAll(s.out.String(), "\x1b", "^"))
		})
	}
}

func golden(t *testing.T, name, have string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *rewrite {
		if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if have != string(want) {
		t.Errorf("%s: have\n%s\nwant\n%s", name, have, want)
	}
}

func TestEventsAreJSON(t *testing.T) {
	s := newStage(shipWorkflow, 80, 24, func(t *Term, s Scene) Progress { return NewEvents(t) })
	s.play()
	var last map[string]any
	for i, l := range strings.Split(strings.TrimSpace(s.out.String()), "\n") {
		last = nil
		if err := json.Unmarshal([]byte(l), &last); err != nil || last["v"] != 1.0 || last["seq"] != float64(i+1) || last["run"] != "abc" {
			t.Errorf("%v: %s", err, l)
		}
	}
	if last["type"] != "run.failed" || last["outputs"].(map[string]any)["size"] != 31.0 {
		t.Errorf("the last line: %v", last)
	}
}

// However small the screen and however large the run, a frame has at most rows-2 lines of less than columns cells, and
// painting a run of 20,000 nodes looks at those that are under way.
func TestFramesFit(t *testing.T) {
	w := &ir.Workflow{Name: "big"}
	for i := range 20000 {
		w.Nodes = append(w.Nodes, ir.Node{Name: fmt.Sprintf("step-with-a-long-name-%d", i), Kind: ir.Step})
	}
	for _, size := range [][2]int{{80, 24}, {20, 5}, {10, 3}, {4, 1}} {
		s := newStage(w, size[0], size[1], func(t *Term, s Scene) Progress { return NewTree(t, s) })
		for i := range 100 {
			s.at(0, event.Transition{Node: w.Nodes[i].Name, To: event.Running, Attempt: 1})
		}
		tree := s.p.(*Tree)
		lines := tree.lines(size[0], size[1])
		if len(lines) > max(1, size[1]-2) {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, l := range lines {
			if Cells(l) >= max(size[0], 6) {
				t.Errorf("%v: %d cells: %q", size, Cells(l), l)
			}
		}
	}
}

// A name is cut before the duration behind it is.
func TestDurationsAreSeenOnNarrowScreens(t *testing.T) {
	node := rowNode{n: &view.Node{Path: "a-rather-long-name-of-a-step-that-goes-on", Status: event.Succeeded, StartedAt: t0, FinishedAt: t0.Add(time.Second)}}
	for _, columns := range []int{80, 40, 20} {
		line := rows(NewTerm(new(bytes.Buffer), "never", none), []rowNode{node}, t0, 0, columns-1)[0]
		if Cells(line) >= columns || !strings.HasSuffix(line, " 1.0s") {
			t.Errorf("%d columns: %q", columns, line)
		}
	}
}

func TestHeightAfterResize(t *testing.T) {
	if n := height([]string{strings.Repeat("x", 79), "\x1b[31mab\x1b[0m", ""}, 40); n != 2+1+1 {
		t.Errorf("height is %d", n)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestAReaderThatWentAwayIsNoError(t *testing.T) {
	gone := NewTerm(broken{fmt.Errorf("write: %w", syscall.EPIPE)}, "never", none)
	gone.Printf("x")
	full := NewTerm(broken{syscall.ENOSPC}, "never", none)
	full.Printf("x")
	if gone.Err() != nil || !errors.Is(full.Err(), syscall.ENOSPC) {
		t.Error(gone.Err(), full.Err())
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\tb\nc\r": `a\tb\nc\r`, "\x1b[2J": `\x1b[2J`, "é 日本 👩\u200d💻": "é 日本 👩\u200d💻",
		"\u202e": `\u{202e}`, "\xff": `\xff`, "\x9b1m": `\x9b1m`, "\u009b": `\x9b`, "\x7f": `\x7f`,
	} {
		if have := Clean(in); have != want {
			t.Errorf("Clean(%q) = %q, want %q", in, have, want)
		}
	}
	if have := CleanLines("a\r\n\tb\x07\n"); have != "a\n    b\\x07\n" {
		t.Errorf("%q", have)
	}
	if have := Truncate("日本語", 4); have != "日…" {
		t.Errorf("%q", have)
	}
	for d, want := range map[time.Duration]string{-1: "0.0s", 0: "0.0s", 59999 * time.Millisecond: "59.9s", time.Minute: "1m00s", 2*time.Hour + 7*time.Minute: "2h07m", 76 * time.Hour: "3d04h"} {
		if have := Duration(d); have != want {
			t.Errorf("%v: %s, want %s", d, have, want)
		}
	}
}

func TestAReasonStaysOnItsLine(t *testing.T) {
	if have := because("exit code 1\n\n\tbad style\n"); have != ": exit code 1 | bad style" {
		t.Errorf("%q", have)
	}
	if have := because(strings.Repeat("x", MaxReason)); strings.Contains(have, "…") {
		t.Errorf("%q", have)
	}
	if have := because(strings.Repeat("x", MaxReason+1)); Cells(have) != MaxReason+2 || !strings.HasSuffix(have, "…") {
		t.Errorf("%q", have)
	}
}

func TestALineOfAnExcerptIsCut(t *testing.T) {
	if have := excerpt(strings.Repeat("x", StderrCells) + "\nshort"); strings.Contains(have, "…") {
		t.Errorf("%q", have)
	}
	if have := excerpt(strings.Repeat("x", StderrCells+1) + "\nshort"); Cells(have[:strings.Index(have, "\n")]) != StderrCells || !strings.HasSuffix(have, "…\nshort") {
		t.Errorf("%q", have)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[0m\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Clean(s) {
			if hidden(r) {
				t.Fatalf("%q holds %q", Clean(s), r)
			}
		}
		if Clean(Clean(s)) != Clean(s) {
			t.Fatalf("%q changes twice", s)
		}
	})
}

// On a resume the past is not shown again, but what is under way is.
func TestThePastIsNotShown(t *testing.T) {
	for name, make := range map[string]func(*Term, Scene) Progress{
		"lines": func(t *Term, s Scene) Progress { return NewLines(t, s) },
		"tree":  func(t *Term, s Scene) Progress { return NewTree(t, s) },
	} {
		s := newStage(shipWorkflow, 80, 4, make)
		r := &event.Reaction{Transitions: []event.Transition{
			{At: t0, To: event.Running}, {At: t0, Node: "release", To: event.Running, Attempt: 1},
			{At: t0, Node: "design", To: event.FailedS, Result: &event.Result{ExitCode: 1}}}}
		s.p.Update(s.run, s.run.Apply([]event.Event{{Seq: 1, At: t0}}, r), true)
		if s.out.Len() > 0 {
			t.Errorf("%s shows the past: %s", name, s.out)
		}
		s.tick(2 * Heartbeat)
		if have := s.out.String(); !strings.Contains(have, "release") || strings.Contains(have, "design") {
			t.Errorf("%s: %s", name, have)
		}
	}
}

// A line about a node that waits says for what, and how long at the most.
func TestLineSaysWhatIsWaitedFor(t *testing.T) {
	for want, w := range map[string]event.WaitsFor{
		"s: waiting for the rate limit of c, 59m53s to go": {Kind: event.WaitRateLimit, Name: "c", Until: t0.Add(59*time.Minute + 53*time.Second)},
		"s: waiting for units of the quota gpu":            {Kind: event.WaitQuota, Name: "gpu"},
		"s: waiting for room in the budget of w":           {Kind: event.WaitBudget, Name: "w"},
		"s: waiting for the agent c, which is busy":        {Kind: event.WaitBusy, Name: "c"},
	} {
		run := view.New(shipWorkflow)
		line := view.Line{}
		for _, l := range run.Apply(nil, &event.Reaction{Transitions: []event.Transition{{Node: "s", From: event.Running, To: event.Waiting, At: t0,
			Reason: string(w.Kind), WaitsFor: &w}}}) {
			line = l
		}
		if have := sentence(&Term{}, &line); have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
}
