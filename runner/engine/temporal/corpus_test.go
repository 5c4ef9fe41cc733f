package temporal_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// The histories of runs that were recorded on a real server. They are kept: what is there is not written again.
var makeHistories = flag.Bool("histories.make", false, "record the histories that are missing; needs -temporal.server")

const recordings = "../../../testdata/histories"

// recorded are the programs whose runs stand in the corpus: one for each thing that the workflow asks of the server.
var recorded = []struct {
	name, program string
	soft          int // 0: that of all runs
	meanwhile     func(t *testing.T, r *recorder)
	rules         int // of the start, at least
}{
	{"one_after_the_other", chain(4), 0, nil, 0},
	{"many_at_once", many(20), 0, nil, 0},
	{"continued", chain(12), 10, nil, 0},
	{"waits", `workflow "w" {
  sequence "all" {
    step "pause" {
      wait { duration = "1s" }
    }
    step "say" { run = ["say"] }
  }
}`, 0, nil, 0},
	{"retries", `workflow "w" {
  step "falter" {
    run = ["falter"]
    retry { max_attempts = 3 }
  }
}`, 0, nil, 0},
	{"calls", `workflow "w" {
  default = true
  step "all" {
    for_each = range(3)
    call     = workflow.x
  }
}
workflow "x" {
  step "say" { run = ["say"] }
}`, 0, nil, 0},
	{"detached", besides(24), 10, func(t *testing.T, r *recorder) {
		r.await(t, "the run does not go on", func() bool { return r.shorts == 24 })
		close(r.release)
	}, 2},
	{"detached_cancelled", besides(24), 10, func(t *testing.T, r *recorder) {
		r.await(t, "the run does not go on", func() bool { return r.shorts == 24 })
		awaitDetached(t, r.host, r.run)
		if err := r.host.Cancel(t.Context(), r.run, "for a test"); err != nil {
			t.Fatal(err)
		}
	}, 2},
	{"detached_given_back", besides(24), 10, func(t *testing.T, r *recorder) {
		r.await(t, "the run does not go on", func() bool { return r.shorts == 24 })
		awaitDetached(t, r.host, r.run)
		r.stop()
		r.serve(t)
		r.await(t, "no worker begins again", func() bool { return r.begun == 2 })
		close(r.release)
	}, 2},
	{"cancelled", `workflow "w" {
  step "say" {
    run = ["say"]
  }
  step "long" {
    run = ["long"]
  }
}`, 0, func(t *testing.T, r *recorder) {
		r.await(t, "the attempt does not begin", func() bool { return r.begun == 1 })
		if err := r.host.Cancel(t.Context(), r.run, "for a test"); err != nil {
			t.Fatal(err)
		}
	}, 2},
	{"shares", `quota "two" { capacity = 2 }
workflow "w" {
  step "count" {
    for_each = range(6)
    kv { incr = "n" }
  }
  step "work" {
    for_each = range(6)
    run      = ["say"]
    quota    = quota.two
  }
}`, 0, nil, 2},
	{"calls_on", `workflow "w" {
  default = true
  sequence "all" {
    step "say" { run = ["say"] }
    step "calls" {
      for_each = range(8)
      call     = workflow.x
    }
    step "more" { run = ["say"] }
  }
}
workflow "x" {
  step "say" { run = ["say"] }
}`, 10, nil, 2},
}

// TestHistories replays each recorded history: this release must ask the server for the same things, in the same order, under the same ids,
// as the release that recorded it. Else a worker of this release could not go on with the runs of the other.
func TestHistories(t *testing.T) {
	for _, r := range recorded {
		t.Run(r.name, func(t *testing.T) {
			file := filepath.Join(recordings, r.name+".gz")
			if _, err := os.Stat(file); os.IsNotExist(err) && *makeHistories {
				record(t, file, r.program, r.soft, r.meanwhile)
			}
			list := recording(t, file)
			events := 0
			if rules := rulesOf(t, list[0]); rules < r.rules {
				t.Errorf("the run has rules %d", rules)
			}
			var earlier []journal.Batch // for a state whose layout is that of the release that recorded it
			for i, one := range list {
				batches, err := temporal.Replay(temporal.Options{Machines: &runner.Programs{}, Soft: r.soft}, one, earlier)
				earlier = append(earlier, batches...)
				if err != nil {
					t.Errorf("execution %d of %d does not replay: %v", i+1, len(list), err)
				}
				for _, b := range batches {
					events += b.Count
				}
			}
			if events == 0 || r.soft != 0 && len(list) < 2 {
				t.Errorf("%d executions with %d events: the recording shows nothing", len(list), events)
			}
		})
	}
}

