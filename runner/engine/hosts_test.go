package engine_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/benchmark"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/journal"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/view"
)

var rewrite = flag.Bool("rewrite", false, "write what is seen into the golden files")

// speeds are how much faster than real time the local host's world goes in the first try, the second and the third. A busy
// computer is late, which changes less in a slower world.
var speeds = []time.Duration{20, 8, 2}

// TestHosts runs every control-flow pattern and a file for each construct on both hosts: in virtual time, where all that
// can be seen stands in a golden file, second by second; in virtual time with a driver that dies; and on SQLite with
// time that goes faster. However it runs, every node must end with the same status and the run with the same outputs.
func TestHosts(t *testing.T) {
	for _, folder := range []struct {
		name  string
		least int
	}{{"patterns", 16}, {"constructs", 20}} {
		files, err := filepath.Glob("../../testdata/" + folder.name + "/*.hcl")
		files = slices.DeleteFunc(files, dsl.IsTest)
		if err != nil || len(files) < folder.least {
			t.Errorf("%d files in %s (%v), want at least %d", len(files), folder.name, err, folder.least)
		}
		for _, f := range files {
			t.Run(strings.TrimSuffix(filepath.Base(f), ".hcl"), func(t *testing.T) {
				t.Parallel()
				p := load(t, f)
				seen, want := p.simulate(t, 1, sim.Faults{})
				golden(t, strings.TrimSuffix(f, ".hcl")+".golden", seen+want)
				got := ""
				for try := 0; got != want && try < len(speeds); try++ {
					got = p.local(t, speeds[try])
				}
				if got != want {
					t.Errorf("on SQLite it ends otherwise (-virtual +SQLite):\n%s", cmp.Diff(want, got))
				}
				if p.races {
					return // what ends first depends on when it was started again
				}
				for seed := range uint64(20) {
					if _, got := p.simulate(t, seed, sim.Faults{CrashBeforeCommit: 0.1, CrashAfterCommit: 0.1, CrashMidway: 0.1, Twice: 0.2}); got != want {
						t.Errorf("with crashes of seed %d it ends otherwise (-calm +crashes):\n%s", seed, cmp.Diff(want, got))
					}
				}
			})
		}
	}
}

// program is a file that is run. A line "# races" in it says that its end depends on what is faster.
type program struct {
	*ir.Program
	races bool
}

func load(t *testing.T, file string) program {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, list := dsl.Load(os.DirFS(filepath.Dir(file)), filepath.Base(file), dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	return program{p.IR, strings.Contains(string(text), "\n# races\n")}
}

func (p program) start() engine.Start {
	w := &p.Workflows[0]
	for i := range p.Workflows {
		if p.Workflows[i].Default {
			w = &p.Workflows[i]
		}
	}
	vars, _ := dsl.Inputs("variable", p.Variables, nil, dsl.Known{})
	inputs, _ := dsl.Inputs("input", w.Inputs, nil, dsl.Known{})
	return engine.Start{
		Header:     journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: p.Hash(), Workflow: w.Name},
		First:      event.RunStarted{Workflow: w.Name, Dir: "/repo", Vars: vars, Inputs: inputs},
		Definition: p.Canonical(),
	}
}

// simulate runs it in virtual time. It gives all that was seen, and how it ended.
func (p program) simulate(t *testing.T, seed uint64, faults sim.Faults) (seen, ended string) {
	t.Helper()
	return p.simulateIn(t, sim.NewStore(seed), faults)
}

func (p program) simulateIn(t *testing.T, store *sim.Store, faults sim.Faults) (seen, ended string) {
	t.Helper()
	w := &virtual{}
	e := sim.New(store, sim.Options{Factory: factory, Events: awaited, World: w, Faults: faults, DeathLimit: 100})
	w.ask = e.Ask
	run, err := e.Start(context.Background(), p.start())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		var lines strings.Builder
		r := view.New(p.Workflow(p.start().Header.Workflow))
		end, err := e.Drive(context.Background(), run, func(events []event.Event, reaction *event.Reaction, _ bool) {
			r.Apply(events, reaction)
			for _, tr := range reaction.Transitions {
				fmt.Fprintf(&lines, "%5.1fs  %s\n", tr.At.Sub(sim.Epoch).Seconds(), saw(tr))
			}
		})
		if err == nil {
			return lines.String(), result(r, end)
		}
		if err != sim.ErrCrashed {
			t.Fatal(err)
		}
	}
	t.Fatal("it does not end")
	return "", ""
}

