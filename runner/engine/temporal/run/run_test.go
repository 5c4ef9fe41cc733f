package run_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// story is what can be seen of runs: the last status of each node and how often it was tried, and the ends, by the workflow.
type story map[string]string

// recorder keeps the journals of runs.
type recorder struct {
	mu      sync.Mutex
	batches map[string][]journal.Batch
	headers map[string]engine.Start
}

func (r *recorder) factory(p *runner.Programs) machines { return machines{p, r} }

// machines are those of a program.
type machines struct {
	*runner.Programs
	*recorder
}

func (m machines) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.headers[h.Run] = engine.Start{Header: h, Definition: definition}
	return m.Programs.Machine(h, definition)
}

// tell replays the journals.
func tell(t *testing.T, p *runner.Programs, h journal.Header, definition []byte, batches []journal.Batch, to story) {
	t.Helper()
	m, err := p.Machine(h, definition)
	if err != nil {
		t.Fatal(err)
	}
	f := engine.NewFold(h, m)
	var out event.Reaction
	tries, seen := map[string]int{}, map[string]bool{}
	for _, b := range batches {
		if _, err := f.Replay(b, &out); err != nil {
			t.Fatal(err)
		}
		for _, c := range out.Commands {
			if c.Start != nil && !seen[c.Start.Key] { // a driver asks again for what was not handed out
				seen[c.Start.Key] = true
				tries[c.Start.Node]++
			}
		}
		for _, x := range out.Transitions {
			if x.Node != "" {
				to[h.Run+" "+x.Node] = fmt.Sprintf("%s after %d", x.To, tries[x.Node])
			}
		}
	}
	if f.End() == nil {
		t.Fatalf("run %s of %s has not ended", h.Run, h.Workflow)
	}
	end := fmt.Sprint(f.End().Status, " ", f.End().Outputs)
	if e := f.End().Error; e != nil { // of several nodes that fail at once, any may be the first
		end += fmt.Sprint(" ", e.Kind, " ", e.Reason)
	}
	to[h.Run+" ends"] = end
}

// script answers attempts by their names alone: some fail at first.
func script(a event.Attempt) event.AttemptFinished {
	f := executor.Answer(a)
	f.Outcome, f.Stdout = event.OK, "text of "+a.Name
	if a.Parse == string(ir.ParseJSON) {
		f.Stdout = `{"n": 1}`
	}
	if a.Agent != nil {
		f.Stdout, f.Output = "", a.Agent.With
		if f.Output == nil {
			f.Output = map[string]any{"said": a.Agent.Name}
		}
	}
	if a.HTTP != nil {
		f.Stdout, f.Output = "", map[string]any{"status": 200.0, "headers": map[string]any{}, "body": map[string]any{"n": 1.0}}
	}
	code := 0
	if len(a.Name)%3 == 0 && a.Attempt == 1 && a.Gate == "" {
		code = 1
		executor.Fail(&f, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1})
	}
	f.ExitCode = &code
	return f
}

type world struct{}

func (world) Attempt(a event.Attempt, _ *rand.Rand) (event.AttemptFinished, time.Duration) {
	return script(a), 0
}
func (world) Holds(string, *event.Late) (bool, error) { return true, nil }

type nothing struct{}

func (nothing) Debug(string, ...any) {}
func (nothing) Info(string, ...any)  {}
func (nothing) Warn(string, ...any)  {}
func (nothing) Error(string, ...any) {}

var _ log.Logger = nothing{}

func start(p *ir.Program, workflow string) engine.Start {
	definition := p.Canonical()
	return engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: workflow, Run: "run-1", Created: 1},
		Definition: definition, First: event.RunStarted{Run: "run-1", Workflow: workflow, Dir: work.Root}}
}

// largeHistory, in place of a number of events, lets an execution continue because of the size of its history.
const largeHistory = -1

// onTemporal runs a workflow in the SDK's test environment, each execution of which continues in another one after soft events.
func onTemporal(t *testing.T, s engine.Start, x executor.Func, soft int, signals func(*testsuite.TestWorkflowEnvironment)) (story, int) {
	t.Helper()
	r := &recorder{batches: map[string][]journal.Batch{}, headers: map[string]engine.Start{}}
	programs := &runner.Programs{}
	carried, err := wire.NewStart(s)
	if err != nil {
		t.Fatal(err)
	}
	arg, err := wire.Encode(carried)
	if err != nil {
		t.Fatal(err)
	}
	executions := 0
	for again := true; again; executions++ {
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(nothing{})
		env := suite.NewTestWorkflowEnvironment()
		env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: s.Header.Run, TaskQueue: "q"})
		env.SetTestTimeout(time.Minute)
		env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
		host := &run.Host{Machines: r.factory(programs), Soft: max(soft, 0), Bare: true}
		env.RegisterWorkflowWithOptions(func(ctx workflow.Context, arg []byte) ([]byte, error) {
			id := workflow.GetInfo(ctx).WorkflowExecution.ID
			own := *host
			own.Record = func(b journal.Batch, _ event.Time) { r.batches[id] = append(r.batches[id], b) }
			return own.Workflow(ctx, arg)
		}, workflow.RegisterOptions{Name: wire.Workflow})
		w := &work.Worker{Executor: x, Workspace: "/tmp"}
		env.RegisterActivityWithOptions(w.Attempt, activity.RegisterOptions{Name: wire.Attempt})
		if soft > 0 { // the history is long as soon as an attempt has ended
			env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) { env.SetCurrentHistoryLength(10 * soft) })
		}
		if soft == largeHistory {
			env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) { env.SetCurrentHistorySize(run.HardBytes) })
		}
		if signals != nil {
			signals(env)
		}
		env.ExecuteWorkflow(wire.Workflow, arg)
		err := env.GetWorkflowError()
		var next *workflow.ContinueAsNewError
		if again = errors.As(err, &next); again {
			arg = nil
			if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &arg); err != nil {
				t.Fatal(err)
			}
		} else if err != nil {
			t.Fatal(err)
		}
	}
	to := story{}
	for id, batches := range r.batches {
		tell(t, programs, r.headers[id].Header, r.headers[id].Definition, batches, to)
	}
	return to, executions
}

