package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Most lines of most files are plain: a name, an equals sign, and a string, a whole number, a name with points or a list
// of these, in ASCII, on one line. HCL takes 10 µs for such a line, most of it for its tokens, and leaves 9 KB to collect
// (hcl v2.25.0, the attributes of BenchmarkLoad); reading it here takes a tenth of that. The rule for what may be added:
// the nodes are those that HCL makes, to the last range (split_test.go compares them), and whatever is not exactly of
// this form is left to HCL.

//
// The nodes of a plain value are made when they are asked for: the trees of 100,000 steps would take 130 MB, and making
// one again takes less than a microsecond.

// Expr returns the expression. The file keeps the last tree that was made, because whoever asks once asks twice.
func (a *Attr) Expr() hclsyntax.Expression {
	if a.expr != nil {
		return a.expr
	}
	if a.File.asked != a {
		a.File.asked, a.File.tree = a, a.make()
	}
	return a.File.tree
}

// make makes the tree of a plain value.
func (a *Attr) make() hclsyntax.Expression {
	at := a.Range.Start
	l := line{j: &joiner{f: a.File, at: at.Byte - at.Column + 1, line: at.Line}, src: a.File.Src[:a.to], i: int(a.from), made: true}
	return l.value(0)
}

// Span is the place of the expression.
func (a *Attr) Span() diag.Range {
	if a.expr != nil {
		return Range(a.expr.Range())
	}
	at := a.Range.Start
	pos := func(i int32) diag.Pos {
		return diag.Pos{Line: at.Line, Column: at.Column + int(i) - at.Byte, Byte: int(i)}
	}
	return diag.Range{File: a.File.Name, Start: pos(a.from), End: pos(a.to)}
}

// Bytes is the source text of the expression, a part of the file's.
func (a *Attr) Bytes() []byte {
	r := a.Span()
	return a.File.Src[r.Start.Byte:min(r.End.Byte, len(a.File.Src))]
}

// Text is the source text of the expression.
func (a *Attr) Text() string { return string(a.Bytes()) }

// line reads a line from left to right. Where a method finds nothing, the line is given up, or read from its start again.
type line struct {
	j   *joiner
	src []byte // up to the end of the line, with its line feed
	i   int
	end int // of the last value

	made bool // nodes are made; else found stands for each value that there is
}

var found hclsyntax.Expression = &hclsyntax.LiteralValueExpr{}

func (l *line) peek() byte {
	if l.i < len(l.src) {
		return l.src[l.i]
	}
	return 0
}

func (l *line) blanks() {
	for l.peek() == ' ' || l.peek() == '\t' {
		l.i++
	}
}

func (l *line) eat(b byte) bool {
	if l.peek() != b {
		return false
	}
	l.i++
	return true
}

// letters goes behind a name. Names beyond ASCII are HCL's.
func (l *line) letters() bool {
	if b := l.peek(); b >= 0x80 || !letter(b) {
		return false
	}
	for b := l.peek(); b < 0x80 && (letter(b) || digit(b) || b == '-'); b = l.peek() {
		l.i++
	}
	return l.peek() < 0x80
}

// word reads a name, or nothing.
func (l *line) word() string {
	start := l.i
	if !l.letters() {
		return ""
	}
	return intern(l.src[start:l.i])
}

// ends tells whether nothing but a comment stands on the rest of the line. What a comment says may be any text.
func (l *line) ends() bool {
	l.blanks()
	rest := l.src[l.i:]
	if len(rest) > 0 && rest[0] != '\n' && rest[0] != '#' && !bytes.HasPrefix(rest, []byte("//")) {
		return false
	}
	return bytes.IndexByte(rest, '\n') == len(rest)-1
}

// rng is a range of the line.
func (l *line) rng(start, end int) hcl.Range {
	return hcl.Range{Filename: l.j.f.Name, Start: l.j.pos(start), End: l.j.pos(end)}
}

func (j *joiner) startLine(end int) line { return line{j: j, src: j.f.Src[:end], i: j.at} }

