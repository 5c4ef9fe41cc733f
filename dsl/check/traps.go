package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/shell"
)

// What is here speaks of scripts that are right as far as the file says and do something else than their authors think.

// Bounds of what is looked at for advice: scripts of a program, and steps that hand files to each other.
const (
	maxLooked = 5000
	maxHanded = 10
)

// looked is a program of a node as advice sees it.
type looked struct {
	node *Node
	attr *Attr
	shell.Habits
	from []int // where each byte of a script stands in the file, and the byte behind it
}

// traps looks at the programs of all nodes and gates.
func (c *checker) traps() {
	left := maxLooked
	look := func(n *Node, w *Workflow, b *Block) *looked {
		if left--; left < 0 {
			return nil
		}
		return c.look(n, w, b)
	}
	for _, w := range c.program.Workflows {
		var all []*looked
		for _, n := range w.All {
			if l := look(n, w, n.Block); l != nil && n.attr("dir") == nil {
				all = append(all, l)
			}
			for _, b := range n.Blocks {
				if !isNode(b) && b.attr("run") != nil {
					look(n, w, b)
				}
			}
		}
		c.unordered(w, all)
	}
	for _, b := range slices.Concat(c.program.Gates, c.program.Agents) {
		look(nil, nil, b)
	}
	c.endless()
}

// shellSigns are words that a shell reads as signs, and shellVariable is a word that it replaces.
var (
	shellSigns    = map[string]bool{"|": true, "&&": true, "||": true, ">": true, ">>": true, "<": true, "2>": true, "2>&1": true, "&>": true, ">/dev/null": true, "2>/dev/null": true}
	shellVariable = lazyregexp.New(`^\$[A-Z_][A-Z0-9_]*$`)
)

// ownSigns are programs whose arguments can be such words.
var ownSigns = map[string]bool{"expr": true, "test": true, "[": true, "awk": true, "mawk": true, "gawk": true, "dc": true, "envsubst": true, "cut": true, "tr": true, "column": true}

// plainWords finds words of a list that are meant for a shell, which does not read them.
func (c *checker) plainWords(b *Block, a *Attr, words []string) {
	if len(words) == 0 || ownSigns[words[0]] {
		return
	}
	for i := 1; i < len(words); i++ {
		w := words[i]
		if !shellVariable().MatchString(w) && (!shellSigns[w] || strings.HasPrefix(words[i-1], "-")) {
			continue
		}
		line := "… " + w + " …"
		if !slices.ContainsFunc(words, func(w string) bool { return w == "" || strings.ContainsAny(w, "\"' \\") }) {
			line = strings.Join(words, " ")
		}
		c.advice("F0329", a.memberAt(i), b.Words(), fmt.Sprintf("The program gets %q as it is", w),
			fmt.Sprintf("No shell reads the words of a list. If the word is meant for a shell, write a text:  run = \"%s\".", line))
		return
	}
}

