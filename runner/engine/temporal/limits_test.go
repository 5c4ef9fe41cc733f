package temporal_test

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/memory/private"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/artifact"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var limitSteps = flag.Int("temporal.limits", 300, "steps of 8 KiB in TestLimits; the real size is 20000")

// TestLimits has a row for each thing that has wedged a run, ended it on the server, or repeated an attempt for ever while the host was tried out. Each run
// ends, each attempt is carried out once, and a run that cannot go on says which limit it has met.
func TestLimits(t *testing.T) {
	needServer(t)
	answers := func(text string) func(event.Attempt) string { return func(event.Attempt) string { return text } }
	for _, l := range []struct {
		name    string
		program string
		answer  func(event.Attempt) string
		folder  bool // workers and readers share one
		steps   int  // that are carried out
		want    event.Status
		says    string // in the error of the run
	}{
		// The server holds 2,000 pending activities of a workflow: more failed its decision for ever.
		{"2,500 steps are ready at once", strings.Replace(many(2500), "500", "2500", 1), answers("done"), false, 2500, event.Succeeded, ""},
		// A state of more than 2 MB was refused as the argument of the next execution, at each decision.
		{"outputs of 8 KiB", many(*limitSteps), text(8 << 10), true, *limitSteps, event.Succeeded, ""},
		{"outputs of 0.9 MB", chain(6), text(900_000), true, 6, event.Succeeded, ""},
		// The server ended a run whose decision had commands of more than 4 MB.
		{"20 attempts of 330 kB in one decision", wide, answers("done"), false, 20, event.Succeeded, ""},
		// An answer that the server does not take was repeated for ever.
		{"an answer of 1 MiB that nothing compresses", chain(1), text(1 << 20), false, 1, event.FailedS, "can be reported"},
		{"the same with a shared folder", chain(1), text(1 << 20), true, 1, event.Succeeded, ""},
		// At the hard bound of an execution, nothing was handed out until the longest attempt had ended.
		{"an attempt that outlives executions", besides(40), last(41), true, 41, event.Succeeded, ""},
		// Expressions that took longer than the SDK's second failed the decision for ever.
		{"expressions that take long", heavy, nil, false, 0, event.Succeeded, ""},
	} {
		t.Run(l.name, func(t *testing.T) {
			soft := 0
			if l.folder && l.steps < 100 {
				soft = 4 // so that the state is handed over
			}
			h, w := limited(t, soft, l.folder)
			var mu sync.Mutex
			times := map[string]int{}
			w.Executor = executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
				mu.Lock()
				times[a.Key]++
				mu.Unlock()
				f := executor.Answer(a)
				f.Outcome, f.Stdout = event.OK, l.answer(a)
				return f
			})
			serveWorker(t, h, w, 50)
			began := time.Now()
			b := begin(parse(t, l.program))
			b.First.Inputs = map[string]value.Value{"n": float64(730)}
			id, err := h.Start(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Duration(l.steps)*100*time.Millisecond)
			defer cancel()
			end, err := h.Drive(ctx, id, nil)
			if err != nil || end.Status != l.want || l.says != "" && (end.Error == nil || !strings.Contains(end.Error.Message, l.says)) {
				t.Fatalf("the run ended %s: %v, %v", end.Status, end.Error, err)
			}
			took := time.Since(began)
			for key, n := range times {
				if n != 1 {
					t.Errorf("%s was carried out %d times", key, n)
				}
			}
			if len(times) != l.steps {
				t.Errorf("%d attempts were carried out, not %d", len(times), l.steps)
			}
			executions, largest := histories(t, id), 0
			for _, one := range executions {
				largest = max(largest, sizeOf(one))
			}
			t.Logf("%d steps in %s, %d executions, the largest history of %d bytes; %s", l.steps, took.Round(100*time.Millisecond), len(executions), largest, memory())
			if soft != 0 && len(executions) < 2 && l.steps > 1 {
				t.Error("no state was handed over")
			}
		})
	}
}

