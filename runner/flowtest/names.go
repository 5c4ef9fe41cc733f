package flowtest

import (
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// names is the scope of the conditions of a test.
type names struct {
	*test
	after time.Duration
	nodes map[string]place // by path with keys; made when it is first asked for
	list  []any            // all runs; likewise
}

// place is a node of a run.
type place struct {
	*view.Node
	in *seen
}

func (t *test) newNames(after time.Duration) *names { return &names{test: t, after: after} }

// Lookup implements ir.Scope.
func (s *names) Lookup(r ir.Ref) (value.Value, error) {
	switch r.Root {
	case "run":
		return s.readRun(s.root(), r.Name), nil
	case "runs":
		if r.Name != "" {
			return s.readRun(s.labels[r.Name], r.Attr), nil
		}
		return s.allRuns(), nil
	case "input":
		return s.Inputs[r.Name], nil
	case "step":
		return s.step(s.root(), r.Name, r.Attr)
	case "node":
		return s.node(s.full(r.Name), r.Attr)
	case "before":
		return s.before(s.full(r.Name), s.full(r.Attr)), nil
	case "path":
		list := []any{}
		for _, p := range s.path() {
			list = append(list, p)
		}
		return list, nil
	case "calls":
		return s.callsOf(r.Name), nil
	case "max_at_once":
		return float64(s.record.mostAtOnce(r.Name)), nil
	case "max_in_use":
		return float64(s.store.MostInUse(r.Name)), nil
	case "breakers":
		return s.readBreaker(r.Name)
	case "routines":
		return s.readRoutine(r.Name)
	case "loop":
		return s.readLoop(s.Loops[0], r.Name)
	case "loops":
		return s.readLoop(r.Name, r.Attr)
	case "agents":
		return s.readAgent(r.Name), nil
	case "kv":
		return s.readKey(r.Name)
	case "events":
		return s.published()
	case "dispatches":
		return s.workIn(event.QueueDispatch)
	case "tickets":
		return s.workIn(event.QueueTicket)
	case "claims":
		return s.claims()
	case "dlq":
		return s.givenUp()
	case "notifications":
		return s.told, nil
	case "changes":
		return s.changesOf(), nil
	case "inbox":
		return s.inbox()
	case "refused_decisions":
		return s.refused()
	case "refused_events":
		return s.namedRows(event.StoreRequest{RefusedEvents: true}, "at")
	case "elapsed":
		return s.after.Seconds(), nil
	case "live":
		return float64(len(s.live)), nil
	}
	return nil, nil
}

// changesOf lists what rules of adapt have changed in all runs, in order.
func (s *names) changesOf() []any {
	list := []any{}
	at := []event.Time{}
	for _, of := range s.order {
		for _, c := range of.view.Changes {
			i := len(at)
			for i > 0 && at[i-1] > c.At {
				i--
			}
			at = slices.Insert(at, i, c.At)
			list = slices.Insert(list, i, any(map[string]any{"what": c.What, "from": c.From, "to": c.To, "why": c.Why, "node": of.prefix + c.Node,
				"rule": float64(c.Rule), "at": c.At.Sub(s.start).Seconds()}))
		}
	}
	return list
}

// full is the whole path that a condition means.
func (s *names) full(path string) string {
	if whole := s.Paths[path]; whole != "" {
		return whole
	}
	return path
}

// runAttrs are the attributes of a run, as a test sees it, and labelled those of a run of the store besides.
var (
	runAttrs = []string{"id", "workflow", "status", "started_at", "outputs", "error", "failed", "usage", "warnings", "degraded", "cause"}
	labelled = []string{"label", "started", "ended", "input", "step"}
)

// readRun reads an attribute of a run, or the whole run; null for a run that has not started.
func (s *names) readRun(of *seen, attr string) value.Value {
	if of == nil {
		if attr == "status" {
			return string(event.Pending)
		}
		return nil
	}
	if attr == "" {
		o := map[string]any{}
		for _, a := range runAttrs {
			o[a] = s.runAttr(of, a)
		}
		return o
	}
	return s.runAttr(of, attr)
}

// allRuns are the runs of the store, in order of their starts.
func (s *names) allRuns() []any {
	if s.list == nil {
		s.list = []any{}
		for _, of := range s.order {
			if of.loop != nil {
				continue
			}
			o := s.readRun(of, "").(map[string]any)
			for _, a := range labelled {
				o[a] = s.runAttr(of, a)
			}
			s.list = append(s.list, o)
		}
	}
	return s.list
}

func (s *names) runAttr(of *seen, attr string) value.Value {
	v := of.view
	since := func(at event.Time) value.Value {
		if at == 0 {
			return nil
		}
		return at.Sub(s.start).Seconds()
	}
	switch attr {
	case "id":
		return of.id
	case "workflow":
		return of.workflow
	case "status":
		return string(s.statusOf(of))
	case "started_at":
		if v.StartedAt == 0 {
			return nil
		}
		return v.StartedAt.String()
	case "outputs":
		return map[string]any(v.Outputs)
	case "error":
		return errorObject(v.Error)
	case "warnings":
		return warningsOf(v)
	case "degraded":
		degraded := []any{}
		for _, path := range v.Degraded() {
			degraded = append(degraded, path)
		}
		return degraded
	case "label":
		if of.label == "" {
			return nil
		}
		return of.label
	case "cause":
		return of.cause.Object()
	case "started":
		return since(v.StartedAt)
	case "ended":
		return since(v.FinishedAt)
	case "input":
		return map[string]any(v.Inputs)
	case "step":
		return s.stepsOf(of)
	case "failed", "usage":
		if v.StartedAt == 0 {
			break
		}
		if x, err := s.machines[of.id].Names().Lookup(ir.Ref{Root: "run", Name: attr}); err == nil && x != nil {
			return x
		}
	}
	if attr == "failed" {
		return []any{}
	}
	return nil
}

// statusOf is the status of a run: one that only waits for called runs waits if all of them do.
func (s *names) statusOf(of *seen) event.Status {
	all := true
	for _, run := range of.view.Called() {
		c := s.runs[run]
		all = all && c != nil && s.statusOf(c) == event.Waiting
	}
	of.view.CalledWait(all)
	return of.view.Status
}

// stepsOf are the nodes of a run that can be read by their names.
func (s *names) stepsOf(of *seen) map[string]any {
	out := map[string]any{}
	of.view.Each(func(n *view.Node, _ int) {
		if _, instance := shownPaths(n); n.Iteration() == 0 && !strings.Contains(instance, "[") {
			out[n.Name], _ = s.node(of.prefix+instance, "")
		}
	})
	return out
}

// warningsOf are the warnings of a run.
func warningsOf(v *view.Run) []any {
	warnings := []any{}
	for _, w := range v.Warnings {
		warnings = append(warnings, w)
	}
	v.Each(func(n *view.Node, _ int) {
		for _, w := range n.Warnings {
			warnings = append(warnings, w)
		}
		for i := range n.Gates {
			if n.Gates[i].Warning {
				warnings = append(warnings, n.Gates[i].Words())
			}
		}
	})
	return warnings
}

// step is a node of a run by its name. What stands inside a repeat is that of the last iteration.
func (s *names) step(in *seen, name, attr string) (value.Value, error) {
	for path, p := range s.all() { // any order: one has the name and stands in no instance
		if p.in == in && p.Name == name && !strings.Contains(path, "[") {
			return s.node(path, attr)
		}
	}
	return s.node(in.prefix+name, attr)
}

// all are the nodes by their paths. A path inside a repeat stands for the last iteration.
func (s *names) all() map[string]place {
	if s.nodes == nil {
		s.nodes = map[string]place{}
		for _, run := range s.order {
			run.view.Each(func(n *view.Node, _ int) {
				if n.Iteration() == 0 && (run.loop == nil || strings.HasPrefix(n.Path, "item[")) {
					_, instance := shownPaths(n)
					s.nodes[run.prefix+instance] = place{n, run}
				}
			})
		}
	}
	return s.nodes
}

// node is an attribute of a node, or the whole result; null for a node that there is not.
func (s *names) node(path, attr string) (value.Value, error) {
	p, there := s.all()[path]
	if !there {
		return nil, nil
	}
	if attr == "status" {
		return string(p.Status), nil
	}
	if p.in.loop == nil && outermost(p.Node) { // the machine knows best, but in a run a node that has not ended reads as running
		v, err := s.machines[p.in.id].Names().Lookup(ir.Ref{Root: "step", Name: p.Name, Attr: attr})
		if o, whole := v.(map[string]any); whole && attr == "" {
			o["status"] = string(p.Status)
		}
		return v, err
	}
	o := resultObject(p.Node)
	if attr == "" {
		return o, nil
	}
	return o[attr], nil
}

// outermost tells whether a node is not an instance and in no instance or iteration.
func outermost(n *view.Node) bool {
	for p := n; p != nil; p = p.Parent {
		if p.Iteration() > 0 || strings.HasSuffix(p.Path, "]") {
			return false
		}
	}
	return true
}

// resultObject is the result of a node as expressions see it.
func resultObject(n *view.Node) map[string]any {
	o := map[string]any{"status": string(n.Status), "output": nil, "exit_code": -1.0, "stdout": nil, "stderr": nil, "error": nil, "attempts": float64(n.Attempt),
		"duration": n.Duration(n.FinishedAt).Seconds(), "started_at": nil, "finished_at": nil, "agent": nil, "instances": nil, "counts": nil, "winner": nil, "iterations": nil, "partial": false, "escalated": nil, "by": nil, "usage": (&event.Usage{}).Object()}
	for name, at := range map[string]event.Time{"started_at": n.StartedAt, "finished_at": n.FinishedAt} { // any order: it fills an object
		if at != 0 {
			o[name] = at.String()
		}
	}
	r := n.Result
	if r == nil {
		return o
	}
	o["output"], o["exit_code"], o["stdout"], o["stderr"], o["error"] = r.Output, float64(r.ExitCode), r.Stdout, r.Stderr, errorObject(r.Error)
	if r.Agent != "" {
		o["agent"] = r.Agent
	}
	if r.Winner != "" {
		o["winner"] = r.Winner
	}
	o["partial"] = r.Partial
	if r.Escalated != "" {
		o["escalated"] = r.Escalated
	}
	if r.By != "" {
		o["by"] = r.By
	}
	if r.Usage != nil {
		o["usage"] = r.Usage.Object()
	}
	if r.Iterations > 0 {
		o["iterations"] = float64(r.Iterations)
	}
	return o
}

// errorObject is an error as expressions see it; null if there is none.
func errorObject(e *event.Error) value.Value {
	if e == nil {
		return nil
	}
	o := map[string]any{"kind": string(e.Kind), "reason": string(e.Reason), "message": e.Message, "exit_code": float64(e.ExitCode), "attempt": nil,
		"status": nil, "signal": nil, "gate": nil, "node": nil, "retry_after": nil}
	for name, n := range map[string]float64{"attempt": float64(e.Attempt), "status": float64(e.Status), "retry_after": e.RetryAfter} { // any order: it fills an object
		if n != 0 {
			o[name] = n
		}
	}
	for name, text := range map[string]string{"signal": e.Signal, "gate": e.Gate, "node": e.Node} { // any order: it fills an object
		if text != "" {
			o[name] = text
		}
	}
	return o
}

// before tells whether a node had ended when another one started.
func (s *names) before(a, b string) bool {
	var end, start moment
	for path, p := range s.all() { // any order: the last end and the first start are looked for
		m, ended := p.in.ended[p.Path]
		if path == a && ended && end.compare(m) < 0 {
			end = m
		}
		m, began := p.in.began[p.Path]
		if path == b && began && (start == moment{} || m.compare(start) < 0) {
			start = m
		}
	}
	return end != moment{} && start != moment{} && end.compare(start) < 0
}

// callsOf lists what was asked under a name.
func (s *names) callsOf(name string) value.Value {
	list := []any{}
	for _, c := range s.calls {
		for _, n := range c.names {
			if n != name {
				continue
			}
			o := map[string]any{"at": c.at.Sub(s.start).Seconds(), "ended": nil}
			if c.ended != 0 {
				o["ended"] = c.ended.Sub(s.start).Seconds()
			}
			for k, v := range c.request { // any order: it fills an object
				o[k] = v
			}
			list = append(list, o)
			break
		}
	}
	return list
}
