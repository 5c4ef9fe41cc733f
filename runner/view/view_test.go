package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

const t0 = event.Time(1_700_000_000_000_000_000)

func at(d time.Duration) event.Time { return t0.Add(d) }

var program = &ir.Workflow{Name: "ship", Nodes: []ir.Node{
	{Name: "design", Kind: ir.Step},
	{Name: "build", Kind: ir.Parallel, Children: []ir.Node{
		{Name: "api", Kind: ir.Step, ForEach: ir.Lit(nil, ir.Expr{}.Type)},
		{Name: "ui", Kind: ir.Step},
	}},
	{Name: "release", Kind: ir.Step},
}}

// batches is a small run: a success, a retry, instances, a failure that blocks.
func batches() []batch {
	bad := &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 2", ExitCode: 2}
	return []batch{
		{0, event.Event{RunStarted: &event.RunStarted{Run: "abc", Workflow: "ship"}}, []event.Transition{
			{From: event.Pending, To: event.Running},
			{Node: "design", From: event.Pending, To: event.Running, Attempt: 1},
			{Node: "build", To: event.Running},
			{Node: "build/ui", To: event.Running, Attempt: 1},
			{Node: "build/api", To: event.Running},
			{Node: "build/api[a/b]", Name: "api", To: event.Running, Attempt: 1},
		}},
		{time.Second, event.Event{AttemptFinished: &event.AttemptFinished{}}, []event.Transition{
			{Node: "design", To: event.Succeeded, Result: &event.Result{Output: "plan", Attempts: 1, StartedAt: at(0), FinishedAt: at(900 * time.Millisecond), Agent: "sam", ExitCode: -1}},
			{Node: "build/ui", Gate: &event.Verdict{Gate: "size", Message: "too large"}},
			{Node: "build/ui", To: event.Waiting, Attempt: 1, Reason: "next attempt in 1s", Result: &event.Result{ExitCode: 2, Error: bad, Attempts: 1, StartedAt: at(0)}},
		}},
		{2 * time.Second, event.Event{DriverChanged: &event.DriverChanged{Lost: true}}, []event.Transition{
			{Node: "build/ui", To: event.Running, Attempt: 2},
		}},
		{3 * time.Second, event.Event{AttemptFinished: &event.AttemptFinished{}}, []event.Transition{
			{Node: "build/api[a/b]", To: event.Succeeded, Result: &event.Result{ExitCode: 0, Attempts: 1}},
			{Node: "build/api", To: event.Succeeded, Result: &event.Result{ExitCode: -1}},
			{Node: "build/ui", To: event.FailedS, Result: &event.Result{ExitCode: 2, Error: bad, Attempts: 2}},
			{Node: "build", To: event.FailedS, Result: &event.Result{ExitCode: -1}},
			{Node: "release", To: event.Blocked, Reason: "build failed", Result: &event.Result{ExitCode: -1}},
			{To: event.FailedS},
		}},
	}
}

type batch struct {
	after       time.Duration
	ev          event.Event
	transitions []event.Transition
}

func fold(t *testing.T, w *ir.Workflow) (*Run, []Line) {
	t.Helper()
	r := New(w)
	var lines []Line
	all := batches()
	for i, b := range all {
		b.ev.At, b.ev.Seq = at(b.after), uint64(i+1)
		re := &event.Reaction{Transitions: b.transitions}
		for j := range re.Transitions {
			re.Transitions[j].At = b.ev.At
		}
		if i == len(all)-1 {
			re.Commands = []event.Command{{End: &event.End{Status: event.FailedS}}}
		}
		lines = append(lines, r.Apply([]event.Event{b.ev}, re)...)
	}
	return r, lines
}

