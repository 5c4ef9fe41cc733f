package check

import (
	"bytes"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// knowsMore tells whether a condition on the node or around it has decided something where a place is evaluated: the
// nodes beside it in a group with a condition are not null because of that condition, as they are for the rest of the
// workflow, and what a condition has asked about is known.
func (n *Node) knowsMore(at where) bool {
	if !n.readsSteps(at == inWhen) {
		return false
	}
	for p := n; p != nil; p = p.Parent {
		if p.Case > 0 || p.attr("when") != nil && (p != n || at > inWhen) {
			return true
		}
	}
	return false
}

// seesOwn tells whether a place in the node sees other nodes in a way of its own: it knows more, its trigger rule lets it
// start after failures, or it looks at what is inside it.
func (n *Node) seesOwn(at where) bool {
	return n.knowsMore(at) || (n.lenient() || n.final || at == inUntil || at == inJoin || at == inResult || at == inCompensate) && n.readsSteps(at == inWhen)
}

// readsSteps tells whether the text of the node's expressions, its condition's or all others', may read a step. Most
// don't, and an environment of their own would cost them more than all else.
func (n *Node) readsSteps(when bool) bool {
	if n.reads == nil {
		n.reads = &textReads{}
		n.texts(func(b *Block, a *syntax.Attr, src []byte) {
			found := &n.reads.others
			if b == n.Block && a.Name == "when" {
				found = &n.reads.when
			}
			*found = *found || a.Name != "depends_on" && bytes.Contains(src, []byte("step"))
		})
	}
	if when {
		return n.reads.when
	}
	return n.reads.others
}

// textReads says whether the condition of a node, and the texts of its other expressions, may read a step.
type textReads struct{ when, others bool }

// steps is the root step as a place in a node sees it. Most share the workflow's. A node with a condition on or around
// it gets its own, with the types of those names only that its text mentions, because a copy of all names for each
// would make the cost of a file grow with its square. For a name that does not exist the nearest one is there, to be
// suggested.
func (w *Workflow) steps(n *Node, at where) *expr.Root {
	all := w.roots["step"]
	if n == nil || !n.seesOwn(at) {
		return all
	}
	asked := n.asked(at)
	names := map[string]value.Type{}
	n.mentions(func(before, word string) {
		if w.ByName[word] == nil && before == "step" {
			word = diag.Nearest(word, w.names)
		}
		if to := w.ByName[word]; to != nil {
			t := w.resultFor(to, n)
			if n.lenient() || n.final && n.top() != to.top() || at == inCompensate || n.holds(to) && (at == inJoin || at == inResult && n.picks() && n.attr("for_each") == nil) {
				t = uncertain(t)
			}
			if n.lenient() || n.final && n.top() != to.top() {
				for name := range toldByEnd { // any order: each for itself
					t.Attrs[name] = t.Attrs[name].OrLeft()
				}
			}
			names[word] = certain(t, asked[word])
		}
	})
	return &expr.Root{What: all.What, Names: names, Why: w.because(n), Absent: all.Absent, Decl: all.Decl}
}

// asked lists the attributes of other nodes that the conditions on and around a node read: step.X.status in a when.
func (n *Node) asked(at where) map[string][]string {
	out := map[string][]string{}
	for p := n; p != nil; p = p.Parent {
		a := p.attr("when")
		if a != nil && (p != n || at > inWhen) {
			asks(a, out)
		}
		if p.Case > 0 {
			if a := p.Parent.Cases()[p.Case-1].attr("when"); a != nil {
				asks(a, out)
			}
		}
	}
	return out
}

// asks adds what a condition reads of other nodes.
func asks(a *Attr, out map[string][]string) {
	two, one := "", ""
	words(a.Src.Text(), func(word string) {
		if two == "step" {
			out[one] = append(out[one], word)
		}
		two, one = one, word
	})
}

// certain is a result type without null where a condition has asked: about the status, the error, the exit code or the
// counts, which tell how the node ended, or about the attribute itself. Whether the condition draws the right conclusion
// from what it asked is its author's business.
func certain(t value.Type, asked []string) value.Type {
	if len(asked) == 0 {
		return t
	}
	attrs := make(map[string]value.Type, len(t.Attrs))
	for name, a := range t.Attrs { // any order: each for itself
		for _, q := range asked {
			if a.Kind != value.Null && (q == name || tellEnd[q] && toldByEnd[name]) {
				a = a.NotNull()
			}
		}
		attrs[name] = a
	}
	return value.Object(attrs)
}

// tellEnd are the attributes that tell how a node ended, toldByEnd those that are known to be there from that.
var (
	tellEnd   = map[string]bool{"status": true, "error": true, "exit_code": true, "counts": true}
	toldByEnd = map[string]bool{"output": true, "stdout": true, "stderr": true, "error": true, "instances": true}
)

// mentions calls f with every word in the text of the node's own expressions, and the word before it.
func (n *Node) mentions(f func(before, word string)) {
	n.texts(func(_ *Block, _ *syntax.Attr, src []byte) {
		before := ""
		words(string(src), func(word string) {
			f(before, word)
			before = word
		})
	})
}

// texts calls f with the text of each attribute of the node and of the blocks inside it that are not nodes.
func (n *Node) texts(f func(b *Block, a *syntax.Attr, src []byte)) {
	attrs := func(b *Block) {
		for _, a := range b.Src.Body.Attrs {
			f(b, a, a.Bytes())
		}
	}
	attrs(n.Block)
	for _, b := range n.Blocks {
		if !isNode(b) {
			attrs(b)
		}
	}
}

// words cuts a text into the names that may stand in it.
func words(text string, f func(string)) {
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && wordByte(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			f(text[start:i])
			start = -1
		}
	}
}
