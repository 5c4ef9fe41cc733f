package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/dsl/diag"
)

// parse reads a script. A panic of the parser is an error like another: the text is the user's, the parser not ours.
func parse(text string, d Dialect) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	lang := syntax.LangPOSIX
	if d == Bash {
		lang = syntax.LangBash
	}
	return syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// bounds refuses what the parser should not see.
func (s *scan) bounds() *ban {
	b := &ban{code: "F0248"}
	switch {
	case len(s.text) > MaxScript:
		b.summary = fmt.Sprintf("A script of %d KiB with values in it", len(s.text)>>10)
		b.detail = fmt.Sprintf("flowrun reads scripts with values up to %d KiB. Put the script into a separate file, with the values as arguments:  run = [\"sh\", \"build.sh\", {value}].", MaxScript>>10)
	case len(s.marks) > MaxValues:
		b.summary = fmt.Sprintf("A script with %d values in it", len(s.marks))
		b.detail = fmt.Sprintf("There may be %d. Give a list over as one value, jsonencode(…) of it, or in stdin.", MaxValues)
	case depth(s.text) > MaxDepth:
		b.summary = "A script with values in it, and too deep"
		b.detail = fmt.Sprintf("Brackets and compound commands may lie %d deep in each other. Make functions of parts of it.", MaxDepth)
	default:
		return nil
	}
	return b
}

// nesting says by how much a word changes the depth.
var nesting = map[string]int{"if": 1, "while": 1, "until": 1, "for": 1, "case": 1, "select": 1, "fi": -1, "done": -1, "esac": -1}

// depth is at least how deep the parser has to go for what can be of any depth. It knows no quotes: a bracket or word in a
// text counts, too.
func depth(text string) (most int) {
	level, word := 0, 0
	step := func(by int) {
		level = max(0, level+by)
		most = max(most, level)
	}
	for i := 0; i <= len(text); i++ {
		if i < len(text) && !strings.ContainsRune("(){} \t\n;&|<>", rune(text[i])) {
			continue
		}
		step(nesting[text[word:i]])
		word = i + 1
		switch {
		case i == len(text):
		case text[i] == '(' || text[i] == '{':
			step(1)
		case text[i] == ')' || text[i] == '}':
			step(-1)
		}
	}
	return most
}

// unreadable says where the parser stopped. Its position is one of the text with references; the file has another.
func (s *scan) unreadable(parts []Part, err error, subject diag.Range, place func(start, end int) diag.Range) diag.Diagnostic {
	d := diag.Diagnostic{Code: "F0231", Subject: subject}
	what, at := err.Error(), -1
	var p syntax.ParseError
	var l syntax.LangError
	switch {
	case errors.As(err, &p):
		what, at = p.Text, int(p.Pos.Offset())
	case errors.As(err, &l):
		l.Filename = ""
		at = int(l.Pos.Offset())
		if _, text, ok := strings.Cut(l.Error(), ": "); ok {
			what = text
		}
	}
	d.Summary = fmt.Sprintf("The script cannot be read as %s: %s", s.dialect, s.named(what))
	d.Detail = "A script with values in it is read before it runs, to make sure that each value stays data."
	if s.dialect == POSIX {
		d.Detail += " If this is bash's own syntax, say  shell = \"bash\"."
	}
	if r, ok := s.inFile(parts, at, place); ok {
		d.Subject = r
	}
	return d
}

// named puts the expressions of the file in the place of references in a message.
func (s *scan) named(text string) string {
	for i := len(s.marks) - 1; i >= 0; i-- {
		text = strings.ReplaceAll(text, Variable(i), show(s.marks[i].value.Text))
	}
	return text
}

// inFile is the place in the file of an offset in the text.
func (s *scan) inFile(parts []Part, at int, place func(start, end int) diag.Range) (diag.Range, bool) {
	n, from := 0, 0
	for _, p := range parts {
		size := len(p.Text)
		if p.Value {
			size = s.marks[n].end - s.marks[n].start
			n++
		}
		if at >= from && at < from+size {
			if p.Value {
				return p.Range, true
			}
			i := at - from
			return place(p.From[i], max(p.From[i+1], p.From[i]+1)), true
		}
		from += size
	}
	return diag.Range{}, false
}
