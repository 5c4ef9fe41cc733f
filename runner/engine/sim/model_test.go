package sim_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// TestModel computes the ends of all nodes of random programs a second time, by a slow interpreter that has nothing of the
// machine: it asks for what it needs, recursively, and knows no order of events, no slots and no time. Programs whose ends
// depend on these are not asked.
func TestModel(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 100)
	}
	first, asked, nodes := uint64(1), 0, 0
	if *seed1 != 0 {
		first, n = *seed1, 1
	}
	for seed := first; seed < first+uint64(n); seed++ {
		c := newCase(t, seed)
		if !c.untimed {
			continue
		}
		got := c.ends(t)
		want := map[string]string{}
		newModel(c, c.program.Workflow("w"), "", nil, want).interpret()
		asked, nodes = asked+1, nodes+len(want)
		if maps.Equal(got, want) {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(want)) {
			if got[path] != want[path] {
				t.Errorf("seed %d: %q ends %q in the machine and %q in the model", seed, path, got[path], want[path])
			}
		}
		for _, path := range slices.Sorted(maps.Keys(got)) {
			if want[path] == "" {
				t.Errorf("seed %d: %q ends %q in the machine and is not in the model", seed, path, got[path])
			}
		}
		t.Fatalf("repeat with: go test ./runner/engine/sim -run TestModel -sim.seed=%d\n%s", seed, c.source)
	}
	t.Logf("%d programs with %d nodes", asked, nodes)
}

// ends runs the program without faults and gives the last status of every path of every run, "" being the run's own.
func (c *simulation) ends(t *testing.T) map[string]string {
	t.Helper()
	c.start(t, sim.Faults{})
	if _, err := c.drive(root, nil); err != nil {
		t.Fatalf("seed %d: %v", c.seed, err)
	}
	ends := map[string]string{}
	for _, s := range c.runs { // any order: it fills a map
		for path, status := range s.j.status {
			how := string(status)
			if s.j.tolerated[path] {
				how += " tolerated"
			}
			ends[s.name+" "+path] = how
		}
	}
	return ends
}

// model interprets a workflow.
type model struct {
	c       *simulation
	w       *ir.Workflow
	run     string // the name, see seen
	inputs  map[string]any
	eval    ir.Evaluator
	nodes   map[string]*ir.Node
	parents map[string]*ir.Node // the group around, or nil
	before  map[string]*ir.Node // the sibling before in a sequence
	ends    map[string]string
	asked   map[string]int // how many runs a node has asked for, by its path
}

// activation is the run, an instance, or an iteration.
type activation struct {
	up        *activation
	owner     *ir.Node // nil for the run
	path      string
	key, each value.Value
	iteration int
	last      *activation
	own       *outcome // the owner's, once it has ended
	begun     map[*ir.Node]*outcome
	done      map[*ir.Node]*outcome
}

type outcome struct {
	status     event.Status
	output     value.Value
	winner     value.Value
	attempts   int
	iterations int
	err        *event.Error
	stderr     string
	tolerated  bool
	better     bool // gates refused it, and all of them asked for better work
}

var unknown = &outcome{status: event.Running}

func newModel(c *simulation, w *ir.Workflow, run string, inputs map[string]any, ends map[string]string) *model {
	m := &model{c: c, w: w, run: run, inputs: inputs, eval: expr.NewEvaluator(ir.NewestRules()), nodes: map[string]*ir.Node{}, parents: map[string]*ir.Node{}, before: map[string]*ir.Node{}, ends: ends, asked: map[string]int{}}
	m.declare(w.Nodes, nil)
	if w.Finally != nil {
		m.declare(w.Finally.Nodes, nil)
	}
	return m
}

func (m *model) declare(nodes []ir.Node, parent *ir.Node) {
	for i := range nodes {
		n := &nodes[i]
		m.nodes[n.Name], m.parents[n.Name] = n, parent
		if i > 0 && parent != nil && parent.Kind == ir.Sequence {
			m.before[n.Name] = &nodes[i-1]
		}
		m.declare(n.Children, n)
	}
}

