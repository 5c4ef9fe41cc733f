package temporal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	testfiles "github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/flowtest"
	"github.com/flowrun/flowrun/runner/journal"
)

// aims are how long a test of the library takes on the server, in the first try and those after it: the time of its runs goes as fast as that.
// What depends on which of two things is first needs a slower world on a busy computer: in a test of two hours a minute is half a second of the third try.
var aims = []time.Duration{4 * time.Second, 20 * time.Second, time.Minute, 4 * time.Minute}

// TestLibrary carries out the tests of all patterns, constructs and workflows of the library on a real server, with the answers that their stubs give in
// virtual time. However they run, each node ends with the same status after the same number of attempts, and each run with the same outputs.
func TestLibrary(t *testing.T) {
	needServer(t)
	var agree, differ, refused, other, programs atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, folder := range []string{"testdata/patterns", "testdata/constructs", "workflows/..."} {
			files, err := testfiles.Tests([]string{filepath.Join("../../..", folder)})
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".flowtest.hcl")
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					loaded, list := dsl.LoadTests(os.DirFS(filepath.Dir(file)), filepath.Base(file), dsl.Options{})
					if list.HasErrors() {
						t.Fatal(list)
					}
					programs.Add(1)
					p := flowtest.NewProgram(loaded.IR)
					for i := range loaded.Tests {
						spec := &loaded.Tests[i]
						switch why, err := carriedOut(t, loaded.IR, p, spec); {
						case errors.Is(err, engine.ErrRefused):
							refused.Add(1)
						case err != nil:
							t.Errorf("%s: %v", spec.Name, err)
							differ.Add(1)
						case why != "":
							other.Add(1)
						default:
							agree.Add(1)
						}
					}
				})
			}
		}
	})
	t.Logf("%d programs: %d tests end alike, %d otherwise; %d are refused, %d concern loops, people, kills or clocks", programs.Load(), agree.Load(), differ.Load(), refused.Load(), other.Load())
	if agree.Load() < 150 {
		t.Error("too few to mean anything")
	}
}

// clocked are tests that hold only where nothing but the stubs takes time: they count rounds in a time, the first of many runs has something, or what they
// store has the date of the test.
var clocked = []string{
	"A node has a time in all, retries and waits included",
	"a run that waits for a version continues once CI has noted that it is deployed",
	"after five failures calls fail at once, one probe follows the reset, and its success closes the breaker",
	"of 64 runs one has the claim, and the others learn who",
	"one of five has the claim, and the others learn who",
	"a job that never ends is given up after an hour",
	"a paused worker takes no task for five minutes, and then it does; the others continue",
	"without the prices the last ones take their place, and everyone hears how old they are",
}

// carriedOut carries out a test. why says why there is nothing to compare.
func carriedOut(t *testing.T, p *ir.Program, tested *flowtest.Program, spec *ir.Test) (why string, err error) {
	if len(spec.Loops) > 0 || spec.RunFor != 0 {
		return "it runs for some time", nil
	}
	if slices.Contains(clocked, spec.Name) {
		return "it needs a clock of its own", nil
	}
	for _, m := range spec.Moments {
		if m.Kind != ir.AskMoment && m.Kind != ir.StartMoment {
			return "it lets a person or a machine do something", nil
		}
	}
	for try := 0; ; try++ {
		trace := flowtest.Follow(t.Context(), tested, spec, engine.NewID())
		for i := range trace.Starts {
			s := &trace.Starts[i]
			s.First.Dir, s.Header.Format = work.Root, journal.Format
			if err := temporal.Refuse(p, s.Header.Workflow, &s.First); err != nil {
				return "", err
			}
		}
		for _, f := range trace.Failures {
			if f.Kind != flowtest.Unmet { // the moments of its chance are others, with other ids of runs
				return "", fmt.Errorf("in virtual time: %v", f)
			}
		}
		want, _, err := ends(t.Context(), trace, trace.Journal)
		if err != nil {
			return "", err
		}
		var got map[string]string
		if got, err = onServer(t, p, spec, trace, aims[try]); err == nil {
			difference := cmp.Diff(want, got)
			if difference == "" {
				return "", nil
			}
			err = fmt.Errorf("on Temporal it ends otherwise (-virtual +Temporal):\n%s", difference)
		}
		if try == len(aims)-1 {
			return "", err
		}
	}
}

