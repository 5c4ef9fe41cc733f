package flowtest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// record is what was seen of the runs of a test.
type record struct {
	program *ir.Program
	start   event.Time
	runs    map[string]*seen
	order   []*seen // as they started
	calls   []*call
	live    map[ticketKey]*call
	most    map[string]int // how many attempts, or runs, of a name there were at once at most
	now     map[string]int // and now
	steps   uint64         // numbers starts and ends
	reached map[Point]bool
	cases   map[string]map[string]string // by workflow and node: the case of a switch that the node stands in
	got     map[string]map[string]bool   // by the id of an event: the workflows of the runs that were given it
	lists   map[string]string            // by the name of a list over the store: its source
	points  map[string]bool              // sync points at which steps have asked
}

// seen is what was seen of one run.
type seen struct {
	id, workflow, caller string
	label                string
	cause                *event.Cause
	prefix               string                 // of paths, with a slash: the label, or the path of the call; "" for the run without a label
	first                *event.RunStarted      // of a run that the test started
	secrets              map[string]value.Value // likewise
	counts               bool                   // it began to work and has not ended
	view                 *view.Run
	began, ended         map[string]moment // by path of a node with keys: its first start and its last end
	starts               []started
	lines                []Line
	events               uint64
	loop                 *loopRun // nil: it is no run of a loop
	item                 string   // of a run that does an item: what the paths of its nodes begin with, without the item
}

// moment is a time with a number that orders what has the same time.
type moment struct {
	at event.Time
	n  uint64
}

func (m moment) compare(o moment) int {
	if c := cmp.Compare(m.at, o.at); c != 0 {
		return c
	}
	return cmp.Compare(m.n, o.n)
}

// started is the start of a node.
type started struct {
	moment
	path string
}

// Line is one line of the timeline.
type Line struct {
	After   time.Duration // since the start, virtual
	Node    string        // its path; "" for the run
	Status  event.Status
	Attempt int // 0: none was made
	// Text says why, in words; "" if nobody said.
	Text string
	// Gate is the verdict that the line tells; nil for others.
	Gate *event.Verdict
	Type string // as view.Line has it
	n    uint64
}

// call is an attempt that a stub answered, or nobody.
type call struct {
	names   []string // under which conditions read it
	at      event.Time
	ended   event.Time // 0: not yet
	request map[string]any
}

// spot is where a node stands, in the paths that a test names.
type spot struct {
	path     string // without keys of instances
	own      string // the same without the label of the run
	instance string // with them
	name     string // the declared name
	view     *view.Node
}

// ownInstance is the path with keys, without the label of the run.
func (at *spot) ownInstance() string { return at.instance[len(at.path)-len(at.own):] }

func newRecord(p *ir.Program, start event.Time) *record {
	return &record{program: p, start: start, runs: map[string]*seen{}, live: map[ticketKey]*call{}, most: map[string]int{}, now: map[string]int{},
		reached: map[Point]bool{}, cases: map[string]map[string]string{},
		got: map[string]map[string]bool{}, lists: map[string]string{}, points: map[string]bool{}}
}

// reach notes that a node started.
func (rec *record) reach(s *seen, node string) {
	if rec.cases[s.workflow] == nil {
		cases := map[string]string{}
		rec.cases[s.workflow] = cases
		var add func(parent string, nodes []ir.Node)
		add = func(parent string, nodes []ir.Node) {
			for i := range nodes {
				if n := &nodes[i]; n.Case > 0 {
					cases[n.Name] = caseName(parent, n.Case)
				}
				add(nodes[i].Name, nodes[i].Children)
			}
		}
		w := rec.program.Workflow(s.workflow)
		add("", w.Nodes)
		if w.Finally != nil {
			add("", w.Finally.Nodes)
		}
	}
	rec.reached[Point{s.workflow, NodePoint, node}] = true
	if c := rec.cases[s.workflow][node]; c != "" {
		rec.reached[Point{s.workflow, CasePoint, c}] = true
	}
}

