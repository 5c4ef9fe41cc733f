package importer

import (
	"fmt"
	"strings"
	"unicode"
)

// An expression of GitHub Actions, as docs.github.com/actions/reference/workflows-and-actions/expressions has them.
type ghExpr struct {
	op   string // "lit", "ref", "call", "!", "&&", "||", "==", "!=", "<", "<=", ">", ">="
	text string // of a literal, a reference or the name of a function
	str  bool   // of a literal: it is text
	args []*ghExpr
	src  string // as it was written
}

type ghParser struct {
	src string
	at  int
	n   int // how deep
}

// parseGitHub reads an expression; nil is one that cannot be read.
func parseGitHub(src string) *ghExpr {
	p := &ghParser{src: src}
	e := p.or()
	p.blanks()
	if p.at != len(src) {
		return nil
	}
	return e
}

func (p *ghParser) blanks() {
	for p.at < len(p.src) && strings.ContainsRune(" \t\r\n", rune(p.src[p.at])) {
		p.at++
	}
}

// take takes a sign if it comes next.
func (p *ghParser) take(sign string) bool {
	p.blanks()
	if strings.HasPrefix(p.src[p.at:], sign) {
		p.at += len(sign)
		return true
	}
	return false
}

func (p *ghParser) chain(next func() *ghExpr, signs ...string) *ghExpr {
	start := p.at
	left := next()
	for left != nil {
		found := ""
		for _, s := range signs {
			if p.take(s) {
				found = s
				break
			}
		}
		if found == "" {
			return left
		}
		right := next()
		if right == nil {
			return nil
		}
		left = &ghExpr{op: found, args: []*ghExpr{left, right}, src: strings.TrimSpace(p.src[start:p.at])}
	}
	return nil
}

func (p *ghParser) or() *ghExpr  { return p.chain(p.and, "||") }
func (p *ghParser) and() *ghExpr { return p.chain(p.same, "&&") }
func (p *ghParser) same() *ghExpr {
	return p.chain(p.order, "==", "!=")
}
func (p *ghParser) order() *ghExpr { return p.chain(p.not, "<=", ">=", "<", ">") }

func (p *ghParser) not() *ghExpr {
	p.blanks()
	start := p.at
	if p.n++; p.n > maxDepth {
		return nil
	}
	defer func() { p.n-- }()
	if strings.HasPrefix(p.src[p.at:], "!") && !strings.HasPrefix(p.src[p.at:], "!=") {
		p.at++
		inner := p.not()
		if inner == nil {
			return nil
		}
		return &ghExpr{op: "!", args: []*ghExpr{inner}, src: strings.TrimSpace(p.src[start:p.at])}
	}
	return p.value()
}

func (p *ghParser) value() *ghExpr {
	p.blanks()
	start := p.at
	if p.at == len(p.src) {
		return nil
	}
	word := func(more string) string {
		for p.at < len(p.src) {
			if r := rune(p.src[p.at]); !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(more, r) {
				break
			}
			p.at++
		}
		return p.src[start:p.at]
	}
	switch c := p.src[p.at]; {
	case c == '(':
		p.at++
		inner := p.or()
		if inner == nil || !p.take(")") {
			return nil
		}
		return inner
	case c == '\'':
		var b strings.Builder
		for p.at++; p.at < len(p.src); p.at++ {
			if p.src[p.at] != '\'' {
				b.WriteByte(p.src[p.at])
			} else if strings.HasPrefix(p.src[p.at:], "''") {
				b.WriteByte('\'')
				p.at++
			} else {
				p.at++
				return &ghExpr{op: "lit", text: b.String(), str: true, src: p.src[start:p.at]}
			}
		}
		return nil
	case c >= '0' && c <= '9' || c == '-':
		p.at++
		if n := word("."); plainNumber(n) {
			return &ghExpr{op: "lit", text: n, src: n}
		}
		return nil
	}
	name := word("_-.*")
	if name == "" {
		return nil
	}
	switch name {
	case "true", "false", "null":
		return &ghExpr{op: "lit", text: name, src: name}
	}
	if p.take("(") {
		e := &ghExpr{op: "call", text: strings.ToLower(name)}
		for !p.take(")") {
			if len(e.args) > 0 && !p.take(",") {
				return nil
			}
			arg := p.or()
			if arg == nil {
				return nil
			}
			e.args = append(e.args, arg)
		}
		e.src = p.src[start:p.at]
		return e
	}
	for p.take("[") { // a['b'] is a.b
		inner := p.or()
		if inner == nil || inner.op != "lit" || !p.take("]") {
			return nil
		}
		name += "." + inner.text
		start := p.at
		for p.at < len(p.src) && (p.src[p.at] == '.' || p.src[p.at] == '_' || p.src[p.at] == '-' || unicode.IsLetter(rune(p.src[p.at])) || unicode.IsDigit(rune(p.src[p.at]))) {
			p.at++
		}
		name += p.src[start:p.at]
	}
	return &ghExpr{op: "ref", text: name, src: strings.TrimSpace(p.src[start:p.at])}
}

