package temporal_test

import (
	"cmp"
	"context"
	"flag"
	"log/slog"
	"testing"
	"testing/fstest"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// server is the address of a real server, as testdata/devserver prints it. Without it, the tests that need one are skipped:
//
//	go test ./runner/engine/temporal -temporal.server 127.0.0.1:7233
var server = flag.String("temporal.server", "", "HOST:PORT of a Temporal server for the tests that need a real one")

// needServer skips a test without a server.
func needServer(t *testing.T) {
	t.Helper()
	if *server == "" {
		t.Skip("no server: -temporal.server HOST:PORT")
	}
}

// dial connects to the server. The queue is the test's own.
func dial(t *testing.T, o temporal.Options) *temporal.Host {
	t.Helper()
	o.HostPort, o.Queue = *server, cmp.Or(o.Queue, engine.NewID())
	h, err := temporal.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// serve starts a worker, which ends with the test or by the function.
func serve(t *testing.T, h *temporal.Host, x executor.Executor, slots int) (stop func()) {
	t.Helper()
	return serveIn(t, h, x, slots, t.TempDir())
}

// serveIn is serve for a worker with a workspace.
func serveIn(t *testing.T, h *temporal.Host, x executor.Executor, slots int, workspace string) (stop func()) {
	t.Helper()
	return serveWorker(t, h, &work.Worker{Executor: x, Workspace: workspace}, slots)
}

// serveWorker is serve for a worker that is made.
func serveWorker(t *testing.T, h *temporal.Host, w *work.Worker, slots int) (stop func()) {
	t.Helper()
	return serveBy(t, h, w, temporal.WorkerOptions{Queues: []string{h.Queue()}, Slots: slots})
}

// serveBy is serveWorker with all options.
func serveBy(t *testing.T, h *temporal.Host, w *work.Worker, o temporal.WorkerOptions) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- h.Serve(ctx, w, o)
	}()
	stopped := false
	stop = func() {
		if cancel(); !stopped {
			stopped = true
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// parse loads a program.
func parse(t *testing.T, text string) *ir.Program {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"test.hcl": {Data: []byte(text)}}, "test.hcl", dsl.Options{})
	if list.HasErrors() {
		t.Fatal(list)
	}
	return p.IR
}

// begin is the start of a run of the first workflow of a program, by name.
func begin(p *ir.Program) engine.Start {
	definition, w := p.Canonical(), p.Workflows[0].Name
	return engine.Start{Header: journal.Header{Format: journal.Format, Behaviour: ir.Behaviour, Definition: ir.Hash(definition), Workflow: w},
		Definition: definition, First: event.RunStarted{Workflow: w, Dir: work.Root}}
}

// histories are those of the executions of a run, in order.
func histories(t *testing.T, id string) (list []*history.History) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: *server, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		t.Fatal(err)
	}
	for next := d.GetWorkflowExecutionInfo().GetFirstRunId(); next != ""; {
		h := &history.History{}
		for i := c.GetWorkflowHistory(ctx, id, next, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); i.HasNext(); {
			e, err := i.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.Events = append(h.Events, e)
		}
		list = append(list, h)
		next = h.Events[len(h.Events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return list
}

func sizeOf(h *history.History) (bytes int) {
	for _, e := range h.Events {
		bytes += e.Size()
	}
	return bytes
}

// terminate ends a run on the server, as an operator may do it.
func terminate(t *testing.T, run string) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: *server, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.TerminateWorkflow(t.Context(), run, "", "for a test"); err != nil {
		t.Fatal(err)
	}
}
