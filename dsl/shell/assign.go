package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// numbers are variables of bash whose value is read as arithmetic.
var numbers = set("RANDOM SECONDS SRANDOM LINENO OPTIND HISTCMD BASHPID EPOCHSECONDS")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// assigned is why a value may not be assigned to a name; nil if it may.
func (s *scan) assigned(name string) *ban {
	switch {
	case Decides(name):
		return banSetting
	case numbers[name] || s.declared[name]:
		return banArithmetic
	}
	return nil
}

func (s *scan) assign(a *syntax.Assign, w where) {
	if a.Index != nil {
		s.ban(a.Index, w.but(banArithmetic))
	}
	if a.Name != nil {
		w = w.but(s.assigned(a.Name.Value))
	}
	s.word(a.Value, w)
	if a.Array == nil {
		return
	}
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			s.ban(e.Index, w.but(banArithmetic))
		}
		s.word(e.Value, w)
	}
}

// declarations notes the names that are declared as numbers (-i) or as names of others (-n), anywhere in the script, and
// those of arrays and functions.
func (s *scan) declarations(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		s.array(n)
		switch n := n.(type) {
		case *syntax.FuncDecl:
			s.declareFunction(n)
		case *syntax.DeclClause:
			if !slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Naked && a.Name == nil && s.special(a.Value) }) {
				break
			}
			for _, a := range n.Args {
				if a.Name != nil {
					s.declared[a.Name.Value] = true
				}
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			if name, _ := s.literal(n.Args[0]); !declaring[name] || !slices.ContainsFunc(n.Args[1:], s.special) {
				break
			}
			for _, x := range n.Args[1:] {
				text, _ := s.literal(x)
				name, _, _ := strings.Cut(text, "=")
				s.declared[name] = true
			}
		}
		return true
	})
}

// array notes the names that a node makes an array of.
func (s *scan) array(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && (n.Array != nil || n.Index != nil) {
			s.arrays[n.Name.Value] = true
		}
	case *syntax.DeclClause:
		if !slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Naked && a.Name == nil && s.listed(a.Value) }) {
			break
		}
		for _, a := range n.Args {
			if a.Name != nil {
				s.arrays[a.Name.Value] = true
			}
		}
	case *syntax.CallExpr: // read -a, mapfile, and declarations as sh has them
		if len(n.Args) == 0 {
			break
		}
		name, _ := s.literal(n.Args[0])
		if filled := set("mapfile readarray"); !filled[name] && !((name == "read" || declaring[name]) && slices.ContainsFunc(n.Args[1:], s.listed)) {
			break
		}
		for _, x := range n.Args[1:] {
			text, _ := s.literal(x)
			name, _, _ := strings.Cut(text, "=")
			s.arrays[name] = true
		}
	}
}

// listed tells whether a word is an option that makes arrays.
func (s *scan) listed(x *syntax.Word) bool {
	text, _ := s.literal(x)
	return strings.HasPrefix(text, "-") && strings.ContainsAny(text, "aA")
}

// declaredAs is why a value may not be given to a name by a declaration: to an array it is read as a list again.
func (s *scan) declaredAs(name string) *ban {
	if s.arrays[name] {
		return banArray
	}
	return s.assigned(name)
}

// special tells whether an option of a declaration makes assignments more than text.
func (s *scan) special(x *syntax.Word) bool {
	text, _ := s.literal(x)
	return strings.HasPrefix(text, "-") && strings.ContainsAny(text, "in")
}

// declare walks bash's declare, local, export and readonly.
func (s *scan) declare(d *syntax.DeclClause, w where) {
	for _, a := range d.Args {
		switch {
		case a.Naked && a.Name == nil:
			s.word(a.Value, w.but(banName))
		case a.Name != nil && a.Value != nil && a.Index == nil:
			s.assign(a, w.but(s.declaredAs(a.Name.Value)))
		default:
			s.assign(a, w)
		}
	}
}

// declaring are the commands of declarations.
var declaring = set("declare typeset local export readonly")

// declareWords does the same where the words of declare, local, export and readonly are those of a plain command, as sh
// has them.
func (s *scan) declareWords(words []*word) {
	for _, x := range words {
		if name, _, ok := strings.Cut(x.text, "="); ok && isName(name) {
			x.no = s.declaredAs(name)
		} else {
			x.no = banName
		}
	}
}

func isName(text string) bool {
	for i, c := range text {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// test walks [[ … ]] of bash.
func (s *scan) test(x syntax.TestExpr, w where) {
	switch x := x.(type) {
	case *syntax.Word:
		s.word(x, w)
	case *syntax.ParenTest:
		s.test(x.X, w)
	case *syntax.UnaryTest:
		switch x.Op {
		case syntax.TsVarSet, syntax.TsRefVar:
			w = w.but(banName)
		}
		s.test(x.X, w)
	case *syntax.BinaryTest:
		left, right := w, w
		switch x.Op {
		case syntax.TsReMatch:
			right = w.but(banPattern)
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			left, right = w.but(banArithmetic), w.but(banArithmetic)
		}
		s.test(x.X, left)
		s.test(x.Y, right)
	}
}
