package importer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// program is what is written: variables, workflows and routines, with comments.
type program struct {
	name      string
	about     []string // comments at the top
	notes     []string
	vars      []*param
	workflows []*workflow
	routines  []*block
	taken     map[string]bool // names of workflows
}

// param is a variable or an input.
type param struct {
	name, typ string
	def       string // in HCL; "" is none
	about     string
	enum      string
	sensitive bool
}

type workflow struct {
	p         *program
	name      string
	about     string
	comments  []string
	isDefault bool
	attrs     []attr
	blocks    []*block
	inputs    []*param
	nodes     []*block
	finally   []*block
	outputs   []attr
	taken     map[string]bool // names of nodes
}

// attr is an attribute; its value is HCL.
type attr struct{ name, value string }

// block is a block with what it holds.
type block struct {
	kind, name string // name may be ""
	comments   []string
	attrs      []attr
	blocks     []*block
}

func (b *block) set(name, value string)     { b.attrs = append(b.attrs, attr{name, value}) }
func (b *block) comment(f string, a ...any) { b.comments = append(b.comments, fmt.Sprintf(f, a...)) }
func (b *block) add(inner *block)           { b.blocks = append(b.blocks, inner) }

// leave notes what is not carried over, in the program's notes and as a comment of the block.
func (p *program) leave(b *block, f string, a ...any) {
	text := fmt.Sprintf(f, a...)
	p.notes = append(p.notes, "not carried over: "+text)
	if b == nil {
		p.about = append(p.about, "Not carried over: "+text)
	} else {
		b.comment("Not carried over: %s", text)
	}
}

// variable is the variable of a name; it is declared when it is first asked for.
func (p *program) variable(name string, make func() *param) string {
	name = ident(name)
	if !slices.ContainsFunc(p.vars, func(v *param) bool { return v.name == name }) {
		v := make()
		v.name = name
		p.vars = append(p.vars, v)
	}
	return "var." + name
}

// secret is a sensitive variable.
func (p *program) secret(name string) string {
	return p.variable(name, func() *param { return &param{typ: "string", sensitive: true} })
}

func (p *program) workflow(name string) *workflow {
	if p.taken == nil {
		p.taken = map[string]bool{}
	}
	w := &workflow{p: p, name: unique(p.taken, ident(name)), taken: map[string]bool{}}
	p.workflows = append(p.workflows, w)
	return w
}

// node is a name for a node of the workflow that no other node has.
func (w *workflow) node(kind, name string) *block {
	return &block{kind: kind, name: unique(w.taken, ident(name))}
}

// unknown is an input that stands for a value that only the other tool knows.
func (w *workflow) unknown(name, typ, about string) string {
	name = ident(name)
	if len(name) > 40 {
		name = strings.Trim(name[:40], "_")
	}
	if !slices.ContainsFunc(w.inputs, func(i *param) bool { return i.name == name }) {
		def := `""`
		if typ == "bool" {
			def = "false"
		}
		w.inputs = append(w.inputs, &param{name: name, typ: typ, def: def, about: about})
		w.p.notes = append(w.p.notes, fmt.Sprintf("%s is now the input %s", about, name))
	}
	return "input." + name
}

// todo is a step in place of work that is not carried over.
func (w *workflow) todo(name, f string, a ...any) *block {
	text := fmt.Sprintf(f, a...)
	b := w.node("step", name)
	w.p.leave(b, "%s", text)
	b.add(&block{kind: "fail", attrs: []attr{{"message", quote("not carried over: " + text)}}})
	return b
}

func (p *program) print() string {
	var b strings.Builder
	for _, line := range p.about {
		writeComment(&b, "", line)
	}
	if len(p.about) > 0 {
		b.WriteString("\n")
	}
	for _, v := range p.vars {
		v.block("variable").write(&b, "")
		b.WriteString("\n")
	}
	several := len(p.workflows) > 1
	for _, w := range p.workflows {
		all := &block{kind: "workflow", name: w.name, comments: w.comments}
		if w.about != "" {
			all.set("description", quote(w.about))
		}
		if several && w.isDefault {
			all.set("default", "true")
		}
		all.attrs = append(all.attrs, w.attrs...)
		all.blocks = append(all.blocks, w.blocks...)
		for _, i := range w.inputs {
			all.add(i.block("input"))
		}
		all.blocks = append(all.blocks, w.nodes...)
		if len(w.finally) > 0 {
			all.add(&block{kind: "finally", blocks: w.finally})
		}
		for _, o := range w.outputs {
			all.add(&block{kind: "output", name: o.name, attrs: []attr{{"value", o.value}}})
		}
		all.write(&b, "")
		b.WriteString("\n")
	}
	for _, r := range p.routines {
		r.write(&b, "")
		b.WriteString("\n")
	}
	return b.String()
}

func (v *param) block(kind string) *block {
	b := &block{kind: kind, name: v.name}
	if v.about != "" {
		b.set("description", quote(v.about))
	}
	if v.typ != "" {
		b.set("type", v.typ)
	}
	if v.def != "" {
		b.set("default", v.def)
	}
	if v.enum != "" {
		b.set("enum", v.enum)
	}
	if v.sensitive {
		b.set("sensitive", "true")
	}
	return b
}

