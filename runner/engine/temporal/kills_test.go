package temporal_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var kills = flag.Int("temporal.kills", 10, "how many workers TestKilledWorkers kills")

// The test starts itself as a worker, which serves the queue and writes into the file that these name.
const (
	killedQueue  = "FLOWRUN_TEST_QUEUE"
	killedLedger = "FLOWRUN_TEST_LEDGER"
	killedStore  = "FLOWRUN_TEST_STORE"
)

const (
	killedRuns, killedSlots = 6, 4
	killedHeartbeat         = 4 * time.Second
)

// TestKilledWorkers kills workers in the middle of runs, one after the other. Each run succeeds, the server has one answer for each step, and
// each further start of a step belongs to an attempt that the server gave up with its worker.
func TestKilledWorkers(t *testing.T) {
	needServer(t)
	if os.Getenv(killedQueue) != "" {
		beKilled(t)
	}
	ledger := filepath.Join(t.TempDir(), "ledger")
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Heartbeat: killedHeartbeat})
	hire := func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^TestKilledWorkers$", "-temporal.server="+*server)
		c.Env = append(os.Environ(), killedQueue+"="+h.Queue(), killedLedger+"="+ledger)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	workers := []*exec.Cmd{hire(), hire()}
	fire := func(c *exec.Cmd) {
		c.Process.Kill()
		c.Wait()
	}
	defer func() {
		for _, c := range workers {
			fire(c)
		}
	}()
	steps := 12 * *kills
	var runs []string
	ends := make(chan error, killedRuns)
	for range killedRuns {
		id, err := h.Start(t.Context(), begin(parse(t, many(steps))))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, id)
		go func() {
			end, err := h.Drive(t.Context(), id, nil)
			if err == nil && end.Status != event.Succeeded {
				err = fmt.Errorf("run %s ended %s: %v", id, end.Status, end.Error)
			}
			ends <- err
		}()
	}
	for i := range *kills {
		time.Sleep(2 * time.Second)
		fire(workers[i%2])
		workers[i%2] = hire()
	}
	for range killedRuns {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	completed, givenUp := 0, 0
	for _, id := range runs {
		for _, one := range histories(t, id) {
			attempts := map[int64]bool{}
			for _, e := range one.Events {
				switch e.GetEventType() {
				case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
					attempts[e.GetEventId()] = e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == wire.Attempt
				case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
					if attempts[e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()] {
						completed++
					}
				case enums.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
					givenUp++
				}
			}
		}
	}
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	starts, keys := 0, map[string]bool{}
	for key := range strings.FieldsSeq(string(text)) {
		starts++
		keys[key] = true
	}
	t.Logf("%d kills: %d steps, %d answers, %d attempts given up, %d starts", *kills, len(keys), completed, givenUp, starts)
	if want := killedRuns * steps; len(keys) != want || completed != want || starts > completed+givenUp || givenUp > *kills*killedSlots {
		t.Errorf("%d steps have %d answers and %d starts, and %d attempts were given up after %d kills", want, completed, starts, givenUp, *kills)
	}
	if givenUp == 0 {
		t.Error("no kill met an attempt: the test shows nothing")
	}
}

