package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/shell"
)

// advise says what is right and could be better. It is asked for where somebody looks at a program, not where it is run.
func (c *checker) advise() {
	c.unused()
	c.traps()
	for _, w := range c.program.Workflows {
		for _, n := range w.All {
			c.order(w, n)
		}
	}
	if c.options.LookPath != nil {
		c.programs()
	}
}

func (c *checker) advice(code string, at diag.Range, context, summary, detail string) {
	c.report(diag.Diagnostic{Severity: diag.Advice, Code: code, Subject: at, Context: context, Summary: summary, Detail: detail})
}

// unused names declarations that nothing refers to.
func (c *checker) unused() {
	say := func(at diag.Range, summary string) { c.advice("F0269", at, "", summary, "Use it, or remove it.") }
	for _, v := range c.program.Variables {
		if !c.global["var"].Used[v.Name] {
			say(nameRange(v.Block), fmt.Sprintf("Nothing reads the variable %q", v.Name))
		}
	}
	for _, a := range c.program.Locals {
		if !c.global["local"].Used[a.Src.Name] {
			say(a.Src.Range, fmt.Sprintf("Nothing reads the local %q", a.Src.Name))
		}
	}
	tasked, shared := map[string]bool{}, map[string]bool{}
	if m := c.program.Memory; m != nil && m.attr("editor") != nil {
		tasked[m.attr("editor").ref().Name] = true
	}
	judges := func(gates []*Block) {
		for _, g := range gates {
			if r := g.Inner("review"); r != nil && r.attr("agent") != nil && len(r.attr("agent").Names) > 0 {
				judge := r.attr("agent").ref()
				tasked[judge.Name], shared[judge.Name] = tasked[judge.Name] || !judge.Pool, shared[judge.Name] || judge.Pool
			}
		}
	}
	judges(c.program.Gates)
	for _, w := range c.program.Workflows {
		for _, in := range w.Inputs {
			if !w.inputs.Used[in.Name] {
				c.advice("F0269", nameRange(in.Block), "", fmt.Sprintf("Nothing reads the input %q of workflow %q", in.Name, w.Name),
					fmt.Sprintf("Read it as  input.%s, in a text as  ${input.%s}; or remove it.", in.Name, in.Name))
			}
		}
		for _, n := range w.All {
			for _, g := range c.agentsOf(n) {
				tasked[g.Name] = true
			}
			judges(n.Gates)
			if b := n.Inner("handoff"); b != nil && b.attr("to") != nil {
				for _, r := range b.attr("to").Names {
					tasked[r.Name], shared[r.Name] = tasked[r.Name] || !r.Pool, shared[r.Name] || r.Pool
				}
			}
			for _, r := range c.allAssignees(n) {
				shared[r.Name] = shared[r.Name] || r.Pool
			}
		}
	}
	for _, b := range c.program.Loops {
		for _, r := range b.attr("agents").Names {
			tasked[r.Name], shared[r.Name] = tasked[r.Name] || !r.Pool, shared[r.Name] || r.Pool
		}
	}
	for _, b := range c.program.Pools {
		if !shared[b.Name] {
			say(nameRange(b), fmt.Sprintf("No step gives pool %q a task", b.Name))
			for _, g := range c.membersOf(b) {
				tasked[g.Name] = true // the finding about the pool says it
			}
		}
	}
	for _, a := range c.program.Agents {
		if !tasked[a.Name] {
			c.advice("F0269", nameRange(a), "", fmt.Sprintf("No step gives agent %q a task", a.Name), c.idle(a))
		}
	}
	for _, q := range c.program.Quotas {
		if !c.taken[q.Name] {
			say(nameRange(q), fmt.Sprintf("No step, agent or group takes quota %q", q.Name))
		}
	}
	for _, b := range c.program.Channels {
		if !c.told[b.Name] {
			say(nameRange(b), fmt.Sprintf("Nothing sends to channel %q", b.Name))
		}
	}
	for _, b := range c.program.Escalations {
		if !c.escalated[b.Name] {
			say(nameRange(b), fmt.Sprintf("Nothing uses escalation %q", b.Name))
		}
	}
	for _, g := range c.program.Gates {
		if len(c.uses[g].order) == 0 {
			say(nameRange(g), fmt.Sprintf("No step uses gate %q", g.Name))
		}
	}
}

// idle says what to do about an agent that gets no task. A level that reassigns to it counts only for steps that have an agent.
func (c *checker) idle(a *Block) string {
	for _, e := range c.program.Escalations {
		for _, l := range e.levels() {
			if r := l.attr("reassign").ref(); !r.Pool && r.Name == a.Name && c.escalated[e.Name] {
				return fmt.Sprintf("Level %q of escalation %q reassigns steps to it, but only a step with an agent can be reassigned, and no such step escalates to %q. Give the step an agent, or heal it with  workflow = workflow.NAME  in the level.", l.Name, e.Name, e.Name)
			}
		}
	}
	return "Use it, or remove it."
}

