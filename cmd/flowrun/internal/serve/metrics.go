package serve

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/stats"
)

// metrics answers with figures in the text format of Prometheus. The format is that of its exposition formats, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	d := s.daemon
	list, err := d.store.List(r.Context(), 0)
	if err != nil {
		return err
	}
	byStatus, byWorkflow := map[string]int{}, map[[2]string]int{}
	for i := range list {
		byStatus[string(list[i].Status)]++
		if list[i].Status.Terminal() {
			byWorkflow[[2]string{list[i].Workflow, string(list[i].Status)}]++
		}
	}
	programs, err := d.store.Registered(r.Context())
	if err != nil {
		return err
	}
	asks, err := d.store.Ask(r.Context(), event.StoreRequest{Asks: true})
	if err != nil {
		return err
	}
	dead, err := d.store.Ask(r.Context(), event.StoreRequest{Dead: &event.DeadRequest{}})
	if err != nil {
		return err
	}
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	head("flowrun_runs", "gauge", "Runs in the store by status.")
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		fmt.Fprintf(&b, "flowrun_runs{status=%s} %d\n", label(status), byStatus[status])
	}
	head("flowrun_runs_ended", "gauge", "Runs in the store that have ended, by workflow and status.")
	keys := slices.SortedFunc(maps.Keys(byWorkflow), func(a, b [2]string) int { return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1]) })
	for _, k := range keys {
		fmt.Fprintf(&b, "flowrun_runs_ended{workflow=%s,status=%s} %d\n", label(k[0]), label(k[1]), byWorkflow[k])
	}
	head("flowrun_runs_driven", "gauge", "Runs that the daemon drives now; parked ones are not among them.")
	fmt.Fprintf(&b, "flowrun_runs_driven %d\n", d.runs.Driven())
	head("flowrun_events_waiting", "gauge", "Events that are still to start a run, by subscription.")
	for i := range programs {
		for _, on := range programs[i].On {
			fmt.Fprintf(&b, "flowrun_events_waiting{program=%s,event=%s,workflow=%s} %d\n", label(programs[i].Path), label(on.Event), label(on.Workflow), on.Waiting)
		}
	}
	head("flowrun_inbox", "gauge", "Nodes that wait for people.")
	fmt.Fprintf(&b, "flowrun_inbox %d\n", lengthOf(asks))
	head("flowrun_dead_letters", "gauge", "Entries of the list of what was given up.")
	fmt.Fprintf(&b, "flowrun_dead_letters %d\n", lengthOf(dead))
	traces := d.store.TraceFigures()
	head("flowrun_trace_spans_sent_total", "counter", "Spans that the collector of traces took.")
	fmt.Fprintf(&b, "flowrun_trace_spans_sent_total %d\n", traces.Sent)
	head("flowrun_trace_spans_lost_total", "counter", "Spans that the collector of traces did not take.")
	fmt.Fprintf(&b, "flowrun_trace_spans_lost_total %d\n", traces.LostSpans)
	head("flowrun_trace_runs_lost_total", "counter", "Runs of which spans were lost.")
	fmt.Fprintf(&b, "flowrun_trace_runs_lost_total %d\n", traces.LostRuns)
	head("flowrun_trace_runs_waiting", "gauge", "Runs whose spans are still to be sent.")
	fmt.Fprintf(&b, "flowrun_trace_runs_waiting %d\n", traces.Waiting)
	head("flowrun_uptime_seconds", "gauge", "How long the daemon runs.")
	fmt.Fprintf(&b, "flowrun_uptime_seconds %.3f\n", time.Since(d.begun).Seconds())
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	head("flowrun_heap_bytes", "gauge", "Memory that the daemon's objects take.")
	fmt.Fprintf(&b, "flowrun_heap_bytes %d\n", memory.HeapAlloc)
	head("flowrun_goroutines", "gauge", "Goroutines of the daemon.")
	fmt.Fprintf(&b, "flowrun_goroutines %d\n", runtime.NumGoroutine())
	if tasks, err := readFlag(r, "tasks"); err != nil {
		return err
	} else if tasks {
		if err := s.taskMetrics(r.Context(), head, &b); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, err = w.Write([]byte(b.String()))
	return err
}

// tasksSpan is the span of the figures of tasks, as of flowrun stats.
const tasksSpan = 24 * time.Hour

// taskMetrics writes the figures of the tasks of the last 24 hours, of each agent and of each pattern. A figure of no tasks is left out.
func (s *Server) taskMetrics(ctx context.Context, head func(name, kind, help string), b *strings.Builder) error {
	now := time.Now()
	since := event.At(now.Add(-tasksSpan))
	s.folds.mu.Lock()
	defer s.folds.mu.Unlock()
	if err := s.foldRuns(ctx, since, now); err != nil {
		return err
	}
	for _, by := range []stats.Group{stats.ByAgent, stats.ByPattern} {
		_, groups := stats.Compute(s.folds.runs, since, event.At(now), by)
		write := func(name, help, with string, value func(f *stats.Figures) *float64) {
			name = "flowrun_" + string(by) + "_" + name
			if with == "" || with == statusLabel[0] {
				head(name, "gauge", fmt.Sprintf("%s, by %s.", help, by))
			}
			for i := range groups {
				if v := value(&groups[i].Figures); v != nil {
					fmt.Fprintf(b, "%s{%s=%s%s} %s\n", name, by, label(groups[i].Name), with, strconv.FormatFloat(*v, 'g', -1, 64))
				}
			}
		}
		count := func(of func(f *stats.Figures) int) func(f *stats.Figures) *float64 {
			return func(f *stats.Figures) *float64 { v := float64(of(f)); return &v }
		}
		write("tasks", "Tasks that ended in the last 24 hours", statusLabel[0], count(func(f *stats.Figures) int { return f.Succeeded }))
		write("tasks", "", statusLabel[1], count(func(f *stats.Figures) int { return f.Failed }))
		write("attempts", "Attempts of the tasks of the last 24 hours", "", count(func(f *stats.Figures) int { return f.Attempts }))
		write("retries", "Attempts beyond the first of each task, in the last 24 hours", "", count(func(f *stats.Figures) int { return f.Retries }))
		write("task_seconds", "Mean time of a task in the last 24 hours", "", func(f *stats.Figures) *float64 { return f.MeanTime })
		write("success_rate", "Share of the tasks of the last 24 hours that succeeded, 0 to 1", "", func(f *stats.Figures) *float64 { return f.SuccessRate })
		write("error_rate", "Share of the tasks of the last 24 hours that failed, 0 to 1", "", func(f *stats.Figures) *float64 { return f.ErrorRate })
		write("utilization", "Share of the last 24 hours in which an agent had an attempt, 0 to 1", "", func(f *stats.Figures) *float64 { return f.Utilization })
		write("cost_dollars", "Cost of the tasks of the last 24 hours", "", func(f *stats.Figures) *float64 { return &f.CostUSD })
		if by == stats.ByPattern {
			write("queue", "Steps that wait now", "", count(func(f *stats.Figures) int { return f.Queue }))
		}
	}
	return nil
}

// statusLabel are the labels of tasks that succeeded and of those that failed.
var statusLabel = [2]string{`,status="succeeded"`, `,status="failed"`}

func lengthOf(v any) int {
	list, _ := v.([]any)
	return len(list)
}

// label is a value of a label: a backslash, a quote and a line end are written with a backslash.
func label(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