// ends are the last statuses of nodes and the numbers of their attempts, and the ends of runs. all is false if a run has not ended.
func ends(ctx context.Context, trace *flowtest.Trace, read func(ctx context.Context, run string, each func(journal.Batch) error) (journal.Header, []byte, error)) (to map[string]string, all bool, err error) {
	to, all = map[string]string{}, true
	for _, run := range trace.Runs {
		var batches []journal.Batch
		h, definition, err := read(ctx, run, func(b journal.Batch) error { batches = append(batches, b); return nil })
		if errors.Is(err, engine.ErrNoRun) {
			to[run+" ends"] = "it is not there"
			continue
		}
		if err != nil {
			return nil, false, err
		}
		m, err := (&runner.Programs{}).Machine(h, definition)
		if err != nil {
			return nil, false, err
		}
		f := engine.NewFold(h, m)
		var out event.Reaction
		tries, seen := map[string]int{}, map[uint64]bool{}
		for _, b := range batches {
			if _, err := f.Replay(b, &out); err != nil {
				return nil, false, err
			}
			for _, c := range out.Commands {
				if c.Start != nil && !seen[c.Start.Ticket] {
					seen[c.Start.Ticket] = true
					tries[c.Start.Node] = max(tries[c.Start.Node], c.Start.Attempt)
				}
			}
			for _, x := range out.Transitions {
				if x.Node != "" {
					to[run+" "+x.Node] = fmt.Sprintf("%s after %d", x.To, tries[x.Node])
				}
			}
		}
		end := f.End()
		if end == nil {
			all = false
			continue
		}
		to[run+" ends"] = fmt.Sprintf("%s with %s", end.Status, value.Append(nil, map[string]any(end.Outputs)))
		if e := end.Error; e != nil { // of several nodes that fail at once, any may be the first
			to[run+" ends"] += fmt.Sprint(" ", e.Kind, " ", e.Reason)
		}
	}
	return to, all, nil
}

// traced is an executor that answers as the stubs of a test did.
type traced struct {
	*flowtest.Trace
	times int

	mu      sync.Mutex
	tickets map[any][]uint64
	unknown []string
}

// Holds implements executor.Judge.
func (x *traced) Holds(run string, condition *event.Late) (bool, error) {
	judge := secret.New(nil, nil)
	judge.Hold(nil, expr.NewEvaluator(ir.NewestRules()))
	return judge.Holds(run, condition)
}

func (x *traced) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	x.mu.Lock()
	same := flowtest.Same(&a)
	n := slices.Index(x.tickets[same], a.Ticket)
	if n < 0 {
		n = len(x.tickets[same])
		x.tickets[same] = append(x.tickets[same], a.Ticket)
	}
	f, took, known := x.Answer(&a, n)
	if !known {
		x.unknown = append(x.unknown, fmt.Sprintf("%s, attempt %d %s", a.Node, a.Attempt, a.Gate))
	}
	x.mu.Unlock()
	if !known {
		f = executor.Answer(a)
		executor.Fail(&f, &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: "the test has no such attempt"})
	}
	if a.Timeout > 0 && took > a.Timeout {
		took = a.Timeout
		partial := f.Partial
		f = executor.Answer(a)
		f.Partial = partial
		executor.Fail(&f, &event.Error{Kind: event.Transient, Reason: event.ReasonTimeout, ExitCode: -1, Message: "it exceeded its timeout of " + a.Timeout.String()})
	}
	select {
	case <-time.After(took / time.Duration(x.times)):
	case <-ctx.Done():
		f = executor.Answer(a)
		executor.Fail(&f, executor.WasCancelled())
	}
	f.StartedAt = 0
	return f
}

// onServer does what a test did, in a time that goes so fast that the test takes about as long as the aim.
func onServer(t *testing.T, p *ir.Program, spec *ir.Test, trace *flowtest.Trace, aim time.Duration) (map[string]string, error) {
	times := max(1, int(trace.Elapsed/aim))
	s := runner.New(runner.Options{Remote: true})
	o := temporal.Options{Store: engine.NewID(), Clock: wire.Clock{From: time.Now(), Times: times}, Heartbeat: 20 * time.Second, Task: 10 * time.Second, Machines: s, Group: s.Group, Events: s.Events}
	h := dial(t, o)
	s.Attach(h)
	x := &traced{Trace: trace, times: times, tickets: map[any][]uint64{}}
	served := temporal.WorkerOptions{Queues: []string{h.Queue()}, Slots: 200}
	if p.Memory != nil { // the steps that use it wait for a worker that has it, and agents ask that worker
		served.Memory = &temporal.MemoryOptions{Folder: t.TempDir(), Learn: func(context.Context, string) error { return nil },
			Answer: func(context.Context, string, string, []byte) ([]byte, error) {
				return nil, errors.New("the memory of a test is empty")
			}}
	}
	defer serveBy(t, h, &work.Worker{Executor: x, Workspace: t.TempDir()}, served)()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+aim)
	defer cancel()
	err := flowtest.Stored(spec, func(namespace, key string, v value.Value) error {
		_, err := h.Ask(ctx, event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVSet, Namespace: namespace, Key: key, Value: v}})
		return err
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	for _, start := range trace.Starts {
		time.Sleep(time.Until(begun.Add(start.After / time.Duration(times))))
		if _, err := h.Start(ctx, start.Start); err != nil {
			return nil, err
		}
	}
	for _, start := range trace.Starts {
		if _, err := h.Drive(ctx, start.Header.Run, nil); err != nil {
			return nil, fmt.Errorf("the run of %s: %w", start.Header.Workflow, err)
		}
	}
	for {
		to, all, err := ends(ctx, trace, h.Journal)
		if err == nil && len(x.unknown) > 0 {
			err = fmt.Errorf("asked for what the test does not have: %s", strings.Join(x.unknown, "; "))
		}
		if err != nil || all || ctx.Err() != nil {
			return to, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
