package temporal_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/payload"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/journal"
)

// besides is a program with a long step beside many short ones, one after the other.
func besides(steps int) string {
	return strings.Replace(chain(steps), "workflow \"w\" {\n", "workflow \"w\" {\n  step \"long\" {\n    run = [\"long\"]\n  }\n", 1)
}

// longs carries out long attempts for as long as a test wants.
type longs struct {
	mu      sync.Mutex
	begun   int
	shorts  int
	causes  []error
	changed chan struct{} // has a token after each change
	release chan struct{} // closed: long attempts end
}

func newLongs() *longs {
	return &longs{changed: make(chan struct{}, 1), release: make(chan struct{})}
}

func (l *longs) note(f func()) {
	l.mu.Lock()
	f()
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// await waits until something holds, which changes with attempts.
func (l *longs) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.After(3 * time.Minute); ; {
		l.mu.Lock()
		ok := holds()
		l.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-l.changed:
		case <-limit:
			t.Fatalf("%s: %d long attempts began, %d short ones; causes %v", what, l.begun, l.shorts, l.causes)
		}
	}
}

func (l *longs) Execute(ctx context.Context, a event.Attempt) event.AttemptFinished {
	f := executor.Answer(a)
	f.Outcome, f.Stdout = event.OK, "said"
	if a.Name != "long" {
		l.note(func() { l.shorts++ })
		return f
	}
	l.note(func() { l.begun++ })
	select {
	case <-l.release:
		f.Stdout = "said at last"
	case <-ctx.Done():
		l.note(func() { l.causes = append(l.causes, context.Cause(ctx)) })
		f.Outcome, f.Error = event.Failed, &event.Error{Kind: event.Fatal, Reason: event.ReasonCancelled, Message: "cancelled", ExitCode: -1}
	}
	return f
}

// detaching is a host whose executions are short, and a worker that looks at its runs often.
func detaching(t *testing.T, o temporal.Options, x executor.Executor) (*temporal.Host, *work.Worker) {
	if o.Machines == nil {
		o.Machines = &runner.Programs{}
	}
	o.Soft, o.Heartbeat = 20, killedHeartbeat
	return dial(t, o), &work.Worker{Executor: x, Workspace: t.TempDir(), LookEvery: time.Second}
}

// detachedRun returns the id of a run that has done all its short steps beside a long attempt.
func detachedRun(t *testing.T, h *temporal.Host, l *longs) string {
	t.Helper()
	id, err := h.Start(t.Context(), begin(parse(t, besides(80))))
	if err != nil {
		t.Fatal(err)
	}
	l.await(t, "the run does not go on beside its long attempt", func() bool { return l.shorts == 80 && l.begun == 1 })
	return id
}

