package temporal_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/run"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var costRounds = flag.Int("temporal.cost", 0, "rounds of TestCost, of which each runs a workflow of flowrun and a bare one; 0 runs one and compares nothing")

// Bounds of TestCost: steps a second, and CPU of the process that has the workers, beside those of the bare workflow.
const (
	leastSpeed = 0.9
	mostCPU    = 1.2
)

// costSlots is how many attempts or activities the workers of TestCost carry out at once.
const costSlots = 100

// TestCost runs each program by turns with a bare workflow of the SDK: as many activities, the same window, payloads of the same sizes before
// flowrun compresses them, and workers and clients with the same options. The medians of the rounds are compared: -temporal.cost says how many.
func TestCost(t *testing.T) {
	needServer(t)
	for _, l := range []struct {
		name    string
		steps   int
		few     int // steps without -temporal.cost
		program func(steps int) string
		window  int
		text    int // bytes that each step says
	}{
		{"fan-out", 1000, 60, many, run.Window, 40},
		{"chain", 100, 10, chain, 1, 40},
		{"fan-out of 4 KiB", 500, 60, talk, run.Window, 4 << 10},
	} {
		t.Run(l.name, func(t *testing.T) {
			steps := l.steps
			if *costRounds == 0 {
				steps = l.few
			}
			c := newCosts(t, l.program(steps), steps, l.window, words(l.text))
			c.runFlowrun() // it warms up, and says how large payloads are
			c.runBare()
			var speed, cpu []float64
			var ours, bares []cost
			for round := range max(*costRounds, 1) {
				var a, b cost
				if round%2 == 0 {
					a = c.runFlowrun()
					b = c.runBare()
				} else {
					b = c.runBare()
					a = c.runFlowrun()
				}
				ours, bares = append(ours, a), append(bares, b)
				speed, cpu = append(speed, b.took.Seconds()/a.took.Seconds()), append(cpu, a.cpu.Seconds()/b.cpu.Seconds())
				t.Logf("round %d: flowrun %s; bare %s", round+1, a.per(steps), b.per(steps))
			}
			t.Logf("%d steps, tasks of %d and answers of %d bytes: flowrun %s; bare %s; medians of the rounds: %.2f x the steps/s, %.2f x the CPU",
				steps, c.task, c.answer, medianOf(ours).per(steps), medianOf(bares).per(steps), median(speed), median(cpu))
			if *costRounds > 0 && (median(speed) < leastSpeed || median(cpu) > mostCPU) {
				t.Errorf("%.2f x the steps/s of the bare workflow and %.2f x its CPU; bounds: %.1f and %.1f", median(speed), median(cpu), leastSpeed, mostCPU)
			}
		})
	}
}

// talk is [many] with steps that are given a text, as agents are.
func talk(steps int) string {
	return strings.Replace(many(steps), `["say"]`, fmt.Sprintf("[\"say\", %q]", words(4<<10)), 1)
}

// words is a text of a length.
func words(n int) string {
	var b strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); b.Len() < n; {
		b.WriteString([]string{"the ", "run ", "step ", "of ", "waits ", "a ", "for ", "ended. ", "agent ", "reads ", "file "}[r.IntN(11)])
	}
	return b.String()[:n]
}

// cost is what a workflow took.
type cost struct {
	took, cpu     time.Duration
	events, bytes int // of its histories
	tasks         int // decisions
}