// look speaks of one program.
func (c *checker) look(n *Node, w *Workflow, b *Block) *looked {
	a := b.attr("run")
	if a == nil || a.Expr == nil {
		return nil
	}
	l := &looked{node: n, attr: a}
	if !a.Script {
		t, ok := a.Src.Expr().(*hclsyntax.TupleConsExpr)
		if !ok {
			return nil
		}
		var words []string
		for _, x := range t.Exprs {
			text, _ := literal(x)
			words = append(words, text)
		}
		c.plainWords(b, a, words)
		l.Habits = shell.ArgvHabits(words)
		return l
	}
	text, _ := a.Expr.Const.(string)
	dialect := shell.POSIX
	if a.shell == "bash" {
		dialect = shell.Bash
	}
	l.Habits = shell.ReadHabits(text, dialect)
	l.from = scriptOffsets(a, text)
	if len(l.Bash) > 0 {
		c.advice("F0258", l.at(l.Bash[0]), b.Words(), fmt.Sprintf("sh runs this script, and %s belongs to bash", l.Bash[0].Text),
			"The default shell is sh, which is dash on many systems. Write  shell = \"bash\"  in the step or in the workflow.")
	}
	for _, v := range l.Reads {
		switch {
		case ir.LooksSecret(v.Text) && !handsOn(n, w, b, v.Text):
			c.advice("F0257", l.at(v), b.Words(), fmt.Sprintf("$%s is empty in this script", v.Text),
				fmt.Sprintf("The name looks like that of a secret, and flowrun keeps such variables of its own environment from programs. Write  pass_env = [%q]  to pass it on, or give the program a value:  env = { %s = var.NAME }.", v.Text, v.Text))
		case v.Text == "GITHUB_OUTPUT" || v.Text == "GITHUB_ENV":
			c.advice("F0259", l.at(v), b.Words(), fmt.Sprintf("$%s does not hand anything to other steps", v.Text),
				"It is a file of the job of GitHub Actions, and other steps of the workflow do not read it. Write lines NAME=VALUE to the file $FLOWRUN_OUTPUT; other steps read  step.NAME.output.")
		}
	}
	return l
}

// scriptOffsets says where the bytes of a script stand in the file, or nil where values stand in it.
func scriptOffsets(a *Attr, text string) []int {
	t, ok := a.Src.Expr().(*hclsyntax.TemplateExpr)
	if !ok || len(a.Values) > 0 {
		return nil
	}
	quoted := strings.HasPrefix(a.Src.Text(), `"`)
	var out []int
	for i, p := range t.Parts {
		l, ok := p.(*hclsyntax.LiteralValueExpr)
		if !ok {
			return nil
		}
		s, _ := literal(&hclsyntax.TemplateExpr{Parts: []hclsyntax.Expression{l}})
		from := expr.Offsets(s, l.Range(), a.Src.File.Src, quoted)
		if len(from) != len(s)+1 {
			return nil
		}
		if i < len(t.Parts)-1 {
			from = from[:len(s)]
		}
		out = append(out, from...)
	}
	if len(out) != len(text)+1 {
		return nil
	}
	return out
}

// at is the place of a word in the file, or the whole script where that is not known.
func (l *looked) at(w shell.Word) diag.Range {
	if w.At >= 0 && w.End < len(l.from) {
		f := l.attr.Src.File
		if r := f.Range(l.from[w.At], l.from[w.End]); r.Start.Line == r.End.Line {
			return r
		}
	}
	return l.attr.Src.Range
}

// handsOn reports whether a program is given a variable of the environment: pass_env names it, or env sets it.
func handsOn(n *Node, w *Workflow, b *Block, name string) bool {
	around := []*Block{b}
	for ; n != nil; n = n.Parent {
		around = append(around, n.Block)
	}
	if w != nil {
		around = append(around, w.Block)
	}
	for _, b := range around {
		if a := b.attr("pass_env"); a != nil && slices.Contains(a.Strings, name) {
			return true
		}
		if a := b.attr("env"); a != nil && a.Env[name] != nil {
			return true
		}
	}
	return false
}

