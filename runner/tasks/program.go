package tasks

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// Program answers what a file says of the work of its agents: who judges it, and whose words a text holds. It serves the folds of
// many runs, one at a time.
type Program struct {
	*ir.Program
	flows    map[string]*flow
	callers  map[string]callers
	believed bool // the file trusts all of its agents
}

// callers is what is known of those who call a workflow.
type callers struct{ judge, said bool }

// NewProgram reads a program that has been checked.
func NewProgram(p *ir.Program) *Program {
	untrusted := func(g ir.Agent) bool { return g.Memory == nil || !g.Memory.Trusted }
	return &Program{Program: p, flows: map[string]*flow{}, callers: map[string]callers{}, believed: !slices.ContainsFunc(p.Agents, untrusted)}
}

// flow is a workflow with what is asked of it again and again.
type flow struct {
	*plan.Graph
	program *Program
	waiters [][]int // by node: those that wait for it
	judged  bool    // it has a repeat with a condition, or a group with gates
	behind  map[int]map[int]bool
	judges  map[int]map[int]bool // by repeat
}

// flow gives a workflow; nil where there is none of the name.
func (p *Program) flow(name string) *flow {
	f, known := p.flows[name]
	if known {
		return f
	}
	if g, err := plan.Build(p.Program, name); err == nil {
		f = &flow{Graph: g, program: p, waiters: make([][]int, len(g.Nodes)), behind: map[int]map[int]bool{}, judges: map[int]map[int]bool{}}
		for i := range g.Nodes {
			for _, a := range g.Nodes[i].Awaits {
				f.waiters[a.Node] = append(f.waiters[a.Node], i)
			}
			f.judged = f.judged || f.judgesBelow(i)
		}
	}
	p.flows[name] = f
	return f
}

// judgesBelow tells of a node that accepts or refuses the work of those in it: by the condition of its repeat, or by gates.
func (f *flow) judgesBelow(n int) bool {
	of := &f.Nodes[n]
	return of.Repeat != nil && of.Repeat.Until != nil || of.Kind != ir.Step && len(of.Gates) > 0
}

// awaited tells whether anything waits for a node, or for a group that it lies in.
func (f *flow) awaited(n int) bool {
	for ; n != plan.None; n = f.Nodes[n].Parent {
		if len(f.waiters[n]) > 0 {
			return true
		}
	}
	return false
}

// after are all the nodes that come behind a node because they wait for it, directly or not.
func (f *flow) after(n int) map[int]bool {
	if f.behind[n] == nil {
		found := map[int]bool{}
		var reach func(n int)
		reach = func(n int) {
			for ; n != plan.None; n = f.Nodes[n].Parent {
				for _, w := range f.waiters[n] {
					f.all(w, func(i int) {
						if !found[i] {
							found[i] = true
							reach(i)
						}
					})
				}
			}
		}
		reach(n)
		f.behind[n] = found
	}
	return f.behind[n]
}

// all visits a node and all that lies in it.
func (f *flow) all(n int, visit func(int)) {
	visit(n)
	for _, below := range f.Nodes[n].Below {
		f.all(below, visit)
	}
}

var member = lazyregexp.New(`\bresult\.output(?:\.|\[["'])([A-Za-z_][A-Za-z0-9_-]*)`)

// judgesOf are the nodes that the condition of a repeat asks: those that it reads, what these consist of or are computed from.
func (f *flow) judgesOf(repeat int) map[int]bool {
	if f.judges[repeat] == nil {
		found := map[int]bool{}
		var ask func(name string)
		read := func(e *ir.Expr) {
			for _, r := range e.Reads {
				if r.Root == "step" {
					ask(r.Name)
				}
			}
		}
		ask = func(name string) {
			n := f.Number(name)
			if n == plan.None || !f.within(n, repeat) {
				return
			}
			f.all(n, func(i int) {
				if !found[i] {
					found[i] = true
					if v, ok := f.Nodes[i].Action.(*ir.Value); ok {
						read(&v.Expr)
					}
				}
			})
		}
		until := f.Nodes[repeat].Repeat.Until
		read(until)
		for _, m := range member().FindAllStringSubmatch(until.Text, -1) {
			ask(m[1])
		}
		f.judges[repeat] = found
	}
	return f.judges[repeat]
}

func (f *flow) within(n, group int) bool {
	for ; n != plan.None; n = f.Nodes[n].Parent {
		if n == group {
			return true
		}
	}
	return false
}