// TestOtherHistories: a program that is read otherwise is noticed, though the kinds and the order of what it asks for are the same.
func TestOtherHistories(t *testing.T) {
	for _, name := range []string{"one_after_the_other", "detached", "detached_given_back", "shares"} {
		if _, err := temporal.Replay(temporal.Options{Machines: other{&runner.Programs{}}, Soft: 10}, recording(t, filepath.Join(recordings, name+".gz"))[0], nil); !errors.Is(err, engine.ErrDiverged) {
			t.Errorf("%s: another program replays with %v", name, err)
		}
	}
}

// TestOtherHandling: a workflow that asks for something else about a detached attempt is noticed, though all activities are the same.
func TestOtherHandling(t *testing.T) {
	plants := 0
	for _, name := range []string{"detached", "detached_cancelled"} {
		for i, one := range recording(t, filepath.Join(recordings, name+".gz")) {
			planted := false
			for _, e := range one.Events {
				if x := e.GetStartChildWorkflowExecutionInitiatedEventAttributes(); x != nil {
					x.WorkflowId, planted = "another", true
				}
				if x := e.GetSignalExternalWorkflowExecutionInitiatedEventAttributes(); x.GetSignalName() == wire.Recall {
					x.SignalName, planted = "another", true
				}
			}
			if !planted {
				continue
			}
			plants++
			if _, err := temporal.Replay(temporal.Options{Machines: &runner.Programs{}, Soft: 10}, one, nil); !errors.Is(err, engine.ErrDiverged) {
				t.Errorf("%s, execution %d: it replays with %v", name, i+1, err)
			}
		}
	}
	if plants < 3 {
		t.Errorf("%d changes were planted", plants)
	}
}

// rulesOf returns the rules of the host that the run follows.
func rulesOf(t *testing.T, first *history.History) int {
	t.Helper()
	var b []byte
	var s wire.Start
	err := converter.GetDefaultDataConverter().FromPayloads(first.Events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), &b)
	if err == nil {
		err = wire.Decode(b, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.Rules
}

// other reads "say" as "sag".
type other struct{ *runner.Programs }

func (o other) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	definition = bytes.ReplaceAll(definition, []byte(`"say"`), []byte(`"sag"`))
	h.Definition = ir.Hash(definition)
	return o.Programs.Machine(h, definition)
}

// recorder is a run that is recorded, with its worker.
type recorder struct {
	*longs
	host *temporal.Host
	run  string
	stop func()
}

func (r *recorder) serve(t *testing.T) {
	r.stop = serveWorker(t, r.host, &work.Worker{Executor: r, Workspace: t.TempDir(), LookEvery: time.Second}, 4)
}

// Execute carries out the long attempts as longs does, and the others by script.
func (r *recorder) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	f := r.longs.Execute(ctx, a)
	if a.Name != "long" {
		return script(a)
	}
	return f
}

// record runs a program on the server and keeps the histories of the run.
func record(t *testing.T, file, program string, soft int, meanwhile func(*testing.T, *recorder)) {
	t.Helper()
	needServer(t)
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Soft: soft, Store: engine.NewID(), Tune: func(o *client.Options) { o.Identity = "recorder" }})
	id, err := h.Start(t.Context(), begin(parse(t, program)))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{longs: newLongs(), host: h, run: id}
	if r.serve(t); meanwhile != nil {
		meanwhile(t, r)
	}
	if end, err := h.Drive(t.Context(), id, nil); err != nil || end.Status != event.Succeeded && end.Status != event.Cancelled {
		t.Fatalf("the run ended %s: %v, %v", end.Status, end.Error, err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for _, one := range histories(t, id) {
		if _, err := protodelim.MarshalTo(w, one); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, packed.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// script answers attempts: what falters does so at first.
func script(a event.Attempt) event.AttemptFinished {
	f := executor.Answer(a)
	f.Outcome, f.Stdout = event.OK, "said"
	if a.Name == "falter" && a.Attempt == 1 {
		executor.Fail(&f, &event.Error{Kind: event.Transient, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1})
	}
	return f
}

// recording returns the histories of a recorded run.
func recording(t *testing.T, file string) (list []*history.History) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatalf("%v\nrecord it: go test ./runner/engine/temporal -run TestHistories -histories.make -temporal.server HOST:PORT", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(z); ; {
		one := &history.History{}
		if err := protodelim.UnmarshalFrom(r, one); err == io.EOF {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
}
