package temporal_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	rules "github.com/flowrun/flowrun/runner/engine/temporal/share"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// TestTroubled: a run whose payloads this process cannot read hides no other, and each says what it misses.
func TestTroubled(t *testing.T) {
	needServer(t)
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	key, err := payload.ParseKey(base64.StdEncoding.EncodeToString(secret))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := payload.Converter(payload.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	open, err := payload.Converter(payload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	programs, queue := &runner.Programs{}, engine.NewID()
	plain := dial(t, temporal.Options{Machines: programs, Queue: queue, Converter: open, Reader: open})
	want := map[string]string{}
	for _, x := range []struct {
		*temporal.Host
		says string
	}{{dial(t, temporal.Options{Machines: programs, Queue: queue, Converter: sealed, Reader: sealed}), "set " + payload.KeyEnv}, {plain, "no worker takes work from the queue " + queue}} {
		run, err := x.Start(t.Context(), begin(parse(t, chain(1))))
		if err != nil {
			t.Fatal(err)
		}
		defer terminate(t, run)
		want[run] = x.says
	}
	left := ""
	for range 200 { // a server lists runs a moment later
		list, err := plain.Troubled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]engine.Info{}
		for _, i := range list {
			said[i.Run] = i
		}
		left = ""
		for run, says := range want {
			i := said[run]
			if !strings.Contains(i.Trouble, says) {
				left += "; " + run + " says " + i.Trouble + ", want " + says
			}
			if q := temporal.UnservedQueue(&i); i.Trouble != "" && (q == queue) != strings.Contains(i.Trouble, queue) {
				t.Fatalf("the queue of %q is %q", i.Trouble, q)
			}
		}
		if left == "" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error(left)
}

// TestUntaken: a run says that an attempt of it has no worker, until one takes the attempt.
func TestUntaken(t *testing.T) {
	needServer(t)
	h := dial(t, temporal.Options{Machines: &runner.Programs{}})
	stop, err := h.ServeDecisions()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	run, err := h.Start(t.Context(), begin(parse(t, chain(1))))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			terminate(t, run)
		}
	}()
	says := func(want string) {
		t.Helper()
		var i engine.Info
		for range 600 {
			if i, err = h.Get(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if i.Trouble == want {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("run %s is %s and says %q, want %q", run, i.Status, i.Trouble, want)
	}
	says("a step waits: no worker of the queue " + h.Queue() + " takes attempts, start one")
	serve(t, h, executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		f, _ := engine.AnswerNull(&a, event.At(time.Now()))
		return f
	}), 1)
	if end, err := h.Drive(t.Context(), run, nil); err != nil || end.Status != event.Succeeded {
		t.Errorf("the run ended %s (%v)", end.Status, err)
	}
	says("")
}

// TestOlderWorker: a worker of a release that is older than what runs share does not begin to serve. Where it serves already, a person hears the reason.
func TestOlderWorker(t *testing.T) {
	needServer(t)
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Store: engine.NewID()})
	arg, err := wire.Encode(&wire.Shared{Store: h.StoreName(), Rules: rules.Rules + 1})
	if err != nil {
		t.Fatal(err)
	}
	id := wire.ShareID(h.StoreName())
	_, err = newClient(t).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: wire.ShareQueue(h.StoreName())}, wire.Share, arg)
	if err != nil {
		t.Fatal(err)
	}
	defer terminate(t, id)
	const says = "a newer release has taken over the shared state"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = h.Serve(ctx, &work.Worker{Workspace: t.TempDir()}, temporal.WorkerOptions{})
	if err == nil || !strings.Contains(err.Error(), says) || !temporal.IsOlder(err) {
		t.Errorf("the worker says %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- h.ServeShared(ctx) }()
	_, err = h.Ask(ctx, event.StoreRequest{Emit: &event.EmitRequest{Name: "e"}})
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("a person hears %v", err)
	}
	cancel()
	<-done
}
