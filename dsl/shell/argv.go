package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Argv judges a program and its arguments that no shell reads: each word is its parts, in which values stand. What it
// finds are values in text that the program runs, as in sh -c TEXT, and values that it could take for an option that
// runs something. That a value says which program or file it is, is the file's own choice here.
func Argv(words [][]Part) diag.List {
	s := &scan{declared: map[string]bool{}, arrays: map[string]bool{}}
	var b strings.Builder
	for _, w := range words {
		start := b.Len()
		for _, p := range w {
			if !p.Value {
				if p.Text != "" {
					b.WriteString("'" + strings.ReplaceAll(p.Text, "'", `'\''`) + "'")
				}
				continue
			}
			b.WriteString(`"`)
			at := b.Len()
			b.WriteString("${" + Variable(len(s.marks)) + "}")
			s.marks = append(s.marks, mark{start: at, end: b.Len(), value: p})
			b.WriteString(`"`)
		}
		if b.Len() == start {
			b.WriteString("''")
		}
		b.WriteByte(' ')
	}
	s.text = strings.ReplaceAll(b.String(), "\x00", " ")
	if len(s.marks) == 0 || len(s.text) > MaxScript || len(s.marks) > MaxValues {
		return nil
	}
	file, err := parse(s.text, POSIX)
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	bans := map[*syntax.Word]*ban{}
	s.judge(call.Args, bans)
	for _, w := range call.Args {
		first, last := s.within(w.Pos().Offset(), w.End().Offset())
		for i := first; i < last; i++ {
			if no := bans[w]; no != nil && (no.code == "F0240" || no.code == "F0250") {
				s.refuse(i, no)
			}
		}
	}
	return s.list
}
