package serve

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var queries = flag.Int("serve.queries", 0, "measure so many pairs of runs, one with 100 queries a second over the API and one without")

const busyProgram = `
workflow "work" {
  step "s" {
    for_each = range(150)
    run      = "true"
  }
  step "n" {
    for_each = range(150)
    kv { incr = "n" }
  }
}
`

// TestQueriesSlowRunsLittle measures how much 100 queries a second slow down the run that they are about, in pairs of runs, by turns.
func TestQueriesSlowRunsLittle(t *testing.T) {
	if *queries == 0 {
		t.Skip("-serve.queries is not set")
	}
	s, start := openStoreOf(t, t.TempDir(), busyProgram)
	d, at, _ := serving(t, s, ServerOptions{Token: secretToken})
	c := client{t, at}
	measure := func(asks bool) (took, used time.Duration, asked int64) {
		var n atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		began, cpu := time.Now(), processTime(t)
		run := start("work")
		var all sync.WaitGroup
		if asks {
			all.Go(func() {
				paths := []string{"/api/v1/runs?limit=20", "/api/v1/runs/" + run, "/api/v1/inbox", "/api/v1/events", "/healthz"}
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for i := 0; ; i++ {
					select {
					case <-ctx.Done():
						return
					case <-tick.C:
					}
					all.Go(func() {
						if status, body := c.ask("GET", paths[i%len(paths)], ""); status != 200 {
							t.Errorf("%s: %d %.200s", paths[i%len(paths)], status, body)
						}
						n.Add(1)
					})
				}
			})
		}
		for ended := false; !ended; time.Sleep(2 * time.Millisecond) {
			info, err := s.Get(ctx, run)
			if err != nil {
				t.Fatal(err)
			}
			ended = info.Status.Terminal()
		}
		took = time.Since(began)
		stop()
		all.Wait()
		return took, processTime(t) - cpu, n.Load()
	}
	measure(true)
	var ratios, costs []float64
	for i := range *queries {
		first, cpu, n := measure(i%2 == 0)
		second, otherCPU, m := measure(i%2 != 0)
		if i%2 != 0 {
			first, second, cpu, otherCPU, n = second, first, otherCPU, cpu, m
		}
		ratios, costs = append(ratios, first.Seconds()/second.Seconds()), append(costs, (cpu-otherCPU).Seconds()/float64(n)*1000)
		t.Log(fmt.Sprintf("with queries %v, without %v, %.0f queries a second", first, second, float64(n)/first.Seconds()))
	}
	slices.Sort(ratios)
	slices.Sort(costs)
	t.Logf("%d pairs: a run takes %.3f times as long with queries (median; from %.3f to %.3f), and a query %.2f ms of CPU; %d runs are driven", *queries, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], costs[len(costs)/2], d.runs.Driven())
}
