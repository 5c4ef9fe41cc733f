package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// input is the name that the standard input of a script has among the variables that hold values.
const input = "/dev/stdin"

// reader is a program whose output is made of what it reads.
type reader struct {
	operands int    // so many words come before the files; with no file it reads the standard input
	values   string // letters of options that take the next word
}

// always is for programs that read the standard input whatever their words are.
const always = 1 << 20

// readers are those programs: GNU coreutils manual, POSIX 3 Utilities, jq(1).
var readers = map[string]reader{}

func init() {
	for names, r := range map[string]reader{ // any order: no name is in two keys
		"cat tac rev nl zcat": {0, ""},
		"head tail":           {0, "nc"},
		"cut paste":           {0, "dfbc"},
		"sort uniq":           {0, "ktoSTfsw"},
		"fold fmt base64 base32 column expand pr":   {0, "wstbdc"},
		"grep egrep fgrep rg":                       {1, "efmABCd"},
		"sed gsed":                                  {1, "efl"},
		"awk gawk mawk nawk":                        {1, "vfFe"},
		"jq yq":                                     {1, "fL"},
		"iconv xxd strings":                         {0, "ftcslgn"},
		"tr tee dd xargs read envsubst sponge pv":   {always, ""},
		"perl python python3 ruby node php sh bash": {always, ""},
	} {
		for name := range set(names) { // any order: each for itself
			readers[name] = r
		}
	}
}

// substituted is the inside of $(…) and <(…), if what the script reads comes out of it.
func (s *scan) substituted(n syntax.Node) bool {
	if s.stdin == nil {
		return false
	}
	var list []*syntax.Stmt
	switch n := n.(type) {
	case *syntax.CmdSubst:
		list = n.Stmts
	case *syntax.ProcSubst:
		list = n.Stmts
	}
	if s.counts(list) {
		return false
	}
	for _, st := range list {
		if s.takes(st) {
			return true
		}
	}
	return false
}

// takes tells whether a statement, or one inside it, reads the script's standard input.
func (s *scan) takes(n syntax.Node) (does bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				switch r.Op {
				case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
					return false
				case syntax.RdrIn:
					text, _ := s.literal(r.Word)
					does = does || readsInput[text]
					return false
				}
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				does = does || s.takes(n.X)
				return false
			}
		case *syntax.CallExpr:
			does = does || s.reads(n.Args)
		}
		return !does
	})
	return does
}

// reads tells whether a command reads its standard input and puts it out.
func (s *scan) reads(args []*syntax.Word) bool {
	for launched := false; len(args) > 0; { // timeout 5 cat
		name, _ := s.literal(args[0])
		args = args[1:]
		if s.funcs[name] != nil {
			return true
		}
		r, ok := readers[path.Base(name)]
		if t := find(path.Base(name)); !ok && (launched || t != nil && (t.first == isCommand || t.rest == isCommand)) {
			launched = true
			continue
		}
		if !ok {
			return false
		}
		words, before := 0, ""
		for _, a := range args {
			text, _ := s.literal(a)
			switch {
			case readsInput[text]:
				return true
			case name == "jq" && (text == "-n" || text == "--null-input"):
				return false
			case strings.HasPrefix(text, "-"):
			case len(before) > 1 && before[0] == '-' && before[1] != '-' && strings.Contains(r.values, before[len(before)-1:]):
			case strings.HasPrefix(before, "--arg") || strings.HasPrefix(before, "--lines") || strings.HasPrefix(before, "--bytes"):
			default:
				words++
			}
			before = text
		}
		return words <= r.operands
	}
	return false
}
