package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/runner/engine/enginetest"
)

// TestProcessesPublishOnce has processes publish events, and another one wait for them. Each is killed before or after one of its
// commits, several times, and another process goes on with its run. The run that waits has taken each event once. The large test is
//
//	go test ./runner/engine/local -run TestProcessesPublishOnce -shared.processes 16 -shared.steps 200 -shared.kills 5 -timeout 30m -v
func TestProcessesPublishOnce(t *testing.T) {
	s := newStore(t)
	e := s.open(t, Options{Factory: enginetest.Factory, Executor: answersOK, Events: enginetest.Events})
	var hears enginetest.Program
	var want []string
	publish := make([]enginetest.Program, *sharedProcesses)
	for i := range publish {
		publish[i].Parallel = 4
		for j := range *sharedSteps {
			name := fmt.Sprintf("p%02d-%03d", i, j)
			publish[i].Tasks = append(publish[i].Tasks, enginetest.Task{Name: name, Emit: "e"})
			hears.Tasks = append(hears.Tasks, enginetest.Task{Name: "hears " + name, Event: "e"})
			want = append(want, name)
		}
	}
	runs := []string{begin(t, e, hears)} // before the first event
	for _, p := range publish {
		runs = append(runs, begin(t, e, p))
	}
	var wait sync.WaitGroup
	killed := make([]int, len(runs))
	for i, run := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 15))
		wait.Go(func() {
			for again := 0; ; {
				o := childOrder{Dir: s.dir, Run: run}
				if killed[i] < *sharedKills { // from the fifth commit on, so that the run makes progress
					o.KillAt, o.KillAfter = 5+rng.IntN(max(*sharedSteps/(*sharedKills+1), 1)), rng.IntN(2) == 0
					if i == 0 {
						o.KillAt = 2 // events that come at once are one commit
					}
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
	end, err := e.Drive(context.Background(), runs[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	notes, _ := end.Outputs["notes"].(map[string]any)
	var got []string
	for _, data := range notes { // any order: sorted below
		name, _ := data.(string)
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the run has taken %d events, want each of %d once: %q", len(got), len(want), got)
	}
	var left int
	if err := e.read.QueryRow("SELECT count(*) FROM shared WHERE space LIKE 'answers %' OR space LIKE 'run-has %' OR space LIKE 'event-runs %'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left of runs that have ended (%v)", left, err)
	}
	if *sharedSteps >= 10 && killed[0] == 0 {
		t.Error("the process of the run that waits was never killed")
	}
	t.Logf("%d processes published %d events, and one waited for them; kills: %v", len(publish), len(want), killed)
}