// TestSharedKilled kills workers while runs count, and while attempts hold what only two may have. Each operation counts once, and what the dead
// held goes to others.
func TestSharedKilled(t *testing.T) {
	needServer(t)
	if os.Getenv(killedQueue) != "" {
		beKilled(t)
	}
	const runs, each, works, kills = 3, 30, 6, 4
	program := fmt.Sprintf(`quota "two" { capacity = 2 }
workflow "w" {
  sequence "counts" {
    step "count" {
      for_each = range(%d)
      kv { incr = "n" }
    }
    step "pause" {
      wait { duration = "2s" }
    }
    step "more" {
      for_each = range(%d)
      kv { incr = "n" }
    }
  }
  step "work" {
    for_each = range(%d)
    run      = ["true"]
    quota    = quota.two
  }
}`, each, each, works)
	ledger := filepath.Join(t.TempDir(), "ledger")
	h := dial(t, temporal.Options{Machines: &runner.Programs{}, Store: engine.NewID(), Heartbeat: killedHeartbeat})
	hire := func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^TestSharedKilled$", "-temporal.server="+*server)
		c.Env = append(os.Environ(), killedQueue+"="+h.Queue(), killedLedger+"="+ledger, killedStore+"="+h.StoreName())
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	workers := []*exec.Cmd{hire(), hire()}
	fire := func(c *exec.Cmd) {
		c.Process.Kill()
		c.Wait()
	}
	defer func() {
		for _, c := range workers {
			fire(c)
		}
	}()
	ends := make(chan error, runs)
	for range runs {
		id, err := h.Start(t.Context(), begin(parse(t, program)))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			end, err := h.Drive(t.Context(), id, nil)
			if err == nil && end.Status != event.Succeeded {
				err = fmt.Errorf("run %s ended %s: %v", id, end.Status, end.Error)
			}
			ends <- err
		}()
	}
	for i := range kills {
		time.Sleep(2 * time.Second)
		fire(workers[i%2])
		workers[i%2] = hire()
	}
	for range runs {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	n, err := h.Ask(t.Context(), event.StoreRequest{KV: &event.KVRequest{Operation: ir.KVGet, Namespace: "default", Key: "n"}})
	if err != nil || !value.Equal(n, float64(runs*2*each)) {
		t.Errorf("after %d kills the runs have counted %v, want %d (%v)", kills, n, runs*2*each, err)
	}
	limits, err := h.Limits(t.Context())
	if err != nil || len(limits) != 1 || limits[0].Used != 0 || len(limits[0].Waiting) != 0 {
		t.Errorf("after the end the limits are %+v (%v)", limits, err)
	}
	text, _ := os.ReadFile(ledger)
	t.Logf("%d kills: counted %v, %d attempts began for %d steps", kills, n, strings.Count(string(text), "\n"), runs*works)
}

// killedDelivery says how many signals of a delivery return in a worker before it is killed; killedHeard says that the server knows of the batch before by then.
const (
	killedDelivery = "FLOWRUN_TEST_DELIVERY"
	killedHeard    = "FLOWRUN_TEST_HEARD"
)

// TestKilledDeliveries kills a worker while it sends one event to many runs, of which it tells a batch at once. Another worker goes on where the server has
// heard of the first one last. Each run hears the event once.
func TestKilledDeliveries(t *testing.T) {
	needServer(t)
	if os.Getenv(killedQueue) != "" {
		dieDelivering(t)
	}
	const runs, batch = 40, 8
	for _, x := range []struct {
		name        string
		at          int
		heard       bool
		least, most int // signals that are sent once more
	}{
		{"between two batches", batch, false, batch, batch},
		{"within a batch", batch + 4, false, 4, 2 * batch},
		{"once the server has heard of two batches", 2*batch + 1, true, 1, batch},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			programs := new(runner.Programs)
			s := &sharing{T: t, Host: dial(t, temporal.Options{Machines: programs, Group: programs.Group, Events: programs.Events, Store: engine.NewID(), Poll: 50 * time.Millisecond})}
			hire := func(more ...string) *exec.Cmd {
				c := exec.Command(os.Args[0], "-test.run=^TestKilledDeliveries$", "-temporal.server="+*server)
				c.Env = append(append(os.Environ(), killedQueue+"="+s.Queue(), killedStore+"="+s.StoreName()), more...)
				var said bytes.Buffer
				c.Stdout, c.Stderr = &said, &said
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					c.Process.Kill()
					if c.Wait(); said.Len() > 0 {
						t.Logf("a worker says %s", said.String())
					}
				})
				return c
			}
			dies := hire(fmt.Sprintf("%s=%d", killedDelivery, x.at), fmt.Sprintf("%s=%v", killedHeard, x.heard))
			c := newClient(t)
			var all []string
			for range runs {
				all = append(all, s.begin(`workflow "w" {
  sequence "all" {
    step "wait" {
      wait { event = "go" }
    }
    step "last" {
      wait { event = "last" }
    }
  }
}`))
			}
			for _, run := range all {
				s.awaitRest(c, run)
			}
			s.ask(event.StoreRequest{Emit: &event.EmitRequest{Name: "go"}})
			if err := dies.Wait(); dies.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the worker is not killed: %v", err)
			}
			hire()
			limit := time.Now().Add(4 * time.Minute)
			for delivers(t, c, s.StoreName()) && time.Now().Before(limit) {
				time.Sleep(200 * time.Millisecond)
			}
			for {
				_, err := s.Ask(t.Context(), event.StoreRequest{Emit: &event.EmitRequest{Name: "last", Key: "last"}})
				if err == nil {
					break
				}
				if time.Now().After(limit) {
					t.Fatal(err)
				}
			}
			signals := 0
			for _, run := range all {
				s.end(run, event.Succeeded)
				if heard := s.heard(run, "go"); len(heard) != 1 {
					t.Errorf("run %s has heard %d events, want 1", run, len(heard))
				}
				for _, h := range histories(t, run) {
					for _, e := range h.Events {
						if e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName() == wire.Parcels {
							signals++
						}
					}
				}
			}
			if again := signals - 2*runs; again < x.least || again > x.most {
				t.Errorf("%d signals are sent once more, want %d to %d", again, x.least, x.most)
			}
		})
	}
}

