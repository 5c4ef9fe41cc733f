package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// where is what the walk knows of a place.
type where struct {
	double bool // inside "…", a here-document, or the word of a ${…} in one of these
	ticks  bool // inside `…`
	hands  bool // in a function whose calls are judged by the commands that get its arguments
	no     *ban // why no value can stand here; nil if one can
}

func (w where) but(no *ban) where {
	if w.no == nil {
		w.no = no
	}
	return w
}

// fresh is the place inside a $(…) or a nested command: its quotes are its own.
func (w where) fresh() where { w.double = false; return w }

func (s *scan) stmts(list []*syntax.Stmt, w where) {
	for _, st := range list {
		s.stmt(st, w)
	}
}

func (s *scan) stmt(st *syntax.Stmt, w where) {
	var reads *ban
	if st.Cmd != nil {
		s.command(st.Cmd, s.feeds(st, w))
		for _, r := range st.Redirs {
			if reads == nil && s.carries(r) {
				reads = s.runsIts(st)
			}
			s.given(st.Cmd, r)
		}
	}
	for _, r := range st.Redirs {
		s.redirect(r, w, reads)
	}
}

// feeds is the place of a statement whose output goes to >(…): nothing there may run it.
func (s *scan) feeds(st *syntax.Stmt, w where) where {
	if w.no != nil || !s.holds(st.Cmd) {
		return w
	}
	for _, r := range st.Redirs {
		if r.Word != nil && len(r.Word.Parts) == 1 {
			if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
				w = w.but(s.consumes(p))
			}
		}
	}
	return w
}

func (s *scan) command(c syntax.Command, w where) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		s.call(c, w)
	case *syntax.BinaryCmd:
		s.binary(c, w)
	case *syntax.Block:
		s.stmts(c.Stmts, w)
	case *syntax.Subshell:
		if s.text[c.Lparen.Offset()+1] == '(' { // where bash is sh, this is arithmetic
			w = w.but(banArithmetic)
		}
		folder := s.folder
		s.stmts(c.Stmts, w)
		s.folder = folder
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			s.stmts(c.Cond, w)
			s.stmts(c.Then, w)
		}
	case *syntax.WhileClause:
		s.stmts(c.Cond, w)
		s.stmts(c.Do, w)
	case *syntax.ForClause:
		s.loop(c, w)
	case *syntax.CaseClause:
		s.word(c.Word, w)
		for _, item := range c.Items {
			s.words(item.Patterns, w.but(banPattern))
			s.stmts(item.Stmts, w)
		}
	case *syntax.FuncDecl:
		f := s.funcs[c.Name.Value]
		w.hands = f != nil && !f.resets
		s.stmt(c.Body, w)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.stmt(c.Stmt, w)
		}
	case *syntax.CoprocClause:
		s.stmt(c.Stmt, w)
	case *syntax.TestClause:
		s.test(c.X, w)
	case *syntax.DeclClause:
		s.declare(c, w)
	case *syntax.ArithmCmd, *syntax.LetClause:
		s.ban(c, w.but(banArithmetic))
	}
}

// binary walks a && b, a || b and a | b. What the last of a pipe runs must not come from the ones before it.
func (s *scan) binary(c *syntax.BinaryCmd, w where) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		s.stmt(c.X, w)
		s.stmt(c.Y, w)
		return
	}
	left := w
	s.piped(c)
	if s.carries(c.X) {
		left = w.but(s.consumes(c.Y))
	}
	s.stmt(c.X, left)
	s.stmt(c.Y, w)
}

// consumes is why a value may not be in what a command, or one inside it, reads; nil if it may.
func (s *scan) consumes(n syntax.Node) (no *ban) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && no == nil {
			no = s.ran(c)
		}
		return no == nil
	})
	return no
}

// turned is why no value can be put out anywhere: exec > >(sh) and coproc sh run what the commands behind them put out.
func (s *scan) turned(f *syntax.File) (no *ban) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				if no == nil && r.Op != syntax.RdrIn && r.Word != nil && s.stays(n) {
					no = s.consumes(r.Word)
				}
			}
		case *syntax.CoprocClause:
			if no == nil {
				no = s.consumes(n.Stmt)
			}
		case *syntax.CallExpr:
			if len(n.Args) > 1 && no == nil {
				if name, _ := s.literal(n.Args[0]); name == "coproc" {
					no = s.ran(n)
				}
			}
		}
		return no == nil
	})
	return no
}