// typed is an expression, with what is known of its type: "string", "bool", "number", "status" of a node, or "" for any.
type typed struct {
	text string
	typ  string
}

// statuses are the words of GitHub for the status of a job or a step.
var statuses = map[string]string{"'success'": "'succeeded'", "'failure'": "'failed'", "'cancelled'": "'cancelled'", "'skipped'": "'skipped'"}

// condition is an expression as a condition of flowrun.
func (s *ghScope) condition(e *ghExpr) string { return s.asBool(s.inCondition(e)) }

func (s *ghScope) asBool(t typed) string {
	switch t.typ {
	case "string":
		return t.text + " != ''"
	case "number":
		return t.text + " != 0"
	}
	return t.text
}

func (s *ghScope) inCondition(e *ghExpr) typed {
	switch e.op {
	case "lit":
		switch {
		case e.str:
			return typed{inCondition(e.text), "string"}
		case e.text == "null":
			return typed{"nil", ""}
		case e.text == "true" || e.text == "false":
			return typed{e.text, "bool"}
		}
		return typed{e.text, "number"}
	case "ref":
		return s.reference(e.text)
	case "!":
		inner := s.condition(e.args[0])
		if strings.ContainsAny(inner, " (") {
			inner = "(" + inner + ")"
		}
		return typed{"not " + inner, "bool"}
	case "&&", "||":
		sign := map[string]string{"&&": " && ", "||": " || "}[e.op]
		wrap := func(x *ghExpr) string {
			text := s.condition(x)
			if x.op == "&&" || x.op == "||" {
				return "(" + text + ")"
			}
			return text
		}
		return typed{wrap(e.args[0]) + sign + wrap(e.args[1]), "bool"}
	case "==", "!=", "<", "<=", ">", ">=":
		a, b := s.inCondition(e.args[0]), s.inCondition(e.args[1])
		a, b = alike(a, b), alike(b, a)
		return typed{"(" + a.text + ") " + e.op + " (" + b.text + ")", "bool"}.simple(a.text, e.op, b.text)
	case "call":
		if t, ok := s.call(e); ok {
			return t
		}
	}
	return typed{s.w.unknown(e.src, "bool", "the value of "+e.src), "bool"}
}

// simple leaves brackets out around names and literals.
func (t typed) simple(a, op, b string) typed {
	if !strings.ContainsAny(strings.Trim(a, "'"), " ()") && !strings.ContainsAny(strings.Trim(b, "'"), "()") {
		t.text = a + " " + op + " " + b
	}
	return t
}

// alike is a beside b: GitHub compares true with 'true', flowrun does not.
func alike(a, b typed) typed {
	if status := statuses[a.text]; status != "" && b.typ == "status" {
		return typed{status, "string"}
	}
	if a.typ == "bool" && b.typ == "string" && (a.text == "true" || a.text == "false") {
		return typed{inCondition(a.text), "string"}
	}
	if a.typ == "string" && b.typ == "bool" && (a.text == "'true'" || a.text == "'false'") {
		return typed{strings.Trim(a.text, "'"), "bool"}
	}
	if a.typ == "number" && b.typ == "string" {
		return typed{inCondition(a.text), "string"}
	}
	return a
}

// call is a call of a function that has a counterpart.
func (s *ghScope) call(e *ghExpr) (typed, bool) {
	sign := map[string]string{"contains": "contains", "startswith": "startsWith", "endswith": "endsWith"}[e.text]
	if sign == "" || len(e.args) != 2 {
		return typed{}, false
	}
	if a := e.args[0]; a.op == "call" && a.text == "fromjson" && len(a.args) == 1 && a.args[0].str {
		if list, err := parse([]byte("list: " + a.args[0].text)); err == nil && len(list) == 1 && sign == "contains" {
			var all []string
			for _, t := range list[0].get("list").texts() {
				all = append(all, inCondition(t))
			}
			return typed{fmt.Sprintf("%s in [%s]", s.inCondition(e.args[1]).text, strings.Join(all, ", ")), "bool"}, true
		}
	}
	a, b := s.inCondition(e.args[0]), s.inCondition(e.args[1])
	if a.typ != "string" || b.typ != "string" {
		return typed{}, false
	}
	return typed{a.text + " " + sign + " " + b.text, "bool"}, true
}

// expression is an expression as one of HCL; its value is text where it can be.
func (s *ghScope) expression(e *ghExpr) string {
	switch e.op {
	case "lit":
		if e.str {
			return quote(e.text)
		}
		return e.text
	case "ref":
		if v, ok := s.set(e.text); ok {
			return v.template()
		}
		return s.reference(e.text).text
	case "||":
		if a := e.args[0]; a.op == "ref" {
			t := s.reference(a.text)
			if t.typ == "string" {
				return fmt.Sprintf(`(%s != "" ? %s : %s)`, t.text, t.text, s.expression(e.args[1]))
			}
		}
	}
	return s.w.unknown(e.src, "string", "the value of "+e.src)
}