func TestTree(t *testing.T) {
	r, _ := fold(t, program)
	var b strings.Builder
	r.Each(func(n *Node, depth int) {
		fmt.Fprintf(&b, "%s%s %s attempt=%d took=%s %s\n", strings.Repeat("  ", depth), n.Path, n.Status, n.Attempt, n.Duration(r.Last), n.Reason)
	})
	want := `design succeeded attempt=1 took=900ms 
build failed attempt=0 took=3s 
  build/api succeeded attempt=0 took=3s 
    build/api[a/b] succeeded attempt=1 took=3s 
  build/ui failed attempt=2 took=3s 
release blocked attempt=0 took=0s build failed
`
	if b.String() != want {
		t.Errorf("have\n%swant\n%s", b.String(), want)
	}
	if r.Leaves[event.Succeeded] != 2 || r.Leaves[event.FailedS] != 1 || r.Leaves[event.Blocked] != 1 || r.Leaves[event.Pending] != 0 || r.Leaves[event.Running] != 0 {
		t.Errorf("leaves: %v", r.Leaves)
	}
	if r.Status != event.FailedS || r.Duration(r.Last) != 3*time.Second || r.Resumes != 1 {
		t.Errorf("run: %+v", r)
	}
}

// A retry's gates do not stand beside those of the attempt before.
func TestGatesBelongToAnAttempt(t *testing.T) {
	r, _ := fold(t, program)
	if g := r.Node("build/ui").Gates; len(g) != 0 {
		t.Errorf("gates of the first attempt are left: %v", g)
	}
}

func TestLinesAreNumberedAndTyped(t *testing.T) {
	_, lines := fold(t, program)
	var types []string
	for i, l := range lines {
		if l.Seq != uint64(i+1) {
			t.Errorf("line %d has number %d", i+1, l.Seq)
		}
		types = append(types, l.Type)
	}
	have := strings.Join(types, " ")
	want := "run.started node.running node.running node.running node.running node.running node.succeeded gate.failed node.waiting " +
		"run.resumed node.running node.succeeded node.succeeded node.failed node.failed node.blocked run.failed"
	if have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
	if last := lines[len(lines)-1]; last.End == nil || last.Run != "abc" {
		t.Errorf("the last line carries no end: %+v", last)
	}
}

// Without a workflow the nodes come in order of appearance; all else is equal.
func TestWithoutWorkflow(t *testing.T) {
	_, with := fold(t, program)
	r, without := fold(t, nil)
	if len(with) != len(without) || r.Size() != 6 {
		t.Errorf("%d lines, with a workflow %d; %d nodes", len(without), len(with), r.Size())
	}
	for i := range with {
		if with[i].Type != without[i].Type || with[i].Duration != without[i].Duration {
			t.Errorf("line %d: %+v and %+v", i+1, with[i], without[i])
		}
	}
}