func (c cost) per(steps int) string {
	n := float64(steps)
	return fmt.Sprintf("%.0f steps/s, %.2f ms of CPU, %.2f events, %.0f bytes and %.3f decisions a step", n/c.took.Seconds(), c.cpu.Seconds()*1000/n,
		float64(c.events)/n, float64(c.bytes)/n, float64(c.tasks)/n)
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// medianOf has the median of each figure.
func medianOf(list []cost) (c cost) {
	of := func(figure func(cost) float64) float64 {
		var all []float64
		for _, one := range list {
			all = append(all, figure(one))
		}
		return median(all)
	}
	return cost{time.Duration(of(func(c cost) float64 { return float64(c.took) })), time.Duration(of(func(c cost) float64 { return float64(c.cpu) })),
		int(of(func(c cost) float64 { return float64(c.events) })), int(of(func(c cost) float64 { return float64(c.bytes) })),
		int(of(func(c cost) float64 { return float64(c.tasks) }))}
}

// costs has one worker for runs and one for bare workflows.
type costs struct {
	t             *testing.T
	host          *temporal.Host
	client        client.Client
	start         engine.Start
	steps, window int
	task, answer  int // bytes of the payloads of a step
}

func newCosts(t *testing.T, program string, steps, window int, text string) *costs {
	c := &costs{t: t, steps: steps, window: window, start: begin(parse(t, program))}
	c.host = dial(t, temporal.Options{Machines: &runner.Programs{}, Worker: true})
	serve(t, c.host, executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		f := executor.Answer(a)
		f.Outcome, f.Stdout = event.OK, text
		return f
	}), costSlots)
	var err error
	c.client, err = client.Dial(client.Options{HostPort: *server, ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}},
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)
	w := worker.New(c.client, c.queue(), worker.Options{MaxConcurrentActivityExecutionSize: costSlots, MaxHeartbeatThrottleInterval: time.Second,
		DefaultHeartbeatThrottleInterval: time.Second, DeadlockDetectionTimeout: 10 * time.Second})
	w.RegisterWorkflowWithOptions(bareWorkflow, workflow.RegisterOptions{Name: "bare"})
	w.RegisterActivityWithOptions(bareActivity, activity.RegisterOptions{Name: "bare"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return c
}

func (c *costs) queue() string { return c.host.Queue() + "/bare" }

// bareWorkflow has n activities carried out, as many at once as the window says.
func bareWorkflow(ctx workflow.Context, n, window int, task []byte, answer int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour, ScheduleToCloseTimeout: time.Hour,
		HeartbeatTimeout: run.Heartbeat, WaitForCancellation: true, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1}})
	flights := make([]workflow.Future, n)
	for i := range n + window {
		if i >= window {
			if err := flights[i-window].Get(ctx, nil); err != nil {
				return err
			}
		}
		if i < n {
			flights[i] = workflow.ExecuteActivity(ctx, "bare", task, answer)
		}
	}
	return nil
}

// said is what the activities of bare workflows say. The steps of flowrun do not make their texts either.
var said = words(16 << 10)

func bareActivity(_ context.Context, _ []byte, answer int) ([]byte, error) {
	return []byte(said[:answer]), nil
}

func (c *costs) runFlowrun() cost {
	c.start.Header.Run = ""
	return c.measure(func() string {
		id, err := c.host.Start(c.t.Context(), c.start)
		if err != nil {
			c.t.Fatal(err)
		}
		return id
	})
}

func (c *costs) runBare() cost {
	return c.measure(func() string {
		r, err := c.client.ExecuteWorkflow(c.t.Context(), client.StartWorkflowOptions{ID: engine.NewID(), TaskQueue: c.queue(), WorkflowTaskTimeout: time.Minute},
			"bare", c.steps, c.window, []byte(words(c.task)), c.answer)
		if err != nil {
			c.t.Fatal(err)
		}
		return r.GetID()
	})
}

// measure measures a workflow to its end.
func (c *costs) measure(start func() string) (x cost) {
	c.t.Helper()
	runtime.GC()
	used, began := cpuTime(), time.Now()
	id := start()
	if err := c.client.GetWorkflow(c.t.Context(), id, "").Get(c.t.Context(), nil); err != nil {
		c.t.Fatal(err)
	}
	x.took, x.cpu = time.Since(began), cpuTime()-used
	steps := map[int64]bool{} // by the event that scheduled it; a run also asks what runs share
	done := 0
	for _, h := range histories(c.t, id) {
		clear(steps)
		x.events, x.bytes = x.events+len(h.Events), x.bytes+sizeOf(h)
		for _, e := range h.Events {
			switch {
			case e.GetActivityTaskScheduledEventAttributes() != nil:
				a := e.GetActivityTaskScheduledEventAttributes()
				if name := a.GetActivityType().GetName(); name == "bare" || name == wire.Attempt {
					steps[e.GetEventId()] = true
				}
				if steps[e.GetEventId()] && c.answer == 0 {
					c.task = c.sizeOf(a.GetInput())
				}
			case e.GetActivityTaskCompletedEventAttributes() != nil:
				a := e.GetActivityTaskCompletedEventAttributes()
				if !steps[a.GetScheduledEventId()] {
					break
				}
				if done++; c.answer == 0 {
					c.answer = c.sizeOf(a.GetResult())
				}
			case e.GetWorkflowTaskCompletedEventAttributes() != nil:
				x.tasks++
			}
		}
	}
	if done != c.steps {
		c.t.Fatalf("%d steps were done, not %d", done, c.steps)
	}
	return x
}

// sizeOf is the size of the first payload of flowrun, not compressed.
func (c *costs) sizeOf(p *commonpb.Payloads) int {
	var content json.RawMessage
	if err := wire.Decode(p.GetPayloads()[0].GetData(), &content); err != nil {
		c.t.Fatal(err)
	}
	return len(content)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