// interpret gives the run's verdict and, of one that succeeded, its outputs.
func (m *model) interpret() (event.Status, map[string]any) {
	top, w := m.activate(nil, nil, ""), m.w
	verdict := event.Succeeded
	nodes := w.Nodes
	if w.Finally != nil {
		nodes = slices.Concat(w.Nodes, w.Finally.Nodes)
	}
	for i := range nodes {
		if o := m.whole(m.nodes[nodes[i].Name], top); o.status.Bad() && !o.tolerated {
			verdict = event.FailedS
		}
	}
	outputs := map[string]any{}
	for _, out := range w.Outputs {
		v, err := m.value(&out.Expr, top, nil, nil)
		if err != nil {
			verdict = event.FailedS
		}
		outputs[out.Name] = v
	}
	m.note("", &outcome{status: verdict})
	return verdict, outputs
}

func (m *model) activate(up *activation, owner *ir.Node, path string) *activation {
	return &activation{up: up, owner: owner, path: path, begun: map[*ir.Node]*outcome{}, done: map[*ir.Node]*outcome{}}
}

func multiple(n *ir.Node) bool { return n.ForEach != nil || n.Repeat != nil }

// home finds the activation in which a node lives, from inside of it.
func (m *model) home(n *ir.Node, from *activation) *activation {
	owner := m.parents[n.Name]
	for owner != nil && !multiple(owner) {
		owner = m.parents[owner.Name]
	}
	for from.owner != owner {
		from = from.up
	}
	return from
}

func (m *model) path(n *ir.Node, in *activation) string {
	up := in.path
	if p := m.parents[n.Name]; p != nil && p != in.owner {
		up = m.path(p, in)
	}
	if up == "" {
		return n.Name
	}
	return up + "/" + n.Name
}

// begin is nil for a node that is let go, or how it ends without having been.
func (m *model) begin(n *ir.Node, in *activation) *outcome {
	if o, known := in.begun[n]; known {
		return o
	}
	o := m.refuse(n, in)
	in.begun[n] = o
	return o
}

func (m *model) refuse(n *ir.Node, in *activation) *outcome {
	if p := m.parents[n.Name]; p != nil {
		if !multiple(p) {
			if o := m.begin(p, in); o != nil {
				if o.status == event.FailedS {
					return &outcome{status: event.Blocked}
				}
				return &outcome{status: o.status}
			}
		}
		if taken, _ := m.choose(p, in); p.Kind == ir.Switch && n.Case != taken {
			return &outcome{status: event.Skipped}
		}
	}
	if o := m.ruled(n, in); o != nil {
		return o
	}
	if o := m.permit(n, in, false); o != nil {
		return o
	}
	if _, err := m.choose(n, in); err != nil && !multiple(n) {
		return failed(err)
	}
	return nil
}

func failed(err error) *outcome {
	return &outcome{status: event.FailedS, err: &event.Error{Kind: event.Blocking, Reason: event.ReasonEvaluation, Message: err.Error(), ExitCode: -1}}
}

// ruled counts the ends of what a node waits for.
func (m *model) ruled(n *ir.Node, in *activation) *outcome {
	needs := map[string]bool{}
	if p := m.before[n.Name]; p != nil {
		needs[p.Name] = true
	}
	for _, name := range n.Observes {
		needs[name] = false
	}
	for _, name := range n.Needs {
		needs[name] = true
	}
	total, succeeded, bad, skipped, broken := 0, 0, 0, 0, false
	for name, need := range needs { // any order: they are counted
		o := m.whole(m.nodes[name], m.home(m.nodes[name], in))
		if !need && n.TriggerRule == "" {
			continue
		}
		total++
		switch {
		case o.status == event.Succeeded:
			succeeded++
		case o.status == event.Skipped:
			skipped++
		default:
			bad++
			broken = broken || !o.tolerated
		}
	}
	holds := true
	switch n.TriggerRule {
	case "", ir.NoneFailed, ir.AllSuccess:
		if broken {
			return &outcome{status: event.Blocked}
		}
		holds = n.TriggerRule != ir.AllSuccess || skipped == 0
	case ir.AllFailed:
		holds = bad == total
	case ir.OneSuccess:
		holds = succeeded > 0
	case ir.OneFailed:
		holds = bad > 0
	}
	if !holds {
		return &outcome{status: event.Skipped}
	}
	return nil
}