func TestDocument(t *testing.T) {
	r, _ := fold(t, program)
	b, err := json.Marshal(r.Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"run":"abc","workflow":"ship","status":"failed","driven":false,"started_at":"2023-11-14T22:13:20.000Z","finished_at":"2023-11-14T22:13:23.000Z","inputs":{},"outputs":{},"error":null,"nodes":[`,
		`{"id":"design","status":"succeeded","attempts":1,"exit_code":-1,"output":"plan","error":null,"started_at":"2023-11-14T22:13:20.000Z","finished_at":"2023-11-14T22:13:20.900Z","agent":"sam","reason":"it depends on no other node"}`,
		`{"id":"release","status":"blocked","attempts":0,"exit_code":-1,"output":null,"error":null,"started_at":null,"finished_at":"2023-11-14T22:13:23.000Z","agent":null,"reason":"build failed"}`,
		`"exit_code":2`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s\nis missing in\n%s", want, b)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range [][3]string{
		{"a", "", "a"},
		{"a/b", "a", "b"},
		{"a/b[3]", "a/b", "b"},
		{"a[x/y]/b", "a[x/y]", "b"},
		{"a[x/y]", "a", "a"},
		{"a[1]/b[2]", "a[1]/b", "b"},
		{"a[1]/i2", "a[1]", "i2"},
	} {
		if p, b := Parent(c[0]), Base(c[0]); p != c[1] || b != c[2] {
			t.Errorf("%s: parent %q, base %q", c[0], p, b)
		}
	}
}

// One more batch costs the same in a run of 10 nodes and of 10,000.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := &ir.Workflow{}
			for i := range n {
				w.Nodes = append(w.Nodes, ir.Node{Name: fmt.Sprint("s", i), Kind: ir.Step})
			}
			r := New(w)
			re := &event.Reaction{Transitions: []event.Transition{{Node: "s5", To: event.Running, Attempt: 1}}}
			ev := []event.Event{{Seq: 1}}
			for b.Loop() {
				r.Apply(ev, re)
			}
		})
	}
}

// TestWhyNothingRan: a for_each that had nothing to do says so.
func TestWhyNothingRan(t *testing.T) {
	r := New(program)
	r.Apply(nil, &event.Reaction{Transitions: []event.Transition{
		{Node: "build/api[0]", Name: "api", To: event.Skipped, Reason: "its condition is false", Result: &event.Result{ExitCode: -1}},
		{Node: "build/api", To: event.Succeeded, Result: &event.Result{ExitCode: -1}},
	}})
	if have := r.Why(r.Node("build/api")); have != NoneRan {
		t.Errorf("it ran because of %q", have)
	}
	r = New(program)
	r.Apply(nil, &event.Reaction{Transitions: []event.Transition{{Node: "build/api", To: event.Succeeded, Result: &event.Result{ExitCode: -1}}}})
	if have := r.Why(r.Node("build/api")); have != Empty {
		t.Errorf("it ran because of %q", have)
	}
}

func TestWhy(t *testing.T) {
	w := &ir.Workflow{Nodes: []ir.Node{
		{Name: "a", Kind: ir.Step},
		{Name: "s", Kind: ir.Sequence, Children: []ir.Node{{Name: "b", Kind: ir.Step}, {Name: "c", Kind: ir.Step, Needs: []string{"a"}, When: &ir.Expr{}}}},
		{Name: "d", Kind: ir.Step, Needs: []string{"s"}, Observes: []string{"a"}, ForEach: &ir.Expr{}},
		{Name: "e", Kind: ir.Step},
		{Name: "f", Kind: ir.Step, ForEach: &ir.Expr{}, When: &ir.Expr{Reads: []ir.Ref{{Root: "each", Name: "key"}}}},
		{Name: "g", Kind: ir.Step, ForEach: &ir.Expr{}, When: &ir.Expr{}},
	}}
	r := New(w)
	re := &event.Reaction{}
	for _, path := range []string{"a", "s", "s/b", "s/c", "d", "d[0]", "f", "f[0]", "g", "g[0]"} {
		re.Transitions = append(re.Transitions, event.Transition{At: t0, Node: path, Name: Base(path), To: event.Running})
	}
	r.Apply(nil, re)
	for path, want := range map[string]string{"a": "it depends on no other node", "s/b": "it depends on no other node", "s/c": "after a, b; its condition holds",
		"d": "after s, a", "d[0]": "an instance of for_each", "e": Slot,
		"f": "it depends on no other node", "f[0]": "an instance of for_each; its condition holds",
		"g": "its condition holds", "g[0]": "an instance of for_each"} {
		if have := r.Why(r.Node(path)); have != want {
			t.Errorf("%s: %q, want %q", path, have, want)
		}
	}
}

// A node that is pending though all that it waits for has ended says that it waits for a slot, and its JSON does, until it runs.
func TestWaitsForSlot(t *testing.T) {
	w := &ir.Workflow{Nodes: []ir.Node{
		{Name: "a", Kind: ir.Step},
		{Name: "b", Kind: ir.Step, Needs: []string{"a"}},
		{Name: "s", Kind: ir.Sequence, Children: []ir.Node{{Name: "c", Kind: ir.Step}, {Name: "d", Kind: ir.Step}}},
		{Name: "e", Kind: ir.Step, ForEach: &ir.Expr{}},
	}, Finally: &ir.Finally{Nodes: []ir.Node{{Name: "z", Kind: ir.Step}}}}
	r := New(w)
	have := func() (names string) {
		r.Each(func(n *Node, _ int) {
			if r.WaitsForSlot(n) {
				names += n.Path + " "
			}
		})
		text, err := r.Encode(func(*Document) {})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Count(string(text), Slot); told != strings.Count(names, " ") {
			t.Errorf("%q wait for slots, and the JSON has %d", names, told)
		}
		return names
	}
	move := func(path string, to event.Status, members int) {
		r.Apply(nil, &event.Reaction{Transitions: []event.Transition{{At: t0, Node: path, Name: Base(path), To: to, Members: members}}})
	}
	for _, c := range []struct {
		path string
		to   event.Status
		want string
	}{
		{"", event.Running, ""}, // nothing runs yet
		{"a", event.Running, "e "},
		{"s", event.Running, "s/c e "},
		{"s/c", event.Running, "e "},
		{"a", event.Succeeded, "b e "},
		{"e", event.Running, "b "},
		{"s/c", event.Succeeded, "b s/d "},
		{"e[2]", event.Running, "b s/d "},
		{"", event.Cancelled, ""},
	} {
		move(c.path, c.to, 4)
		if got := have(); got != c.want {
			t.Errorf("after %s %s: %q wait, want %q", c.path, c.to, got, c.want)
		}
	}
	if n := r.Node("e").Unmade(); n != 3 {
		t.Errorf("%d of 4 instances have not begun, want 3", n)
	}
}

// A run waits while nothing of it is in flight, and a node says what for.
func TestWaits(t *testing.T) {
	r := New(nil)
	start := func(ticket uint64) event.Command {
		return event.Command{Start: &event.Attempt{Ticket: ticket, Node: "a"}}
	}
	for i, s := range []struct {
		ev   event.Event
		to   event.Status
		does []event.Command
		want event.Status
		wait string
	}{
		{event.Event{RunStarted: &event.RunStarted{Run: "r"}}, event.Running, []event.Command{start(1)}, event.Running, ""},
		{event.Event{AttemptFinished: &event.AttemptFinished{Ticket: 1}}, event.Waiting,
			[]event.Command{{SetTimer: &event.SetTimer{Timer: 1, Node: "a", Due: at(9), Purpose: event.TimerBackoff}}}, event.Waiting, "timer backoff"},
		{event.Event{TimerFired: &event.TimerFired{Timer: 1}}, event.Running, []event.Command{start(2)}, event.Running, ""},
		{event.Event{DriverChanged: &event.DriverChanged{}}, "", nil, event.Waiting, ""},
		{event.Event{External: &event.External{}}, event.Running, []event.Command{{StartChild: &event.StartChild{Run: "c", Node: "a"}}}, event.Running, "child c"},
		{event.Event{ChildFinished: &event.ChildFinished{Run: "c", Node: "a"}}, "", []event.Command{start(3)}, event.Running, ""},
	} {
		re := &event.Reaction{Commands: s.does}
		if i == 0 {
			re.Transitions = append(re.Transitions, event.Transition{To: event.Running})
		}
		if s.to != "" {
			re.Transitions = append(re.Transitions, event.Transition{Node: "a", To: s.to})
		}
		lines := r.Apply([]event.Event{s.ev}, re)
		wait := ""
		if w := r.Node("a").WaitsFor; w != nil {
			wait = string(w.Kind) + " " + w.Name
		}
		if r.Status != s.want || wait != s.wait || len(r.Waits()) != min(1, len(wait)) {
			t.Errorf("%d: the run is %s and its node waits for %q; want %s and %q", i, r.Status, wait, s.want, s.wait)
		}
		if s.to == event.Waiting && !(lines[0].RunWaits && lines[0].WaitsFor.Until == at(9)) {
			t.Errorf("%d: the line is %+v", i, lines[0])
		}
	}
	r.Apply(nil, &event.Reaction{Commands: []event.Command{{StartChild: &event.StartChild{Run: "c", Node: "a"}}}})
	r.Apply([]event.Event{{AttemptFinished: &event.AttemptFinished{Ticket: 3}}}, &event.Reaction{})
	if r.Status != event.Running {
		t.Errorf("a run that calls another one is %s", r.Status)
	}
	if r.CalledWait(true); r.Status != event.Waiting {
		t.Errorf("a run whose called run waits is %s", r.Status)
	}
}

// A node that waits knows when it goes on, until it does. Its timeout is not such a moment.
func TestDue(t *testing.T) {
	r := New(nil)
	for i, s := range []struct {
		to   event.Status
		why  event.TimerPurpose
		want event.Time
	}{{event.Running, "timeout", 0}, {event.Waiting, "backoff", at(9)}, {event.Running, "timeout", 0}, {event.Waiting, "wait", at(9)}, {event.Succeeded, "", 0}} {
		re := &event.Reaction{Transitions: []event.Transition{{At: at(1), Node: "a", To: s.to}}}
		if s.why != "" {
			re.Commands = []event.Command{{SetTimer: &event.SetTimer{Timer: 1, Node: "a", Due: at(9), Purpose: s.why}}}
		}
		r.Apply(nil, re)
		if due := r.Node("a").Due; due != s.want {
			t.Errorf("%d: %v, want %v", i, due, s.want)
		}
	}
}

// What is undone keeps the node's own result and status; the notes are lines of their own.
func TestCompensation(t *testing.T) {
	w := &ir.Workflow{Nodes: []ir.Node{{Name: "a", Kind: ir.Step}},
		Finally: &ir.Finally{Nodes: []ir.Node{{Name: "last", Kind: ir.Step, Needs: []string{"a"}}}}}
	r := New(w)
	broken := &event.Result{ExitCode: 3, Error: &event.Error{Kind: event.Recoverable, Message: "exit code 3", ExitCode: 3}}
	re := &event.Reaction{Transitions: []event.Transition{
		{At: at(1), Node: "a", To: event.Running, Attempt: 1},
		{At: at(2), Node: "a", From: event.Running, To: event.Running, Note: event.Progress, Reason: "50% of its deadline has passed"},
		{At: at(2), Node: "a", From: event.Running, To: event.Running, Note: event.Warned, Reason: "what"},
		{At: at(2), Node: "a", From: event.Running, To: event.Running, Note: event.Warned, Reason: "what"},
		{At: at(3), Node: "a", From: event.Running, To: event.Succeeded, Result: &event.Result{Attempts: 1, ExitCode: 0}},
		{At: at(4), Node: "a", From: event.Succeeded, To: event.Succeeded, Note: event.Compensating},
		{At: at(5), Node: "a", From: event.Succeeded, To: event.Succeeded, Note: event.NotCompensated, Result: broken},
		{At: at(6), Node: "last", To: event.Running, Attempt: 1},
	}}
	var types []string
	for _, l := range r.Apply(nil, re) {
		types = append(types, l.Type)
	}
	if have, want := strings.Join(types, " "), "node.running node.progress node.warned node.warned node.succeeded node.compensating node.not_compensated node.running"; have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
	n := r.Node("a")
	if n.Status != event.Succeeded || n.FinishedAt != at(3) || n.Result.ExitCode != 0 || n.Compensation.Result != broken {
		t.Errorf("the node is %+v", n)
	}
	b, err := json.Marshal(r.Document().Nodes)
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Warnings) != 1 || !strings.Contains(string(b), `"warnings":["what"]`) {
		t.Errorf("warnings are %q in %s", n.Warnings, b)
	}
	if want := `"compensation":{"status":"not_compensated","exit_code":3,"error":{`; !strings.Contains(string(b), want) {
		t.Errorf("%s\nis missing in\n%s", want, b)
	}
	for i := range 2 * MaxWarnings {
		n.note(&event.Transition{Note: event.Warned, Reason: strings.Repeat("x", i)})
	}
	if len(n.Warnings) != MaxWarnings {
		t.Errorf("%d warnings are kept", len(n.Warnings))
	}
	if have := r.Why(r.Node("last")); have != Last {
		t.Errorf("a node of finally ran because of %q", have)
	}
}

// What lies in a repeat is there once for each iteration, and not once more beside them.
func TestRepeatHasOnlyIterations(t *testing.T) {
	r := New(&ir.Workflow{Name: "w", Nodes: []ir.Node{{Name: "again", Kind: ir.Sequence, Repeat: &ir.Repeat{}, Children: []ir.Node{{Name: "try", Kind: ir.Step}}}}})
	if r.Size() != 1 {
		t.Errorf("%d nodes before the first iteration, not 1", r.Size())
	}
}

// An iteration has no last word: the repeat has it, and what a program reads of it besides.
func TestIterations(t *testing.T) {
	r := New(&ir.Workflow{Nodes: []ir.Node{{Name: "poll", Kind: ir.Step, Repeat: &ir.Repeat{}}, {Name: "race", Kind: ir.Parallel}}})
	failed := &event.Result{Attempts: 1, ExitCode: 1, Error: &event.Error{Message: "exit code 1"}}
	whole := *failed
	whole.Iterations, whole.Tolerated = 2, true
	re := &event.Reaction{Transitions: []event.Transition{
		{At: at(1), Node: "poll", Name: "poll", Kind: "step", To: event.Running},
		{At: at(1), Node: "poll/i1", Name: "poll", Kind: "step", To: event.Running, Attempt: 1},
		{At: at(2), Node: "poll/i1", Name: "poll", Kind: "step", From: event.Running, To: event.FailedS, Result: failed},
		{At: at(2), Node: "poll/i2", Name: "poll", Kind: "step", To: event.Running, Attempt: 1},
		{At: at(3), Node: "poll/i2", Name: "poll", Kind: "step", From: event.Running, To: event.FailedS, Result: failed},
		{At: at(3), Node: "poll", Name: "poll", Kind: "step", From: event.Running, To: event.FailedS, Result: &whole},
		{At: at(3), Node: "race", Name: "race", Kind: "parallel", To: event.Succeeded, Result: &event.Result{ExitCode: -1, Winner: "a"}},
	}}
	var tells []string
	for _, l := range r.Apply(nil, re) {
		if l.Tells && l.Status.Terminal() {
			tells = append(tells, l.Node)
		}
	}
	if have, want := strings.Join(tells, " "), "poll race"; have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
	if n := r.Node("poll/i2"); n.Iteration() != 2 || r.Why(n) != "iteration 2" || r.Node("poll").Iteration() != 0 {
		t.Errorf("the iteration is %d, because of %q", n.Iteration(), r.Why(n))
	}
	b, err := json.Marshal(r.Document().Nodes)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"tolerated":true,"iterations":2`, `"winner":"a"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s\nis missing in\n%s", want, b)
		}
	}
}

// A node keeps the verdicts on its last attempt when it ends, and forgets them when the next attempt starts.
func TestVerdictsOfTheLastAttemptStay(t *testing.T) {
	r := New(nil)
	r.Apply(nil, &event.Reaction{Transitions: []event.Transition{
		{Node: "a", To: event.Running, Attempt: 1},
		{Node: "a", Attempt: 1, Gate: &event.Verdict{Gate: "first"}},
		{Node: "a", To: event.Waiting, Attempt: 1},
	}})
	if g := r.Node("a").Gates; len(g) != 1 || g[0].Gate != "first" {
		t.Errorf("before the next attempt the verdicts are %+v", g)
	}
	r.Apply(nil, &event.Reaction{Transitions: []event.Transition{
		{Node: "a", To: event.Running, Attempt: 2},
		{Node: "a", Attempt: 2, Gate: &event.Verdict{Gate: "big", Warning: true}},
		{Node: "a", To: event.Succeeded, Attempt: 2, Result: &event.Result{Attempts: 2}},
	}})
	if g := r.Node("a").Gates; len(g) != 1 || g[0].Gate != "big" {
		t.Errorf("at the end the verdicts are %+v", g)
	}
}
func TestIsAbout(t *testing.T) {
	for _, c := range []struct {
		path, step string
		want       bool
	}{
		{"build/api[3]", "", true}, {"build/api[3]", "api", true}, {"build/api[3]", "build", true}, {"build/api[3]", "build/api", true},
		{"build/api[3]", "build/api[3]", true}, {"build/api[3]", "build/api[4]", false}, {"build/api[3]", "ap", false}, {"builder", "build", false},
	} {
		if IsAbout(c.path, c.step) != c.want {
			t.Error(c)
		}
	}
}

// A child of an iteration can be shown before its iteration, where a switch leaves the child out.
func TestIterationOfAChildShownFirst(t *testing.T) {
	r := New(&ir.Workflow{Name: "w", Nodes: []ir.Node{{Name: "r", Kind: ir.Sequence, Repeat: &ir.Repeat{}, Children: []ir.Node{{Name: "i2", Kind: ir.Step}}}}})
	r.Apply(nil, &event.Reaction{Transitions: []event.Transition{
		{Node: "r/i1/i2", Name: "i2", Kind: "step", To: event.Skipped},
		{Node: "r/i1", Name: "r", Kind: "sequence", To: event.Running},
	}})
	for path, want := range map[string]struct {
		name, kind string
		iteration  int
	}{"r": {"r", "sequence", 0}, "r/i1": {"r", "sequence", 1}, "r/i1/i2": {"i2", "step", 0}} {
		if n := r.Node(path); n.Name != want.name || n.Kind != want.kind || n.Iteration() != want.iteration {
			t.Errorf("%s has the name %q, the kind %q and the number %d; %+v is wanted", path, n.Name, n.Kind, n.Iteration(), want)
		}
	}
}

// No transition tells of the node that holds the items of a loop: it runs from the first item on, and ends with the run.
func TestItemsOfALoop(t *testing.T) {
	r := New(nil)
	tell := func(seq uint64, list ...event.Transition) {
		for i := range list {
			list[i].At = at(time.Duration(seq) * time.Second)
		}
		ev := event.Event{Seq: seq, At: at(time.Duration(seq) * time.Second)}
		if seq == 1 {
			ev.RunStarted = &event.RunStarted{Run: "abc", Workflow: "team"}
		}
		r.Apply([]event.Event{ev}, &event.Reaction{Transitions: list})
	}
	is := func(status event.Status, started, finished event.Time) {
		t.Helper()
		if n := r.Node("item"); n.Status != status || n.StartedAt != started || n.FinishedAt != finished {
			t.Errorf("item is %s, from %d to %d; want %s, from %d to %d", n.Status, n.StartedAt, n.FinishedAt, status, started, finished)
		}
	}
	tell(1, event.Transition{To: event.Running})
	tell(2, event.Transition{Node: "item[one]", Name: "item", Kind: "call", To: event.Running})
	is(event.Running, at(2*time.Second), 0)
	tell(3, event.Transition{Node: "item[one]", To: event.Succeeded, Result: &event.Result{}}, event.Transition{Node: "item[two]", Name: "item", Kind: "call", To: event.Running})
	is(event.Running, at(2*time.Second), 0)
	tell(4, event.Transition{Node: "item[two]", To: event.FailedS, Result: &event.Result{}}, event.Transition{To: event.Succeeded})
	is(event.Succeeded, at(2*time.Second), at(4*time.Second))
	if r.Leaves[event.Pending] != 0 || r.Leaves[event.Succeeded] != 1 || r.Leaves[event.FailedS] != 1 {
		t.Errorf("leaves: %v", r.Leaves)
	}
}
