package view_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

var timelineNodes = flag.Int("timeline.nodes", 5000, "how many nodes TestTimelineIsBounded has")

// timelineRun plays the instances of a for_each, each of which waits for a slot before its attempt, and a step behind them.
func timelineRun(nodes int) *view.Timeline {
	w := &ir.Workflow{Name: "w", Nodes: []ir.Node{{Name: "all", Kind: ir.Step, ForEach: &ir.Expr{}}, {Name: "last", Kind: ir.Step, Needs: []string{"all"}}}}
	r := view.New(w)
	t := r.Timeline()
	seq := uint64(0)
	apply := func(at event.Time, about string, list ...event.Transition) {
		seq++
		ev := event.Event{Seq: seq, At: at}
		if about != "" {
			ev.AttemptFinished = &event.AttemptFinished{Node: about, Outcome: event.OK}
		}
		for i := range list {
			list[i].At, list[i].Kind, list[i].Name = at, string(ir.Step), view.Base(list[i].Node)
		}
		caused := &event.Reaction{Transitions: list}
		r.Apply([]event.Event{ev}, caused)
		t.Apply(ev, caused)
	}
	second := event.Time(time.Second)
	begin := 1000 * second
	apply(begin, "", event.Transition{Node: "", From: event.Pending, To: event.Running}, event.Transition{Node: "all", From: event.Pending, To: event.Running})
	path := func(i int) string { return fmt.Sprintf("all[%d]", i) }
	for i := range nodes {
		apply(begin, "", event.Transition{Node: path(i), From: event.Pending, To: event.Waiting, WaitsFor: &event.WaitsFor{Kind: event.WaitBusy}})
	}
	for i := range nodes {
		at := begin + event.Time(i)*second
		apply(at, "", event.Transition{Node: path(i), From: event.Waiting, To: event.Running, Attempt: 1})
		end, status := at+second, event.Succeeded
		if i == 7 {
			status = event.FailedS
		}
		more := []event.Transition{{Node: path(i), From: event.Running, To: status}}
		if i == nodes-1 {
			more = append(more, event.Transition{Node: "all", From: event.Running, To: event.Succeeded}, event.Transition{Node: "last", From: event.Pending, To: event.Running, Attempt: 1})
		}
		apply(end, path(i), more...)
	}
	end := begin + event.Time(nodes)*second
	apply(end+second, "last", event.Transition{Node: "last", From: event.Running, To: event.Succeeded}, event.Transition{Node: "", From: event.Running, To: event.Succeeded})
	return t
}

func TestTimeline(t *testing.T) {
	d := timelineRun(10).Document(0, 0, 0, 100)
	if got, want := fmt.Sprint(d.Critical), "[{all[9] 10 1} {last 1 1}]"; got != want {
		t.Errorf("the critical path is %s, not %s", got, want)
	}
	if d.Waits["busy"] != 45 || len(d.Rows) != 11 || len(d.Folds) != 0 {
		t.Errorf("waits %v, %d rows, %v", d.Waits, len(d.Rows), d.Folds)
	}
	if r := d.Rows[3]; r.ID != "all[3]" || len(r.Spans) != 2 || r.Spans[0].Kind != "wait" || r.Spans[0].Name != "busy" || r.Spans[1].Attempt != 1 {
		t.Errorf("a row is %+v", r)
	}
	// A part: what has ended before it, or begins after it, is not in it.
	second := event.Time(time.Second)
	if part := timelineRun(10).Document(1008*second+1, 1009*second, 0, 100); len(part.Rows) != 2 || part.Rows[0].ID != "all[8]" {
		t.Errorf("the part has %+v", part.Rows)
	}
	// Of more rows than fit those stay that are critical, then those that failed.
	few := timelineRun(10).Document(0, 0, 0, 3)
	if len(few.Rows) != 3 || few.Rows[0].ID != "all[7]" || !few.Rows[1].Critical || !few.Rows[2].Critical {
		t.Errorf("the rows are %+v", few.Rows)
	}
	if f := few.Folds; len(f) != 1 || f[0].ID != "all" && f[0].ID != "" || f[0].Nodes != 8 || f[0].Failed != 0 {
		t.Errorf("folded are %+v", f)
	}
}

// TestTimelineIsBounded: a part of the timeline of a large run is small.
func TestTimelineIsBounded(t *testing.T) {
	line := timelineRun(*timelineNodes)
	begin := time.Now()
	d := line.Document(0, 0, 0, 300)
	body, err := json.Marshal(d)
	t.Logf("%d nodes: %d bytes in %s", *timelineNodes, len(body), time.Since(begin))
	if err != nil || len(d.Rows) != 300 || len(body) > 200<<10 {
		t.Errorf("%d rows, %d bytes, %v", len(d.Rows), len(body), err)
	}
}
