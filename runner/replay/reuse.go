package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// MaxChanges bounds how many changes of one request are told.
const MaxChanges = 5

// Change is a value of a request that is not that of then. Field leads to it, such as agent.task or argv[2]. Was or Is is nil where the
// value is not there.
type Change struct {
	Field string     `json:"field"`
	Was   *view.Data `json:"was,omitempty"`
	Is    *view.Data `json:"is,omitempty"`
}

// Calls answers for the runs that a run called. run is the child of then, and call what is asked for now; end is how it ends, with the
// program of now. A nil end means that it does not end without work, for the reason why.
type Calls func(run string, call *event.StartChild) (end *event.ChildFinished, why string)

// reuse is the part of a host that lets an answer count only for the same request.
type reuse struct {
	calls Calls
	left  map[string]string // by node: why nothing of it is reused
	// passed are the agents that were asked in vain for what another agent did then, by attempt: a pool may give the work to that one.
	passed map[key][]string
}

// Reuse runs a machine of a program in the world of a run that has ended, as [World.Run] does, with these differences:
//
//   - What is asked for in other words than then has no answer. The bounds of an attempt (its timeout, priority, quotas and resources) may
//     be other ones where it succeeded in time.
//   - No time passes in which nobody drove the run, nobody cancels it, and nothing is refused because others use it.
//   - A person's decision counts where the person is asked the same. A timed wait counts where it lasts as long.
//   - left has nodes, by their paths, of which nothing is reused, and why.
//
// What is answered in the end is what the run of then did, and what a run of the program would ask for in the same words.
func (w *World) Reuse(m Machine, first event.RunStarted, v *view.Run, left map[string]string, calls Calls) (*Outcome, error) {
	return w.driven().run(&host{reuse: &reuse{calls, left, map[key][]string{}}}, m, first, v)
}

// Inherit lets a run that repeats another one know what that one knew of the nodes that it reused: their paths, or those of nodes around
// them, for which of reports true.
func (w *World) Inherit(before *World, of func(node string) bool) {
	for k, list := range before.answers { // any order: it fills a map
		if of(k.node) {
			w.answers[k] = list
		}
	}
	for k, list := range before.lates { // any order: it fills a map
		if of(k.node) {
			w.lates[k] = list
		}
	}
	for node, list := range before.asks { // any order: it fills a map
		if of(node) {
			w.asks[node] = list
		}
	}
}

// driven is the world without the times in which nobody drove the run, refusals and wishes of people.
func (w *World) driven() *World {
	gap := func(at event.Time) (d time.Duration) {
		for i := range w.others {
			if c := w.others[i].DriverChanged; c != nil && c.Since != 0 && c.Since < at {
				d += min(at, w.others[i].At).Sub(c.Since)
			}
		}
		return d
	}
	move := func(at event.Time) event.Time {
		if at == 0 {
			return 0
		}
		return at.Add(-gap(at))
	}
	out := NewWorld()
	out.began, out.last, out.ended = w.began, move(w.last), true
	for k, list := range w.answers { // any order: it fills a map
		for _, a := range list {
			if a.event == nil || a.event.AttemptFinished != nil && a.event.AttemptFinished.Outcome == event.Refused {
				continue
			}
			b := *a
			b.asked, b.cutAt, b.at = move(a.asked), move(a.cutAt), move(a.at)
			b.took = took(b.asked, b.at)
			if f := a.event.AttemptFinished; f != nil {
				moved := *f
				moved.StartedAt = move(f.StartedAt)
				b.event = &event.Event{Seq: a.event.Seq, At: b.at, AttemptFinished: &moved}
			}
			out.answers[k] = append(out.answers[k], &b)
		}
	}
	for k, list := range w.lates { // any order: it fills a map
		for _, l := range list {
			b := *l
			b.late = took(move(l.due), move(l.fired))
			out.lates[k] = append(out.lates[k], &b)
		}
	}
	maps.Copy(out.asks, w.asks)
	for _, ev := range w.others {
		if x := ev.External; x != nil && (x.Kind == event.ExternalEvent || x.Kind == event.ExternalMetrics) {
			ev.At = move(ev.At)
			out.others = append(out.others, ev)
		}
	}
	return out
}

// mayReuse reports whether the answer of then is one to what is asked for now. Else the request is told as new or as changed, and has no
// answer.
func (h *host) mayReuse(got **answer, r *Request, asked any) bool {
	if a, ok := asked.(*event.Attempt); ok && a.Kind == event.HoldAttempt {
		*got = &answer{request: a, event: &event.Event{AttemptFinished: &event.AttemptFinished{Outcome: event.OK}}}
		return true
	}
	if why := h.reuse.left[r.Node]; why != "" {
		if r.Why = why; *got != nil {
			r.Changes = changes((*got).request, asked, bounds(*got, asked))
		}
		h.out.New = append(h.out.New, *r)
		return false
	}
	if *got == nil {
		return true // it is new
	}
	if r.Changes = changes((*got).request, asked, bounds(*got, asked)); r.Changes != nil {
		h.out.Changed = append(h.out.Changed, *r)
		h.askOther((*got).request, asked)
		return false
	}
	call, ok := asked.(*event.StartChild)
	if !ok {
		h.found(r)
		return true
	}
	end, why := h.reuse.calls((*got).request.(*event.StartChild).Run, call)
	if end == nil {
		r.Why = why
		h.out.New = append(h.out.New, *r)
		return false
	}
	b := **got
	b.event = &event.Event{Seq: b.event.Seq, At: b.at, ChildFinished: end}
	*got = &b
	return true
}