// given judges the text of a here-document or here-string that a shell runs.
func (s *scan) given(c syntax.Command, r *syntax.Redirect) {
	var parts []syntax.WordPart
	switch {
	case r.Hdoc != nil:
		parts = r.Hdoc.Parts
	case r.Op == syntax.WordHdoc:
		parts = r.Word.Parts
	default:
		return
	}
	if b := s.consumes(c); b != nil && b.shell {
		s.anew(s.spelled(parts))
	}
}

// piped judges the text that echo, printf and cat put into a shell.
func (s *scan) piped(c *syntax.BinaryCmd) {
	call, ok := c.X.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	name, _ := s.literal(call.Args[0])
	var text strings.Builder
	switch name {
	case "echo", "printf":
		for _, x := range call.Args[1:] {
			text.WriteString(s.spelled(x.Parts) + " ")
		}
	case "cat":
		for _, r := range c.X.Redirs {
			if r.Hdoc != nil {
				text.WriteString(s.spelled(r.Hdoc.Parts))
			}
		}
	}
	if text.Len() == 0 {
		return
	}
	if b := s.consumes(c.Y); b != nil && b.shell {
		s.anew(text.String())
	}
}

// anew judges a text that a shell of its own runs.
func (s *scan) anew(text string) {
	(&judge{scan: s, name: "sh"}).nested(&word{text: text, whole: true}, nil)
}

// fed is why a value may not be on the standard input of a statement; nil if it may.
func (s *scan) fed(st *syntax.Stmt) *ban {
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.RdrIn:
			if text, _ := s.literal(r.Word); readsInput[text] {
				continue
			}
			return nil
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return nil
		}
	}
	c, ok := st.Cmd.(*syntax.BinaryCmd)
	switch {
	case st.Cmd == nil:
		return nil
	case !ok:
		return s.consumes(st.Cmd)
	}
	if b := s.fed(c.X); b != nil {
		return b
	}
	if call, ok := c.X.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && c.Op == syntax.Pipe {
		if name, _ := s.literal(call.Args[0]); name == "echo" || name == "printf" {
			return nil
		}
	}
	return s.fed(c.Y)
}

func (s *scan) loop(c *syntax.ForClause, w where) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		items := w
		if s.declared[l.Name.Value] {
			items = w.but(banArithmetic)
		}
		s.words(l.Items, items)
	case *syntax.CStyleLoop:
		s.ban(l, w.but(banArithmetic))
	}
	s.stmts(c.Do, w)
}

// redirect walks <, >, << and their kin. reads is why a value may not be in what the command reads.
func (s *scan) redirect(r *syntax.Redirect, w where, reads *ban) {
	in := w.fresh()
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		s.word(r.Word, in.but(banPlace))
		if r.Hdoc == nil {
			return
		}
		body := in.but(reads)
		body.double = true
		if s.isQuoted(r.Word) {
			body = body.but(banQuotedHeredoc)
		}
		s.parts(r.Hdoc.Parts, body)
	case syntax.RdrIn, syntax.RdrInOut, syntax.WordHdoc:
		s.word(r.Word, in.but(reads))
		if no := in.but(reads).no; s.files && no.follows() {
			s.blame(s.file(r.Word), no)
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.AppClob, syntax.RdrAllClob, syntax.AppAllClob:
		s.word(r.Word, in)
	default: // >&, <&: a number of the shell's own
		s.word(r.Word, in.but(banDescriptor))
	}
}

