package syntax

import (
	"bytes"
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
)

// frame is something open: the file, a bracket, a template interpolation, a quoted string or a heredoc.
type frame struct {
	kind   byte // F ( [ { T for ${ and %{, " and H
	from   int  // offset of what opened it
	marker []byte
	start  int  // offset behind the opening of a heredoc; of the line on which a block begins
	ops    int  // operators since the last separator
	body   bool // the file, or a block
	open   bool // a body whose first line has ended
	pieces int  // of a text, as HCL takes it apart
	inside int  // bytes of the blocks inside a body
}

// scanner walks the text once and knows just enough of the language to tell brackets from text: strings, templates,
// heredocs, comments, numbers, operators. What is not well formed it passes on, for HCL to report.
type scanner struct {
	name  string
	src   []byte
	i     int
	stack []frame
	depth int // frames that are brackets or templates
	list  diag.List
	most  Limits

	copies   int // bytes that HCL will copy to put texts together
	segments []segment
	closed   bool // a block of several lines has ended on this line
	doubt    bool // more than one block begins or ends on a line

	expansions [][2]int // what looks like the shell's, from the $ or % to behind the brace
}

func (s *scanner) top() *frame { return &s.stack[len(s.stack)-1] }

func (s *scanner) run() {
	for s.i < len(s.src) && len(s.list) == 0 {
		switch s.top().kind {
		case '"':
			s.text()
		case 'H':
			s.heredoc()
		default:
			s.code()
		}
	}
	if k := s.top().kind; len(s.list) == 0 && (k == '(' || k == '[') {
		s.fail(s.top().from, 1, "F0030", fmt.Sprintf("%c is never closed", k), "The file ends before the bracket that belongs to this one.")
	}
}

func (s *scanner) at(word string) bool { return bytes.HasPrefix(s.src[s.i:], []byte(word)) }

func (s *scanner) push(kind byte, size int) {
	if s.depth == s.most.Depth {
		s.fail(s.i, size, "F0006", fmt.Sprintf("More than %d levels of nesting", s.most.Depth),
			"Brackets, braces and templates are nested too deeply. Move parts of the value to locals."+raise("depth"))
		return
	}
	s.depth++
	around := s.top()
	f := frame{kind: kind, from: s.i, body: kind == '{' && around.body && around.ops == 0}
	if n := len(s.segments); f.body && n > 0 {
		f.start = int(s.segments[n-1].end)
	}
	s.stack = append(s.stack, f)
	s.i += size
}

func (s *scanner) pop() {
	if f := s.top(); f.kind != '"' && f.kind != 'H' {
		s.depth--
	} else {
		s.copies += f.pieces * (s.i - f.from + pieceBytes*f.pieces)
	}
	s.stack = s.stack[:len(s.stack)-1]
}

// piece counts a piece of the text that is open: a line of a heredoc, or a $ or % that begins nothing. HCL puts a text
// together one piece at a time and copies all of it for each, so a text of many pieces is slow by the square of them.
func (s *scanner) piece() {
	f := s.top()
	f.pieces++
	if s.copies+f.pieces*(s.i-f.from+pieceBytes*f.pieces) > MaxCopies*max(len(s.src), 1<<20) {
		s.fail(f.from, 1, "F0014", fmt.Sprintf("Text of more than %d lines or signs", f.pieces-1),
			"A text may be long, or have many lines and $ and % signs, but not both. Keep it in a file that the step reads.")
	}
}

func (s *scanner) fail(at, size int, code, summary, detail string) {
	s.list = append(s.list, diag.Diagnostic{Code: code, Summary: summary, Detail: detail, Subject: place(s.name, s.src, at, at+size)})
}

// template opens an interpolation if one begins here; doubled marks are text.
func (s *scanner) template() bool {
	switch {
	case s.at("$${"), s.at("%%{"):
		s.piece()
		s.i += 3
	case s.at("${"), s.at("%{"):
		if size := s.noteExpansion(); size > 0 {
			s.piece()
			s.i += size
			return true
		}
		s.push('T', 2)
	default:
		return false
	}
	return true
}

// text walks inside a quoted string.
func (s *scanner) text() {
	switch b := s.src[s.i]; {
	case b == '\\':
		s.i += 2
	case b == '"':
		s.pop()
		s.i++
	case b == '\n':
		s.unclosed()
	case s.template():
	default:
		if b == '$' || b == '%' {
			s.piece()
		}
		s.i++
	}
}

// unclosed reports a string that does not end on its line; where an interpolation in it swallowed the quote, that one.
func (s *scanner) unclosed() {
	at := s.top().from
	if n := len(s.stack); n > 2 && s.stack[n-2].kind == 'T' && s.stack[n-3].kind == '"' {
		s.fail(s.stack[n-2].from, 2, "F0034", "Missing } after ${",
			"An expression that begins with ${ ends with }. For a literal ${, write $${.")
		return
	}
	s.fail(at, max(1, s.i-at), "F0031", "String without its closing quote",
		"A string ends on the line where it begins. For text over several lines, write \\n, or a heredoc: <<EOT, the lines, and EOT alone on a line.")
}