// plain reads a segment of one item, if it is plain, into the body around it.
func (j *joiner) plain(end int, out *Body) bool {
	l := j.startLine(end)
	if l.ends() {
		return true
	}
	start := l.i
	if a := l.attr(); a != nil {
		if !l.ends() {
			return false
		}
		out.Attrs = append(out.Attrs, a)
		return true
	}
	l.i = start
	b := l.header()
	if b == nil {
		return false
	}
	l.blanks()
	if l.peek() != '}' {
		a := l.attr()
		if a == nil {
			return false
		}
		b.Body.Attrs = []*Attr{a}
		l.blanks()
	}
	if !l.eat('}') {
		return false
	}
	if b.End = int32(l.i); !l.ends() {
		return false
	}
	out.Blocks = append(out.Blocks, b)
	return true
}

// readable tells whether plain would read a segment.
func (j *joiner) readable(end int) bool {
	var b Body
	return j.plain(end, &b)
}

// plainHeader reads the first line of a block, or returns nil.
func (j *joiner) plainHeader(end int) *Block {
	l := j.startLine(end)
	if b := l.header(); b != nil && l.ends() {
		return b
	}
	return nil
}

// plainClose returns the offset behind the closing brace of a segment that is nothing else, or 0.
func (j *joiner) plainClose(end int) int {
	l := j.startLine(end)
	l.blanks()
	if !l.eat('}') {
		return 0
	}
	if at := l.i; l.ends() {
		return at
	}
	return 0
}

// attr reads name = value.
func (l *line) attr() *Attr {
	l.blanks()
	start := l.i
	name := l.word()
	at := l.i
	if name == "" {
		return nil
	}
	l.blanks()
	if !l.eat('=') || l.peek() == '=' || l.peek() == '>' {
		return nil
	}
	l.blanks()
	from := l.i
	if l.value(0) == nil {
		return nil
	}
	return &Attr{File: l.j.f, Name: name, Range: Range(l.rng(start, at)), from: int32(from), to: int32(l.end)}
}

// header reads kind "label" {.
func (l *line) header() *Block {
	l.blanks()
	start := l.i
	kind := l.word()
	if kind == "" {
		return nil
	}
	b := &Block{File: l.j.f, Kind: kind, Range: Range(l.rng(start, l.i))}
	b.Header = b.Range
	for {
		l.blanks()
		if l.eat('{') {
			return b
		}
		from, text := l.i, ""
		if l.eat('"') {
			at := l.i
			if !l.text() || !l.eat('"') {
				return nil
			}
			text = string(l.src[at : l.i-1])
		} else if text = l.word(); text == "" {
			return nil
		}
		r := Range(l.rng(from, l.i))
		b.Labels = append(b.Labels, Label{Text: text, Range: r})
		b.Header.End = r.End
	}
}

// text goes on to a quote or a template. What has an escape, a dollar or percent sign of its own, or a character beyond
// ASCII is HCL's.
func (l *line) text() bool {
	for ; l.i < len(l.src); l.i++ {
		switch b := l.src[l.i]; {
		case b == '"' || b == '$' && l.i+1 < len(l.src) && l.src[l.i+1] == '{':
			return true
		case b == '\\' || b == '$' || b == '%' || b < ' ' && b != '\t' || b >= 0x7f:
			return false
		}
	}
	return false
}

// value reads a value and the blanks around it, or returns nil.
func (l *line) value(depth int) (x hclsyntax.Expression) {
	l.blanks()
	switch b := l.peek(); {
	case b == '"':
		x = l.quoted()
	case b == '[' && depth < MaxDepth:
		x = l.list(depth)
	case digit(b):
		x = l.number()
	default:
		x = l.name()
	}
	l.end = l.i
	l.blanks()
	return x
}