// virtually runs a workflow in the simulation.
func virtually(t *testing.T, s engine.Start) story {
	t.Helper()
	programs := &runner.Programs{}
	runs := map[string]bool{}
	host := sim.New(sim.NewStore(1), sim.Options{Factory: programs.Machine, World: world{}, Watch: func(run string, _ []event.Event, _ *event.Reaction, _ bool) { runs[run] = true }})
	id, err := host.Start(t.Context(), s)
	if err == nil {
		_, err = host.Drive(t.Context(), id, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	to := story{}
	for run := range runs {
		var batches []journal.Batch
		h, definition, err := host.Journal(t.Context(), run, func(b journal.Batch) error { batches = append(batches, b); return nil })
		if err != nil {
			t.Fatal(err)
		}
		tell(t, programs, h, definition, batches, to)
	}
	return to
}

// timed are the programs in which the one that ends first decides.
var timed = []string{"end", "join_condition", "join_count", "join_unmet"}

// carried calls each with every workflow of the patterns and constructs that this host carries and that needs no values.
func carried(t *testing.T, each func(t *testing.T, p *ir.Program, s engine.Start)) {
	for _, folder := range []string{"patterns", "constructs"} {
		files, err := filepath.Glob("../../../../testdata/" + folder + "/*.hcl")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".hcl")
			if dsl.IsTest(file) || slices.Contains(timed, name) {
				continue
			}
			p, list := dsl.Load(os.DirFS(filepath.Dir(file)), filepath.Base(file), dsl.Options{})
			if list.HasErrors() {
				t.Fatal(list)
			}
			for i := range p.IR.Workflows {
				w := &p.IR.Workflows[i]
				s := start(p.IR, w.Name)
				var needs bool
				s.First.Inputs, needs = defaults(w.Inputs, needs)
				s.First.Vars, needs = defaults(p.IR.Variables, needs)
				if !needs && !slices.Contains(sharing, filepath.Base(name)+" "+w.Name) && temporal.Refuse(p.IR, w.Name, &s.First) == nil {
					t.Run(name+"/"+w.Name, func(t *testing.T) { each(t, p.IR, s) })
				}
			}
		}
	}
}

func defaults(of []ir.Variable, needs bool) (map[string]value.Value, bool) {
	values := map[string]value.Value{}
	for _, v := range of {
		values[v.Name], needs = v.Default, needs || !v.HasDefault
	}
	return values, needs
}

func answer(_ context.Context, a event.Attempt) event.AttemptFinished { return script(a) }

// TestCorpus runs every pattern and construct that this host carries, and compares what becomes of it with the simulation.
func TestCorpus(t *testing.T) {
	ran := 0
	carried(t, func(t *testing.T, _ *ir.Program, s engine.Start) {
		ran++
		got, _ := onTemporal(t, s, answer, 0, nil)
		if d := cmp.Diff(virtually(t, s), got); d != "" {
			t.Errorf("on Temporal it ends otherwise (-simulation +Temporal):\n%s", d)
		}
	})
	if t.Logf("%d workflows", ran); ran < 60 {
		t.Errorf("%d workflows ran: too few to mean anything", ran)
	}
}

// TestCorpusContinuesAsNew is the same for runs of which an execution has one attempt, or some at once, and the next one goes on, because the
// history has too many events or too many bytes. The test
// environment has no next execution of a called run.
func TestCorpusContinuesAsNew(t *testing.T) {
	var ran [2]int
	carried(t, func(t *testing.T, p *ir.Program, s engine.Start) {
		for n := range ir.All(p.Workflow(s.Header.Workflow).Nodes) {
			if _, calls := n.Action.(*ir.Call); calls {
				t.Skip("it calls runs")
			}
		}
		want := virtually(t, s)
		for i, soft := range []int{10, largeHistory} {
			got, executions := onTemporal(t, s, answer, soft, nil)
			ran[i] += executions - 1
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("in %d executions it ends otherwise (-simulation +Temporal):\n%s", executions, d)
			}
		}
	})
	if t.Logf("%d continuations after many events, %d after many bytes", ran[0], ran[1]); min(ran[0], ran[1]) < 20 {
		t.Error("too few continuations to mean anything")
	}
}

// sharing are the workflows of the corpus that ask for what runs share, which the SDK's test environment does not have: see TestShared… of package
// temporal.
var sharing = []string{"15_instances_not_known_beforehand ship", "adapt adapts", "approve release", "await work", "breaker calls", "failed_result work", "breaker_notify calls",
	"budget_ask report", "budget_ask work", "dead_letters queue", "escalation work", "events orders", "gate_benchmark measured", "gate_review judged",
	"handoff profile", "human label", "human_pool label", "kv count", "memory learn", "notices watched", "notify watch", "on count", "on fulfil", "on order", "pauses work", "pool share",
	"quota share", "revise w", "routine count", "spending share", "sync release", "webhook listen"}