func (s *scan) isQuoted(w *syntax.Word) bool {
	return strings.ContainsAny(s.text[w.Pos().Offset():w.End().Offset()], `'"\`)
}

func (s *scan) words(list []*syntax.Word, w where) {
	for _, x := range list {
		s.word(x, w)
	}
}

func (s *scan) word(x *syntax.Word, w where) {
	if x != nil {
		s.parts(x.Parts, w)
	}
}

func (s *scan) parts(list []syntax.WordPart, w where) {
	for i, p := range list {
		if i > 0 && strings.Contains(s.text[list[0].Pos().Offset():p.Pos().Offset()], "$[") { // arithmetic of bash, and of sh where bash is that
			w = w.but(banArithmetic)
		}
		s.part(p, w)
	}
}

func (s *scan) part(p syntax.WordPart, w where) {
	switch p := p.(type) {
	case *syntax.Lit:
		if w.no == banArithmetic {
			s.names(p, w.no)
		}
		s.ban(p, w.but(banEscaped)) // a reference that is not a part of its own has a backslash before it
	case *syntax.SglQuoted:
		s.single(p, w)
	case *syntax.DblQuoted:
		if p.Dollar || s.dollar(p.Left) {
			w = w.but(banAnsi)
		}
		w.double = true
		s.parts(p.Parts, w)
	case *syntax.ParamExp:
		s.param(p, w)
	case *syntax.CmdSubst:
		s.blameInput(p, w)
		w.ticks = w.ticks || p.Backquotes
		folder := s.folder
		s.stmts(p.Stmts, w.fresh())
		s.folder = folder
	case *syntax.ProcSubst:
		s.blameInput(p, w)
		s.stmts(p.Stmts, w.fresh())
	case *syntax.ArithmExp:
		s.ban(p, w.but(banArithmetic))
	case *syntax.ExtGlob:
		s.ban(p, w.but(banPattern))
	default:
		s.ban(p, w.but(banPlace))
	}
}

// blameInput refuses the standard input where no value can stand and a command puts it.
func (s *scan) blameInput(n syntax.Node, w where) {
	if w.no.follows() && s.substituted(n) {
		s.blame(input, w.no)
	}
}

// single decides for the values inside '…': the quotes are interrupted for each.
func (s *scan) single(p *syntax.SglQuoted, w where) {
	if p.Dollar || s.dollar(p.Left) {
		w = w.but(banAnsi)
	}
	if w.double {
		w = w.but(banPlace)
	}
	first, last := s.within(p.Left.Offset(), p.Right.Offset())
	for i := first; i < last; i++ {
		if w.no != nil && !(w.no == banArithmetic && s.marks[i].value.Tame) {
			s.refuse(i, w.no)
		} else {
			s.put(i, `'"`, `"'`)
		}
	}
}

// dollar tells whether $ stands before a quote. sh knows no $'…', but where bash is sh, it does.
func (s *scan) dollar(quote syntax.Pos) bool {
	return quote.Offset() > 0 && s.text[quote.Offset()-1] == '$'
}

// param walks ${…}: one of ours, or one of the script's with words inside.
func (s *scan) param(p *syntax.ParamExp, w where) {
	if first, last := s.within(p.Pos().Offset(), p.Pos().Offset()+1); first < last {
		if w.no == banArithmetic && s.marks[first].value.Tame {
			w.no = nil
		}
		switch m := s.marks[first]; {
		case w.no != nil:
			s.refuse(first, w.no)
		case w.ticks && m.start > 0 && s.text[m.start-1] == '\\': // back quotes take one backslash away before anything else
			s.refuse(first, banEscaped)
		case int(p.End().Offset()) != m.end:
			s.refuse(first, banPlace)
		case w.double:
			s.put(first, "", "")
		default:
			s.put(first, `"`, `"`)
		}
		return
	}
	if p.Param != nil {
		switch {
		case w.no != nil && !p.Length:
			s.blame(p.Param.Value, w.no)
		case p.Excl:
			s.blame(p.Param.Value, banName)
		}
	}
	s.ban(p.Index, w.but(banArithmetic))
	if p.Slice != nil {
		s.ban(p.Slice.Offset, w.but(banArithmetic))
		s.ban(p.Slice.Length, w.but(banArithmetic))
	}
	if p.Repl != nil {
		s.word(p.Repl.Orig, w.but(banPattern))
		s.word(p.Repl.With, w.but(banPattern))
	}
	if p.Exp == nil || p.Exp.Word == nil {
		return
	}
	if p.Exp.Op == syntax.OtherParamOps && p.Param != nil && p.Exp.Word.Lit() == "P" { // read as a prompt, with its $( )
		s.blame(p.Param.Value, banEval)
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		s.word(p.Exp.Word, w)
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if p.Param != nil {
			w = w.but(s.assigned(p.Param.Value))
		}
		s.word(p.Exp.Word, w)
	default:
		s.word(p.Exp.Word, w.but(banPattern))
	}
}

// ban refuses all values in a node.
func (s *scan) ban(n syntax.Node, w where) {
	if n == nil {
		return
	}
	first, last := s.within(n.Pos().Offset(), n.End().Offset())
	for i := first; i < last; i++ {
		if w.no == banArithmetic && s.marks[i].value.Tame {
			s.put(i, "", "")
			continue
		}
		s.refuse(i, w.no)
	}
	if w.no.follows() && w.no != banCommand {
		s.names(n, w.no)
	}
}

// comments lets values in comments be: nothing reads them.
func (s *scan) comments(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			first, last := s.within(c.Pos().Offset(), c.End().Offset())
			for i := first; i < last; i++ {
				s.put(i, "", "")
			}
		}
		return true
	})
}
