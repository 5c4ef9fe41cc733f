package temporal_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal"
	"github.com/flowrun/flowrun/runner/engine/temporal/work"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

var stops = flag.Int("temporal.stops", 0, "how many workers TestStoppedWorkers stops; 0: it is skipped")

// TestStoppedWorkers stops one of two workers of runs that go on, again and again, while the runs have attempts under way, and fails if a stopped worker
// leaves something behind for which the server waits until a time is over: a decision, or an attempt. That happens: see ROADMAP.md. The test prints the
// histories around it.
func TestStoppedWorkers(t *testing.T) {
	needServer(t)
	if *stops == 0 {
		t.Skip("without -temporal.stops")
	}
	const runs = 4
	queue := engine.NewID()
	follower := dial(t, temporal.Options{Machines: &runner.Programs{}, Queue: queue})
	hired := 0
	hire := func() (fire func()) {
		hired++
		h, err := temporal.Dial(t.Context(), temporal.Options{HostPort: *server, Machines: &runner.Programs{}, Queue: queue, Worker: true,
			Tune: func(o *client.Options) { o.Identity = fmt.Sprint("worker ", hired) }})
		if err != nil {
			t.Fatal(err)
		}
		x := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
			select {
			case <-time.After(100 * time.Millisecond):
				return script(a)
			case <-ctx.Done():
				return engine.NeverStarted(a)
			}
		})
		stop := serveBy(t, h, &work.Worker{Executor: x, Workspace: t.TempDir()}, temporal.WorkerOptions{Queues: []string{queue}, Slots: 3})
		return func() {
			stop()
			h.Close()
		}
	}
	workers := []func(){hire(), hire()}
	var ids []string
	for range runs {
		id, err := follower.Start(t.Context(), begin(parse(t, chain(2000))))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	var longest, all time.Duration
	for i := range *stops {
		time.Sleep(1500 * time.Millisecond)
		began := time.Now()
		workers[i%2]()
		took := time.Since(began)
		longest, all = max(longest, took), all+took
		workers[i%2] = hire()
	}
	for _, id := range ids {
		if err := follower.Cancel(t.Context(), id, "for a test"); err != nil {
			t.Error(err)
		}
	}
	for _, id := range ids {
		if _, err := follower.Drive(t.Context(), id, nil); err != nil {
			t.Error(err)
		}
	}
	left := 0
	var gap time.Duration
	for _, id := range ids {
		for _, h := range histories(t, id) {
			for i, e := range h.Events {
				if i > 0 {
					gap = max(gap, e.GetEventTime().AsTime().Sub(h.Events[i-1].GetEventTime().AsTime()))
				}
				if e.GetEventType() == enums.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT ||
					e.GetWorkflowTaskTimedOutEventAttributes().GetTimeoutType() == enums.TIMEOUT_TYPE_START_TO_CLOSE {
					left++
					t.Errorf("run %s stands still:\n%s", id, around(h, i))
				}
			}
		}
	}
	t.Logf("%d stops, which take %s each, and %s at most: %d decisions and attempts are left behind, the longest pause of a run is %s", *stops, (all / time.Duration(*stops)).Round(time.Millisecond),
		longest.Round(time.Millisecond), left, gap.Round(time.Millisecond))
}

// around prints the events of a history around one of them.
func around(h *history.History, i int) string {
	var b strings.Builder
	for j := max(0, i-8); j < min(len(h.Events), i+5); j++ {
		e := h.Events[j]
		who := ""
		switch {
		case e.GetWorkflowTaskStartedEventAttributes() != nil:
			who = e.GetWorkflowTaskStartedEventAttributes().GetIdentity()
		case e.GetActivityTaskStartedEventAttributes() != nil:
			who = e.GetActivityTaskStartedEventAttributes().GetIdentity()
		case e.GetWorkflowTaskTimedOutEventAttributes() != nil:
			who = e.GetWorkflowTaskTimedOutEventAttributes().GetTimeoutType().String()
		case e.GetWorkflowTaskScheduledEventAttributes() != nil:
			who = e.GetWorkflowTaskScheduledEventAttributes().GetTaskQueue().GetKind().String() + " " + e.GetWorkflowTaskScheduledEventAttributes().GetTaskQueue().GetName()
		}
		fmt.Fprintf(&b, "  %d %s %s %s\n", e.GetEventId(), e.GetEventTime().AsTime().Format("15:04:05.000"), e.GetEventType(), who)
	}
	return b.String()
}
