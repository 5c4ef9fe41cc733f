package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Evaluator implements [ir.Evaluator] for both languages. It parses a text on first use and keeps the result, up to
// [MaxKeptBytes] of text. Like the machine that it belongs to it is used by one goroutine at a time.
type Evaluator struct {
	trees   map[source]*tree
	files   map[string]string
	rules   ir.Rules
	kept    int // bytes of text in trees
	schemas map[string]*jsonschema.Schema
	pause   func() // see SetPause; nil: nobody waits
	spent   int    // steps since the last pause
	spare   *run   // see end
}

// source is what a tree depends on: a dash in a text is a minus or part of a name, as the names say that it reads.
type source struct {
	kind   ir.ExprKind
	text   string
	dashed string
}

func sourceOf(e *ir.Expr) source {
	key := source{kind: e.Kind, text: e.Text}
	if e.Kind != ir.Condition || strings.IndexByte(e.Text, '-') < 0 {
		return key
	}
	for _, r := range e.Reads {
		if strings.IndexByte(r.Name, '-') >= 0 {
			key.dashed += r.Root + "." + r.Name + " "
		}
	}
	return key
}

// NewEvaluator makes an evaluator without anything parsed yet. rules are those of the run that the expressions belong to. files, if
// given, is what file("PATH") stands for, by the path as it is written: [ir.Program.Files].
func NewEvaluator(rules ir.Rules, files ...map[string]string) *Evaluator {
	all := map[string]string(nil)
	for _, more := range files {
		all = more
	}
	return &Evaluator{rules: rules, files: all, trees: map[source]*tree{}, schemas: map[string]*jsonschema.Schema{}}
}

var _ ir.Evaluator = (*Evaluator)(nil)

// Eval computes e in the scope s. A failure of the expression itself is an [*Error], which names the part that failed;
// errors of the scope are wrapped in it. A condition gives a bool or fails.
func (ev *Evaluator) Eval(e *ir.Expr, s ir.Scope) (value.Value, error) {
	if e.Kind == ir.Const {
		return e.Const, nil
	}
	t, err := ev.tree(e)
	if err != nil {
		return nil, err
	}
	v, err := t.eval(s, ev)
	if err != nil {
		return nil, err
	}
	if _, ok := v.(bool); e.Kind == ir.Condition && !ok {
		return nil, &Error{Part: shortenTo(e.Text, 100), Err: fmt.Errorf("true or false is needed, but this is %s", describe(v))}
	}
	return v, nil
}

func (ev *Evaluator) tree(e *ir.Expr) (*tree, error) {
	key := sourceOf(e)
	if t := ev.trees[key]; t != nil {
		return t, nil
	}
	t, err := parse(e)
	if err != nil {
		return nil, fmt.Errorf("reading the stored expression %q: %w", shorten(e.Text), err)
	}
	if ev.kept += len(key.text); ev.kept > MaxKeptBytes { // forget all: which are read again soon is not worth knowing
		clear(ev.trees)
		ev.kept = len(key.text)
	}
	ev.trees[key] = t
	return t, nil
}

// parse reads an expression that was checked before. The bounds hold all the same: a store can be damaged.
func parse(e *ir.Expr) (*tree, error) {
	text := e.Text
	t := &tree{text: text}
	var fs findings
	switch e.Kind {
	case ir.HCL:
		if err := guard([]byte(text)); err != nil {
			return nil, err
		}
		x, diags := hclsyntax.ParseExpression([]byte(text+"\n"), "", hcl.InitialPos)
		if diags.HasErrors() {
			return nil, diags
		}
		l := &hclLowerer{}
		t.root = l.lower(x)
		t.slots, fs = l.slots, l.findings
	case ir.Condition:
		if len(text) > 2*MaxConditionBytes {
			return nil, fmt.Errorf("a condition of %d bytes", len(text))
		}
		rw, depth := rewrite(text, readNames(e.Reads), false)
		if depth > MaxConditionDepth+1 {
			return nil, fmt.Errorf("a condition with brackets %d deep", depth)
		}
		l, root := parseCondition(rw.text)
		t.from = rw.from
		t.root, t.slots, fs = root, l.slots, l.findings
	case ir.Const:
		return nil, errors.New("a constant is not parsed")
	default:
		return nil, fmt.Errorf("an expression of kind %q", e.Kind)
	}
	for _, f := range fs.list {
		if !f.warning {
			return nil, errors.New(f.summary)
		}
	}
	return t, nil
}

// eval computes the tree within the bounds of one evaluation.
func (t *tree) eval(s ir.Scope, ev *Evaluator) (value.Value, error) {
	r := ev.begin(t, s)
	v, err := t.evalIn(r)
	ev.end(r)
	return v, err
}

func (t *tree) evalIn(r *run) (value.Value, error) {
	if to, listens := r.scope.(ir.Listener); listens {
		r.heard = traced(t, to)
	}
	v, err := r.eval(t.root)
	if err == nil {
		err = r.fail(t.root.at(), r.settle(v))
	}
	if err == nil {
		return v, nil
	}
	var e *Error
	if errors.As(err, &e) && e.Part == "" {
		e.Part = shortenTo(t.part(e.at), 100)
	}
	return nil, err
}

func (t *tree) part(s span) string {
	if t.from != nil && s.start >= 0 && s.start < s.end && s.end < len(t.from) {
		s = span{t.from[s.start], t.from[s.end-1] + 1}
	}
	if s.start < 0 || s.end > len(t.text) || s.start >= s.end {
		return t.text
	}
	return t.text[s.start:s.end]
}
