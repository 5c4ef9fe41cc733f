package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLater bounds how deep texts that are run later stand in each other.
const maxLater = 4

// later puts the texts that eval, trap and alias are given behind the script, as they are run in its own scope.
func (s *scan) later(file *syntax.File) *syntax.File {
	from := uint(0)
	for range maxLater {
		s.constants(file)
		var b strings.Builder
		texts := s.runLater(file, from)
		for _, text := range texts {
			if s.readable(text) {
				b.WriteString("\n{ :\n" + text + "\n}")
			} else {
				s.unread = append(s.unread, text)
			}
		}
		if b.Len() == 0 {
			return file
		}
		f, err := parse(s.text+b.String(), s.dialect)
		if err != nil {
			s.unread = append(s.unread, texts...)
			return file
		}
		from, file = uint(len(s.text)), f
		s.text += b.String()
	}
	s.unread = append(s.unread, s.runLater(file, from)...)
	return file
}

func (s *scan) readable(text string) bool {
	_, err := parse(text, s.dialect)
	return err == nil && len(s.text)+len(text) <= 2*MaxScript && depth(text) <= MaxDepth
}

// runLater are the texts that commands behind an offset are given to run, as far as they are known.
func (s *scan) runLater(file *syntax.File, from uint) (out []string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil && a.Value != nil && a.Pos().Offset() >= from {
			switch text := s.spelled(a.Value.Parts); a.Name.Value {
			case "PROMPT_COMMAND":
				out = append(out, text)
			case "PS0", "PS1", "PS2", "PS4": // read with their $( )
				out = append(out, ": \""+text+"\"")
			}
		}
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) < 2 || c.Pos().Offset() < from {
			return true
		}
		name, _ := s.literal(c.Args[0])
		args := c.Args[1:]
		for (name == "command" || name == "builtin") && len(args) > 1 {
			name, _ = s.literal(args[0])
			args = args[1:]
		}
		switch name {
		case "eval":
			var words []string
			for _, x := range args {
				words = append(words, s.spelled(x.Parts))
			}
			out = append(out, strings.TrimPrefix(strings.Join(words, " "), "-- "))
		case "trap":
			for _, x := range args {
				if text := s.spelled(x.Parts); !strings.HasPrefix(text, "-") {
					out = append(out, text)
					break
				}
			}
		case "alias":
			for _, x := range args {
				if name, text, ok := strings.Cut(s.spelled(x.Parts), "="); ok {
					s.aliases[name] = text
					out = append(out, text)
				}
			}
		}
		return true
	})
	return out
}

// blameUnread refuses what variables hold that are named in a text which is run later and cannot be read.
func (s *scan) blameUnread() {
	for _, text := range s.unread {
		each(text, func(name string) { s.blame(name, banEval) })
	}
}

// constants finds the variables that hold nothing but texts of the script.
func (s *scan) constants(f *syntax.File) {
	s.known = nil
	known, other := map[string][]string{}, map[string]bool{}
	note := func(name, text string, whole bool) {
		switch {
		case !whole || len(known[name]) > maxSources:
			other[name] = true
		case !slices.Contains(known[name], text):
			known[name] = append(known[name], text)
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			switch {
			case n.Name == nil || n.Naked:
			case n.Value == nil:
				note(n.Name.Value, "", !n.Append && n.Array == nil && n.Index == nil)
			default:
				text, whole := s.literal(n.Value)
				note(n.Name.Value, text, whole && !n.Append && n.Index == nil)
			}
		case *syntax.ForClause:
			if l, ok := n.Loop.(*syntax.WordIter); ok {
				for _, x := range l.Items {
					text, whole := s.literal(x)
					note(l.Name.Value, text, whole && !strings.ContainsAny(text, "*?[{"))
				}
				if !l.InPos.IsValid() {
					other[l.Name.Value] = true
				}
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				other[n.Param.Value] = true
			}
		case *syntax.CallExpr: // read, printf -v and their kin; declarations as sh has them
			if len(n.Args) == 0 {
				break
			}
			name, _ := s.literal(n.Args[0])
			if !declaring[name] && !filling[name] {
				break
			}
			for _, x := range n.Args[1:] {
				text, whole := s.literal(x)
				name, value, set := strings.Cut(text, "=")
				switch {
				case declaring[name] && !set:
				case set && isName(name):
					note(name, value, whole)
				case isName(strings.TrimPrefix(text, "-v")):
					other[strings.TrimPrefix(text, "-v")] = true
				}
			}
		}
		return true
	})
	for name := range other { // any order: each for itself
		delete(known, name)
	}
	s.known = known
}

// filling are the commands that give variables, by their names, what the script does not say.
var filling = set("read printf mapfile readarray getopts unset wait")

// environ are programs that can put out a variable of the environment, which they name in their text.
var environ = set("sh bash dash ash ksh zsh printenv env genv awk gawk mawk nawk perl python python2 python3 ruby node php lua jq gojq yq envsubst")

// The names under which held knows what is not a variable: what a function puts out and what it reads, what all variables
// hold, and what stands in a file that the script writes.
const (
	outOf   = "()"
	into    = "()<"
	allVars = "env()"
	fileOf  = "file "
)

// puts are the names in held of what a plain command puts out.
func (s *scan) puts(c *syntax.CallExpr) (names []string) {
	if len(c.Args) == 0 || len(s.held) == 0 {
		return nil
	}
	add := func(name string) {
		if len(names) < maxMentions && s.held.of(name) != nil {
			names = append(names, name)
		}
	}
	name, _ := s.literal(c.Args[0])
	if s.funcs[name] != nil {
		add(name + outOf)
	} else if environ[strings.TrimRight(path.Base(name), "0123456789.")] || environ[name] {
		for _, x := range c.Args[1:] {
			each(s.text[x.Pos().Offset():x.End().Offset()], func(name string) {
				if isName(name) {
					add(name)
				}
			})
		}
		if s.dumps(c) {
			add(allVars)
		}
	}
	if s.files {
		for _, x := range c.Args {
			add(s.file(x))
		}
	}
	return names
}

// dumps tells whether a command is env or printenv, with no name.
func (s *scan) dumps(c *syntax.CallExpr) bool {
	name, _ := s.literal(c.Args[0])
	if name = path.Base(name); name != "env" && name != "printenv" {
		return false
	}
	return !slices.ContainsFunc(c.Args[1:], func(x *syntax.Word) bool {
		text, _ := s.literal(x)
		return !strings.HasPrefix(text, "-") && !strings.Contains(text, "=")
	})
}

// file is the name in held of what a file holds: its path where it is written out, or else as the script spells it.
func (s *scan) file(x *syntax.Word) string {
	text, whole := s.literal(x)
	if !whole {
		text = strings.ReplaceAll(s.text[x.Pos().Offset():x.End().Offset()], `"`, "")
	}
	return fileOf + path.Clean(text)
}