// permit asks the condition and the requirements that belong to the whole, or to one instance.
func (m *model) permit(n *ir.Node, in *activation, instance bool) *outcome {
	mine := func(e *ir.Expr) bool {
		return instance == (n.ForEach != nil && slices.ContainsFunc(e.Reads, func(r ir.Ref) bool { return r.Root == "each" }))
	}
	if n.When != nil && mine(n.When) {
		if v, err := m.value(n.When, in, n, nil); err != nil {
			return failed(err)
		} else if v != true {
			return &outcome{status: event.Skipped}
		}
	}
	for i := range n.Require {
		if q := &n.Require[i].Condition; mine(q) {
			if v, err := m.value(q, in, n, nil); err != nil || v != true {
				return failed(errors.New("required"))
			}
		}
	}
	return nil
}

func (m *model) choose(n *ir.Node, in *activation) (int, error) {
	for i, c := range n.Cases {
		if c.When == nil {
			return i + 1, nil
		}
		if v, err := m.value(c.When, in, n, nil); err != nil {
			return 0, err
		} else if v == true {
			return i + 1, nil
		}
	}
	return 0, nil
}

// whole is a node's end, with all its instances.
func (m *model) whole(n *ir.Node, in *activation) *outcome {
	if o := in.done[n]; o != nil {
		return o
	}
	in.done[n] = unknown
	path := m.path(n, in)
	o := m.begin(n, in)
	switch {
	case o != nil && !multiple(n):
		for i := range n.Children {
			m.whole(&n.Children[i], in)
		}
	case o != nil:
	case n.ForEach != nil:
		o = m.instances(n, in, path)
	default:
		in.done[n] = m.instance(n, in, path)
		return in.done[n]
	}
	m.settle(n, in, o, path, n.ForEach == nil)
	in.done[n] = o
	return o
}

// settle tolerates, or does not, and notes the end.
func (m *model) settle(n *ir.Node, in *activation, o *outcome, path string, degrades bool) {
	if o.status == event.FailedS {
		o.output = nil
		if n.Degrade != nil && degrades {
			if v, err := m.value(n.Degrade, in, n, o); err == nil {
				o.output, o.tolerated = v, true
			}
		}
		o.tolerated = o.tolerated || n.OnError == "continue"
	}
	m.note(path, o)
}

func (m *model) note(path string, o *outcome) {
	how := string(o.status)
	if o.tolerated {
		how += " tolerated"
	}
	m.ends[m.run+" "+path] = how
}

func (m *model) instances(n *ir.Node, in *activation, path string) *outcome {
	v, err := m.value(n.ForEach, in, n, nil)
	if err != nil {
		return failed(err)
	}
	all, list, byKey := &outcome{}, []any{}, map[string]any{}
	var results []*outcome
	one := func(key, each value.Value, name string) {
		a := m.activate(in, n, path+"["+name+"]")
		a.key, a.each = key, each
		o := m.permit(n, a, true)
		if o == nil {
			o = m.instance(n, a, a.path)
		} else {
			m.settle(n, a, o, a.path, true)
		}
		results = append(results, o)
		list, byKey[name] = append(list, o.output), o.output
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			one(float64(i), e, strconv.Itoa(i))
		}
		all.output = list
	case map[string]any:
		for _, k := range value.Keys(v) {
			one(k, v[k], k)
		}
		all.output = byKey
	}
	if all.status = worst(results); all.status != event.Succeeded {
		all.output = nil
	}
	return all
}

// worst is how what holds others ends by their ends.
func worst(results []*outcome) event.Status {
	status := event.Succeeded
	for _, o := range results {
		switch {
		case o.status == event.FailedS && !o.tolerated:
			return event.FailedS
		case o.status == event.Blocked:
			status = event.Blocked
		}
	}
	return status
}

