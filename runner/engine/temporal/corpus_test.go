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

	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
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
}{
	{"one_after_the_other", chain(4), 0},
	{"many_at_once", many(20), 0},
	{"continued", chain(12), 10},
	{"waits", `workflow "w" {
  sequence "all" {
    step "pause" {
      wait { duration = "1s" }
    }
    step "say" { run = ["say"] }
  }
}`, 0},
	{"retries", `workflow "w" {
  step "falter" {
    run = ["falter"]
    retry { max_attempts = 3 }
  }
}`, 0},
	{"calls", `workflow "w" {
  default = true
  step "all" {
    for_each = range(3)
    call     = workflow.x
  }
}
workflow "x" {
  step "say" { run = ["say"] }
}`, 0},
}

// TestHistories replays each recorded history: this release must ask the server for the same things, in the same order, under the same ids,
// as the release that recorded it. Else a worker of this release could not go on with the runs of the other.
func TestHistories(t *testing.T) {
	for _, r := range recorded {
		t.Run(r.name, func(t *testing.T) {
			file := filepath.Join(recordings, r.name+".gz")
			if _, err := os.Stat(file); os.IsNotExist(err) && *makeHistories {
				record(t, file, r.program, r.soft)
			}
			list := recording(t, file)
			events := 0
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
	for _, one := range recording(t, filepath.Join(recordings, "one_after_the_other.gz")) {
		if _, err := temporal.Replay(temporal.Options{Machines: other{&runner.Programs{}}}, one, nil); !errors.Is(err, engine.ErrDiverged) {
			t.Errorf("another program replays with %v", err)
		}
	}
}

// other reads "say" as "sag".
type other struct{ *runner.Programs }

func (o other) Machine(h journal.Header, definition []byte) (engine.Machine, error) {
	definition = bytes.ReplaceAll(definition, []byte(`"say"`), []byte(`"sag"`))
	h.Definition = ir.Hash(definition)
	return o.Programs.Machine(h, definition)
}

// record runs a program on the server and keeps the histories of the run.
func record(t *testing.T, file, program string, soft int) {
	t.Helper()
	needServer(t)
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Soft: soft, Tune: func(o *client.Options) { o.Identity = "recorder" }})
	serve(t, h, executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished { return script(a) }), 4)
	id, err := h.Start(t.Context(), begin(parse(t, program)))
	if err != nil {
		t.Fatal(err)
	}
	if end, err := h.Drive(t.Context(), id, nil); err != nil || end.Status != event.Succeeded {
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
