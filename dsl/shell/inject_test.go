package shell

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// payloads are texts that do harm wherever a shell reads them as a part of its script: each makes the file pwned then.
var payloads = []string{
	"$(touch pwned)", "`touch pwned`", "; touch pwned", "& touch pwned", "| touch pwned", "|| touch pwned", "&& touch pwned",
	"\ntouch pwned\n", "\r\ntouch pwned", "'; touch pwned; '", "\"; touch pwned; \"", "'\"; touch pwned; \"'", "'$(touch pwned)'", "\"$(touch pwned)\"",
	"\\$(touch pwned)", "\\\\$(touch pwned)", "\\`touch pwned\\`", "$\\(touch pwned)", "${IFS}touch${IFS}pwned", "$((a[$(touch pwned)]))",
	"a[$(touch pwned)]", "a[`touch pwned`]=1", "x=1; touch pwned", ") ; touch pwned ; (", "}; touch pwned; {", "done; touch pwned", "fi; touch pwned",
	";;esac; touch pwned", "EOF\ntouch pwned\n", "E\ntouch pwned\nE\n", "<(touch pwned)", ">pwned", "2>pwned", ">>pwned", "<<<$(touch pwned)",
	"$'\\x3b touch pwned'", "${x:-$(touch pwned)}", "${FLOWRUN_V0@P}$(touch pwned)", "-n", "-e", "--", "-", "!", "!!", "~", "~root", "*", "?[a-z]", "{a,b}",
	"$HOME", "$1", "$@", "$$", "%s%n", "\\", "\\\\", "\\n\\c\\0101", "'", "\"", "'\"'\"'", "`", " ", "  lead and trail  ", "\t", "\n", "two\nlines\n\n", "a\n",
	"ü€𝄞\u202e", "\x01\x02\x7f", "\u0081\u0088", "#comment", "a#b", "", "%", "&", "a=b", "[x]", "\\'", "\\\"", "touch pwned", "() { :;}; touch pwned", "($(touch pwned))", "([$(touch pwned)]=1)", "(a `touch pwned`)",
}