// instance is the end of a node, or of one instance of it, with all its iterations.
func (m *model) instance(n *ir.Node, in *activation, path string) (o *outcome) {
	if n.Repeat == nil {
		o = m.once(n, in, path)
		m.settle(n, in, o, path, true)
		return o
	}
	last, l, most := (*activation)(nil), m.ladder(n), whole(&n.Repeat.Max)
	for i := 1; ; i++ {
		a := m.activate(in, n, path+"/i"+strconv.Itoa(i))
		a.iteration, a.last = i, last
		o = m.once(n, a, a.path)
		m.note(a.path, o)
		a.own, last = o, a
		next := false
		if o, next = m.iterated(n, a, o, i, most); next {
			continue
		}
		if o.status != event.FailedS || n.Kind == ir.Step || l == nil {
			break
		}
		l.failures++
		failed := &outcome{attempts: l.failures, err: o.err}
		if !m.climb(n, a, failed, path, l, false, func() bool { return false }, func() bool { return false }) {
			break
		}
		most = i + whole(&n.Repeat.Max)
	}
	end := *o
	end.iterations = last.iteration
	m.settle(n, last, &end, path, true)
	return &end
}

// iterated is what a repeat makes of its ith iteration; next tells that another one follows.
func (m *model) iterated(n *ir.Node, a *activation, o *outcome, i, most int) (end *outcome, next bool) {
	switch {
	case o.better && i < most:
		return o, true
	case n.Repeat.Gated, o.status == event.Blocked, n.Repeat.Until == nil && (o.status == event.FailedS || i == most):
		return o, false
	case n.Repeat.Until == nil:
		return o, true
	}
	v, err := m.value(n.Repeat.Until, a, n, o)
	if err == nil && v == true {
		return o, false
	}
	if err != nil || i == most {
		end = failed(errors.New("limit"))
		end.attempts = o.attempts
		return end, false
	}
	return o, true
}

// ladder is how far the escalation of a node has come.
type ladder struct {
	of       *ir.Escalation
	entered  map[int]bool
	at       int
	failures int
}

func (m *model) ladder(n *ir.Node) *ladder {
	if n.Escalate == "" {
		return nil
	}
	return &ladder{of: m.c.program.Escalation(n.Escalate), entered: map[int]bool{}, at: -1}
}

func (l *ladder) level(name string) int {
	return slices.IndexFunc(l.of.Levels, func(x ir.Level) bool { return x.Name == name })
}

// climb tells whether a failed attempt is followed by another one. plain is what retry and fallback say, give gives the task to a pool.
func (m *model) climb(n *ir.Node, in *activation, o *outcome, path string, l *ladder, urgent bool, plain, give func() bool) bool {
	if l == nil {
		return plain()
	}
	for _, r := range l.of.Rules {
		if r.When == nil {
			continue
		}
		if v, err := m.value(r.When, in, n, o); err != nil || v != true {
			continue
		}
		k := l.level(r.Level)
		switch {
		case !l.of.Levels[k].Acts():
			l.entered[k] = true
			continue
		case !l.entered[k]:
			return m.enter(o, path, l, k, give)
		case l.at < 0 || l.of.Levels[l.at].Reassign == nil:
			return m.enter(o, path, l, k+1, give)
		}
		break
	}
	if (l.at < 0 || l.of.Levels[l.at].Heal == nil) && !urgent && plain() {
		return true
	}
	switch {
	case l.at >= 0:
		return m.enter(o, path, l, l.at+1, give)
	case len(l.of.Rules) == 0:
		return m.enter(o, path, l, 0, give)
	}
	for _, r := range l.of.Rules {
		if k := l.level(r.Level); r.When == nil {
			return l.of.Levels[k].Acts() && m.enter(o, path, l, k, give)
		}
	}
	return false
}

// enter enters levels until one of them lets another attempt follow.
func (m *model) enter(o *outcome, path string, l *ladder, from int, give func() bool) bool {
	for k := from; k < len(l.of.Levels); k++ {
		if l.entered[k] {
			continue
		}
		l.entered[k] = true
		level := &l.of.Levels[k]
		switch {
		case level.Heal != nil:
			l.at = k
			m.asked[path]++
			heal := newModel(m.c, m.c.program.Workflow(level.Heal.Workflow), calledAs(m.run, path, m.asked[path]), map[string]any{"n": float64(o.attempts)}, m.ends)
			if status, _ := heal.interpret(); status == event.Succeeded {
				return true
			}
		case level.Reassign != nil:
			if l.at = k; give() {
				return true
			}
		}
	}
	return false
}