// heredoc walks inside one, a line or an interpolation at a time.
func (s *scanner) heredoc() {
	f := s.top()
	if s.i-f.start > s.most.Token {
		s.fail(f.start-1, 1, "F0013", "Heredoc is too long",
			fmt.Sprintf("A heredoc may have at most %s. Keep the text in a file that the step reads.", bytesText(s.most.Token))+raise("token"))
		return
	}
	if s.i > 0 && s.src[s.i-1] == '\n' {
		line, _, _ := bytes.Cut(s.src[s.i:], []byte("\n"))
		if bytes.Equal(bytes.TrimSpace(line), f.marker) {
			s.i += len(line)
			s.pop()
			return
		}
	}
	if !s.template() {
		if b := s.src[s.i]; b == '\n' || b == '$' || b == '%' {
			s.piece()
		}
		s.i++
	}
}

// code walks outside of text.
func (s *scanner) code() {
	b := s.src[s.i]
	switch {
	case b == '#' || s.at("//"):
		s.skipLine()
	case s.at("/*"):
		s.comment()
	case b == '"':
		s.stack = append(s.stack, frame{kind: '"', from: s.i})
		s.i++
	case s.at("<<") && s.openHeredoc():
	case b == '(' || b == '[' || b == '{':
		s.push(b, 1)
	case b == ')' || b == ']' || b == '}':
		s.close(b)
	case b >= '0' && b <= '9':
		s.number()
	case letter(b):
		for s.i < len(s.src) && (letter(s.src[s.i]) || digit(s.src[s.i]) || s.src[s.i] == '-') {
			s.i++
		}
	default:
		s.operator(b)
		s.i++
	}
}

// comment skips /* … */. HCL takes each line of one that does not end for a mistake of its own.
func (s *scanner) comment() {
	n := bytes.Index(s.src[s.i+2:], []byte("*/"))
	if n < 0 {
		s.fail(s.i, 2, "F0031", "Comment without its end", "A comment that begins with /* ends with */. One that begins with # or // ends with its line.")
		return
	}
	if n > s.most.Token {
		s.fail(s.i, 2, "F0055", "Comment is too long",
			fmt.Sprintf("A comment may have at most %s. Keep the text in a separate file.", bytesText(s.most.Token))+raise("token"))
		return
	}
	s.i += 2 + n + 2
}

func (s *scanner) skipLine() {
	n := bytes.IndexByte(s.src[s.i:], '\n')
	if n < 0 {
		n = len(s.src) - s.i
	}
	s.i += n
}

func (s *scanner) close(b byte) {
	s.i++
	if k := s.top().kind; k == '(' && b == ')' || k == '[' && b == ']' || (k == '{' || k == 'T') && b == '}' {
		f := *s.top()
		s.pop()
		if f.body {
			s.blockEnds(f)
		}
	}
}

// openHeredoc begins a heredoc if <<MARK or <<-MARK ends the line.
func (s *scanner) openHeredoc() bool {
	line, _, more := bytes.Cut(s.src[s.i:], []byte("\n"))
	mark := bytes.TrimPrefix(line[2:], []byte("-"))
	if !more || len(mark) == 0 || !letter(mark[0]) {
		return false
	}
	for _, b := range mark {
		if !letter(b) && !digit(b) && b != '-' {
			return false
		}
	}
	s.i += len(line) + 1
	s.stack = append(s.stack, frame{kind: 'H', from: s.i - len(line) - 1, marker: mark, start: s.i})
	return true
}

// operator counts what makes an expression's tree deeper without a bracket.
func (s *scanner) operator(b byte) {
	f := s.top()
	switch b {
	case '\n':
		s.newline()
		if f.kind != '(' && f.kind != '[' {
			f.ops = 0
		}
	case ',':
		f.ops = 0
	case '+', '-', '*', '/', '%', '!', '<', '>', '=', '&', '|', '?', ':', '.':
		if f.ops++; f.ops > MaxOperators {
			s.fail(s.i, 1, "F0012", fmt.Sprintf("More than %d operators in one expression", MaxOperators),
				"Use a list with join, sum or alltrue, or move parts of it to locals.")
		}
	}
}

// number bounds a number before anything computes with it: printing 1e8000000 took 43 s (measured with cty v1.19.0).
func (s *scanner) number() {
	start, digits, exponent := s.i, 0, 0
	for ; s.i < len(s.src) && (digit(s.src[s.i]) || s.src[s.i] == '.'); s.i++ {
		if s.src[s.i] != '.' {
			digits++
		}
	}
	if s.i < len(s.src) && (s.src[s.i] == 'e' || s.src[s.i] == 'E') {
		s.i++
		if s.i < len(s.src) && (s.src[s.i] == '+' || s.src[s.i] == '-') {
			s.i++
		}
		for ; s.i < len(s.src) && digit(s.src[s.i]); s.i++ {
			exponent = min(exponent*10+int(s.src[s.i]-'0'), MaxExponent+1)
		}
	}
	detail := fmt.Sprintf("A number may have at most %d digits and an exponent of at most %d. Write long identifiers as strings.", MaxDigits, MaxExponent)
	switch {
	case digits > MaxDigits:
		s.fail(start, min(s.i-start, 60), "F0011", fmt.Sprintf("Number of %d digits is too long", digits), detail)
	case exponent > MaxExponent:
		s.fail(start, min(s.i-start, 60), "F0011", "Exponent is too large", detail)
	}
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
}
func digit(b byte) bool { return b >= '0' && b <= '9' }
