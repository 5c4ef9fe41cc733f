package local

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
	"github.com/flowrun/flowrun/runner/event"
)

// The numbers of TestProcessesShareLimits. The large tests are
//
//	go test ./runner/engine/local -run TestProcessesShareLimits -limits.processes 64 -v
//	go test ./runner/engine/local -run TestProcessesShareLimits -limits.processes 64 -limits.steps 50 -limits.kills 4 -timeout 30m -v
//
// The first takes 44 s where 30 other processes want the two processors; the second takes more than a quarter of an hour there.
var (
	limitsProcesses = flag.Int("limits.processes", 3, "how many processes share the limits")
	limitsSteps     = flag.Int("limits.steps", 8, "how many attempts each of them makes")
	limitsKills     = flag.Int("limits.kills", 1, "how often each of them is killed")
)

// TestProcessesShareLimits has processes need the same quota, rate limit and breaker at once. Each is killed before or after one of its
// commits, and another process goes on with its run. All come to their ends; never are more units in use than there are, and in no
// span do more attempts start than the rate limit allows.
func TestProcessesShareLimits(t *testing.T) {
	dir := t.TempDir() + "/.flowrun"
	e, err := Open(dir, Options{Factory: enginetest.Factory, Executor: answersOK})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const capacity, requests, per = 2, 4, 50 * time.Millisecond
	needs := []event.Need{
		{Kind: event.NeedQuota, Name: "gpu", Units: 1, Capacity: capacity, Pace: &event.Pace{Requests: requests, Per: per}},
		{Kind: event.NeedAgent, Name: "coder", Breaker: &event.Breaker{Failures: 2, Reset: 50 * time.Millisecond}},
	}
	p := enginetest.Program{Parallel: 4}
	for i := range *limitsSteps {
		p.Tasks = append(p.Tasks, enginetest.Task{Name: fmt.Sprint("t", i), Needs: needs})
	}
	began := time.Now()
	var wait sync.WaitGroup
	runs, killed := make([]string, *limitsProcesses), make([]int, *limitsProcesses)
	for i := range runs {
		runs[i] = begin(t, e, p)
		rng := rand.New(rand.NewPCG(uint64(i), 15))
		wait.Go(func() {
			for again := 0; ; {
				o := childOrder{Dir: dir, Run: runs[i]}
				if killed[i] < *limitsKills {
					o.KillAt, o.KillAfter = 5+rng.IntN(*limitsSteps), rng.IntN(2) == 0
				}
				c := startChild(t, o)
				line := c.line()
				if c.Wait() != nil {
					killed[i]++
				} else if line == "end succeeded <nil>" {
					return
				} else if again++; !strings.Contains(line, ErrBusy.Error()) || again > 100 {
					t.Errorf("a process says %q", line)
					return
				}
			}
		})
	}
	wait.Wait()
	type span struct{ from, to event.Time }
	var spans []span
	kills := 0
	for i, run := range runs {
		kills += killed[i]
		err := eachEvent(e, run, func(ev event.Event) {
			if f := ev.AttemptFinished; f != nil && f.Outcome == event.OK {
				spans = append(spans, span{f.StartedAt, ev.At})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	for i, s := range spans {
		if i >= requests && s.from.Sub(spans[i-requests].from) < per {
			t.Errorf("%d attempts start within %s, from %s on", requests+1, s.from.Sub(spans[i-requests].from), spans[i-requests].from)
		}
		live := 0
		for _, o := range spans[:i+1] {
			if o.to > s.from {
				live++
			}
		}
		if live > capacity {
			t.Errorf("%d attempts are live at %s", live, s.from)
		}
	}
	if len(spans) < *limitsProcesses**limitsSteps || kills < *limitsProcesses**limitsKills/2 {
		t.Errorf("%d attempts and %d kills prove little", len(spans), kills)
	}
	var left int
	if err := e.read.QueryRow("SELECT (SELECT count(*) FROM admissions) + (SELECT count(*) FROM admission_needs)").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows of requests are left (%v)", left, err)
	}
	t.Logf("%d processes, %d attempts: %v, %d kills", *limitsProcesses, len(spans), time.Since(began).Round(time.Millisecond), kills)
}

// eachEvent reads a journal.
func eachEvent(e *Engine, run string, each func(event.Event)) error {
	_, err := e.Drive(context.Background(), run, func(list []event.Event, _ *event.Reaction, _ bool) {
		for _, ev := range list {
			each(ev)
		}
	})
	return err
}