func whole(e *ir.Expr) int { return int(e.Const.(float64)) }

// once does a node's work: its children, or its attempts.
func (m *model) once(n *ir.Node, in *activation, path string) *outcome {
	if n.Kind == ir.Step {
		return m.step(n, in, path)
	}
	taken, err := m.choose(n, in)
	if err != nil {
		o := failed(err)
		in.begun[n] = o
		for i := range n.Children {
			in.done[&n.Children[i]] = &outcome{status: event.Blocked}
			m.blockBelow(&n.Children[i], in)
		}
		return o
	}
	output := map[string]any{}
	var results []*outcome
	for i := range n.Children {
		c := &n.Children[i]
		o := m.whole(c, in)
		results = append(results, o)
		if n.Kind != ir.Switch || c.Case == taken {
			output[c.Name] = o.output
		}
	}
	o := &outcome{status: worst(results)}
	if n.Join != nil { // those that a pattern is made of wait for the losers
		o = enough(results, whole(n.Join.Count))
	}
	if o.status == event.Succeeded {
		o.output = output
	}
	if o.status == event.Succeeded && n.Result != nil {
		if o.output, err = m.value(n.Result, in, n, o); err != nil {
			return failed(err)
		}
	}
	if o.status == event.Succeeded && n.Winner != nil {
		if o.winner, err = m.value(n.Winner, in, n, o); err != nil {
			return failed(err)
		}
	}
	if o.status == event.Succeeded {
		if rejected, refused := m.judged(n, in, o, path); rejected {
			return &outcome{status: event.FailedS, better: !refused}
		}
	}
	return o
}

// enough is a group that needs some of its children to succeed.
func enough(results []*outcome, least int) *outcome {
	for _, r := range results {
		if r.status == event.Succeeded {
			least--
		}
	}
	if least > 0 {
		return &outcome{status: event.FailedS}
	}
	return &outcome{status: event.Succeeded}
}

func (m *model) blockBelow(n *ir.Node, in *activation) {
	m.note(m.path(n, in), &outcome{status: event.Blocked})
	if !multiple(n) {
		for i := range n.Children {
			m.blockBelow(&n.Children[i], in)
		}
	}
}

