package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells and the other interpreters run the file that is their first operand.
var (
	shells       = set("sh bash dash zsh ksh ash")
	interpreters = set("sh bash dash zsh ksh ash fish python python3 node deno bun ruby perl php Rscript pwsh lua tclsh osascript source .")
)

// wrappers run the command that follows them.
var wrappers = set("exec command nohup time env sudo nice setsid stdbuf")

// Files lists the files that a script runs and names in its text, in their order, each once: programs with a slash in their name,
// and the files that shells and other interpreters are told to run. Absolute paths are left out, because these files belong to the
// machine. The list of a script that cannot be parsed, or that is beyond the bounds, is empty. Nothing is run, and no file is read.
func Files(script string) (list []string) {
	if len(script) > MaxScript || depth(script) > MaxDepth {
		return nil
	}
	f, err := parse(script, Bash)
	if err != nil {
		return nil
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is {
			words := make([]string, len(c.Args))
			for i, w := range c.Args {
				words[i] = literalOf(w)
			}
			list = addFile(list, ArgvFile(words))
		}
		return true
	})
	return list
}

// literalOf is the text of a word without expansions; "" for other words.
func literalOf(w *syntax.Word) (text string) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text += p.Value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			inside := literalOf(&syntax.Word{Parts: p.Parts})
			if inside == "" && len(p.Parts) > 0 {
				return ""
			}
			text += inside
		default:
			return ""
		}
	}
	return text
}

func addFile(list []string, file string) []string {
	if file == "" {
		return list
	}
	for _, have := range list {
		if have == file {
			return list
		}
	}
	return append(list, file)
}

// ArgvFile is the file that a program with its arguments runs: the program if its name has a slash, or the file that an interpreter is
// told to run; "" if there is none. An argument that is not known is "".
func ArgvFile(words []string) string {
	for len(words) > 0 && (wrappers[path.Base(words[0])] || strings.Contains(words[0], "=") || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return ""
	case !interpreters[path.Base(words[0])]:
		if strings.Contains(words[0], "/") {
			return relative(words[0])
		}
		return ""
	}
	isShell := shells[path.Base(words[0])]
	for i := 1; i < len(words); i++ {
		w := words[i]
		option := strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--")
		switch {
		case w == "" || option && (isShell && strings.Contains(w, "c") || !isShell && (w == "-c" || w == "-e" || w == "-m")): // code, or a module
			return ""
		case option && isShell && strings.HasSuffix(w, "o"): // the next word is its value
			i++
		case !strings.HasPrefix(w, "-"):
			return relative(w)
		}
	}
	return ""
}

func relative(file string) string {
	if path.IsAbs(file) {
		return ""
	}
	return path.Clean(file)
}
