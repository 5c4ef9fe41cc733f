package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Fixed is the value of an expression that reads nothing but files, whose texts are given by their paths; ok is false for
// all others, and where the constants of the program have reached their bounds.
func Fixed(e *ir.Expr, files map[string]string, w *Work) (v value.Value, ok bool) {
	switch {
	case e == nil || len(e.Reads) > 0:
		return nil, false
	case e.Kind == ir.Const:
		return e.Const, true
	}
	t, err := NewEvaluator(ir.NewestRules(), files).tree(e)
	if err != nil {
		return nil, false
	}
	v, err = w.evaluate(t, &run{files: files, rules: ir.NewestRules(), slots: make([]value.Value, t.slots)})
	return v, err == nil
}

// Value checks an HCL expression and makes it IR. An expression that reads nothing is evaluated now, within the bounds
// of any evaluation, and becomes an [ir.Const]; every other one becomes an [ir.HCL] with its source text. src holds the
// bytes of the whole file, so that the byte offsets in x's ranges are indexes into it. The result is nil if and only if
// the diagnostics have an error; its Type says what it will evaluate to.
func Value(x hclsyntax.Expression, src []byte, env *Env) (*ir.Expr, diag.List) {
	e, _, list := Known(x, src, env)
	return e, list
}

// Known is [Value], and gives the constant that the expression is in every run beside it: the expression itself, or what it
// makes of locals that are constants; nil for all others.
func Known(x hclsyntax.Expression, src []byte, env *Env) (e, known *ir.Expr, list diag.List) {
	r := x.Range()
	p := &places{file: r.Filename, src: src, anchor: r.Start, at: func(i int) int { return r.Start.Byte + i }}
	text := sourceText(r, src)
	if err := guard([]byte(text)); err != nil {
		return nil, nil, p.diagnostics([]finding{{span: span{0, len(text)}, code: codeTooLarge, summary: "An expression exceeds a limit", detail: capital(err.Error()) + "."}})
	}
	l := &hclLowerer{base: r.Start.Byte}
	t := &tree{root: l.lower(x), text: text}
	t.slots, t.reads = l.slots, sortRefs(l.reads)
	fs := &l.findings
	typ := check(t, env, false, fs)
	e = &ir.Expr{Kind: ir.HCL, Text: text, Reads: t.reads, Type: typ, Sensitive: t.secret}
	switch {
	case fs.failed() || t.files:
	case len(t.reads) == 0:
		e = evaluateNow(t, typ, env, fs)
		known = e
	case env.fixes(t.reads):
		known = evaluateNow(t, typ, env, fs)
	}
	if fs.failed() {
		return nil, nil, p.diagnostics(fs.list)
	}
	return e, known, p.diagnostics(fs.list)
}

func sourceText(r hcl.Range, src []byte) string {
	start := min(max(r.Start.Byte, 0), len(src))
	return string(src[start:min(max(r.End.Byte, start), len(src))])
}

// evaluateNow evaluates an expression that reads nothing, or one over names whose values are the same in every run.
func evaluateNow(t *tree, typ value.Type, env *Env, fs *findings) *ir.Expr {
	r := &run{rules: ir.NewestRules(), slots: make([]value.Value, t.slots)}
	if len(t.reads) > 0 {
		r.scope = fixed{env.Roots}
	}
	v, err := env.work().evaluate(t, r)
	if err != nil {
		at, cause := span{0, len(t.text)}, err
		var e *Error
		if errors.As(err, &e) {
			at, cause = e.at, e.Err
		}
		code := codeConstFails
		if isLimit(err) {
			code = codeTooLarge
		}
		detail := capital(cause.Error()) + "."
		if len(t.reads) > 0 {
			detail += " It reads only constant locals, so it is the same in every run."
		}
		fs.add(at, code, "This has no value", detail)
		return nil
	}
	if typ.IsAny() || typ.Kind == value.ListT && typ.Elem.IsAny() { // the value tells more
		left := MaxTypeSize
		if t := typeOf(v); within(t, &left, 0) {
			typ = t
		}
	}
	return ir.Lit(v, typ)
}

// Condition checks a condition: x must be a literal string (quoted or a heredoc) without ${}, whose text is an
// expr-lang expression of type bool. The result is nil if and only if the diagnostics have an error.
func Condition(x hclsyntax.Expression, src []byte, env *Env) (*ir.Expr, diag.List) {
	s, diags := conditionLiteral(x, src)
	if diags != nil {
		return nil, diags
	}
	d := decodeLiteral(s, src)
	r := x.Range()
	p := &places{file: r.Filename, src: src, anchor: r.Start, at: d.at}
	fs := &findings{}
	e := checkCondition(d.text, env, fs, p)
	return e, p.diagnostics(fs.list)
}

