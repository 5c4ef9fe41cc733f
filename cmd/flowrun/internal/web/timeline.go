package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// maxBars bounds the rows of a timeline.
const maxBars = 300

// bar is a row of a timeline: when a node was at work, and when it waited.
type bar struct {
	view.RowDoc
	Parts  []barPart
	Took   string
	Around string // the address of the timeline of the time of this node alone; "" without links
}

// barPart is an attempt or a wait. X and Width are parts of the time that is shown, in percent.
type barPart struct{ X, Width, Class, Words string }

// foldBar is a row that stands for nodes that are left out.
type foldBar struct {
	view.FoldDoc
	X, Width, Around string
}

// timeline is a part of the time of a run.
type timeline struct {
	view.TimelineDoc
	Bars     []bar
	Folded   []foldBar
	LeftOut  int
	Ticks    []tick
	Waited   []waited
	Whole    bool   // all of the run is shown
	Earlier  string // addresses of other parts; "": there is none
	Later    string
	Wider    string
	Quarters []string
}

// tick is a mark of the axis.
type tick struct{ Left, Text string }

// waited is how long nodes waited for one kind of thing.
type waited struct{ Name, Took string }

// waits are what a wait is for, in words.
var waits = map[string]string{"timer": "a moment, such as the next attempt", "busy": "an agent", "quota": "a quota", "rate_limit": "a rate limit", "breaker": "a breaker", "event": "an event",
	"budget": "a budget", "sync": "other runs", "child": "a called run", "decision": "people", "slot": "a slot"}

// readTimeline draws a part of the timeline of a run. from and to are in milliseconds after its begin, and a to of 0 is the end. Without links
// nothing leads to another page.
func (p *Pages) readTimeline(r *http.Request, run string, from, to int, links bool) (timeline, error) {
	doc, err := get[view.TimelineDoc](p, r, "/runs/%s/timeline?from=%d&to=%d&limit=%d", run, from, to, maxBars)
	if err != nil {
		return timeline{}, err
	}
	t := timeline{TimelineDoc: doc}
	begin, first, last := moment(doc.StartedAt), moment(doc.From), moment(doc.To)
	if begin.IsZero() {
		begin = first
	}
	length := max(last.Sub(first), time.Millisecond)
	part := func(d time.Duration) string { return fmt.Sprintf("%.3f%%", 100*float64(d)/float64(length)) }
	// place is where a span lies in what is shown; it is at least as wide as can be seen.
	place := func(a, b view.Moment) (x, width string) {
		from := min(max(moment(a).Sub(first), 0), length)
		to := length
		if b != 0 {
			to = min(max(moment(b).Sub(first), 0), length)
		}
		return part(min(from, length-length/500)), part(max(to-from, length/500))
	}
	at := func(from, to time.Duration) string {
		if !links {
			return ""
		}
		from = max(from, 0)
		return runPath(run, "", "tab", "timeline", "from", strconv.FormatInt(from.Milliseconds(), 10), "to", strconv.FormatInt(max(to, from+time.Millisecond).Milliseconds(), 10))
	}
	for i := range doc.Rows {
		row := &doc.Rows[i]
		end := last
		if row.Finished != 0 {
			end = moment(row.Finished)
		}
		released := moment(row.Released)
		margin := max(end.Sub(released)/10, time.Millisecond)
		b := bar{RowDoc: *row, Took: took(row.Released, row.Finished, last), Around: at(released.Sub(begin)-margin, end.Sub(begin)+margin)}
		for j, s := range row.Spans {
			if moment(s.From).After(last) || s.To != 0 && moment(s.To).Before(first) {
				continue
			}
			x, width := place(s.From, s.To)
			status := string(row.Status)
			if later := row.Spans[j+1:]; slices.ContainsFunc(later, func(o view.SpanDoc) bool { return o.Kind == "attempt" }) && s.Kind == "attempt" {
				status = string(event.FailedS) // another attempt followed
			}
			words := "attempt " + number(max(s.Attempt, 1)) + ", " + took(s.From, s.To, last)
			if s.Kind == "wait" {
				status, words = "wait", "waited for "+cmp.Or(waits[s.Name], s.Name)+", "+took(s.From, s.To, last)
			}
			b.Parts = append(b.Parts, barPart{x, width, "s-" + status, words})
		}
		t.Bars = append(t.Bars, b)
	}
	for _, f := range doc.Folds {
		x, width := place(f.From, f.To)
		t.LeftOut += f.Nodes
		t.Folded = append(t.Folded, foldBar{f, x, width, at(moment(f.From).Sub(begin), moment(f.To).Sub(begin))})
	}
	for i := range 5 {
		at := length * time.Duration(i) / 4
		t.Ticks = append(t.Ticks, tick{part(at * 92 / 100), short(first.Sub(begin) + at)})
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Waits)) {
		if s := doc.Waits[name]; s > 0 {
			t.Waited = append(t.Waited, waited{cmp.Or(waits[name], strings.ReplaceAll(name, "_", " ")), span(&s)})
		}
	}
	a, b := first.Sub(begin), last.Sub(begin)
	if t.Whole = from == 0 && to == 0; !t.Whole && links {
		if a > 0 {
			t.Earlier = at(a-length/2, b-length/2)
		}
		t.Later, t.Wider = at(a+length/2, b+length/2), at(a-length/2, b+length/2)
	}
	if links && length >= 4*time.Millisecond {
		for i := range time.Duration(4) {
			t.Quarters = append(t.Quarters, at(a+length*i/4, a+length*(i+1)/4))
		}
	}
	return t, nil
}