// contexts are all places that accept a value, each printing it. "then" is what is expected of the payload p.
var contexts = []struct {
	name, script string
	then         func(p string) string
	bash         bool
	skip         func(p string) bool
}{
	{name: "word", script: `printf '%s' «x»`},
	{name: "joined words", script: `printf '%s' a«x»b«x»`, then: func(p string) string { return "a" + p + "b" + p }},
	{name: "behind a variable", script: `v=w; printf '%s' $v«x»`, then: func(p string) string { return "w" + p }},
	{name: "double quotes", script: `printf '%s' "a «x» b"`, then: func(p string) string { return "a " + p + " b" }},
	{name: "double quotes behind a variable", script: `v=w; printf '%s' "$v«x»[0]"`, then: func(p string) string { return "w" + p + "[0]" }},
	{name: "behind two backslashes", script: `printf '%s' "\\«x»"`, then: func(p string) string { return `\` + p }},
	{name: "single quotes", script: `printf '%s' 'a $v «x» "b"'`, then: func(p string) string { return "a $v " + p + ` "b"` }},
	{name: "single quotes alone", script: `printf '%s' '«x»'`},
	{name: "one by one in single quotes", script: `printf '%s' '«x»«x»'`, then: func(p string) string { return p + p }},
	{name: "assignment", script: `v=«x»; printf '%s' "$v"`},
	{name: "assignment with more", script: `v=a:«x»:~; printf '%s' "$v"`, then: func(p string) string { return "a:" + p + ":" + os.Getenv("HOME") }},
	{name: "assignment before a command", script: `V=«x» env printenv V`, then: line},
	{name: "export", script: `export V=«x»; printf '%s' "$V"`},
	{name: "for list", script: `for i in «x» «x»; do printf '<%s>' "$i"; done`, then: func(p string) string { return "<" + p + "><" + p + ">" }},
	{name: "case word", script: `case «x» in *) printf '%s' «x»;; esac`},
	{name: "redirect out", script: `printf a > out/«x»; rm -- out/«x»; printf ok`, then: func(string) string { return "ok" }, skip: noFile},
	{name: "redirect in", script: `printf a > out/f«x»; cat < "out/f«x»"; rm out/f«x»`, then: func(string) string { return "a" }, skip: func(p string) bool { return p != "" && noFile(p) }},
	{name: "here-document", script: "cat <<E\na «x» b $((1+1))\nE", then: func(p string) string { return "a " + p + " b 2\n" }},
	{name: "here-document with tabs", script: "cat <<-E\n\ta «x»\n\tE", then: func(p string) string { return "a " + p + "\n" }},
	{name: "here-document quotes", script: "cat <<E\n\"«x»\" '«x»'\nE", then: func(p string) string { return `"` + p + `" '` + p + "'\n" }},
	{name: "command in a here-document", script: "cat <<E\n$(printf '%s|' «x» \"«x»\" '«x»')\nE", then: func(p string) string { return strings.Repeat(p+"|", 3) + "\n" }},
	{name: "default in a here-document", script: "cat <<E\n${none:-«x»}\nE", then: line},
	{name: "command substitution", script: `printf '%s' $(printf '%s|' «x») | cat`, skip: splits, then: func(p string) string { return p + "|" }},
	{name: "quoted command substitution", script: `printf '%s' "$(printf '%s|' «x» "«x»" '«x»')"`, then: func(p string) string { return strings.Repeat(p+"|", 3) }},
	{name: "nested command substitution", script: `printf '%s' "$(printf '%s|' "$(printf '%s|' «x»)")"`, then: func(p string) string { return p + "||" }},
	{name: "back quotes", script: "v=`printf '%s|' «x» \"«x»\" '«x»'`; printf '%s' \"$v\"", then: func(p string) string { return strings.Repeat(p+"|", 3) }},
	{name: "back quotes in double quotes", script: "printf '%s' \"`printf %s\\| «x»`\"", then: func(p string) string { return p + "|" }},
	{name: "single quotes in back quotes in double quotes", script: "printf '%s' \"`printf %s\\| '«x»'`\"", then: func(p string) string { return p + "|" }},
	{name: "default", script: `printf '%s' ${none:-«x»}`},
	{name: "default in double quotes", script: `printf '%s' "${none:-«x»}"`},
	{name: "quoted default in double quotes", script: `printf '%s' "${none:-a "«x»" b}"`, then: func(p string) string { return "a " + p + " b" }},
	{name: "assigned default", script: `: ${v:=«x»}; printf '%s' "$v"`},
	{name: "alternative", script: `v=1; printf '%s' ${v:+«x»}`},
	{name: "command in a default", script: `printf '%s' "${none:-$(printf '%s|' «x»)}"`, then: func(p string) string { return p + "|" }},
	{name: "function", script: `f() { printf '%s' "$1"; printf '%s' «x»; }; f «x»`, then: func(p string) string { return p + p }},
	{name: "pipe", script: `printf '%s' «x» | cat`},
	{name: "subshell", script: `(printf '%s' «x»); { printf '%s' «x»; }`, then: func(p string) string { return p + p }},
	{name: "condition", script: `if [ «x» = «x» ] && [ -n "a«x»" ]; then printf ok; fi`, then: func(string) string { return "ok" }},
	{name: "loop", script: `while [ «x» != "«x»" ]; do printf no; break; done; printf ok`, then: func(string) string { return "ok" }},
	{name: "sh -c with arguments", script: `sh -c 'printf "%s" "$1"' sh «x»`},
	{name: "env", script: `env V=«x» printenv V`, then: line},
	{name: "set", script: `set -- «x» b; printf '%s' "$1$#"`, then: func(p string) string { return p + "2" }},
	{name: "glob around", script: `printf '%s' nothing*«x»*`, then: func(p string) string { return "nothing*" + p + "*" }},
	{name: "comment", script: "printf ok # «x»", then: func(string) string { return "ok" }},
	{name: "find", script: `find . -maxdepth 1 -name «x» -exec true \; ; printf ok`, then: func(string) string { return "ok" }, skip: func(p string) bool { return strings.ContainsAny(p, "*?[") || p == "" || strings.Contains(p, "/") }},

	{name: "bash: words in an array", script: `a=(«x» b «x»); printf '%s|' "${a[@]}"`, bash: true, then: func(p string) string { return p + "|b|" + p + "|" }},
	{name: "bash: a member of an array", script: `declare -a a; a[0]=«x»; printf '%s' "${a[0]}"`, bash: true},
	{name: "bash: here-string", script: `cat <<< «x»`, bash: true, then: line},
	{name: "bash: [[ == ]]", script: `[[ «x» == «x» && -n "a«x»" ]] && printf ok`, bash: true, then: func(string) string { return "ok" }},
	{name: "bash: [[ != ]]", script: `[[ a«x» != «x» ]] && printf ok`, bash: true, then: func(string) string { return "ok" }},
	{name: "bash: process substitution", script: `cat <(printf '%s' «x»)`, bash: true},
	{name: "bash: declare", script: `f() { local v=«x»; declare -r w="«x»"; printf '%s' "$v$w"; }; f`, bash: true, then: func(p string) string { return p + p }},
	{name: "bash: braces", script: `printf '%s|' {«x»,b}c`, bash: true, then: func(p string) string { return p + "c|bc|" }},
	{name: "bash: |&", script: `printf '%s' «x» |& cat`, bash: true},
}

func line(p string) string { return p + "\n" }

func noFile(p string) bool { return p == "" || strings.ContainsAny(p, "/") || len(p) > 200 }

// splits tells whether unquoted $(…) would not be one word, which is the script's own doing.
func splits(p string) bool { return strings.ContainsAny(p, " \t\n*?[]\\") }

// No payload runs in any context, and each arrives byte for byte, in every shell that is here.
func TestInjection(t *testing.T) {
	if testing.Short() {
		t.Skip("starts thousands of programs")
	}
	if len(payloads) < 40 {
		t.Fatalf("%d payloads", len(payloads))
	}
	seen := map[string]bool{}
	for _, sh := range [][]string{{"/bin/sh", "-e"}, {"dash", "-e"}, {"bash", "-eo", "pipefail"}, {"bash", "--posix", "-e"}, {"busybox", "sh", "-e"}} {
		prog, err := exec.LookPath(sh[0])
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(prog); err == nil { // sh is one of the others, mostly
			if seen[real+strings.Join(sh[1:], " ")] {
				continue
			}
			seen[real+strings.Join(sh[1:], " ")] = true
		}
		t.Run(strings.Join(sh, " "), func(t *testing.T) {
			for _, c := range contexts {
				if c.bash && (sh[0] != "bash" || len(sh) == 3 && sh[1] == "--posix") {
					continue
				}
				d := POSIX
				if c.bash {
					d = Bash
				}
				attack(t, exec.Command(prog, sh[1:]...), c.name, c.script, d, c.then, c.skip)
			}
		})
	}
}

// attack runs the script of a context for all payloads in one shell.
func attack(t *testing.T, cmd *exec.Cmd, name, script string, d Dialect, then func(string) string, skip func(string) bool) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	const end = "\x1e\n"
	var all strings.Builder
	var values, want []string
	for _, p := range payloads {
		if skip != nil && skip(p) {
			continue
		}
		for range strings.Count(script, "«x»") {
			values = append(values, p)
		}
		all.WriteString("( " + script + "\n)\nprintf '\\036\\n'\n")
		w := p
		if then != nil {
			w = then(p)
		}
		want = append(want, w)
	}
	text, list := Rewrite(cut(all.String()), d, place)
	if list != nil {
		t.Errorf("%s is refused: %s: %s", name, list[0].Summary, script)
		return
	}
	cmd.Args = append(cmd.Args, "-c", text, "flowrun")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IFS= ")
	for i, v := range values {
		cmd.Env = append(cmd.Env, Variable(i)+"="+v)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v: %s\n%.300s", name, err, stderr.String(), text)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Errorf("%s: a payload ran:\n%.300s", name, text)
	}
	got := strings.Split(strings.TrimSuffix(string(out), end), end)
	if len(got) != len(want) {
		t.Errorf("%s: %d answers for %d payloads", name, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: got %s, want %s", name, fmt.Sprintf("%q", got[i]), fmt.Sprintf("%q", want[i]))
			return
		}
	}
}
