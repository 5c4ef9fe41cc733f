package trace

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Run is the fold of one run. It is not safe for concurrent use.
type Run struct {
	each    func(*Span)
	tree    TraceID
	run     Span
	id      string
	nodes   map[string]*node
	live    map[uint64]*attempt
	last    event.Time
	resumes int64
}

// node is the span of a node that is not given yet: the node may begin again.
type node struct {
	span       Span
	path, name string
	kind, item string
	status     event.Status
	attempts   int
	err        *event.Error
	order      int
}

// attempt is one that has not been answered. One that lost its driver may be begun again under its
// ticket, and stays one span.
type attempt struct {
	event.Attempt
	from   event.Time
	events []Event
}

// Origin is where a run stands among others.
type Origin struct {
	Trace TraceID // of the tree of runs
	Links []Link
}

// NewRun makes the fold of a run. each gets every span once, when nothing of it can change any more; the span of a node or the run, when
// the run ends. The spans are the callee's.
func NewRun(o Origin, each func(*Span)) *Run {
	return &Run{each: each, tree: o.Trace, run: Span{Links: o.Links}, nodes: map[string]*node{}, live: map[uint64]*attempt{}}
}

// Apply takes in an event with what it caused.
func (r *Run) Apply(ev *event.Event, reaction *event.Reaction) {
	r.takeEvent(ev)
	if ev.DriverChanged != nil {
		r.takeDriver(ev, reaction)
	}
	r.last = ev.At
	for i := range reaction.Transitions {
		if t := &reaction.Transitions[i]; t.Node != "" {
			r.takeTransition(t)
		}
	}
	for i := range reaction.Commands {
		switch c := &reaction.Commands[i]; {
		case c.Start != nil && isTraced(c.Start.Kind):
			if r.live[c.Start.Ticket] == nil {
				r.live[c.Start.Ticket] = &attempt{Attempt: *c.Start, from: r.last}
			}
		case c.End != nil:
			r.end(c.End)
		}
	}
}

// isTraced reports whether attempts of a kind have spans. A loop asks its sources every few seconds, for months; what a run holds is not
// work; and a person's answer is not one of an attempt.
func isTraced(k event.AttemptKind) bool {
	return k != event.SourceAttempt && k != event.HoldAttempt && k != event.HumanAgentAttempt
}

func (r *Run) takeEvent(ev *event.Event) {
	switch {
	case ev.RunStarted != nil:
		r.begin(ev.At, ev.RunStarted)
	case ev.AttemptFinished != nil:
		f := ev.AttemptFinished
		a := r.live[f.Ticket]
		if delete(r.live, f.Ticket); a != nil && f.Outcome != event.Refused {
			r.finish(a, f, ev.At)
		}
	}
}

// takeDriver notes that the attempts have lost their driver. What they did before is known up to the last event.
func (r *Run) takeDriver(ev *event.Event, reaction *event.Reaction) {
	r.resumes++
	why := "the process that ran it stopped"
	if ev.DriverChanged.Lost {
		why = "the process that ran it died"
	}
	addEvent(&r.run, ev.At, "resumed", Attribute{"flowrun.reason", why})
	again := map[uint64]bool{}
	for i := range reaction.Commands {
		if c := reaction.Commands[i].Start; c != nil {
			again[c.Ticket] = true
		}
	}
	for _, ticket := range slices.Sorted(maps.Keys(r.live)) {
		switch a := r.live[ticket]; {
		case ev.DriverChanged.NeverBegan(a.from):
			if !again[ticket] {
				delete(r.live, ticket)
			}
		case !again[ticket]:
			r.giveUp(a, why)
		case len(a.events) < MaxEvents:
			a.events = append(a.events, Event{r.last, "interrupted", []Attribute{{"flowrun.reason", why}}})
		}
	}
}

