package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// writer writes the new text of a file, of copies of the old one and of words of its own.
type writer struct {
	file  *syntax.File
	at    int // how far the old text is done
	parts []part
	size  int
	from  diag.Range // what words of its own stand for
}

// part is a piece of the new text: a copy of the old one from an offset on, or words that stand for a range of it.
type part struct {
	text []byte
	copy int // offset in the old text; -1 for words
	from diag.Range
}

// made is a node that the author did not write, or a group that the author wrote as a pattern.
type made struct {
	node  string     // its name
	shown string     // in words: the producer of feedback "x"
	alias string     // the name of its result inside the pattern, or ""
	block diag.Range // of the pattern
	group bool       // it has the name of the pattern
}

func newWriter(f *syntax.File) *writer { return &writer{file: f} }

// copyTo copies what was not yet done, up to an offset.
func (w *writer) copyTo(to int) {
	w.copy(w.at, to)
	w.at = to
}

func (w *writer) copy(from, to int) {
	if from < to {
		w.parts = append(w.parts, part{text: w.file.Src[from:to], copy: from})
		w.size += to - from
	}
}

// anchor says what the words that follow stand for.
func (w *writer) anchor(r diag.Range) { w.from = r }

// say writes words of its own.
func (w *writer) say(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	w.parts = append(w.parts, part{text: []byte(text), copy: -1, from: w.from})
	w.size += len(text)
}

// expr copies an expression, in which some roots get other names: result becomes step.NAME.
func (w *writer) expr(a *check.Attr, roots map[string]string) {
	r := a.Src.Span()
	w.exprPart(a, r.Start.Byte, r.End.Byte, roots)
}

// exprPart copies what stands between two offsets of an expression.
func (w *writer) exprPart(a *check.Attr, at, end int, roots map[string]string) {
	before := w.from
	w.from = a.Src.Span()
	if len(roots) > 0 {
		for _, m := range expr.Mentions(a.Src.Expr(), w.file.Src, a.Schema.Kind == schema.Condition, slices.Sorted(maps.Keys(roots))) {
			w.copy(at, m.Start)
			w.from = w.file.Range(m.Start, m.End)
			w.say("%s", roots[m.Root])
			at = m.End
		}
	}
	w.copy(at, end)
	w.from = before
}

// attr writes an attribute under a name with the value of another one, if that is given. A heredoc ends with its own line.
func (w *writer) attr(name string, a *check.Attr, roots map[string]string) {
	if a == nil {
		return
	}
	before := w.from
	w.from = a.Src.Range
	w.say("%s = ", name)
	w.expr(a, roots)
	w.say("\n")
	w.from = before
}

// text is all that was written.
func (w *writer) text() []byte {
	var b strings.Builder
	b.Grow(w.size)
	for _, p := range w.parts {
		b.Write(p.text)
	}
	return []byte(b.String())
}