// TestTooLargeToStart: a program that the server does not take is refused before it starts.
func TestTooLargeToStart(t *testing.T) {
	needServer(t)
	h, _ := limited(t, 0, false)
	var refused *temporal.Refused
	_, err := h.Start(t.Context(), begin(parse(t, huge)))
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "the limit is 1900000") {
		t.Errorf("it is refused with %v", err)
	}
}

// memory says how much memory the process has taken, of which the worker is one part and the reader of the run another.
func memory() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	return fmt.Sprintf("%d MiB of live heap, at most %s resident", m.HeapAlloc>>20, strings.TrimSpace(peak))
}

// limited is a host with or without a folder, and a worker for it.
func limited(t *testing.T, soft int, shares bool) (*temporal.Host, *work.Worker) {
	o := temporal.Options{Machines: &runner.Programs{}, Soft: soft}
	w := &work.Worker{Workspace: t.TempDir(), LookEvery: time.Second}
	if shares {
		dir := t.TempDir()
		var err error
		if o.Converter, err = payload.Converter(payload.Options{Files: payload.Folder(dir), Block: true}); err != nil {
			t.Fatal(err)
		}
		if o.Reader, err = payload.Converter(payload.Options{Files: payload.Folder(dir), ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		store := artifact.New(dir, disk{})
		o.Large, w.Large = true, true
		o.Artifacts = func(run string) event.Artifacts { return store.Run(run) }
		w.Keep = func(run string, p *event.Parts) (*event.Artifact, error) { return store.Run(run).Put(p) }
	}
	return dial(t, o), w
}

type disk struct{}

func (disk) Open(path string, flag int) (artifact.File, error) { return private.Open(path, flag) }
func (disk) Rename(from, to string) error                      { return os.Rename(from, to) }
func (disk) Remove(path string) error                          { return os.Remove(path) }

// text answers with text that nothing compresses, of a length.
func text(n int) func(event.Attempt) string {
	return func(a event.Attempt) string {
		seed := [32]byte{}
		copy(seed[:], a.Key)
		b := make([]byte, n/4*3)
		_, _ = rand.NewChaCha8(seed).Read(b)
		return base64.StdEncoding.EncodeToString(b)
	}
}

// last answers an attempt named "long" once all n attempts have begun.
func last(n int64) func(event.Attempt) string {
	var begun atomic.Int64
	all := make(chan struct{})
	return func(a event.Attempt) string {
		if begun.Add(1) == n {
			close(all)
		}
		if a.Name == "long" {
			<-all
		}
		return "done"
	}
}

// noise is a text that takes n bytes once it is compressed, in lines.
func noise(n int) string {
	long := text(n / 3 * 4)(event.Attempt{})
	var b strings.Builder
	b.WriteString("<<EOT\n")
	for line := range slices.Chunk([]byte(long), 1000) {
		b.Write(line)
		b.WriteString("\n")
	}
	b.WriteString("EOT\n")
	return b.String()
}

var (
	// wide has attempts at once that are given a long text each.
	wide = fmt.Sprintf(`workflow "w" {
  max_concurrency = 500
  step "text" {
    value = %s
  }
  step "all" {
    for_each = range(20)
    run      = ["say"]
    stdin    = step.text.output
  }
}`, noise(330_000))

	// huge is longer than what a server takes.
	huge = fmt.Sprintf("workflow \"w\" {\n  step \"a\" {\n    value = %s\n  }\n  step \"b\" {\n    value = %s\n  }\n  step \"c\" {\n    value = %s\n  }\n}\n",
		noise(700_000), noise(700_300), noise(700_600))

	// heavy has values that take millions of steps of the evaluator, in one event.
	heavy = func() string {
		var b strings.Builder
		b.WriteString("workflow \"w\" {\n  input \"n\" {\n    type    = number\n    default = 730\n  }\n")
		for i := range 5 {
			fmt.Fprintf(&b, "  step \"s%d\" {\n    value = length([for a in range(input.n) : a if length([for b in range(900) : b if b < a - 9999]) > 0])\n  }\n", i)
		}
		return b.String() + "}\n"
	}()
)