// executionsOf counts the executions of a run, the attempts that they handed out, how many of these may not wait long for a worker, and how often one was
// kept from an execution before.
func executionsOf(t *testing.T, h *temporal.Host, id string) (executions, handed, hasty, kept int) {
	t.Helper()
	for _, one := range histories(t, id) {
		executions++
		for _, e := range one.Events {
			x := e.GetActivityTaskScheduledEventAttributes()
			if x.GetActivityType().GetName() != wire.Attempt {
				continue
			}
			if handed++; x.GetScheduleToStartTimeout().AsDuration() == time.Minute {
				hasty++
			}
		}
	}
	_, _, err := h.Journal(t.Context(), id, func(b journal.Batch) error {
		kept += strings.Count(string(b.Body), `"kept"`)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return executions, handed, hasty, kept
}

// TestDetached lets one attempt live over several executions of its run.
func TestDetached(t *testing.T) {
	needServer(t)
	key := []byte(strings.Repeat("k", 32))
	sealed, err := payload.Converter(payload.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options temporal.Options
	}{{"plain", temporal.Options{}}, {"with a key", temporal.Options{Converter: sealed, Reader: sealed}}} {
		t.Run(c.name, func(t *testing.T) {
			l := newLongs()
			h, w := detaching(t, c.options, l)
			serveWorker(t, h, w, 4)
			id := detachedRun(t, h, l)
			if info, err := h.Get(t.Context(), id); err != nil || info.Status != event.Running {
				t.Errorf("while the attempt goes on, the run is %s: %v", info.Status, err)
			}
			close(l.release)
			end, err := h.Drive(t.Context(), id, nil)
			if err != nil || end.Status != event.Succeeded {
				t.Fatalf("the run ended %s: %v, %v", end.Status, end.Error, err)
			}
			executions, handed, hasty, kept := executionsOf(t, h, id)
			t.Logf("%d executions; %d attempts were handed out, %d of them while an execution was to end, and the long one was kept %d times", executions, handed, hasty, kept)
			if executions < 4 || handed != 81 || hasty == 0 || hasty > 70 || kept < 3 || l.begun != 1 || len(l.causes) != 0 {
				t.Errorf("%d executions; %d attempts were handed out, %d of them in a hurry; the long one was kept %d times, and began %d times; causes %v", executions, handed, hasty, kept, l.begun, l.causes)
			}
		})
	}
}

// TestDetachedCancelled cancels a run while its attempt is detached: the attempt hears of it, and the run ends.
func TestDetachedCancelled(t *testing.T) {
	needServer(t)
	l := newLongs()
	h, w := detaching(t, temporal.Options{}, l)
	serveWorker(t, h, w, 4)
	id := detachedRun(t, h, l)
	awaitDetached(t, h, id)
	if err := h.Cancel(t.Context(), id, "for a test"); err != nil {
		t.Fatal(err)
	}
	end, err := h.Drive(t.Context(), id, nil)
	if err != nil || end.Status != event.Cancelled || !slices.Equal(l.causes, []error{executor.Cancelled}) || l.begun != 1 {
		t.Errorf("the run ended %s: %v, %v; the attempt began %d times, with causes %v", end.Status, end.Error, err, l.begun, l.causes)
	}
}

// TestDetachedOrphans ends what belongs to a detached attempt on the server, as an operator may: without its run, the attempt ends; without the workflow
// that waits for it, the run can be cancelled.
func TestDetachedOrphans(t *testing.T) {
	needServer(t)
	t.Run("without its run", func(t *testing.T) {
		l := newLongs()
		h, w := detaching(t, temporal.Options{}, l)
		serveWorker(t, h, w, 4)
		id := detachedRun(t, h, l)
		awaitDetached(t, h, id)
		terminate(t, id)
		l.await(t, "the attempt goes on without its run", func() bool { return len(l.causes) == 1 })
	})
	t.Run("without its workflow", func(t *testing.T) {
		l := newLongs()
		h, w := detaching(t, temporal.Options{}, l)
		serveWorker(t, h, w, 4)
		id := detachedRun(t, h, l)
		terminate(t, awaitDetached(t, h, id))
		l.await(t, "the attempt goes on without its workflow", func() bool { return len(l.causes) == 1 })
		if err := h.Cancel(t.Context(), id, "for a test"); err != nil {
			t.Fatal(err)
		}
		if end, err := h.Drive(t.Context(), id, nil); err != nil || end.Status != event.Cancelled {
			t.Errorf("the run ended %s: %v, %v", end.Status, end.Error, err)
		}
	})
}

// awaitDetached waits until the long attempt of a run is detached, and returns the id of the workflow that waits for it.
func awaitDetached(t *testing.T, h *temporal.Host, id string) (workflow string) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); workflow == "" && time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		for _, one := range histories(t, id) {
			for _, e := range one.Events {
				if x := e.GetStartChildWorkflowExecutionInitiatedEventAttributes(); x.GetWorkflowType().GetName() == wire.Detached {
					workflow = x.GetWorkflowId()
				}
			}
		}
	}
	if workflow == "" {
		t.Fatal("the attempt is not detached")
	}
	return workflow
}