// watch is the watcher of the host. The past is told again after a crash.
func (t *test) watch(run string, events []event.Event, r *event.Reaction, _ bool) {
	rec := t.record
	if first := events[0].RunStarted; first != nil {
		s := rec.runs[run]
		if s == nil {
			s = rec.newSeen(first, first.Parent, "")
			s.prefix = rec.where(first.Parent, first.ParentNode).instance + "/"
			if caller := rec.runs[first.Parent]; caller != nil && caller.loop != nil {
				s.item = forItems + first.Workflow
				s.prefix, s.item = s.item+strings.TrimPrefix(first.ParentNode, "item")+"/", s.item+"/"
			}
			if s.loop != nil {
				t.goOn(s, first)
			}
			rec.order = append(rec.order, s)
			rec.runs[run] = s
		} else if s.events > 0 {
			s.forget(rec.program)
		}
		if !s.counts && first.Skip == "" && first.Cancelled == "" {
			s.counts = true
			rec.count(ofWorkflow+first.Workflow, 1)
		}
	}
	s := rec.runs[run]
	s.events += uint64(len(events))
	for i := range events {
		switch ev := &events[i]; {
		case ev.AttemptFinished != nil:
			rec.finish(run, ev.AttemptFinished, ev.At)
			ticket := ticketKey{run, ev.AttemptFinished.Ticket}
			if g := t.answered[t.keys[ticket]]; g != nil && g.ticket == ticket {
				g.done = true
			}
		case ev.External != nil && ev.External.Kind == event.ExternalEvent:
			rec.noteGiven(s, ev.External)
		case ev.DriverChanged != nil:
			for name, c := range rec.live { // any order: each for itself
				if name.run == run {
					rec.end(name, c, ev.At)
				}
			}
		}
	}
	if s.loop != nil {
		s.loop.machine = t.loops[run]
		rec.watchLoop(s, r)
	}
	for _, l := range s.view.Apply(slices.Clone(events), r) {
		if !t.endAlone {
			rec.line(s, &l)
		}
	}
	for i := range r.Commands {
		if c := r.Commands[i].Start; c != nil && c.Store != nil && c.Store.Sync != nil {
			rec.points[c.Store.Sync.Point] = true
		}
		if q := r.Commands[i].Ask; q != nil {
			t.noteAsk(run, q)
		}
		if r.Commands[i].End != nil && s.counts {
			s.counts = false
			rec.count(ofWorkflow+s.workflow, -1)
		}
	}
}

// newSeen makes the record of a run that has not begun.
func (rec *record) newSeen(first *event.RunStarted, caller, label string) *seen {
	s := &seen{id: first.Run, workflow: first.Workflow, caller: caller, label: label, cause: first.CauseOf()}
	if first.Loop != nil {
		s.loop = &loopRun{}
	}
	if label != "" {
		s.prefix = label + "/"
	}
	s.forget(rec.program)
	return s
}

// forget empties the record of a run whose past is told again.
func (s *seen) forget(p *ir.Program) {
	s.view, s.began, s.ended = view.New(p.Workflow(s.workflow)), map[string]moment{}, map[string]moment{}
	s.starts, s.lines, s.events = nil, nil, 0
	if s.loop != nil {
		s.loop.claims, s.loop.taken = map[string]*event.ClaimRequest{}, nil
	}
}

// words are the run in a message.
func (s *seen) words() string {
	if s.label == "" {
		return "run"
	}
	return "run " + s.label
}

// line notes a line of the view: who started, who ended, and what the timeline says.
func (rec *record) line(s *seen, l *view.Line) {
	rec.steps++
	at := moment{l.Time, rec.steps}
	out := Line{After: l.Time.Sub(rec.start), Status: l.Status, Attempt: l.Attempt, Text: l.Reason, Gate: l.Gate, Type: l.Type, n: rec.steps}
	if l.Node == "" {
		if s.caller != "" {
			return // the caller's node tells it
		}
		out.Node = s.label
		s.lines = append(s.lines, out)
		return
	}
	to := rec.where(s.id, l.Node)
	out.Node = to.instance
	if l.Result != nil && l.Result.Error != nil && out.Text == "" {
		out.Text = l.Result.Error.Message
	}
	if to.view != nil && to.view.Iteration() > 0 {
		return
	}
	s.lines = append(s.lines, out)
	if s.loop != nil {
		return
	}
	if l.Gate != nil {
		rec.reached[Point{s.workflow, GatePoint, to.name + "/" + l.Gate.Gate}] = true
	}
	if l.Note == event.Escalated {
		rec.reached[Point{s.workflow, LevelPoint, to.name + "/" + l.Level}] = true
	}
	if l.Gate != nil || l.Note != "" {
		return
	}
	ran := l.Status == event.Running || l.Status == event.Waiting || l.Status == event.Succeeded || l.Status == event.FailedS && l.Attempt > 0
	over := to.view != nil && s.ended[l.Node] != moment{}
	if _, there := s.began[l.Node]; ran && !there && !over {
		s.began[l.Node] = at
		s.starts = append(s.starts, started{at, to.instance})
		rec.reach(s, to.name)
	}
	if l.Status.Terminal() {
		s.ended[l.Node] = at
	}
}

