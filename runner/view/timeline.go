package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
)

// Timeline is when the nodes of a run were at work, when and for what they waited, and which of them decided how long the run took. It is a
// fold beside the one of [Run]: it takes in each event after the run did.
type Timeline struct {
	run    *Run
	lanes  map[string]*lane
	order  []*lane
	ended  []string // nodes that ended in the batch at hand, the last maxReleasers
	began  event.Time
	last   event.Time
	closed bool // the run has ended
}

// lane is one node in a timeline.
type lane struct {
	path           string
	released, ends event.Time // ends is 0 before the end
	cause          string     // the node whose end released this one; "": none did
	status         event.Status
	spans          []SpanDoc
	open           bool // the last span has not ended
	left           int  // spans that are left out
}

const (
	// MaxSpans bounds the spans of a node in a timeline. The first ones of more are left out.
	MaxSpans = 60
	// maxReleasers bounds the nodes that ended in one batch and are looked at as causes of those that it releases.
	maxReleasers = 16
	// maxFolded bounds the rows that stand for others.
	maxFolded = 100
)

// SpanDoc is a span in which a node was at work or waited. Kind is "attempt" or "wait". Of a wait Name says for what: a kind of waits_for, or
// "timer". Attempt is the number of the attempt.
type SpanDoc struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	From    Moment `json:"from"`
	To      Moment `json:"to"` // null before its end
}