// order looks for a sequence whose nodes have no need of its order: none of them reads another or touches a file, and none only
// waits or ends.
func (c *checker) order(w *Workflow, n *Node) {
	if n.Schema.Kind != "sequence" || len(n.Children) < 2 {
		return
	}
	first := n.index + 1
	last := len(w.All)
	for i := first; i < len(w.All); i++ {
		m := w.All[i]
		if !n.holds(m) {
			last = i
			break
		}
		if m.Parent == n && (actions[m.Does].orders || m.attr("when") != nil) || m.Schema.Kind == "step" && !m.harmless() {
			return
		}
	}
	for _, m := range w.All[first:last] {
		own := m.below(n)
		for _, names := range [][]string{m.Needs, m.Observes} {
			for _, name := range names {
				if to := w.ByName[name]; n.holds(to) && to.below(n) != own {
					return
				}
			}
		}
		before := false
		m.each(func(_ *Attr, e *ir.Expr) {
			for _, r := range e.Reads {
				before = before || r.Root == "previous" || r.Root == "last"
			}
		})
		if before {
			return
		}
	}
	c.advice("F0272", nameRange(n.Block), n.Words(), fmt.Sprintf("The nodes of sequence %q do not read each other", n.Name),
		"Each node waits for the previous one, but uses nothing from it and touches no file. Use parallel to run them at the same time.")
}

// harmless reports whether a step is known to change nothing that another one could see but its result.
func (n *Node) harmless() bool {
	if n.Does == ir.ValueAction {
		return true
	}
	if n.Does == ir.HTTPAction {
		a := n.Inner("http").attr("method")
		return a == nil || a.Expr != nil && (a.Expr.Const == "GET" || a.Expr.Const == "HEAD")
	}
	a := n.attr("run")
	if n.Does != ir.RunAction || a.Expr == nil {
		return false
	}
	if text, ok := a.Expr.Const.(string); a.Script && ok {
		return shell.Harmless(text, shell.POSIX)
	}
	words, _ := a.Expr.Const.([]any)
	if len(words) == 0 {
		return false
	}
	first, _ := words[0].(string)
	return shell.HarmlessArgv([]string{first})
}

// below is the child of g that holds n, or is n.
func (n *Node) below(g *Node) *Node {
	for n.Parent != g {
		n = n.Parent
	}
	return n
}

// programs looks for programs that cannot be found, each once.
func (c *checker) programs() {
	seen := map[string]bool{}
	look := func(b *Block, attr string) {
		a := b.attr(attr)
		if a == nil || a.Expr == nil || a.Expr.Kind != ir.Const {
			return
		}
		argv, _ := a.Expr.Const.([]any)
		if len(argv) == 0 {
			return
		}
		name, _ := argv[0].(string)
		if name == "" || strings.Contains(name, "/") || seen[name] {
			return
		}
		if seen[name] = true; !c.options.LookPath(name) {
			c.advice("F0270", a.memberAt(0), b.Words(), fmt.Sprintf("Program %.60q is not on the PATH here", name), notOnPath(name))
		}
	}
	for _, a := range c.program.Agents {
		look(a, "command")
	}
	for _, g := range c.program.Gates {
		look(g, "run")
	}
	for _, w := range c.program.Workflows {
		for _, n := range w.All {
			if n.setsPath(w) {
				continue
			}
			look(n.Block, "run")
			for _, b := range n.Blocks {
				if !isNode(b) {
					look(b, "run")
				}
			}
		}
	}
}

// setsPath tells whether programs of the node are looked for elsewhere.
func (n *Node) setsPath(w *Workflow) bool {
	sets := func(b *Block) bool { a := b.attr("env"); return a != nil && a.Env["PATH"] != nil }
	for p := n; p != nil; p = p.Parent {
		if sets(p.Block) {
			return true
		}
	}
	return sets(w.Block)
}

// shellWords are commands of the shell that are not programs.
var shellWords = map[string]bool{"cd": true, "source": true, ".": true, "export": true, "set": true, "unset": true, "eval": true, "exit": true, "if": true, "for": true, "while": true, "alias": true, "ulimit": true, "umask": true, "trap": true, "exec": true, "shopt": true}

// notOnPath says what to do about a program that is not on the PATH.
func notOnPath(name string) string {
	if words := commandWords(name); len(words) > 1 {
		return fmt.Sprintf("The first member of the list is the program, and the others are its arguments:  run = %s. Several commands are a text:  run = \"%s && …\".", quotedWords(words), name)
	}
	switch first, rest, _ := strings.Cut(name, " "); {
	case rest != "":
		return fmt.Sprintf("The first member of the list is the program, and the others are its arguments. A line for the shell is a text:  run = %q.", name)
	case shellWords[first]:
		return fmt.Sprintf("%s is a word of the shell, and a list starts a program without a shell. Write a text:  run = \"%s …\".", first, first)
	}
	return "An attempt that starts it on this machine fails. Install the program, or give its path."
}
