package check

import (
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/value"
)

// insideWhen tells whether a group around the node has a condition. Inside it, what the condition decides is known: the
// nodes beside n are not null because of it, as they are for the rest of the workflow.
func (n *Node) insideWhen() bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.attr("when") != nil {
			return true
		}
	}
	return false
}

// steps is the root step as a node sees it. Most share the workflow's. A node inside a group with a condition gets its
// own, with the types of those names only that its text mentions, because a copy of all names for each group would make
// the cost of a file grow with its square. For a name that does not exist the nearest one is there, to be suggested.
func (w *Workflow) steps(n *Node) *expr.Root {
	all := w.roots["step"]
	if n == nil || !n.insideWhen() {
		return all
	}
	names := map[string]value.Type{}
	n.mentions(func(before, word string) {
		if w.ByName[word] == nil && before == "step" {
			word = diag.Nearest(word, w.names)
		}
		if to := w.ByName[word]; to != nil {
			names[word] = w.resultFor(to, n)
		}
	})
	return &expr.Root{What: all.What, Names: names, Decl: all.Decl}
}

// mentions calls f with every word in the text of the node's own expressions, and the word before it.
func (n *Node) mentions(f func(before, word string)) {
	blocks := append([]*Block{n.Block}, n.Blocks...)
	for i, b := range blocks {
		switch b.Schema.Kind {
		case "step", "sequence", "parallel":
			if i > 0 {
				continue
			}
		}
		for _, a := range b.Src.Body.Attrs {
			before := ""
			words(a.File.Text(a.Expr), func(word string) {
				f(before, word)
				before = word
			})
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