func (r *Run) begin(at event.Time, first *event.RunStarted) {
	r.id = first.Run
	c := first.CauseOf()
	r.run.Trace, r.run.ID, r.run.Start = r.tree, OfRun(first.Run), at
	if first.Parent != "" && c.Kind != event.CauseLoop {
		r.run.Parent = OfNode(first.Parent, first.ParentNode)
	} else if _, span, given := ReadParent(first.Traceparent); given {
		r.run.Parent = span
	}
	r.run.Name = "invoke_workflow " + clip(first.Workflow)
	r.run.Attributes = []Attribute{
		{"gen_ai.operation.name", "invoke_workflow"}, {"gen_ai.workflow.name", clip(first.Workflow)}, {"gen_ai.agent.name", clip(first.Workflow)},
		{"flowrun.run.id", first.Run}, {"flowrun.cause", string(c.Kind)},
	}
	if c.Name != "" && c.Kind != event.CauseCall {
		r.run.Attributes = append(r.run.Attributes, Attribute{"flowrun.cause.name", clip(c.Name)})
	}
}

// finish gives the span of an attempt that was answered.
func (r *Run) finish(a *attempt, f *event.AttemptFinished, at event.Time) {
	if len(a.events) == 0 {
		a.from = cmp.Or(f.StartedAt, a.from)
	}
	s := r.attemptSpan(a, at)
	s.Attributes = append(s.Attributes, Attribute{"flowrun.outcome", string(f.Outcome)})
	if f.ExitCode != nil {
		s.Attributes = append(s.Attributes, Attribute{"process.exit.code", int64(*f.ExitCode)})
	}
	status := 0
	if o, is := f.Shown().Output.(map[string]any); is && a.Kind == event.HTTPAttempt {
		n, _ := o["status"].(float64)
		status = int(n)
	}
	if f.Error != nil {
		fail(s, f.Error)
		status = cmp.Or(status, f.Error.Status)
	}
	if status != 0 {
		s.Attributes = append(s.Attributes, Attribute{"http.response.status_code", int64(status)})
	}
	if u := f.Usage; u != nil {
		s.Attributes = append(s.Attributes, usage("gen_ai.usage.", u)...)
	}
	if n := r.nodes[a.Node]; n != nil && n.span.End != 0 && !a.Compensate { // a node that is cancelled ends before its attempt
		n.span.End = max(n.span.End, at)
	}
	r.each(s)
}

// giveUp gives the span of an attempt that nobody answers any more.
func (r *Run) giveUp(a *attempt, why string) {
	delete(r.live, a.Ticket)
	s := r.attemptSpan(a, r.last)
	s.Failed, s.Message = true, why
	s.Attributes = append(s.Attributes, Attribute{"error.type", "interrupted"})
	r.each(s)
}

func (r *Run) attemptSpan(a *attempt, to event.Time) *Span {
	s := &Span{Trace: r.tree, ID: Attempt(r.id, a.Ticket), Parent: OfNode(r.id, a.Node), Start: a.from, End: max(a.from, to), Events: a.events}
	if a.Node == "" || r.nodes[a.Node] == nil {
		s.Parent = r.run.ID
	}
	s.Attributes = []Attribute{{"flowrun.run.id", r.id}, {"flowrun.node", clip(a.Node)}, {"flowrun.attempt", int64(a.Attempt.Attempt)}, {"flowrun.kind", string(a.Kind)}}
	s.Name = strings.TrimSpace(string(a.Kind) + " " + a.Name)
	if g := a.Agent; g != nil {
		s.Name = "invoke_agent " + g.Name
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.operation.name", "invoke_agent"}, Attribute{"gen_ai.agent.name", g.Name})
	}
	switch {
	case a.Gate != "":
		s.Name = "gate " + a.Gate
		s.Attributes = append(s.Attributes, Attribute{"flowrun.gate", a.Gate})
	case a.Compensate: // it runs when the node has ended
		s.Name, s.Parent = "compensate "+a.Name, r.run.ID
	}
	if h := a.HTTP; h != nil {
		s.Client = true
		s.Attributes = append(s.Attributes, Attribute{"http.request.method", h.Method})
		if u, err := url.Parse(h.URL); err == nil && u.Hostname() != "" {
			s.Attributes = append(s.Attributes, Attribute{"server.address", clip(u.Hostname())})
		}
	}
	return s
}