func (b *block) write(out *strings.Builder, indent string) {
	for _, c := range b.comments {
		writeComment(out, indent, c)
	}
	out.WriteString(indent + b.kind)
	if b.name != "" {
		out.WriteString(" " + quote(b.name))
	}
	out.WriteString(" {\n")
	for _, a := range b.attrs {
		out.WriteString(indent + "  " + a.name + " = " + strings.ReplaceAll(a.value, heredocIndent, indent+"  ") + "\n")
	}
	for i, inner := range b.blocks {
		if i > 0 || len(b.attrs) > 0 {
			out.WriteString("\n")
		}
		inner.write(out, indent+"  ")
	}
	out.WriteString(indent + "}\n")
}

func writeComment(out *strings.Builder, indent, text string) {
	for _, line := range strings.Split(text, "\n") {
		out.WriteString(strings.TrimRight(indent+"# "+printable(line), " ") + "\n")
	}
}

// printable replaces control characters, which no comment may hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || r == '\uFEFF' {
			return '·'
		}
		return r
	}, s)
}

// heredocIndent stands for the indentation of the attribute whose value is a heredoc.
const heredocIndent = "\x00"

// text is a text with values in it.
type text []part

// part is a piece of a text, as it is, or an expression of HCL.
type part struct {
	lit  string
	expr string
}

func literal(s string) text { return text{{lit: s}} }

func (t text) isLiteral() (string, bool) {
	var b strings.Builder
	for _, p := range t {
		if p.expr != "" {
			return "", false
		}
		b.WriteString(p.lit)
	}
	return b.String(), true
}

var escapes = strings.NewReplacer("${", "$${", "%{", "%%{")

// hcl is the text as an expression: a reference alone, or a quoted template.
func (t text) hcl() string {
	if len(t) == 1 && t[0].expr != "" {
		return t[0].expr
	}
	var b strings.Builder
	b.WriteString(`"`)
	for _, p := range t {
		if p.expr != "" {
			b.WriteString("${" + p.expr + "}")
		} else {
			b.WriteString(inQuotes(p.lit))
		}
	}
	return b.String() + `"`
}

// template is the text as a template, whose value is always text.
func (t text) template() string {
	if len(t) == 1 && t[0].expr != "" {
		return `"${` + t[0].expr + `}"`
	}
	return t.hcl()
}

// script is the text as a script: a heredoc where it has several lines.
func (t text) script() string {
	var whole strings.Builder
	for _, p := range t {
		if p.expr != "" {
			whole.WriteString("${" + p.expr + "}")
		} else {
			whole.WriteString(escapes.Replace(p.lit))
		}
	}
	s := strings.TrimRight(whole.String(), "\n ")
	if !strings.Contains(s, "\n") || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return text(trimRight(t)).template()
	}
	lines := strings.Split(s, "\n")
	end := "EOT"
	for slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == end }) {
		end += "_"
	}
	var b strings.Builder
	b.WriteString("<<-" + end + "\n")
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			b.WriteString(heredocIndent + "  " + l)
		}
		b.WriteString("\n")
	}
	return b.String() + heredocIndent + end
}

func trimRight(t text) text {
	t = slices.Clone(t)
	for len(t) > 0 && t[len(t)-1].expr == "" {
		last := &t[len(t)-1]
		if last.lit = strings.TrimRight(last.lit, "\n "); last.lit != "" {
			break
		}
		t = t[:len(t)-1]
	}
	return t
}

// quote is a text as a literal of HCL.
func quote(s string) string { return `"` + inQuotes(s) + `"` }

func inQuotes(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return escapes.Replace(b.String())
}

// quotes is a list of literals.
func quotes(all []string) string {
	var q []string
	for _, s := range all {
		q = append(q, quote(s))
	}
	return "[" + strings.Join(q, ", ") + "]"
}

// inCondition is a text as a literal of a condition.
func inCondition(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}

// ident makes a name of any text: letters, digits and underscores, with a letter first.
func ident(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	name := strings.TrimRight(b.String(), "_")
	if len(name) > 60 {
		name = strings.TrimRight(name[:60], "_")
	}
	if name == "" {
		return "unnamed"
	}
	if unicode.IsDigit(rune(name[0])) {
		return "n" + name
	}
	return name
}

// unique is the name, with a number if it is taken, and takes it.
func unique(taken map[string]bool, name string) string {
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s_%d", name, i)
	}
	taken[free] = true
	return free
}

// object is an object of HCL; its keys are written as they are where they can be.
func object(members []attr) string {
	var b strings.Builder
	b.WriteString("{ ")
	for i, m := range members {
		if i > 0 {
			b.WriteString(", ")
		}
		key := m.name
		if ident(key) != key {
			key = quote(key)
		}
		b.WriteString(key + " = " + m.value)
	}
	return b.String() + " }"
}

// literalOf is a value of the file as HCL.
func literalOf(n *node) string {
	switch {
	case n == nil:
		return "null"
	case n.isMap():
		var members []attr
		for _, p := range n.pairs() {
			members = append(members, attr{p.key, literalOf(p.value)})
		}
		return object(members)
	case n.isList():
		var all []string
		for _, one := range n.list() {
			all = append(all, literalOf(one))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case n.isBool() && (n.text() == "true" || n.text() == "false"), n.isNumber() && plainNumber(n.text()):
		return n.text()
	}
	return quote(n.text())
}

// plainNumber tells whether a number of YAML is one of HCL.
func plainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > 15 || len(s) > 1 && s[0] == '0' && s[1] != '.' {
		return false
	}
	whole, fraction, has := strings.Cut(s, ".")
	digits := func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	}
	return digits(whole) && (!has || digits(fraction))
}
