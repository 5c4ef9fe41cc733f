package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Word is a word of a script and where it stands in the text, in bytes; At is -1 where that is not known.
type Word struct {
	Text    string
	At, End int
}

func wordAt(text string, n syntax.Node) Word {
	return Word{text, int(n.Pos().Offset()), int(n.End().Offset())}
}

// Habits are what a script or a program takes for granted. Nothing in it is certain: it is for advice.
type Habits struct {
	Reads  []Word // variables that the script reads and never sets, the first mention of each; no $1, $? and the like
	Bash   []Word // what bash has and sh has not; at most one
	Writes []Word // files and folders that it makes, by paths that are written out
	Opens  []Word // files and folders that it may read, likewise
}

// ReadHabits looks at a script. One that is too large to be looked at, or cannot be read, has none.
func ReadHabits(text string, d Dialect) (h Habits) {
	if len(text) > MaxScript || depth(text) > MaxDepth {
		return Habits{}
	}
	file, err := parse(text, d)
	if err != nil {
		if _, bad := parse(text, Bash); d == POSIX && bad == nil {
			return Habits{Bash: []Word{{"syntax of bash", -1, -1}}}
		}
		return Habits{}
	}
	r := &habitReader{Habits: &h, sets: map[string]bool{}, posix: d == POSIX}
	syntax.Walk(file, r.node)
	h.Reads = slices.DeleteFunc(h.Reads, func(w Word) bool { return r.sets[w.Text] })
	return h
}

// ArgvHabits looks at a program and its arguments; an empty text stands for a word that is not known.
func ArgvHabits(words []string) (h Habits) {
	r := &habitReader{Habits: &h}
	list := make([]Word, len(words))
	for i, w := range words {
		list[i] = Word{w, -1, -1}
	}
	r.call(list)
	return h
}

// Harmless reports whether a script consists of commands that neither read nor write a file.
func Harmless(text string, d Dialect) bool {
	if len(text) > MaxScript || depth(text) > MaxDepth {
		return false
	}
	file, err := parse(text, d)
	if err != nil {
		return false
	}
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			ok = ok && n.Word != nil && n.Word.Lit() == "/dev/null"
		case *syntax.CallExpr:
			ok = ok && (len(n.Args) == 0 || harmless[n.Args[0].Lit()])
		}
		return ok
	})
	return ok
}

// HarmlessArgv is [Harmless] of a program and its arguments.
func HarmlessArgv(words []string) bool { return len(words) > 0 && harmless[words[0]] }

// harmless are programs that touch no file, whatever their arguments are.
var harmless = map[string]bool{"echo": true, "printf": true, "true": true, "false": true, "sleep": true, ":": true, "exit": true, "expr": true, "uname": true, "whoami": true, "hostname": true}

// habitReader collects the habits of a script.
type habitReader struct {
	*Habits
	sets  map[string]bool
	posix bool
	dir   string // the folder that cd went to
	quiet uint   // the end of a statement whose errors may be thrown away
	lost  bool   // cd went somewhere that is not written out
}

var (
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	bashRange    = lazyregexp.New(`\{[0-9A-Za-z]+\.\.[0-9A-Za-z]+\}`)
)

// bashCommands are commands that sh does not have.
var bashCommands = map[string]bool{"[[": true, "source": true, "shopt": true, "mapfile": true, "readarray": true, "declare": true, "typeset": true, "pushd": true, "popd": true, "let": true}

func (r *habitReader) bash(word Word) {
	if r.posix && len(r.Bash) == 0 {
		r.Bash = append(r.Bash, word)
	}
}