// TimelineDoc is a part of a timeline.
type TimelineDoc struct {
	Run        string       `json:"run"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  Moment       `json:"started_at"`
	FinishedAt Moment       `json:"finished_at"`
	From       Moment       `json:"from"` // of the part
	To         Moment       `json:"to"`
	// Critical is the chain of nodes that decided how long the run took, in their order: the end of each released the next. It is empty
	// before the end of the run.
	Critical []CriticalDoc `json:"critical"`
	// Waits are the seconds that all nodes waited in the whole run, by kind.
	Waits map[string]float64 `json:"waits"`
	Rows  []RowDoc           `json:"rows"`   // in the order of their release
	Folds []FoldDoc          `json:"folded"` // what is left out, by the group around it
}

// CriticalDoc is a node of the critical path. Its seconds are from its release to its end, of which it was at work in Worked.
type CriticalDoc struct {
	ID      string  `json:"id"`
	Seconds float64 `json:"seconds"`
	Worked  float64 `json:"worked"`
}

// RowDoc is a node in a timeline.
type RowDoc struct {
	ID       string       `json:"id"`
	Status   event.Status `json:"status"`
	Critical bool         `json:"critical,omitempty"`
	Released Moment       `json:"released_at"`
	Finished Moment       `json:"finished_at"`
	Spans    []SpanDoc    `json:"spans"`
	Left     int          `json:"spans_left_out,omitempty"`
}

// FoldDoc stands for nodes below one node that are left out. ID is "" for those at the top.
type FoldDoc struct {
	ID     string `json:"id"`
	Nodes  int    `json:"nodes"`
	Failed int    `json:"failed"`
	From   Moment `json:"from"`
	To     Moment `json:"to"`
}

// Timeline begins a timeline of the run.
func (r *Run) Timeline() *Timeline { return &Timeline{run: r, lanes: map[string]*lane{}} }

// Apply takes in one event with what it caused.
func (t *Timeline) Apply(ev event.Event, caused *event.Reaction) {
	if t.began == 0 {
		t.began = ev.At
	}
	t.last = ev.At
	t.ended = t.ended[:0]
	for i := range caused.Transitions {
		x := &caused.Transitions[i]
		switch {
		case x.Node == "":
			t.closed = t.closed || x.To.Terminal()
		case x.From != x.To:
			t.take(x, ev.At, ev.Node())
		}
	}
}

func (t *Timeline) take(x *event.Transition, at event.Time, about string) {
	l := t.lanes[x.Node]
	if l == nil {
		l = &lane{path: x.Node, released: at, cause: t.causeOf(x, about)}
		t.lanes[x.Node] = l
		t.order = append(t.order, l)
	}
	if l.open {
		l.open, l.spans[len(l.spans)-1].To = false, Moment(at)
	}
	switch l.status = x.To; {
	case x.To == event.Running:
		l.begin(SpanDoc{Kind: "attempt", Attempt: x.Attempt, From: Moment(at)})
	case x.To == event.Waiting:
		name := string(event.WaitTimer)
		if x.WaitsFor != nil {
			name = string(x.WaitsFor.Kind)
		}
		l.begin(SpanDoc{Kind: "wait", Name: name, Attempt: x.Attempt, From: Moment(at)})
	case x.To.Terminal():
		l.ends = at
		if t.ended = append(t.ended, x.Node); len(t.ended) > maxReleasers {
			t.ended = slices.Delete(t.ended, 0, 1)
		}
	}
}

func (l *lane) begin(s SpanDoc) {
	if len(l.spans) == MaxSpans {
		l.spans = slices.Delete(l.spans, 0, 1)
		l.left++
	}
	l.spans, l.open = append(l.spans, s), true
}

// causeOf is the node whose end released a node: of those that ended before it in the same batch the last one that it waits for, or else the
// one that the event is about.
func (t *Timeline) causeOf(x *event.Transition, about string) string {
	for i := len(t.ended) - 1; i >= 0; i-- {
		if t.isLeaf(t.ended[i]) && t.awaits(x.Node, t.ended[i]) {
			return t.ended[i]
		}
	}
	for i := len(t.ended) - 1; i >= 0; i-- {
		if t.ended[i] == about && about != x.Node {
			return about
		}
	}
	return ""
}

func (t *Timeline) isLeaf(path string) bool {
	n := t.run.byPath[path]
	return n == nil || len(n.Children) == 0
}

// awaits reports whether a node, or a group around it, waits for another one, or for a group around that.
func (t *Timeline) awaits(path, other string) bool {
	for p := path; p != ""; p = Parent(p) {
		d := t.run.declared[Base(p)]
		if d == nil {
			continue
		}
		for o := other; o != ""; o = Parent(o) {
			if name := Base(o); slices.Contains(d.Needs, name) || slices.Contains(d.Observes, name) {
				return true
			}
		}
	}
	return false
}

// worked is how long the node was at work, and waited how long it waited, by kind.
func (l *lane) sum(now event.Time, waits map[string]float64) (worked float64) {
	for _, s := range l.spans {
		to := event.Time(s.To)
		if to == 0 {
			to = now
		}
		length := to.Sub(event.Time(s.From)).Seconds()
		if s.Kind == "attempt" {
			worked += length
		} else if waits != nil {
			waits[s.Name] += length
		}
	}
	return worked
}

// critical is the chain that ends with the node that ended last.
func (t *Timeline) critical() (chain []*lane) {
	var last *lane
	for _, l := range t.order {
		if t.isLeaf(l.path) && len(l.spans) > 0 && l.ends != 0 && (last == nil || l.ends >= last.ends) {
			last = l
		}
	}
	seen := map[*lane]bool{}
	for l := last; t.closed && l != nil && !seen[l]; l = t.lanes[l.cause] {
		seen[l] = true
		chain = append(chain, l)
	}
	slices.Reverse(chain)
	return chain
}

// Document gives the part of the timeline between two moments; 0 is the begin and the end of the run. Of more rows than most those are kept
// that are critical, then those that failed, then the longest ones. now is the end of what has not ended.
func (t *Timeline) Document(from, to, now event.Time, most int) TimelineDoc {
	d := TimelineDoc{Run: t.run.ID, Workflow: t.run.Workflow, Status: t.run.Status, StartedAt: Moment(t.run.StartedAt), FinishedAt: Moment(t.run.FinishedAt),
		Critical: []CriticalDoc{}, Waits: map[string]float64{}, Rows: []RowDoc{}, Folds: []FoldDoc{}}
	if t.closed {
		now = t.last
	}
	begin := cmp.Or(t.run.StartedAt, t.began)
	from, to = max(from, begin), min(cmp.Or(to, now), max(now, begin))
	d.From, d.To = Moment(from), Moment(max(from, to))
	critical := map[*lane]bool{}
	for _, l := range t.critical() {
		critical[l] = true
		d.Critical = append(d.Critical, CriticalDoc{l.path, l.ends.Sub(l.released).Seconds(), l.sum(now, nil)})
	}
	var list []*lane
	for _, l := range t.order {
		if !t.isLeaf(l.path) || len(l.spans) == 0 {
			continue
		}
		l.sum(now, d.Waits)
		if l.released <= event.Time(d.To) && cmp.Or(l.ends, now) >= from {
			list = append(list, l)
		}
	}
	if len(list) > most {
		rank := func(l *lane) int {
			switch {
			case critical[l]:
				return 0
			case l.status == event.FailedS:
				return 1
			}
			return 2
		}
		length := func(l *lane) int64 { return int64(cmp.Or(l.ends, now).Sub(l.released)) }
		slices.SortStableFunc(list, func(a, b *lane) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(length(b), length(a))) })
		d.Folds = foldLanes(list[most:], now)
		list = list[:most]
		slices.SortStableFunc(list, func(a, b *lane) int {
			return cmp.Or(cmp.Compare(a.released, b.released), strings.Compare(a.path, b.path))
		})
	}
	for _, l := range list {
		d.Rows = append(d.Rows, RowDoc{l.path, l.status, critical[l], Moment(l.released), Moment(l.ends), slices.Clone(l.spans), l.left})
	}
	return d
}

// foldLanes lists what is left out, by the node around it.
func foldLanes(list []*lane, now event.Time) []FoldDoc {
	byUp := map[string]*FoldDoc{}
	for _, l := range list {
		up := Parent(l.path)
		f := byUp[up]
		if f == nil && len(byUp) >= maxFolded {
			up = ""
			f = byUp[up]
		}
		if f == nil {
			f = &FoldDoc{ID: up, From: Moment(l.released)}
			byUp[up] = f
		}
		if f.Nodes++; l.status == event.FailedS {
			f.Failed++
		}
		f.From, f.To = min(f.From, Moment(l.released)), max(f.To, Moment(cmp.Or(l.ends, now)))
	}
	out := []FoldDoc{}
	for _, f := range byUp { // any order: sorted below
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b FoldDoc) int { return cmp.Or(cmp.Compare(a.From, b.From), strings.Compare(a.ID, b.ID)) })
	return out
}