// step makes attempts until one is good or the last.
func (m *model) step(n *ir.Node, in *activation, path string) *outcome {
	o := &outcome{status: event.Succeeded, attempts: 1}
	switch {
	case did[*ir.Emit](n) != nil, did[*ir.Sync](n) != nil:
		return o
	case did[*ir.Wait](n) != nil, did[*ir.Approve](n) != nil:
		return m.pause(n, in, path)
	case did[*ir.Fail](n) != nil:
		return &outcome{status: event.FailedS, attempts: 1, err: &event.Error{Kind: event.Blocking}}
	case did[*ir.KV](n) != nil:
		v, err := m.value(did[*ir.KV](n).Value, in, n, o)
		if err != nil {
			return failed(err)
		}
		o.output = v
		return o
	case did[*ir.Handoff](n) != nil:
		if _, err := m.value(&did[*ir.Handoff](n).Next, in, n, o); err != nil {
			return failed(err)
		}
		o.output = map[string]any{"id": "ds-1"} // which number it is depends on time; no status does
		return o
	case did[*ir.Value](n) != nil:
		v, err := m.value(&did[*ir.Value](n).Expr, in, n, o)
		if err != nil {
			return failed(err)
		}
		o.output = v
		return o
	}
	l := m.ladder(n)
	for before, agent := 0, 0; ; o.attempts++ {
		a := event.Attempt{Node: path, Attempt: o.attempts}
		if did[*ir.AgentTask](n) != nil {
			with, err := m.value(did[*ir.AgentTask](n).With, in, n, o)
			if err != nil {
				return failed(err)
			}
			a.Agent = &event.AgentRequest{With: with}
		} else if did[*ir.Call](n) != nil {
			with, err := m.value(did[*ir.Call](n).With, in, n, o)
			if err != nil {
				return failed(err)
			}
			o.err = m.call(n, o, path, with)
			m.classify(n, in, o, 0)
		} else if did[*ir.HTTP](n) != nil {
			if _, err := m.value(&did[*ir.HTTP](n).URL, in, n, o); err != nil {
				return failed(err)
			}
			a.HTTP = &event.HTTPRequest{}
		} else if did[*ir.Remember](n) != nil {
			if _, err := m.value(did[*ir.Remember](n).Text, in, n, o); err != nil {
				return failed(err)
			}
			a.Remember = &event.Remember{}
		} else if did[*ir.Recall](n) != nil {
			if _, err := m.value(&did[*ir.Recall](n).Query, in, n, o); err != nil {
				return failed(err)
			}
			a.Recall = &event.Recall{}
		} else if _, err := m.value(did[*ir.Run](n).Argv, in, n, o); err != nil {
			return failed(err)
		}
		rejected, refused := false, false
		if did[*ir.Call](n) == nil {
			f := m.c.outcome(m.run, a)
			o.stderr = f.Stderr
			if a := did[*ir.AgentTask](n); a != nil && (a.Agent == "person" || a.Pool == "folk") && (l == nil || l.at < 0 || l.of.Levels[l.at].Reassign == nil) {
				f.Output, f.Error = m.answered(path, o.attempts)
				o.stderr = ""
			}
			if o.err, o.output = f.Error, "out of "+path; did[*ir.Run](n) == nil {
				o.output = f.Output
			}
			m.classify(n, in, o, agent)
		}
		if o.err == nil {
			if rejected, refused = m.judged(n, in, o, path); !rejected {
				return o
			}
		}
		plain := func() bool {
			if !refused && m.again(n, in, o, agent, o.attempts-before, rejected) {
				return true
			}
			if agent == len(n.Fallback) || l != nil && l.at >= 0 {
				return false
			}
			agent, before = agent+1, o.attempts
			return true
		}
		give := func() bool {
			agent, before = 0, o.attempts
			return did[*ir.AgentTask](n) != nil
		}
		if !m.climb(n, in, o, path, l, rejected && m.alarmed(n, in, o), plain, give) {
			o.status, o.output = event.FailedS, nil
			return o
		}
	}
}

// alarmed tells whether a gate that escalates has refused.
func (m *model) alarmed(n *ir.Node, in *activation, o *outcome) bool {
	return slices.ContainsFunc(n.Gates, func(name string) bool {
		g := m.gate(name)
		if g.OnFail != ir.OnFailEscalate {
			return false
		}
		v, err := m.value(g.Check, in, n, o)
		return err != nil || v != true
	})
}

// classify gives an error the kind of the nearest rule that holds.
func (m *model) classify(n *ir.Node, in *activation, o *outcome, agent int) {
	if o.err == nil {
		return
	}
	rules := slices.Clone(n.Classify)
	if did[*ir.AgentTask](n) != nil {
		all := m.c.program.Agents // see again
		rules = append(rules, all[min(agent, 1)*(len(all)-1)].Classify...)
	}
	for p := m.parents[n.Name]; p != nil; p = m.parents[p.Name] {
		rules = append(rules, p.Classify...)
	}
	for _, r := range append(rules, m.w.Classify...) {
		if v, err := m.value(&r.When, in, n, o); err == nil && v == true {
			failed := *o.err
			failed.Kind, o.err = r.Kind, &failed
			return
		}
	}
}

// call interprets another workflow, as the run that this attempt makes.
func (m *model) call(n *ir.Node, o *outcome, path string, with value.Value) *event.Error {
	w := m.c.program.Workflow(did[*ir.Call](n).Workflow)
	m.asked[path]++
	status, outputs := newModel(m.c, w, calledAs(m.run, path, m.asked[path]), with.(map[string]any), m.ends).interpret()
	if status != event.Succeeded {
		return &event.Error{Kind: event.Recoverable}
	}
	o.output = outputs
	return nil
}