func (r *habitReader) node(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ParamExp:
		name := ""
		if n.Param != nil {
			name = n.Param.Value
		}
		known := slices.ContainsFunc(r.Reads, func(w Word) bool { return w.Text == name })
		if variableName().MatchString(name) && n.Exp == nil && !known {
			r.Reads = append(r.Reads, wordAt(name, n))
		}
		if name == "RANDOM" || name == "BASH_SOURCE" || name == "PIPESTATUS" || name == "FUNCNAME" {
			r.bash(wordAt("$"+name, n))
		}
	case *syntax.Assign:
		if n.Name != nil && (n.Value != nil || n.Array != nil || n.Index != nil) {
			r.sets[n.Name.Value] = true
		}
	case *syntax.ForClause:
		if w, ok := n.Loop.(*syntax.WordIter); ok {
			r.sets[w.Name.Value] = true
		}
	case *syntax.Redirect:
		name := wordText(n.Word)
		switch n.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			r.write(wordAt(name, n))
		case syntax.RdrIn:
			r.open(wordAt(name, n))
		}
		if n.Op == syntax.RdrAll || n.Op == syntax.AppAll {
			r.bash(wordAt("&>", n))
		}
	case *syntax.CallExpr:
		words := make([]Word, len(n.Args))
		for i, a := range n.Args {
			words[i] = wordAt(wordText(a), a)
			if bashRange().MatchString(words[i].Text) && strings.Contains(a.Lit(), "{") {
				r.bash(words[i])
			}
		}
		r.call(words)
	case *syntax.Stmt:
		if len(n.Redirs) > 0 {
			r.quiet = max(r.quiet, n.End().Offset())
		}
		call, ok := n.Cmd.(*syntax.CallExpr)
		if ok && n.Pos().Offset() >= r.quiet && len(call.Args) > 1 && call.Args[0].Lit() == "set" && call.Args[len(call.Args)-1].Lit() == "pipefail" {
			r.bash(wordAt("set -o pipefail", call))
		}
	}
	return true
}

// wordText is a word of which all is written out, or "".
func wordText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// place is a path seen from the folder of the step, or "" where it is not known or not worth a word.
func (r *habitReader) place(name string) string {
	if name == "" || strings.ContainsAny(name, "*?[$`\\") || strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "~") || strings.Contains(name, "://") {
		return ""
	}
	if !path.IsAbs(name) {
		if r.lost {
			return ""
		}
		name = path.Join(r.dir, name)
	}
	name = path.Clean(name)
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	return name
}

func (r *habitReader) write(w Word) {
	if w.Text = r.place(w.Text); w.Text != "" {
		r.Writes = append(r.Writes, w)
	}
}

func (r *habitReader) open(w Word) {
	if w.Text = r.place(w.Text); w.Text != "" {
		r.Opens = append(r.Opens, w)
	}
}

// openers are programs whose arguments are files that they read, whatever the names look like.
var openers = map[string]bool{"cat": true, "head": true, "tail": true, "wc": true, "sort": true, "jq": true, "diff": true, "sh": true, "bash": true, "source": true, ".": true, "python": true, "python3": true, "node": true, "ls": true, "cp": true, "mv": true, "tar": true, "unzip": true, "gzip": true, "gunzip": true}

// call looks at a command and its words.
func (r *habitReader) call(words []Word) {
	if len(words) == 0 || words[0].Text == "" {
		return
	}
	name, args := words[0].Text, words[1:]
	if bashCommands[name] {
		r.bash(words[0])
	}
	if (name == "[" || name == "test") && slices.ContainsFunc(args, func(w Word) bool { return w.Text == "==" }) {
		r.bash(Word{"==", words[0].At, words[len(words)-1].End})
	}
	if strings.Contains(name, "/") {
		r.open(words[0])
		name = path.Base(name)
	}
	var plain []Word
	for i := 0; i < len(args); i++ {
		switch a := args[i].Text; {
		case (a == "-o" || a == "--output") && i+1 < len(args) || a == "-O" && name == "wget" && i+1 < len(args):
			i++
			r.write(args[i])
		case strings.HasPrefix(a, "--output="):
			r.write(Word{strings.TrimPrefix(a, "--output="), args[i].At, args[i].End})
		case !strings.HasPrefix(a, "-"):
			plain = append(plain, args[i])
		}
	}
	switch name {
	case "echo", "printf", "export", "set", "rm", "kill", "[[":
	case "read", "getopts":
		for _, w := range plain {
			if r.sets != nil {
				r.sets[w.Text] = true
			}
		}
	case "cd":
		if len(plain) == 1 && plain[0].Text != "" && plain[0].Text != "-" {
			r.open(plain[0])
			r.dir = path.Join(r.dir, plain[0].Text)
			if path.IsAbs(plain[0].Text) {
				r.dir = plain[0].Text
			}
		} else {
			r.lost = true
		}
	case "tee", "touch", "mkdir":
		for _, w := range plain {
			r.write(w)
		}
	case "cp", "mv", "install", "ln":
		for i, w := range plain {
			if i == len(plain)-1 && i > 0 {
				r.write(w)
			} else {
				r.open(w)
			}
		}
	case "git":
		if len(plain) == 3 && plain[0].Text == "clone" {
			r.write(plain[2])
		}
	default:
		for _, w := range plain {
			if openers[name] || strings.ContainsAny(w.Text, "./") {
				r.open(w)
			}
		}
	}
}