// TestDetachedGivenBack stops the worker that has a detached attempt: another one begins with it, and the attempt does not count as lost, so that it is
// begun again even though its step says on_lost = "fail".
func TestDetachedGivenBack(t *testing.T) {
	needServer(t)
	l := newLongs()
	h, w := detaching(t, temporal.Options{}, l)
	stop := serveWorker(t, h, w, 4)
	program := strings.Replace(besides(80), `run = ["long"]`, "run = [\"long\"]\n    on_lost = \"fail\"", 1)
	id, err := h.Start(t.Context(), begin(parse(t, program)))
	if err != nil {
		t.Fatal(err)
	}
	l.await(t, "the run does not go on beside its long attempt", func() bool { return l.shorts == 80 })
	awaitDetached(t, h, id)
	stop()
	serveWorker(t, h, &work.Worker{Executor: l, Workspace: t.TempDir(), LookEvery: time.Second}, 4)
	l.await(t, "no other worker begins with the attempt", func() bool { return l.begun == 2 })
	close(l.release)
	end, err := h.Drive(t.Context(), id, nil)
	if err != nil || end.Status != event.Succeeded || !slices.Equal(l.causes, []error{executor.Stopping}) {
		t.Errorf("the run ended %s: %v, %v; causes %v", end.Status, end.Error, err, l.causes)
	}
}

// TestDetachedKilled kills the worker that has a detached attempt: the attempt is begun again by another one, with the same key. What a step says of lost
// attempts is done.
func TestDetachedKilled(t *testing.T) {
	needServer(t)
	if os.Getenv(killedQueue) != "" {
		beDetached(t)
	}
	for _, c := range []struct {
		name, program string
		begins        int
		want          event.Status
	}{
		{"again", besides(80), 2, event.Succeeded},
		{"on_lost", strings.Replace(besides(80), `run = ["long"]`, "run = [\"long\"]\n    on_lost = \"fail\"", 1), 1, event.FailedS},
	} {
		t.Run(c.name, func(t *testing.T) {
			ledger := filepath.Join(t.TempDir(), "ledger")
			l := newLongs()
			h, w := detaching(t, temporal.Options{}, l)
			worker := exec.Command(os.Args[0], "-test.run=^TestDetachedKilled$", "-temporal.server="+*server)
			worker.Env = append(os.Environ(), killedQueue+"="+h.Queue(), killedLedger+"="+ledger)
			if err := worker.Start(); err != nil {
				t.Fatal(err)
			}
			killed := sync.OnceFunc(func() {
				worker.Process.Kill()
				worker.Wait()
			})
			defer killed()
			id, err := h.Start(t.Context(), begin(parse(t, c.program)))
			if err != nil {
				t.Fatal(err)
			}
			lines := func() (all, long int) {
				text, _ := os.ReadFile(ledger)
				return strings.Count(string(text), "\n"), strings.Count(string(text), "long\n")
			}
			for limit := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
				if all, _ := lines(); all == 81 {
					break
				} else if time.Now().After(limit) {
					t.Fatalf("%d attempts began", all)
				}
			}
			awaitDetached(t, h, id)
			killed()
			close(l.release)
			serveWorker(t, h, w, 4)
			end, err := h.Drive(t.Context(), id, nil)
			_, before := lines()
			if err != nil || end.Status != c.want || before+l.begun != c.begins || l.shorts != 0 {
				t.Errorf("the run ended %s: %v, %v; the long attempt began %d and %d times, and %d others again", end.Status, end.Error, err, before, l.begun, l.shorts)
			}
			if c.want == event.FailedS && (end.Error == nil || !strings.Contains(end.Error.Message, "was not heard of")) {
				t.Errorf("the run ended with %v", end.Error)
			}
		})
	}
}

// beDetached is a worker, until it is killed.
func beDetached(t *testing.T) {
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		f, err := os.OpenFile(os.Getenv(killedLedger), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, a.Name)
			f.Close()
		}
		if err != nil {
			panic(err)
		}
		if a.Name == "long" {
			<-ctx.Done()
		}
		return script(a)
	})
	h, w := detaching(t, temporal.Options{Queue: os.Getenv(killedQueue)}, x)
	t.Fatal(h.Serve(context.Background(), w, temporal.WorkerOptions{Queues: []string{h.Queue()}, Slots: 4}))
}
