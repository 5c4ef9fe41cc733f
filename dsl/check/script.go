package check

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/shell"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// outputFile is the environment variable that names the file for a step's output.
const outputFile = "FLOWRUN_OUTPUT"

// computed tells whether a template holds more than text.
func computed(t *hclsyntax.TemplateExpr) bool {
	for _, p := range t.Parts {
		if _, ok := p.(*hclsyntax.LiteralValueExpr); !ok {
			return true
		}
	}
	return false
}

// script checks a script with values in it. They become data: the script that is run refers to them in its environment.
func (c *checker) script(a *Attr, whole hclsyntax.Expression, parts []hclsyntax.Expression, env *expr.Env) (list diag.List) {
	f := a.Src.File
	quoted := strings.HasPrefix(f.Text(whole), `"`)
	var pieces []shell.Part
	var values []ir.Expr
	for _, p := range parts {
		if l, ok := p.(*hclsyntax.LiteralValueExpr); ok && l.Val.Type() == cty.String && l.Val.IsWhollyKnown() && !l.Val.IsNull() && len(parts) > 1 {
			text := l.Val.AsString()
			pieces = append(pieces, shell.Part{Text: text, From: expr.Offsets(text, l.Range(), f.Src, quoted)})
			continue
		}
		e, found := c.inScript(a, p, env)
		list = append(list, found...)
		piece := runtime(a, e, f.Text(p), syntax.Range(p.Range()))
		s := &shaper{c: c, of: a, file: f, env: env}
		if e != nil && s.writtenOut(p) {
			piece.Tame, piece.Plain = true, true
		}
		pieces = append(pieces, piece)
		if e == nil {
			e = ir.Lit("", value.StringType)
		}
		values = append(values, *e)
	}
	dialect := shell.POSIX
	if a.shell == "bash" {
		dialect = shell.Bash
	}
	text, found := c.around(a, env).Rewrite(pieces, dialect, f.Range)
	for _, d := range found {
		if !has(list, d.Subject) { // one thing at a time about a value
			list = append(list, d)
		}
	}
	if list = append(list, noOutput(a)...); list.HasErrors() {
		return list
	}
	a.Script, a.Expr, a.Values = true, ir.Lit(text, value.StringType), values
	return list
}

func has(list diag.List, at diag.Range) bool {
	for i := range list {
		if list[i].Subject == at {
			return true
		}
	}
	return false
}

// shellName is a name that a shell has and flowrun has not: one in capitals, or a number.
var shellName = lazyregexp.New(`^(?:[A-Z_][A-Z0-9_]*|[0-9]+)$`)

// interpolation is the place of ${ } with an expression in it, where nothing else stands between the braces.
func interpolation(f *syntax.File, at diag.Range) diag.Range {
	start, end := at.Start.Byte, at.End.Byte
	if start >= 2 && end < len(f.Src) && string(f.Src[start-2:start]) == "${" && f.Src[end] == '}' {
		return f.Range(start-2, end+1)
	}
	return at
}

// unknownShellName reports whether the text of an interpolation is an expansion of the shell that HCL takes for an expression with
// names that nothing declares.
func unknownShellName(text string, list diag.List) bool {
	if !syntax.ShellName().MatchString(text) {
		return false
	}
	for _, d := range list {
		if d.Severity == diag.Error && (d.Code != "F0301" || strings.Contains(d.Detail, "Did you mean ") && syntax.IsName(text)) {
			return false
		}
	}
	return true
}

// inScript checks one value in a script: it becomes text.
func (c *checker) inScript(a *Attr, p hclsyntax.Expression, env *expr.Env) (*ir.Expr, diag.List) {
	text, at := a.Src.File.Text(p), syntax.Range(p.Range())
	switch {
	case shellName().MatchString(text):
		return nil, diag.List{syntax.Expansion("${"+text+"}", interpolation(a.Src.File, at))}
	case strings.HasPrefix(text, "%{"):
		return nil, diag.List{{Code: "F0251", Subject: at, Summary: "A %{ } in a script",
			Detail: "Its result would become part of the script. Choose a value,  ${input.debug ? \"--verbose\" : \"--quiet\"}, or let the shell choose:  if [ ${input.debug} = true ]; then … fi. For a literal %{ of the shell, write %%{."}}
	}
	e, list := expr.Value(p, a.Src.File.Src, env)
	if e == nil || list.HasErrors() {
		if unknownShellName(text, list) {
			return nil, diag.List{syntax.Expansion("${"+text+"}", interpolation(a.Src.File, at))}
		}
		return nil, list
	}
	if e.Type.CanBeNull() && e.Kind != ir.Const {
		read := text
		if _, is := e.Type.Attrs["message"]; is { // the text of an error
			read += ".message"
		}
		return nil, append(list, diag.Diagnostic{Code: "F0307", Subject: at, Summary: fmt.Sprintf("%.60s can be null, and a script needs text", text),
			Detail: fmt.Sprintf("It reads a value that may be omitted or skipped. Give a default, try(%.60s, \"\"), or test it first (%.60s == null ? … : …).", read, text)})
	}
	return e, append(list, textual(e, "A value in a script", at)...)
}

// shells says which shell the scripts of a node are for: the nearest that says so; and what is around them.
func (n *Node) shells(w *Workflow) {
	n.shell = w.Text("shell")
	w.around.block = w.Block
	up := &w.around
	if n.Parent != nil {
		n.shell, up = n.Parent.shell, n.Parent.around
	}
	n.shell, n.around = commands(n.Block, n.shell, up)
	if e := eachOf(n, false); e != nil {
		inEach(n.Block, e.attr("for_each"))
	}
}

// inEach notes the for_each of the commands of a block.
func inEach(b *Block, each *Attr) {
	if a := b.attr("run"); a != nil {
		a.loop = each
	}
	for _, i := range b.Blocks {
		if !isNode(i) {
			inEach(i, each)
		}
	}
}

// commands notes the shell, the block and the surroundings of the commands of a block and of those in it that are not nodes.
func commands(b *Block, shell string, up *surround) (string, *surround) {
	if s := b.Text("shell"); s != "" {
		shell = s
	}
	if b.attr("env") != nil || b.attr("stdin") != nil || b.attr("dir") != nil || up == nil {
		up = &surround{block: b, up: up}
	}
	for _, name := range []string{"run", "command"} {
		if a := b.attr(name); a != nil {
			a.shell, a.of, a.around = shell, b.Schema.Kind, up
		}
	}
	for _, i := range b.Blocks {
		if !isNode(i) {
			commands(i, shell, up)
		}
	}
	return shell, up
}

// WritesOutput tells whether a step's program may write its output to the file $FLOWRUN_OUTPUT: it may if run names the
// file, be it in a comment. So the type of what a step prints stays known where no file is meant.
func (n *Node) WritesOutput() bool {
	a := n.attr("run")
	return a != nil && bytes.Contains(a.Src.Bytes(), []byte(outputFile))
}

// noOutput refuses the file where there is no output.
func noOutput(a *Attr) diag.List {
	if a.of == "step" || !bytes.Contains(a.Src.Bytes(), []byte(outputFile)) {
		return nil
	}
	how := "A gate has no output; it passes if it exits with 0. Write the output in a step."
	switch a.of {
	case "agent":
		how = "The output of an agent is its standard output, in its output_format."
	case "compensate":
		how = "A compensation has no output; its log has everything that it prints."
	}
	return diag.List{{Code: "F0252", Subject: a.span(), Summary: fmt.Sprintf("$%s in the run of a block %s", outputFile, a.of),
		Detail: "The file takes the output of a step. " + how}}
}