// where finds the paths of a node of a run.
func (rec *record) where(run, node string) spot {
	s := rec.runs[run]
	if s == nil {
		return spot{path: node, own: node, instance: node, name: view.Base(node)}
	}
	n := s.view.Node(node)
	path, instance, name := node, node, view.Base(node)
	if n != nil {
		path, instance = shownPaths(n)
		name = n.Name
	}
	path = s.plainPrefix(rec) + path
	own := strings.TrimPrefix(path, s.home(rec)) // behind the label, on:WORKFLOW or item:WORKFLOW
	return spot{path, own, s.prefix + instance, name, n}
}

// top is the run of the test that a run is, or belongs to.
func (s *seen) top(rec *record) *seen {
	for s.caller != "" {
		s = rec.runs[s.caller]
	}
	return s
}

// home is the plain prefix of the outermost run that a run belongs to, apart from that of a loop.
func (s *seen) home(rec *record) string {
	for s.caller != "" && s.item == "" {
		s = rec.runs[s.caller]
	}
	if s.item != "" {
		return s.item
	}
	return key().ReplaceAllString(s.prefix, "")
}

var key = lazyregexp.New(`\[[0-9]+\]`)

// plainPrefix is the prefix without keys.
func (s *seen) plainPrefix(rec *record) string {
	if s.item != "" {
		return s.item
	}
	if s.caller == "" {
		return key().ReplaceAllString(s.prefix, "")
	}
	caller := rec.runs[s.caller]
	for _, n := range caller.view.Roots {
		if found := callOf(n, s.id); found != nil {
			path, _ := shownPaths(found)
			return caller.plainPrefix(rec) + path + "/"
		}
	}
	return s.prefix
}

func callOf(n *view.Node, run string) *view.Node {
	if n.Child == run {
		return n
	}
	for _, c := range n.Children {
		if found := callOf(c, run); found != nil {
			return found
		}
	}
	return nil
}

// shownPaths are the path of a node without keys and iterations, and that without iterations.
func shownPaths(n *view.Node) (path, instance string) {
	if n.Parent == nil {
		return n.Path, n.Path
	}
	path, instance = shownPaths(n.Parent)
	switch piece := n.Path[len(n.Parent.Path):]; {
	case n.Iteration() > 0:
	case strings.HasPrefix(piece, "["):
		instance += piece
	default:
		path, instance = path+piece, instance+piece
	}
	return path, instance
}

// iteration is the number of the nearest iteration around a node; 0 if there is none.
func (rec *record) iteration(run, node string) int {
	for n := rec.runs[run].view.Node(node); n != nil; n = n.Parent {
		if i := n.Iteration(); i > 0 {
			return i
		}
	}
	return 0
}

// ofWorkflow stands before the name of a workflow where its runs are counted: an agent or a step may have the same name.
const ofWorkflow = "workflow."

// mostAtOnce returns how many attempts of an agent, step or gate there were at once at most, or else runs of a workflow.
func (rec *record) mostAtOnce(name string) int {
	if rec.program.Workflow(name) != nil && !rec.makesAttempts(name) {
		name = ofWorkflow + name
	}
	return rec.most[name]
}

// makesAttempts reports whether an agent, a gate or a node that calls no workflow has a name.
func (rec *record) makesAttempts(name string) bool {
	p := rec.program
	if p.Agent(name) != nil || slices.ContainsFunc(p.Gates, func(g ir.Gate) bool { return gateOf(g.Name) == name }) {
		return true
	}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		lists := [][]ir.Node{w.Nodes}
		if w.Finally != nil {
			lists = append(lists, w.Finally.Nodes)
		}
		for _, list := range lists {
			for n := range ir.All(list) {
				if _, calls := n.Action.(*ir.Call); n.Name == name && !calls {
					return true
				}
			}
		}
	}
	return false
}

