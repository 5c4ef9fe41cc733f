package temporal_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"

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