// unordered looks for a step that reads a file which another one makes, where nothing puts the two in order.
func (c *checker) unordered(w *Workflow, all []*looked) {
	type maker struct {
		l  *looked
		at shell.Word
	}
	made := map[string][]maker{}
	for _, l := range all {
		for _, f := range l.Writes {
			if len(made[f.Text]) < maxHanded {
				made[f.Text] = append(made[f.Text], maker{l, f})
			}
		}
	}
	if len(made) == 0 {
		return
	}
	left := maxHanded
	for _, l := range all {
		for _, f := range l.Opens {
			if slices.ContainsFunc(l.Writes, func(own shell.Word) bool { return own.Text == f.Text }) {
				continue
			}
			var by maker
			for name := f.Text; name != "." && name != "/" && by.l == nil; name = parentFolder(name) {
				for _, m := range made[name] {
					if m.l.node != l.node && left > 0 && !w.inOrder(m.l.node, l.node) {
						by = m
						break
					}
				}
			}
			if by.l == nil {
				continue
			}
			left--
			c.report(diag.Diagnostic{Severity: diag.Advice, Code: "F0286", Subject: l.at(f), Context: l.node.Words(),
				Summary: fmt.Sprintf("%s reads %.60q, which %s writes, and both start at once", upper(l.node.Words()), f.Text, by.l.node.Words()),
				Detail:  fmt.Sprintf("A node starts when the nodes that it reads have finished, not in the order of the file. Write  depends_on = [step.%s]  in %s, or put both into a  sequence.", by.l.node.Name, l.node.Words()),
				Notes:   []diag.Note{{Text: "written here", Range: by.l.at(by.at)}}})
			break
		}
	}
}

func parentFolder(name string) string {
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return name[:i]
	}
	return "."
}

// inOrder reports whether one of two steps always ends before the other one starts, or only one of them runs.
func (w *Workflow) inOrder(a, b *Node) bool {
	for p := a.Parent; p != nil; p = p.Parent {
		if p.holds(b) {
			if x, y := a.below(p), b.below(p); p.Schema.Kind == "sequence" || x.Case != y.Case {
				return true
			}
			break
		}
	}
	return a.final != b.final || a.final || w.after(a, b) || w.after(b, a)
}

// after reports whether b starts behind the end of a.
func (w *Workflow) after(a, b *Node) bool {
	seen := map[*Node]bool{}
	todo := []*Node{b}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		if n == a {
			return true
		}
		if n.holds(b) { // it waits for what it waits for, and not for what else is in it
			todo = append(todo, n.Parent, n.Before)
		} else {
			todo = append(todo, n.Children...)
			todo = append(todo, n.Before)
			if n == b {
				todo = append(todo, n.Parent)
			}
		}
		for _, names := range [][]string{n.Needs, n.Observes} {
			for _, name := range names {
				todo = append(todo, w.ByName[name])
			}
		}
	}
	return false
}

// ownScript reports whether the program of an agent is a script of its author's, by its path or its interpreter.
func (b *Block) ownScript() bool {
	a := b.attr("command")
	if a == nil || a.Expr == nil {
		return true
	}
	words, _ := a.Expr.Const.([]any)
	if len(words) == 0 {
		return true
	}
	name, _ := words[0].(string)
	return strings.Contains(name, "/") || slices.Contains([]string{"sh", "bash", "python", "python3", "node", "ruby", "perl"}, name)
}

// endless looks for agents that can hang for ever: programs of others without a bound on their time or their silence. It speaks of
// all at the first.
func (c *checker) endless() {
	bounded := func(b *Block) bool {
		return b.attr("timeout") != nil || b.attr("heartbeat") != nil || b.Inner("deadline") != nil
	}
	told := map[*Block]bool{}
	var names []string
	for _, w := range c.program.Workflows {
		if bounded(w.Block) {
			continue
		}
		for _, n := range w.All {
			for _, g := range c.agentsOf(n) {
				kind := g.Text("type")
				if told[g] || bounded(g) || kind != "exec" && kind != "acp" || g.ownScript() {
					continue
				}
				free := true
				for p := n; p != nil; p = p.Parent {
					free = free && !bounded(p.Block)
				}
				if !free {
					continue
				}
				told[g] = true
				names = append(names, g.Name)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	first := c.agents[names[0]]
	detail := "Its time has no limit. In the agent, write  timeout = \"30m\", the longest time of an attempt, or  heartbeat = \"2m\", the longest silence."
	if len(names) > 1 {
		detail += fmt.Sprintf(" The same holds for %s.", some(names[1:]))
	}
	c.advice("F0220", nameRange(first), "", fmt.Sprintf("Agent %q can hang without an end", first.Name), detail)
}
