package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/value"
)

// oneWord is what can be a word of join, well written or not, and no condition.
var oneWord = lazyregexp.New(`^([a-z]+([ _-][a-z]+)?|[0-9]+ ?%)$`)

// misspelledJoin is the word of a join that is neither a way to join nor a condition, or "".
func misspelledJoin(a *Attr) string {
	if text, ok := literal(a.Src.Expr()); a.Text == "" && ok && oneWord().MatchString(text) {
		return text
	}
	return ""
}

// join checks what a join is: a word, a number of successes, or a condition.
func (c *checker) join(a *Attr, env *expr.Env) diag.List {
	text, literal := literal(a.Src.Expr())
	switch {
	case a.Text != "":
		return nil
	case misspelledJoin(a) != "":
		d := diag.Diagnostic{Code: "F0116", Subject: a.span(), Summary: fmt.Sprintf("%q is not a way to join", text),
			Detail: fmt.Sprintf("It is one of %s, a number of successes, or a condition such as \"succeeded >= 2\".", quoted(a.Schema.Words))}
		if share, is := strings.CutSuffix(text, "%"); is {
			d.Detail = fmt.Sprintf("For a share of all, write  join = \"100 * succeeded >= %s * total\".", strings.TrimSpace(share))
		} else if text == "all_done" || text == "always" {
			d.Detail = "To wait until all have ended, however they ended, write  join = \"done == total\"."
		} else if near := diag.Nearest(text, a.Schema.Words); near != "" {
			d.Detail += fmt.Sprintf(" Did you mean %q?", near)
			d.Edit = &diag.Edit{Range: d.Subject, Text: fmt.Sprintf("%q", near)}
		}
		return diag.List{d}
	}
	e, list := (*ir.Expr)(nil), diag.List(nil)
	if literal {
		e, list = expr.Condition(a.Src.Expr(), a.Src.File.Src, env)
	} else {
		e, list = c.typed(a, env)
	}
	a.Expr = e
	return list
}

// joined checks that what belongs to a join stands where there is something to join.
func (c *checker) joined(n *Node) {
	parallel, each := n.Schema.Kind == "parallel", n.attr("for_each") != nil
	for _, name := range []string{"join", "losers"} {
		a := n.attr(name)
		d := diag.Diagnostic{Code: "F0264", Context: n.Words()}
		switch {
		case a == nil || parallel != each:
			continue
		case parallel:
			d.Summary = fmt.Sprintf("%s could apply to the nodes or to the instances", upper(name))
			d.Detail = "A parallel with a for_each joins both nodes and instances. Put the for_each on a sequence around the parallel; then each of the two has its own join."
		default:
			d.Summary = fmt.Sprintf("%s has nothing to join here", upper(name))
			d.Detail = "It joins the nodes of a parallel, or the instances of a for_each. Remove it."
		}
		d.Subject = a.Src.Range
		c.report(d)
	}
}

// cases checks that a switch has something to choose from.
func (c *checker) cases(n *Node) {
	for _, b := range n.Blocks {
		if b.Schema.Kind == "case" {
			return
		}
	}
	if !n.stray {
		c.report(diag.Diagnostic{Code: "F0274", Subject: n.Src.Header, Context: n.Words(), Summary: fmt.Sprintf("No cases in %s", n.Words()),
			Detail: "A switch takes the first case with a true condition:  case { when = \"CONDITION\" … }. For the rest, use  default { … }."})
	}
}

// counts are the names that a join's condition reads beside result.
var counts = []string{"total", "done", "succeeded", "failed", "skipped"}

func joinRoots(result value.Type) roots {
	out := roots{"result": resultRoot("result", result)}
	for _, name := range counts {
		out[name] = root(name, value.IntType)
	}
	return out
}