// quoted reads a string, with plain names in ${} if it has any.
func (l *line) quoted() hclsyntax.Expression {
	start := l.i
	l.i++
	var parts []hclsyntax.Expression
	literal := l.peek() == '"'
	if literal && l.made { // HCL has the text of "" behind it
		parts = []hclsyntax.Expression{&hclsyntax.LiteralValueExpr{Val: cty.StringVal(""), SrcRange: l.rng(l.i+1, l.i+1)}}
	}
	for {
		at := l.i
		if !l.text() {
			return nil
		}
		if l.i > at {
			if literal = true; l.made {
				parts = append(parts, &hclsyntax.LiteralValueExpr{Val: cty.StringVal(string(l.src[at:l.i])), SrcRange: l.rng(at, l.i)})
			}
		}
		if l.eat('"') {
			break
		}
		l.i += 2
		l.blanks()
		x := l.name()
		if l.blanks(); x == nil || !l.eat('}') {
			return nil
		}
		if l.made {
			parts = append(parts, x)
		}
	}
	switch {
	case !l.made:
		return found
	case len(parts) == 1 && !literal:
		return &hclsyntax.TemplateWrapExpr{Wrapped: parts[0], SrcRange: l.rng(start, l.i)}
	}
	return &hclsyntax.TemplateExpr{Parts: parts, SrcRange: l.rng(start, l.i)}
}

// name reads true, false, null, or a name with points.
func (l *line) name() hclsyntax.Expression {
	start := l.i
	if !l.letters() {
		return nil
	}
	root := l.src[start:l.i]
	for l.peek() == '.' {
		l.i++
		if !l.letters() {
			return nil
		}
	}
	alone := len(root) == l.i-start
	v, keyword := keywords[string(root)]
	switch {
	case keyword && !alone, string(root) == "for":
		return nil
	case !l.made:
		return found
	case keyword:
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: l.rng(start, l.i)}
	}
	return l.traversal(start, len(root))
}

var keywords = map[string]cty.Value{"true": cty.True, "false": cty.False, "null": cty.NullVal(cty.DynamicPseudoType)}

// traversal makes the nodes of a name with points that was read from start on, whose first part has a size.
func (l *line) traversal(start, size int) hclsyntax.Expression {
	at := start + size
	text := l.src[at:l.i]
	t := make(hcl.Traversal, 1, 1+bytes.Count(text, []byte(".")))
	t[0] = hcl.TraverseRoot{Name: intern(l.src[start:at]), SrcRange: l.rng(start, at)}
	for at < l.i {
		n := bytes.IndexByte(l.src[at+1:l.i], '.') + 1
		if n == 0 {
			n = l.i - at
		}
		t = append(t, hcl.TraverseAttr{Name: intern(l.src[at+1 : at+n]), SrcRange: l.rng(at, at+n)})
		at += n
	}
	return &hclsyntax.ScopeTraversalExpr{Traversal: t, SrcRange: l.rng(start, l.i)}
}

// number reads a whole number.
func (l *line) number() hclsyntax.Expression {
	start := l.i
	for digit(l.peek()) {
		l.i++
	}
	if letter(l.peek()) || l.peek() == '.' {
		return nil
	}
	if !l.made {
		return found
	}
	v, err := cty.ParseNumberVal(string(l.src[start:l.i]))
	if err != nil {
		return nil
	}
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: l.rng(start, l.i)}
}

// list reads a list of values.
func (l *line) list(depth int) hclsyntax.Expression {
	start := l.i
	l.i++
	var members []hclsyntax.Expression
	for l.blanks(); !l.eat(']'); {
		v := l.value(depth + 1)
		if v == nil {
			return nil
		}
		if l.made {
			members = append(members, v)
		}
		if !l.eat(',') && l.peek() != ']' {
			return nil
		}
		l.blanks()
	}
	if !l.made {
		return found
	}
	return &hclsyntax.TupleConsExpr{Exprs: members, SrcRange: l.rng(start, l.i), OpenRange: l.rng(start, start+1)}
}

// common holds the names that files repeat, so that they share one string.
var common = func() map[string]string {
	out := map[string]string{}
	for _, w := range []string{"step", "run", "agent", "value", "depends_on", "when", "with", "task", "output", "input", "var", "local", "type", "default",
		"sequence", "parallel", "gate", "gates", "timeout", "string", "number", "env", "each", "key", "exit_code", "status", "stdout", "description"} {
		out[w] = w
	}
	return out
}()

func intern(b []byte) string {
	if s, ok := common[string(b)]; ok {
		return s
	}
	return string(b)
}