func (r *Run) takeTransition(t *event.Transition) {
	n := r.nodes[t.Node]
	if n == nil {
		if t.To != event.Running && t.To != event.Waiting {
			return // a node that never begins has no span
		}
		n = &node{path: t.Node, name: t.Name, kind: t.Kind, order: len(r.nodes)}
		n.span.Trace, n.span.ID, n.span.Start = r.tree, OfNode(r.id, t.Node), t.At
		r.nodes[t.Node] = n
	}
	n.item = cmp.Or(n.item, t.Item)
	n.attempts = max(n.attempts, t.Attempt)
	switch {
	case t.Gate != nil:
		addEvent(&n.span, t.At, "gate", Attribute{"flowrun.gate", t.Gate.Gate}, Attribute{"flowrun.gate.passed", t.Gate.Passed}, Attribute{"flowrun.reason", clip(t.Gate.Message)})
	case t.Note != "":
		addEvent(&n.span, t.At, string(t.Note), Attribute{"flowrun.reason", clip(t.Reason)})
	case t.To.Terminal():
		n.span.End, n.status, n.err = t.At, t.To, nil
		if t.Result != nil {
			n.err = t.Result.Error
		}
	case t.To != "":
		n.span.End, n.status, n.err = 0, t.To, nil
		if t.To == event.Waiting {
			addEvent(&n.span, t.At, "waiting", Attribute{"flowrun.reason", clip(t.Reason)})
		}
	}
}

// end gives all spans that are left.
func (r *Run) end(e *event.End) {
	for _, ticket := range slices.Sorted(maps.Keys(r.live)) {
		r.giveUp(r.live[ticket], "the run has ended")
	}
	for _, n := range slices.SortedFunc(maps.Values(r.nodes), func(a, b *node) int { return cmp.Compare(a.order, b.order) }) {
		s := &n.span
		s.Name = cmp.Or(n.kind, string(ir.Step)) + " " + cmp.Or(n.name, view.Base(n.path))
		s.Parent = r.nearest(n.path)
		s.End = max(s.Start, cmp.Or(s.End, r.last))
		s.Attributes = []Attribute{{"flowrun.run.id", r.id}, {"flowrun.node", clip(n.path)}, {"flowrun.status", string(n.status)}, {"flowrun.attempts", int64(n.attempts)}}
		if n.item != "" {
			s.Attributes = append(s.Attributes, Attribute{"flowrun.item", clip(n.item)})
		}
		if n.status.Bad() {
			s.Failed = true
			fail(s, n.err)
		}
		r.each(s)
	}
	s := &r.run
	s.End = max(s.Start, r.last)
	s.Attributes = append(s.Attributes, Attribute{"flowrun.status", string(e.Status)}, Attribute{"flowrun.resumes", r.resumes})
	if e.Usage != nil {
		s.Attributes = append(s.Attributes, usage("flowrun.usage.", e.Usage)...)
	}
	if e.Status.Bad() {
		s.Failed = true
		fail(s, e.Error)
	}
	r.each(s)
}

// nearest returns the span of the nearest node around a path, or of the run.
func (r *Run) nearest(path string) SpanID {
	for up := view.Parent(path); up != ""; up = view.Parent(up) {
		if n := r.nodes[up]; n != nil {
			return n.span.ID
		}
	}
	return r.run.ID
}

func fail(s *Span, e *event.Error) {
	if s.Failed = true; e == nil {
		return
	}
	s.Message = clip(e.Message)
	s.Attributes = append(s.Attributes, Attribute{"error.type", string(cmp.Or(string(e.Reason), string(e.Kind), "_OTHER"))})
}

func usage(prefix string, u *event.Usage) []Attribute {
	list := []Attribute{{prefix + "input_tokens", u.InputTokens}, {prefix + "output_tokens", u.OutputTokens}}
	if u.OtherTokens != 0 {
		list = append(list, Attribute{"flowrun.usage.other_tokens", u.OtherTokens})
	}
	if u.CostUSD != 0 {
		list = append(list, Attribute{"flowrun.usage.cost_usd", u.CostUSD})
	}
	return list
}

func addEvent(s *Span, at event.Time, name string, attributes ...Attribute) {
	if len(s.Events) == MaxEvents {
		s.Dropped++
		return
	}
	attributes = slices.DeleteFunc(attributes, func(a Attribute) bool { return a.Value == "" })
	s.Events = append(s.Events, Event{at, name, attributes})
}