// count counts attempts and runs.
func (rec *record) count(name string, by int) {
	rec.now[name] += by
	rec.most[name] = max(rec.most[name], rec.now[name])
}

// ticketKey identifies an attempt of a test.
type ticketKey struct {
	run    string
	ticket uint64
}

// begin notes the start of an attempt.
func (t *test) begin(a *event.Attempt, now event.Time) {
	rec := t.record
	at := rec.where(a.Run, a.Node)
	c := &call{at: now}
	switch {
	case a.Gate != "":
		gate := gateOf(a.Gate)
		c.names = []string{gate, at.path + "/" + gate, at.own + "/" + gate, at.instance + "/" + gate, at.ownInstance() + "/" + gate}
		if a.Agent != nil { // who judges
			c.names = append(c.names, a.Agent.Name)
		}
	case a.Compensate:
		c.names = []string{at.path + "/compensate", at.own + "/compensate", at.instance + "/compensate", at.ownInstance() + "/compensate"}
	default:
		c.names = []string{at.path, at.own, at.instance, at.ownInstance(), at.name}
		if a.Agent != nil {
			c.names = append(c.names, a.Agent.Name)
		}
	}
	slices.Sort(c.names)
	c.names = slices.Compact(c.names)
	for _, name := range c.names {
		rec.count(name, 1)
	}
	c.request = map[string]any{"node": at.instance, "key": a.Key, "attempt": float64(a.Attempt)}
	rec.calls = append(rec.calls, c)
	rec.live[ticketKey{a.Run, a.Ticket}] = c
	t.keys[ticketKey{a.Run, a.Ticket}] = a.Key
}

// describe notes what an attempt asks for, once all of it is known.
func (t *test) describe(a *event.Attempt) {
	c := t.record.live[ticketKey{a.Run, a.Ticket}]
	env := map[string]any{}
	for name, v := range a.Env { // any order: it fills a map
		env[name] = v
	}
	argv := make([]any, len(a.Argv))
	for i, word := range a.Argv {
		argv[i] = word
	}
	r := c.request
	r["command"], r["script"], r["env"] = argv, a.Script, env
	if a.Stdin != nil {
		r["stdin"] = *a.Stdin
	}
	if a.Agent != nil {
		r["task"], r["with"], r["agent"], r["feedback"] = a.Agent.Task, a.Agent.With, a.Agent.Name, a.Agent.Feedback
		if a.Agent.Handoff != nil {
			r["handoff"] = a.Agent.Handoff.Value()
		}
	}
	if a.HTTP != nil {
		r["url"], r["method"], r["body"] = a.HTTP.URL, a.HTTP.Method, a.HTTP.Body
	}
}

// finish notes the end of an attempt.
func (rec *record) finish(run string, f *event.AttemptFinished, at event.Time) {
	name := ticketKey{run, f.Ticket}
	if c := rec.live[name]; c != nil {
		rec.end(name, c, at)
	}
}

func (rec *record) end(name ticketKey, c *call, at event.Time) {
	c.ended = at
	delete(rec.live, name)
	for _, n := range c.names {
		rec.count(n, -1)
	}
}

// events counts the events of all runs.
func (rec *record) events() (n uint64) {
	for _, s := range rec.order {
		n += s.events
	}
	return n
}

// path lists the nodes in order of their starts.
func (rec *record) path() []string {
	var all []started
	for _, s := range rec.order {
		all = append(all, s.starts...)
	}
	slices.SortStableFunc(all, func(a, b started) int { return a.compare(b.moment) })
	out := make([]string, len(all))
	for i := range all {
		out[i] = all[i].path
	}
	return out
}

// timeline is what happened, in order.
func (rec *record) timeline() (out []Line) {
	for _, s := range rec.order {
		out = append(out, s.lines...)
	}
	slices.SortStableFunc(out, func(a, b Line) int {
		if c := cmp.Compare(a.After, b.After); c != 0 {
			return c
		}
		return cmp.Compare(a.n, b.n)
	})
	return out
}