// askOther lets an agent refuse what another agent did then, once: where a pool has the work, it asks its other members.
func (h *host) askOther(was, is any) {
	then, ok := was.(*event.Attempt)
	now, both := is.(*event.Attempt)
	if !ok || !both || then.Agent == nil || now.Agent == nil || then.Agent.Name == now.Agent.Name {
		return
	}
	k := attemptKey(now)
	if slices.Contains(h.reuse.passed[k], now.Agent.Name) {
		return
	}
	h.reuse.passed[k] = append(h.reuse.passed[k], now.Agent.Name)
	h.nth[k]-- // the answer of then is still to come
	f := &event.AttemptFinished{Ticket: now.Ticket, Node: now.Node, Attempt: now.Attempt, Gate: now.Gate, Compensate: now.Compensate, Outcome: event.Refused,
		Resource: now.Agent.Name, Error: &event.Error{Kind: event.Transient, Reason: event.ReasonBusy, Message: "another agent did it", ExitCode: -1}}
	h.put(h.now, 0, event.Event{AttemptFinished: f})
}

// found takes back that an attempt has changed: another member of its pool has the answer of then.
func (h *host) found(r *Request) {
	if r.Workflow != "" || len(h.reuse.passed) == 0 {
		return
	}
	h.out.Changed = slices.DeleteFunc(h.out.Changed, func(c Request) bool {
		return c.Node == r.Node && c.Attempt == r.Attempt && c.Gate == r.Gate && c.Compensate == r.Compensate
	})
}

// numbered are parts of requests that the machine, or the host, gives: they are not part of what is asked for.
var numbered = []string{"ticket", "key", "run", "base", "admission", "budget", "held", "cause"}

// bounds are the parts that need not be the same, besides those that are numbers.
func bounds(got *answer, asked any) []string {
	f := got.event.AttemptFinished
	a, ok := asked.(*event.Attempt)
	if !ok || f == nil || f.Outcome != event.OK || a.Timeout > 0 && got.took > a.Timeout {
		return numbered
	}
	return append(slices.Clone(numbered), "timeout", "resources")
}

// waited reports whether a wait of the same length ended then. Else the wait is told as new or as changed.
func (h *host) waited(t *event.SetTimer, k key, n int) bool {
	r := Request{Node: t.Node}
	if list := h.world.lates[k]; n < len(list) && list[n].fired != 0 {
		l := list[n]
		if t.Due == l.due || t.Due.Sub(h.now) == l.due.Sub(l.set) {
			return true
		}
		was, is := view.Data{Value: l.due.Sub(l.set).String()}, view.Data{Value: t.Due.Sub(h.now).String()}
		r.Changes = []Change{{"wait", &was, &is}}
		h.out.Changed = append(h.out.Changed, r)
		return false
	}
	h.out.New = append(h.out.New, r)
	return false
}

// decide gives an ask the decisions of then, after the times that they took, where people are asked the same.
func (h *host) decide(now *event.Ask) {
	k := key{node: now.Node, what: "ask"}
	n, list := h.next(k), h.world.asks[now.Node]
	r := Request{Node: now.Node}
	if n >= len(list) || len(list[n].decisions) == 0 || h.reuse.left[now.Node] != "" {
		r.Why = h.reuse.left[now.Node]
		h.out.New = append(h.out.New, r)
		return
	}
	then := list[n]
	if r.Changes = changes(then.request, now, []string{"number", "since", "until"}); r.Changes != nil {
		h.out.Changed = append(h.out.Changed, r)
		return
	}
	for _, ev := range then.decisions {
		x := *ev.External
		d, err := event.DecisionOf(x.Data)
		if err != nil {
			continue // it was read before
		}
		d.Ask = now.Number
		x.Inbox, x.Data = 0, d.Data()
		h.put(h.now.Add(took(then.at, ev.At)), ev.Seq, event.Event{External: &x})
	}
}

// changes lists where two requests differ but in the parts that are left out; nil where they don't.
func changes(was, is any, without []string) (list []Change) {
	a, b := members(was, without), members(is, without)
	diff(&list, "", a, b)
	return list
}

func members(request any, without []string) value.Value {
	text, err := json.Marshal(request)
	if err != nil {
		panic("replay: a request that is not JSON: " + err.Error()) // plain data by construction
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	m := map[string]any{}
	_ = d.Decode(&m) // of an object that was just written
	for _, name := range without {
		delete(m, name)
	}
	return plain(m)
}

// plain gives numbers that a value cannot hold, such as moments in nanoseconds, as texts.
func plain(v any) value.Value {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && math.Abs(f) <= 1<<53 {
			return f
		}
		return v.String()
	case map[string]any:
		for k := range v { // any order: each for itself
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

// diff adds where two values differ, in the order of the fields, the innermost places first.
func diff(list *[]Change, field string, was, is value.Value) {
	if len(*list) == MaxChanges || value.Equal(was, is) {
		return
	}
	a, objects := was.(map[string]any)
	b, both := is.(map[string]any)
	if objects && both {
		all := maps.Clone(a)
		maps.Copy(all, b)
		for _, name := range value.Keys(all) {
			inside := name
			if field != "" {
				inside = field + "." + name
			}
			x, there := a[name]
			y, now := b[name]
			switch {
			case len(*list) == MaxChanges:
			case !there:
				*list = append(*list, Change{inside, nil, &view.Data{Value: y}})
			case !now:
				*list = append(*list, Change{inside, &view.Data{Value: x}, nil})
			default:
				diff(list, inside, x, y)
			}
		}
		return
	}
	x, lists := was.([]any)
	y, two := is.([]any)
	if lists && two && len(x) == len(y) {
		for i := range x {
			diff(list, fmt.Sprintf("%s[%d]", field, i), x[i], y[i])
		}
		return
	}
	*list = append(*list, Change{field, &view.Data{Value: was}, &view.Data{Value: is}})
}