// judged asks all gates. What one refused that says "fail" is not tried again.
func (m *model) judged(n *ir.Node, in *activation, o *outcome, path string) (rejected, refused bool) {
	for _, name := range n.Gates {
		g := m.gate(name)
		ok := false
		if g.Attempts() {
			ok = m.c.outcome(m.run, event.Attempt{Node: path, Attempt: max(1, o.attempts), Gate: name}).Error == nil
		} else {
			v, err := m.value(g.Check, in, n, o)
			ok = err == nil && v == true
		}
		rejected = rejected || !ok && g.OnFail != "warn"
		refused = refused || !ok && (g.OnFail == "" || g.OnFail == ir.OnFailEscalate)
	}
	return rejected, refused
}

func (m *model) gate(name string) *ir.Gate {
	for i := range m.c.program.Gates {
		if m.c.program.Gates[i].Name == name {
			return &m.c.program.Gates[i]
		}
	}
	return nil
}

// again tells whether the same agent, the first or one of the others, has another attempt.
func (m *model) again(n *ir.Node, in *activation, o *outcome, agent, made int, rejected bool) bool {
	layers := []*ir.Retry{n.Retry}
	if did[*ir.AgentTask](n) != nil {
		all := m.c.program.Agents // the members of the pool have equal rules, and the spare agent is the last
		layers = append(layers, all[min(agent, 1)*(len(all)-1)].Retry)
	}
	most, when := 0, (*ir.Expr)(nil)
	for _, r := range layers {
		if r != nil && most == 0 && r.MaxAttempts != nil {
			most = whole(r.MaxAttempts)
		}
		if r != nil && when == nil {
			when = r.When
		}
	}
	if most == 0 {
		most = 1
		if slices.ContainsFunc(n.Gates, func(g string) bool { return m.gate(g).OnFail == "retry" }) {
			most = 3
		}
	}
	switch {
	case made >= most:
		return false
	case rejected:
		return true
	case when == nil:
		return o.err.Kind.Retried()
	}
	v, err := m.value(when, in, n, o)
	return err == nil && v == true
}

// value computes an expression of a node, which sees what it has come to so far.
func (m *model) value(e *ir.Expr, in *activation, n *ir.Node, o *outcome) (value.Value, error) {
	return m.eval.Eval(e, names{m, in, n, o})
}

// names answers for the names that random programs use.
type names struct {
	m   *model
	in  *activation
	n   *ir.Node
	own *outcome
}

func (s names) Lookup(r ir.Ref) (value.Value, error) {
	switch r.Root {
	case "input":
		return s.m.inputs[r.Name], nil
	case "step":
		n := s.m.nodes[r.Name]
		return s.m.whole(n, s.m.home(n, s.in)).attr(r.Attr)
	case "result":
		return s.own.attr(r.Name + r.Attr)
	case "attempt":
		return float64(s.own.attempts), nil
	case "error":
		return map[string]any{"kind": string(s.own.err.Kind)}[r.Name], nil
	case "each":
		a := s.in
		for a.iteration > 0 {
			a = a.up
		}
		return map[string]any{"key": a.key, "value": a.each}[r.Name], nil
	}
	for a := s.in; a != nil; a = a.up {
		if a.iteration == 0 {
			continue
		}
		n := s.m.nodes[r.Name]
		switch {
		case r.Root == "iteration":
			return float64(a.iteration), nil
		case r.Root != "last" || a.owner != n && s.m.home(n, s.in) != a:
		case a.last == nil:
			return nil, nil
		case a.owner == n:
			return a.last.own.attr(r.Attr)
		default:
			return s.m.whole(n, a.last).attr(r.Attr)
		}
	}
	return nil, fmt.Errorf("the model does not know %s", r)
}

func (o *outcome) attr(name string) (value.Value, error) {
	switch name {
	case "status":
		return string(o.status), nil
	case "output":
		return o.output, nil
	case "winner":
		return o.winner, nil
	case "attempts":
		return float64(o.attempts), nil
	case "iterations":
		return float64(o.iterations), nil
	case "stderr":
		return o.stderr, nil
	}
	return nil, fmt.Errorf("the model does not know the attribute %q", name)
}

// did is the action of a node, or nil where that is of another type.
func did[A ir.Action](n *ir.Node) A {
	a, _ := n.Action.(A)
	return a
}
