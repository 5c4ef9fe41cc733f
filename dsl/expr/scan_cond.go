package expr

import "strings"

// rewritten is a condition's text as expr-lang's parser gets it: names with dashes stand in brackets, and contains(…)
// has a name that is not an operator. from[i] is the offset in the text before of byte i; it has one entry more than bytes, or is
// nil where nothing was changed.
type rewritten struct {
	text string
	from []int
}

// at is the offset in the text before of a byte of the text.
func (r rewritten) at(i int) int {
	if r.from == nil {
		return min(max(i, 0), len(r.text))
	}
	return r.from[min(max(i, 0), len(r.from)-1)]
}

// containsFunc is what the function contains is called in text for expr-lang, where contains is an infix operator.
const containsFunc = "contains_"

// condScanner walks the text once, skipping strings and comments. It finds no faults: the parser does.
type condScanner struct {
	in        string
	names     namespace
	namesOnly bool
	i         int
	copied    int
	out       strings.Builder
	from      []int
	depth     int // deepest bracket seen
	open      int
	ready     bool   // an operand has just ended, so that what follows is an operator
	before    bool   // the value of ready before the last word, for "x not contains"
	word      string // the last word, if nothing stood behind it
}

func wordStart(b byte) bool { return b == '_' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }
func wordByte(b byte) bool  { return wordStart(b) || b >= '0' && b <= '9' }

// namespace says of a path of names, root first, whether it is declared as a whole, and whether all names below it are known.
type namespace func(path []string) (declared, closed bool)

// rewrite prepares a condition for the parser and returns how deep its brackets lie in each other. With namesOnly, contains(…)
// keeps its name: the text is then for people, and for a later rewrite.
func rewrite(text string, names namespace, namesOnly bool) (rewritten, int) {
	s := &condScanner{in: text, names: names, namesOnly: namesOnly}
	for s.i < len(text) {
		s.step()
	}
	if s.copied == 0 && s.from == nil {
		return rewritten{text: text}, s.depth
	}
	s.copyTo(len(text))
	s.from = append(s.from, len(text))
	return rewritten{s.out.String(), s.from}, s.depth
}

func (s *condScanner) step() {
	switch b := s.in[s.i]; {
	case b == '\'' || b == '"' || b == '`':
		s.quoted(b)
		s.operand()
	case b == '/' && strings.HasPrefix(s.in[s.i:], "//"):
		s.skipPast("\n")
	case b == '/' && strings.HasPrefix(s.in[s.i:], "/*"):
		s.skipPast("*/")
	case strings.IndexByte("([{", b) >= 0:
		s.open++
		s.depth = max(s.depth, s.open)
		s.operator()
	case strings.IndexByte(")]}", b) >= 0:
		s.open--
		s.i++
		s.operand()
	case wordStart(b):
		s.readWord()
	case b >= '0' && b <= '9':
		s.wordEnd()
		s.operand()
	case b == '#': // the member that a predicate is about
		s.i++
		s.operand()
	case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		s.i++
	default:
		s.operator()
	}
}

func (s *condScanner) operand()  { s.ready, s.word = true, "" }
func (s *condScanner) operator() { s.i++; s.ready, s.word = false, "" }

func (s *condScanner) quoted(q byte) {
	for s.i++; s.i < len(s.in); s.i++ {
		if s.in[s.i] == '\\' && q != '`' {
			s.i++
		} else if s.in[s.i] == q {
			s.i++
			return
		}
	}
	s.i = len(s.in)
}

func (s *condScanner) skipPast(end string) {
	if n := strings.Index(s.in[s.i+1:], end); n >= 0 {
		s.i += 1 + n + len(end)
	} else {
		s.i = len(s.in)
	}
}

func (s *condScanner) wordEnd() string {
	start := s.i
	for s.i < len(s.in) && wordByte(s.in[s.i]) {
		s.i++
	}
	return s.in[start:s.i]
}

var wordOperators = map[string]bool{"and": true, "or": true, "not": true, "in": true, "matches": true, "contains": true, "startsWith": true, "endsWith": true, "let": true, "if": true, "else": true}

func (s *condScanner) readWord() {
	start, afterDot := s.i, s.i > 0 && s.in[s.i-1] == '.'
	word := s.wordEnd()
	switch {
	case afterDot:
		s.operand()
	case word == "contains" && s.isCall() && !s.ready && !(s.word == "not" && s.before):
		if !s.namesOnly {
			s.replace(start, s.i, containsFunc)
		}
		s.operand()
	case wordOperators[word]:
		s.before, s.ready, s.word = s.ready, false, word
	default:
		s.path(word)
		s.operand()
	}
}

func (s *condScanner) isCall() bool {
	return strings.HasPrefix(strings.TrimLeft(s.in[s.i:], " \t\r\n"), "(")
}

// path follows root.name.name and puts each declared name that has dashes in brackets.
func (s *condScanner) path(root string) {
	path := []string{root}
	for s.i < len(s.in) {
		dot := s.i
		if s.in[s.i] == '?' {
			s.i++
		}
		if s.i+1 >= len(s.in) || s.in[s.i] != '.' || !wordStart(s.in[s.i+1]) {
			s.i = dot
			return
		}
		s.i++
		start := s.i
		plain := s.wordEnd()
		name, end := s.dashed(path, plain)
		if name != plain {
			open := `[`
			if s.in[dot] == '?' {
				open = `?.[`
			}
			s.replace(dot, start, open+`"`)
			s.replace(end, end, `"]`)
		}
		s.i = end
		path = append(path, name)
	}
}

// dashed returns the longest declared name that begins at plain. Where all names are known and none is there, it takes
// all the dashes: the message then names what was meant. Where nothing is known, as of any, a dash is a minus.
func (s *condScanner) dashed(path []string, plain string) (string, int) {
	if s.i >= len(s.in) || s.in[s.i] != '-' {
		return plain, s.i
	}
	known := func(name string) bool {
		is, _ := s.names(append(path[:len(path):len(path)], name))
		return is
	}
	best, end, found := plain, s.i, known(plain)
	name := plain
	for s.i+1 < len(s.in) && s.in[s.i] == '-' && wordByte(s.in[s.i+1]) {
		s.i++
		name += "-" + s.wordEnd()
		if known(name) {
			best, end, found = name, s.i, true
		}
	}
	if _, closed := s.names(path); !found && closed {
		best, end = name, s.i
	}
	return best, end
}

func (s *condScanner) copyTo(end int) {
	for i := s.copied; i < end; i++ {
		s.from = append(s.from, i)
	}
	s.out.WriteString(s.in[s.copied:end])
	s.copied = end
}

func (s *condScanner) replace(start, end int, with string) {
	s.copyTo(start)
	for range with {
		s.from = append(s.from, start)
	}
	s.out.WriteString(with)
	s.copied = end
}