// checkCondition checks the text of a condition. p learns the offsets of the rewritten text.
func checkCondition(text string, env *Env, fs *findings, p *places) *ir.Expr {
	if len(text) > MaxConditionBytes {
		fs.add(span{}, codeCondLarge, fmt.Sprintf("A condition of %d bytes", len(text)), fmt.Sprintf("The limit is %d. Compute parts of it in locals or in a step with value.", MaxConditionBytes))
		return nil
	}
	if i := strings.IndexByte(text, 0); i >= 0 || strings.ContainsRune(text, '\uFFFD') {
		fs.add(span{max(i, 0), max(i, 0) + 1}, codeCondSyntax, "A character that is not text", "The condition has a NUL or is not UTF-8.")
		return nil
	}
	rw, depth := rewrite(text, env.names, false)
	if depth > MaxConditionDepth {
		fs.add(span{0, len(text)}, codeCondLarge, fmt.Sprintf("A condition with brackets %d deep", depth), fmt.Sprintf("The limit is %d.", MaxConditionDepth))
		return nil
	}
	outer := p.at
	p.at = func(i int) int { return outer(rw.at(i)) }
	l, root := parseCondition(rw.text)
	fs.list = append(fs.list, l.list...)
	if fs.failed() {
		return nil
	}
	t := &tree{root: root, slots: l.slots, reads: sortRefs(l.reads), text: rw.text}
	typ := check(t, env, true, fs)
	whole := root.at()
	switch {
	case fs.failed():
	case kBool.fits(typ) == No:
		detail := fmt.Sprintf("This is %s.%s", describeType(typ), hint(typ, kBool, ""))
		if x := shownPath(root); strings.HasPrefix(x, "step.") && strings.Count(x, ".") == 1 {
			detail = fmt.Sprintf("This is the result of a node. Write  %s.status == 'succeeded'.", x)
		}
		fs.add(whole, codeCondType, "A condition must be true or false", detail)
	case typ.CanBeNull():
		x := shownPath(root)
		f := fs.add(whole, codeMaybeNull, x+" can be null, and a condition needs a bool", "")
		f.detail = strings.ReplaceAll("Write X ?? false, or compare it: X == true.", "X", strings.Replace(x, "This", "x", 1))
	}
	if !fs.failed() && !t.files && env.fixes(t.reads) {
		evaluateNow(t, typ, env, fs)
	}
	if fs.failed() {
		return nil
	}
	return &ir.Expr{Kind: ir.Condition, Text: storedText(text, rw.text, env, t.reads), Reads: t.reads, Type: value.BoolType, Sensitive: t.secret}
}

// conditionLiteral finds the literal string, or says what to write instead.
func conditionLiteral(x hclsyntax.Expression, src []byte) (*hclsyntax.TemplateExpr, diag.List) {
	interpolated := func(part hclsyntax.Expression, at hcl.Range) diag.List {
		name := sourceText(part.Range(), src)
		if len(name) > maxQuoted || strings.Contains(name, "\n") {
			name = "input.kind"
		}
		return diag.List{{
			Code: codeInterpolation, Summary: "${} inside a condition", Subject: Range(at),
			Detail: fmt.Sprintf("A condition reads names directly: write %s, not ${%s}.", name, name),
		}}
	}
	switch x := x.(type) {
	case *hclsyntax.TemplateExpr:
		for _, p := range x.Parts {
			if _, ok := p.(*hclsyntax.LiteralValueExpr); !ok {
				return nil, interpolated(p, p.Range())
			}
		}
		return x, nil
	case *hclsyntax.TemplateWrapExpr:
		return nil, interpolated(x.Wrapped, x.Range())
	}
	d := diag.Diagnostic{
		Code: codeNotLiteral, Summary: "A condition is a text in quotes", Subject: Range(x.Range()),
		Detail: "Write it as \"step.build.output.coverage >= 80\". flowrun checks it with the file, and evaluates it during the run.",
	}
	if text, ok := inQuotes(sourceText(x.Range(), src)); ok {
		d.Detail = fmt.Sprintf("Write it as %s. flowrun checks it with the file, and evaluates it during the run.", text)
		d.Edit = &diag.Edit{Range: d.Subject, Text: text}
	}
	return nil, diag.List{d}
}

// maxQuoted bounds what is shown again in quotes.
const maxQuoted = 100

// inQuotes is an expression as a condition, where putting quotes around it is all that it takes.
func inQuotes(text string) (string, bool) {
	if len(text) > maxQuoted || strings.ContainsAny(text, "'\\\n`$%") {
		return "", false
	}
	return `"` + strings.ReplaceAll(text, `"`, "'") + `"`, true
}

// storedText is the text as it was written, if it can be read back from the names that it reads alone; else, where it
// has a dash in the name of an attribute, with that name in brackets.
func storedText(text, parsed string, env *Env, reads []ir.Ref) string {
	if !strings.Contains(text, "-") { // nothing but a dash in a name is read in two ways
		return text
	}
	if again, _ := rewrite(text, readNames(reads), false); again.text == parsed {
		return text
	}
	rw, _ := rewrite(text, env.names, true)
	return rw.text
}

// readNames is the namespace of what an expression reads.
func readNames(reads []ir.Ref) namespace {
	return func(path []string) (bool, bool) {
		path = withoutStep(path)
		for _, r := range reads {
			if r.Root == path[0] && (len(path) < 2 || r.Name == path[1]) && (len(path) < 3 || r.Attr == path[2]) && len(path) <= 3 {
				return true, false
			}
		}
		return false, false
	}
}

// withoutStep is a path as references have it: last.step.NAME has the name NAME below last.
func withoutStep(path []string) []string {
	if len(path) > 1 && path[0] == "last" && path[1] == "step" {
		return append([]string{"last"}, path[2:]...)
	}
	return path
}

// names is the namespace of an environment.
func (e *Env) names(path []string) (declared, closed bool) {
	if e == nil || e.Roots[path[0]] == nil {
		return false, false
	}
	root := e.Roots[path[0]]
	t, rest := root.Type, withoutStep(path)[1:]
	if root.Names != nil {
		if len(rest) == 0 {
			return true, true
		}
		var ok bool
		if t, ok = root.Names[rest[0]]; !ok {
			_, hidden := root.Hidden[rest[0]]
			return hidden && len(rest) == 1, false
		}
		rest = rest[1:]
	}
	for _, name := range rest {
		a, ok := t.Attrs[name]
		if !ok {
			return false, false
		}
		t = a
	}
	return true, t.Kind == value.ObjectT
}
