package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// maxBars bounds the rows of a timeline.
const maxBars = 300

// bar is a row of a timeline: when a node was at work. Left and Width are parts of the span, in percent.
type bar struct {
	*view.NodeDoc
	Left, Width string
	Took        string
	Critical    bool
}

// timeline are the bars of a run from the first start to the last end.
type timeline struct {
	Bars     []bar
	LeftOut  int
	From, To time.Time
	Ticks    []tick
}

// tick is a mark of the axis.
type tick struct{ Left, Text string }

// newTimeline makes the timeline of the nodes that have begun and have no nodes below. Of more than fit the longest are kept, and those that failed.
func newTimeline(d *view.Document, byPath map[string]*twig, now time.Time) timeline {
	var list []*view.NodeDoc
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.StartedAt != 0 && len(byPath[n.ID].below) == 0 && !n.Reused {
			list = append(list, n)
		}
	}
	t := timeline{From: moment(d.StartedAt), To: now}
	if d.FinishedAt != 0 {
		t.To = moment(d.FinishedAt)
	}
	length := func(n *view.NodeDoc) time.Duration {
		end := t.To
		if n.FinishedAt != 0 {
			end = moment(n.FinishedAt)
		}
		return end.Sub(moment(n.StartedAt))
	}
	if len(list) > maxBars {
		slices.SortStableFunc(list, func(a, b *view.NodeDoc) int {
			failed := func(n *view.NodeDoc) int {
				if n.Status == event.FailedS {
					return 0
				}
				return 1
			}
			return cmp.Or(cmp.Compare(failed(a), failed(b)), cmp.Compare(length(b), length(a)))
		})
		t.LeftOut = len(list) - maxBars
		list = list[:maxBars]
	}
	slices.SortStableFunc(list, func(a, b *view.NodeDoc) int { return cmp.Compare(a.StartedAt, b.StartedAt) })
	for _, n := range list {
		if at := moment(n.StartedAt); at.Before(t.From) || t.From.IsZero() {
			t.From = at
		}
	}
	whole := max(t.To.Sub(t.From), time.Millisecond)
	percent := func(d time.Duration) string { return fmt.Sprintf("%.3f%%", 100*float64(d)/float64(whole)) }
	for _, n := range list {
		from := moment(n.StartedAt).Sub(t.From)
		t.Bars = append(t.Bars, bar{NodeDoc: n, Left: percent(from), Width: percent(max(min(length(n), whole-from), whole/500)), Took: took(n.StartedAt, n.FinishedAt, now)})
	}
	for i := range 5 {
		part := whole * time.Duration(i) / 4
		t.Ticks = append(t.Ticks, tick{percent(part * 94 / 100), took(t.From, t.From.Add(part), now)})
	}
	return t
}
