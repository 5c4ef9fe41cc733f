package shell

import (
	"maps"
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// function is what the declarations of one name in a script say.
type function struct {
	bodies []*syntax.Stmt
	hands  []handed // the commands that get its arguments as "$@"
	resets bool     // it gives itself other arguments, with set
	calls  []string // the functions that it calls
	reads  *ban     // why no value may be in what it reads
}

// handed is a command with "$@" in it. shifts is how many arguments were shifted away before, unless that is not known.
type handed struct {
	call   *syntax.CallExpr
	shifts int
	open   bool
}

// declare notes a function and the commands that get its arguments.
func (s *scan) declareFunction(n *syntax.FuncDecl) {
	f := s.funcs[n.Name.Value]
	if f == nil {
		f = &function{}
		s.funcs[n.Name.Value] = f
	}
	f.bodies = append(f.bodies, n.Body)
	shifts, branches, open := 0, 0, false
	var nodes []syntax.Node
	syntax.Walk(n.Body, func(n syntax.Node) bool {
		if n == nil {
			if isBranch(nodes[len(nodes)-1]) {
				branches--
			}
			nodes = nodes[:len(nodes)-1]
			return true
		}
		if _, inner := n.(*syntax.FuncDecl); inner {
			return false
		}
		nodes = append(nodes, n)
		if isBranch(n) {
			branches++
		}
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return true
		}
		switch name, _ := s.literal(c.Args[0]); {
		case name == "set" && len(c.Args) > 1:
			f.resets = f.resets || slices.ContainsFunc(c.Args[1:], func(x *syntax.Word) bool {
				text, _ := s.literal(x)
				return text == "" || text[0] != '-' && text[0] != '+' || text == "--"
			})
		case name == "shift":
			by := 1
			if len(c.Args) > 1 {
				text, _ := s.literal(c.Args[1])
				n, err := strconv.Atoi(text)
				by, open = n, open || err != nil
			}
			shifts, open = shifts+by, open || branches > 0
		}
		for _, x := range c.Args {
			if past, ok := arguments(x); ok {
				f.hands = append(f.hands, handed{c, shifts + past, open})
				break
			}
		}
		return true
	})
}

func isBranch(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return true
	}
	return false
}

// arguments tells whether a word is "$@", or "${@:n}", which leaves the first n-1 out.
func arguments(x *syntax.Word) (past int, ok bool) {
	if x == nil || len(x.Parts) != 1 {
		return 0, false
	}
	q, ok := x.Parts[0].(*syntax.DblQuoted)
	if !ok || len(q.Parts) != 1 {
		return 0, false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Param.Value != "@" || p.Exp != nil || p.Repl != nil || p.Length || p.Excl {
		return 0, false
	}
	if p.Slice == nil {
		return 0, true
	}
	w, ok := p.Slice.Offset.(*syntax.Word)
	if !ok || p.Slice.Length != nil {
		return 0, false
	}
	n, err := strconv.Atoi(w.Lit())
	return n - 1, err == nil && n > 0
}

// readings finds out which functions run what they read, by themselves or by others that they call.
func (s *scan) readings() {
	if s.readied {
		return
	}
	s.readied = true
	names := slices.Sorted(maps.Keys(s.funcs))
	for _, name := range names {
		f := s.funcs[name]
		for _, b := range f.bodies {
			syntax.Walk(b, func(n syntax.Node) bool {
				c, ok := n.(*syntax.CallExpr)
				if !ok || len(c.Args) == 0 {
					return true
				}
				if called, _ := s.literal(c.Args[0]); s.funcs[called] != nil {
					f.calls = append(f.calls, called)
				} else if f.reads == nil {
					f.reads = s.ran(c)
				}
				return true
			})
		}
	}
	for changed := true; changed; {
		changed = false
		for _, name := range names {
			f := s.funcs[name]
			for _, called := range f.calls {
				if f.reads == nil && s.funcs[called].reads != nil {
					f.reads, changed = s.funcs[called].reads, true
				}
			}
		}
	}
}

// maxHanded bounds how many words the commands that get the arguments of functions have in all, maxCalls how deep
// functions hand them on.
const (
	maxHanded = 1 << 17
	maxCalls  = 8
)

// call judges the words of a function's call as those of the commands in it that get them.
func (s *scan) callOf(name string, words []*word) (reads *ban) {
	s.readings()
	f := s.funcs[name]
	reads = f.reads
	if f.resets {
		return reads
	}
	key := name + " " + strconv.Itoa(len(words))
	if slices.Contains(s.calling, key) {
		return reads
	}
	s.calling = append(s.calling, key)
	defer func() { s.calling = s.calling[:len(s.calling)-1] }()
	for _, h := range f.hands {
		first, last := h.shifts, h.shifts
		if h.open {
			first, last = 0, max(0, len(words)-2)
		}
		for past := first; past <= last; past++ {
			s.handedOn += len(words) + len(h.call.Args)
			if s.handedOn > maxHanded || len(s.calling) > maxCalls {
				for _, w := range words {
					w.no = banFar
				}
				return reads
			}
			if b := s.hand(h.call, words[min(1+past, len(words)):]); reads == nil {
				reads = b
			}
		}
	}
	return reads
}

// hand judges a command with words in the place of "$@".
func (s *scan) hand(c *syntax.CallExpr, given []*word) (reads *ban) {
	var list, own, copies []*word
	for _, w := range s.wordsOf(c.Args) {
		if _, ok := arguments(w.node); !ok {
			list, own = append(list, w), append(own, w)
			continue
		}
		for _, g := range given {
			copied := *g
			list, copies = append(list, &copied), append(copies, &copied)
		}
	}
	reads = s.judge(list)
	for i, w := range copies {
		if g := given[i%len(given)]; g.no == nil {
			g.no = w.no
		}
	}
	for _, w := range own {
		if w.no.follows() {
			for _, from := range s.sources(w.node) {
				from.refuse(w.no)
			}
		}
	}
	return reads
}