// saw puts a transition into a line.
func saw(tr event.Transition) string {
	who := tr.Node
	if who == "" {
		who = "run"
	}
	if tr.Gate != nil {
		verdict := "passed"
		if !tr.Gate.Passed {
			verdict = "no: " + tr.Gate.Message
		}
		return fmt.Sprintf("%-24s gate %s: %s", who, tr.Gate.Gate, verdict)
	}
	line := fmt.Sprintf("%-24s %s", who, tr.To)
	if tr.Note != "" {
		return fmt.Sprintf("%-24s %s: %s", who, strings.ReplaceAll(string(tr.Note), "_", " "), tr.Reason)
	}
	if tr.To == event.Running && tr.Attempt > 1 {
		line += fmt.Sprintf(" #%d", tr.Attempt)
	}
	if tr.Reason != "" && tr.To != event.Running {
		line += " (" + tr.Reason + ")"
	}
	return line
}

// local runs it on SQLite.
func (p program) local(t *testing.T, speed time.Duration) string {
	t.Helper()
	began := time.Now()
	w := &virtual{}
	e, err := local.Open(t.TempDir(), local.Options{Factory: factory, Events: awaited, Executor: w.hurried(speed), Clock: quick{began, speed}})
	if err != nil {
		t.Fatal(err)
	}
	w.ask = e.Ask
	defer e.Close()
	run, err := e.Start(context.Background(), p.start())
	if err != nil {
		t.Fatal(err)
	}
	r := view.New(p.Workflow(p.start().Header.Workflow))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	end, err := e.Drive(ctx, run, func(events []event.Event, reaction *event.Reaction, _ bool) { r.Apply(events, reaction) })
	if err != nil {
		t.Fatal(err)
	}
	return result(r, end)
}

// result is how a run ended: the status of each node, and the outputs.
func result(r *view.Run, end event.End) string {
	var b strings.Builder
	b.WriteString("----\n")
	r.Each(func(n *view.Node, _ int) {
		fmt.Fprintf(&b, "%-24s %s", n.Path, n.Status)
		if n.Result != nil && n.Result.Error != nil {
			fmt.Fprintf(&b, " %s %s", n.Result.Error.Kind, n.Result.Error.Reason)
		}
		b.WriteString("\n")
	})
	fmt.Fprintf(&b, "run %s", end.Status)
	if end.Error != nil {
		fmt.Fprintf(&b, ": %s", end.Error.Message)
	}
	b.WriteString("\n")
	for _, k := range value.Keys(end.Outputs) {
		fmt.Fprintf(&b, "%s = %s\n", k, value.Text(end.Outputs[k]))
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("what is seen has changed (-want +got):\n%s", d)
	}
}

func factory(h journal.Header, definition []byte) (engine.Machine, error) {
	p, err := ir.Load(definition)
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, h.Workflow)
	if err != nil {
		return nil, err
	}
	return machine.New(g, expr.NewEvaluator(ir.RulesOf(h.Behaviour)), ir.RulesOf(h.Behaviour)), nil
}

// awaited are the names of the events that a run waits for.
func awaited(definition []byte, first event.RunStarted) ([]string, error) {
	p, err := ir.Load(definition)
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, first.Workflow)
	if err != nil {
		return nil, err
	}
	return g.Events(), nil
}

