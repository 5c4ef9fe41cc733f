package format

import "github.com/hashicorp/hcl/v2/hclsyntax"

// line is what stands before a newline; a heredoc or comment in it can take several lines of the file.
type line struct {
	tokens []token
	indent int  // levels
	apart  bool // an empty line goes before it
	begins bool // it holds the header of a block; objects are none
	ends   bool // it holds the closing brace of a block
}

// split divides tokens into lines. Empty lines are not lines; what follows them stands apart.
func split(tokens []token) []line {
	var out []line
	apart, start := false, 0
	for i := 0; i <= len(tokens); i++ {
		if i < len(tokens) && tokens[i].kind != hclsyntax.TokenNewline {
			continue
		}
		if i > start {
			out = append(out, line{tokens: tokens[start:i], apart: apart})
		}
		apart, start = i == start, i+1
	}
	return out
}

// code gives the tokens without the comments at both ends.
func (l *line) code() []token {
	t := l.tokens
	for len(t) > 0 && t[0].kind == hclsyntax.TokenComment {
		t = t[1:]
	}
	for len(t) > 0 && t[len(t)-1].kind == hclsyntax.TokenComment {
		t = t[:len(t)-1]
	}
	return t
}

// header tells whether the line, which stands directly in a body, begins a block.
func (l *line) header() bool {
	t := l.code()
	return len(t) > 1 && t[0].kind == hclsyntax.TokenIdent && t[1].kind != hclsyntax.TokenEqual
}

// bracket is an open one.
type bracket struct {
	indent int  // of the line that opened it
	body   bool // it holds attributes and blocks
}

// indent gives each line its level: one more than the line that opened the innermost bracket, or as much as that line
// if it begins with the closing one. It also finds the blocks, and drops empty lines at the edges of brackets.
func indent(lines []line) {
	var open []bracket
	edge := true // the line before opened a bracket, or there is none
	for i := range lines {
		l := &lines[i]
		inBody := len(open) == 0 || open[len(open)-1].body
		if n := len(open); n > 0 {
			l.indent = open[n-1].indent + 1
		}
		l.begins = inBody && l.header()
		header, leads := l.begins, true
		for _, t := range l.tokens {
			switch {
			case t.opens():
				open = append(open, bracket{l.indent, header})
				header, leads = false, false
			case t.closes() && len(open) > 0:
				last := open[len(open)-1]
				if open = open[:len(open)-1]; leads {
					l.indent = last.indent
				}
				l.ends = l.ends || last.body
			case t.kind != hclsyntax.TokenComment:
				leads = false
			}
		}
		code := l.code()
		n := len(code)
		l.apart = l.apart && !edge && !(n > 0 && code[0].closes())
		edge = n > 0 && code[n-1].opens()
	}
}

// separate puts an empty line between two blocks of which one takes several lines, before the comments of the second.
func separate(lines []line) {
	for i := range lines {
		if !lines[i].begins {
			continue
		}
		p, apart := i-1, lines[i].apart
		for ; p >= 0 && len(lines[p].code()) == 0; p-- {
			apart = apart || lines[p].apart
		}
		if p >= 0 && !apart && lines[p].ends && !(lines[p].begins && lines[i].ends) {
			lines[p+1].apart = true
		}
	}
}