// reviews tells that an agent's step is asked whether a round is good, and judges the work of another agent in it.
func (f *flow) reviews(n, repeat int) bool {
	if f.Nodes[repeat].Repeat.Until == nil || !f.judgesOf(repeat)[n] {
		return false
	}
	found := false
	f.all(repeat, func(i int) { found = found || i != n && f.Nodes[i].Own != nil && f.after(i)[n] })
	return found
}

// above tells of those who call a workflow: whether one of them may refuse what it did, and whether its inputs may hold what a step
// of theirs said.
func (p *Program) above(workflow string) (of callers) {
	of, known := p.callers[workflow]
	if known {
		return of
	}
	for i := range p.Workflows {
		f := p.flow(p.Workflows[i].Name)
		if f == nil {
			continue
		}
		called := func(c *ir.Call, n int) bool {
			if c == nil || c.Workflow != workflow {
				return false
			}
			up := p.above(f.Workflow.Name)
			of.judge = of.judge || up.judge
			of.said = of.said || c.With != nil && !f.own(c.With, n, up.said)
			for _, e := range c.Inputs { // any order: it looks for one
				of.said = of.said || !f.own(e, n, up.said)
			}
			return true
		}
		rules := func(list []ir.Adapt, n int) { // nothing reads what the runs of rules make
			for i := range list {
				called(list[i].Call, n)
			}
		}
		rules(f.Workflow.Adapt, plan.None)
		for n := range f.Nodes {
			rules(f.Nodes[n].Adapt, n)
			if c, _ := f.Nodes[n].Action.(*ir.Call); !called(c, n) {
				continue
			}
			of.judge = of.judge || f.awaited(n) || len(f.Nodes[n].Gates) > 0
			for at := n; at != plan.None; at = f.Nodes[at].Parent {
				of.judge = of.judge || f.judgesBelow(at)
			}
		}
	}
	p.callers[workflow] = of
	return of
}

// own tells that a text is made of the file's words and of what a person gave, and holds nothing that a step said. Given tells that
// inputs may.
func (f *flow) own(e *ir.Expr, n int, given bool) bool {
	if f.program.believed {
		return true
	}
	for _, r := range e.Reads {
		ok := false
		switch r.Root {
		case "var", "local", "attempt", "iteration", "metrics", "now":
			ok = true
		case "input":
			ok = !given
		case "run":
			ok = r.Name == "id" || r.Name == "workflow" || r.Name == "started_at"
		case "each":
			for at := n; at != plan.None && !ok; at = f.Nodes[at].Parent {
				if x := f.Nodes[at].ForEach; x != nil {
					ok = f.own(x, f.Nodes[at].Parent, given)
					break
				}
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// asked is a task as it may be told outside of its run: as it was, where it is the file's words, and else as it is written, with
// what a person gave put in.
func (f *flow) asked(n int, task string, first *event.RunStarted, given bool) string {
	t, ok := f.Nodes[n].Action.(*ir.AgentTask)
	switch {
	case task == "" || !ok || t.Task == nil:
		return ""
	case f.own(t.Task, n, given):
		return task
	}
	return f.written(t.Task, first, given)
}

var (
	simple  = lazyregexp.New(`\$\{\s*(var|input)\.([A-Za-z_][A-Za-z0-9_-]*)\s*\}`)
	heredoc = lazyregexp.New(`\A<<-?\w+\n((?s).*)\n[ \t]*\w+\s*\z`)
)

// written is a text as it stands in the file, with the variables and inputs in it that a person gave.
func (f *flow) written(e *ir.Expr, first *event.RunStarted, given bool) string {
	if text, is := e.Const.(string); is {
		return text
	}
	text := e.Text
	if m := heredoc().FindStringSubmatch(text); m != nil {
		text = m[1]
	} else if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	if first == nil {
		return text
	}
	return strings.TrimSpace(simple().ReplaceAllStringFunc(text, func(s string) string {
		m := simple().FindStringSubmatch(s)
		values := first.Vars
		if m[1] == "input" {
			if values = first.Inputs; given {
				return s
			}
		}
		switch v := values[m[2]].(type) {
		case string:
			return v
		case float64, bool:
			return value.Text(v)
		}
		return s
	}))
}

// rule is what the file says of a gate: its message as it is written, or its condition.
func (f *flow) rule(n int, gate string, first *event.RunStarted, given bool) string {
	for _, g := range f.Nodes[n].Gates {
		switch {
		case g.Name[strings.LastIndexByte(g.Name, '/')+1:] != gate:
		case g.Message != nil:
			return f.written(g.Message, first, given)
		case g.Check != nil:
			return "its check is false: " + g.Check.Text
		}
	}
	return ""
}