// delivers reports whether a delivery of a store is under way.
func delivers(t *testing.T, c client.Client, store string) bool {
	t.Helper()
	_, under := reached(t, c, store)
	return under
}

// reached returns how many parcels of a delivery that is under way the server has heard of.
func reached(t *testing.T, c client.Client, store string) (n int, under bool) {
	t.Helper()
	d, err := c.DescribeWorkflowExecution(t.Context(), wire.ShareID(store), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityType().GetName() != wire.Deliver {
			continue
		}
		under = true
		if a.GetHeartbeatDetails() != nil {
			if err := converter.GetDefaultDataConverter().FromPayloads(a.GetHeartbeatDetails(), &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n, under
}

// dieDelivering is a worker, until it has sent so many signals of a delivery.
func dieDelivering(t *testing.T) {
	at, _ := strconv.Atoi(os.Getenv(killedDelivery)) // 0: it lives
	c, store := newClient(t), os.Getenv(killedStore)
	var sent atomic.Int64
	programs := new(runner.Programs)
	h := dial(t, temporal.Options{Queue: os.Getenv(killedQueue), Store: store, Machines: programs, Group: programs.Group, Events: programs.Events, Poll: 50 * time.Millisecond,
		Tune: func(o *client.Options) {
			o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
				func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
					err := call(ctx, method, in, out, conn, opts...)
					if r, is := in.(*workflowservice.SignalWorkflowExecutionRequest); !is || r.GetSignalName() != wire.Parcels || sent.Add(1) != int64(at) {
						return err
					}
					for n := -1; os.Getenv(killedHeard) == "true" && n < at-1; time.Sleep(50 * time.Millisecond) {
						n, _ = reached(t, c, store)
					}
					syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}))
		}})
	t.Fatal(h.Serve(context.Background(), &work.Worker{Executor: executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished { return script(a) }), Workspace: t.TempDir()},
		temporal.WorkerOptions{Queues: []string{h.Queue()}, Slots: killedSlots}))
}

// beKilled is a worker, until it is killed.
func beKilled(t *testing.T) {
	h := dial(t, temporal.Options{Queue: os.Getenv(killedQueue), Store: os.Getenv(killedStore), Machines: &runner.Programs{}, Heartbeat: killedHeartbeat})
	x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		f, err := os.OpenFile(os.Getenv(killedLedger), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(a.Key + "\n")
			f.Close()
		}
		if err != nil {
			panic(err)
		}
		select {
		case <-time.After(200 * time.Millisecond):
			return script(a)
		case <-ctx.Done():
			return engine.NeverStarted(a)
		}
	})
	t.Fatal(h.Serve(context.Background(), &work.Worker{Executor: x, Workspace: t.TempDir()},
		temporal.WorkerOptions{Queues: []string{h.Queue()}, Slots: killedSlots}))
}