// behave plays the world. An agent's task says in with what it does: takes (seconds), fails (so many attempts), kind,
// recalls (so many entries), costs (dollars), judged (what an agent who judges it says). A
// program is one of: say WORDS; sleep SECONDS; exit CODE; flaky N (fails until attempt N); read (prints its input). A benchmark of
// a program that says a number measures that number; the store answers ask with the baseline.
func (w *virtual) behave(a event.Attempt) (event.AttemptFinished, time.Duration) {
	f := event.AttemptFinished{Ticket: a.Ticket, Node: a.Node, Attempt: a.Attempt, Gate: a.Gate, Compensate: a.Compensate, Outcome: event.OK}
	seconds, code, kind := 0.0, 0, event.Recoverable
	switch {
	case a.Agent != nil:
		with, _ := a.Agent.With.(map[string]any)
		seconds, _ = with["takes"].(float64)
		if fails, _ := with["fails"].(float64); a.Attempt <= int(fails) {
			code = 1
		}
		if k, ok := with["kind"].(string); ok {
			kind = event.ErrorKind(k)
		}
		f.Output = map[string]any{"agent": a.Agent.Name, "feedback": a.Agent.Feedback, "attempt": float64(a.Attempt), "with": a.Agent.With}
		if a.Agent.Type == string(ir.AgentNull) {
			f.Output = a.Agent.With
		}
		if result, judges := with["result"].(map[string]any); judges {
			f.Output = result["output"].(map[string]any)["with"].(map[string]any)["judged"]
		}
		if costs, _ := with["costs"].(float64); costs > 0 {
			f.Usage = &event.Usage{CostUSD: costs}
		}
		if recalls, _ := with["recalls"].(float64); recalls > 0 {
			f.Recalled = make([]event.Recalled, int(recalls))
			for i := range f.Recalled {
				f.Recalled[i] = event.Recalled{ID: fmt.Sprintf("M-%d", i), Type: "insight", Score: 0.5}
			}
		}
	case a.Remember != nil:
		f.Output = map[string]any{"id": "M-0", "known": false}
	case a.Recall != nil: // what the file of the construct has remembered
		f.Output = map[string]any{"count": 1.0, "text": "", "items": []any{map[string]any{"id": "M-0", "type": "insight", "agent": "", "text": "",
			"lesson": "Run the linter before the tests of the billing service.", "tags": []any{"billing", "tests"}, "created_at": "", "score": 0.5}}}
	case a.Notify != nil: // a file in the folder missing cannot be written
		lists := map[string]any{"sent": []any{}, "suppressed": []any{}, "failed": []any{}}
		for i := range a.Notify.To {
			fate := "sent"
			if strings.HasPrefix(a.Notify.To[i].Path, "missing/") {
				fate, seconds, f.Warning = "failed", 3, "the message did not reach each channel"
			}
			lists[fate] = append(lists[fate].([]any), a.Notify.To[i].Name)
		}
		if f.Output = lists; len(lists["failed"].([]any)) == len(a.Notify.To) {
			f.Outcome, f.Output, f.Warning = event.Failed, nil, ""
			f.Error = &event.Error{Kind: event.Transient, Reason: event.ReasonUnexplained, Message: "the message reached no channel", ExitCode: -1}
		}
	case a.HTTP != nil:
		f.Output = map[string]any{"status": 200.0, "headers": map[string]any{}, "body": a.HTTP.Method + " " + a.HTTP.URL}
	case len(a.Argv) > 0:
		number := 0.0
		if len(a.Argv) > 1 {
			number, _ = strconv.ParseFloat(a.Argv[1], 64)
		}
		switch a.Argv[0] {
		case "say":
			f.Stdout = strings.Join(a.Argv[1:], " ") + "\n"
		case "sleep":
			seconds = number
		case "exit":
			code = int(number)
		case "fail":
			code, f.Stderr = int(number), strings.Join(a.Argv[2:], " ")+"\n"
		case "flaky":
			if a.Attempt < int(number) {
				code = 1
			}
		}
		f.ExitCode = &code
		if b := a.Benchmark; b != nil {
			samples := []float64{}
			if _, err := fmt.Sscanf(f.Stdout, b.Metric+"=%f", &number); err == nil {
				samples = slices.Repeat([]float64{number}, b.Samples)
			}
			benchmark.Finish(context.Background(), w.ask, &a, &f, samples)
		}
	}
	if code != 0 {
		f.Outcome, f.Output = event.Failed, nil
		f.Error = &event.Error{Kind: kind, Reason: event.ReasonExit, Message: fmt.Sprintf("exit code %d", code), ExitCode: code}
	}
	took := time.Duration(seconds * float64(time.Second))
	if a.Timeout > 0 && took > a.Timeout {
		took = a.Timeout
		f.Outcome, f.Output, f.ExitCode = event.Failed, nil, nil
		f.Error = &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, Message: "its time is up", ExitCode: -1}
	}
	return f, took
}

// virtual is the world of the simulation.
type virtual struct{ ask benchmark.Ask }

func (w *virtual) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	return w.behave(a)
}

// Holds evaluates the condition of a breaker.
func (w *virtual) Holds(run string, condition *event.Late) (bool, error) {
	x := secret.New(nil, nil)
	x.Hold(nil, expr.NewEvaluator(ir.NewestRules()))
	return x.Holds(run, condition)
}

// realTime is an executor that evaluates conditions, too.
type realTime struct {
	executor.Func
	*virtual
}

// hurried is the same world in real time, which goes faster.
func (w *virtual) hurried(speed time.Duration) executor.Executor {
	return realTime{virtual: w, Func: func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		f, took := w.behave(a)
		select {
		case <-time.After(took / speed):
		case <-ctx.Done():
			f.Outcome, f.Output, f.ExitCode = event.Failed, nil, nil
			f.Error = &event.Error{Kind: event.Transient, Reason: event.ReasonCancelled, Message: "it was cancelled", ExitCode: -1}
		}
		return f
	}}
}

// quick is a clock that goes faster.
type quick struct {
	began time.Time
	speed time.Duration
}

func (q quick) Now() time.Time { return q.began.Add(time.Since(q.began) * q.speed) }

func (q quick) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d / q.speed)
	return t.C, func() { t.Stop() }
}
