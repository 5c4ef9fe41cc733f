package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// attacks are texts that do harm where a shell, an interpreter or a program takes them for more than data. EVIL stands for
// a folder with programs and files that do it.
var attacks = []string{
	"$(touch pwned)", "`touch pwned`", "; touch pwned;", "'; touch pwned; '", "\"; touch pwned; \"", "\ntouch pwned\n", "a[$(touch pwned)]", "x[`touch pwned`]+1",
	"--output=pwned", "-opwned", "--exec=touch pwned", "--upload-pack=touch pwned;", "--checkpoint-action=exec=touch pwned", "--to-command=touch pwned", "-Itouch pwned",
	"--use-compress-program=touch pwned", "-oProxyCommand=touch pwned", "-oProxyCommand=touch pwned:x", "--filter=touch pwned", "--compress-program=touch pwned", "--run=touch pwned",
	"-delete", "-fprint=pwned", "--target-directory=pwned", "-ctouch pwned", "-etouch pwned", "of=pwned", "+!touch pwned", "!touch pwned", "|touch pwned", "touch pwned|", "$(shell touch pwned)",
	"BEGIN{system(\"touch pwned\")}", "e touch pwned", "1w pwned", "system('touch pwned')", "__import__('os').system('touch pwned')", "-c__import__('os').system('touch pwned')",
	"require('child_process').execSync('touch pwned')", "-prequire('child_process').execSync('touch pwned')", ".shell touch pwned", "core.pager=touch pwned", "alias.log=!touch pwned",
	"EVIL/touch.sh", "EVIL", "-fEVIL/touch.mk", "-rEVIL/touch.js", "--rcfile=EVIL/touch.sh", "--require=EVIL/touch.js", "exec 9>pwned", "%output{pwned}x", "-", "--", "plain text",
}

// commands are programs with their words, a value in the place of each X. in: the value is on standard input; NAME=X in
// front: it is in the environment.
var commands = []string{
	"sh -c|echo X", "sh|-c|X", "sh|-c|echo \"$1\"|sh|X", "sh|-c|eval \"$1\"|sh|X", "sh|X", "sh|own.sh|X", "in sh", "in sh|-s", "in cat", "in sh|own.sh", "in bash|-s", "in python3", "in python3|-", "in node",
	"in awk|{print}", "in perl", "in sqlite3|out.db", "in make|-f-", "in env|sh", "in timeout|5|bash", "in xargs|echo", "in xargs|sh|-c", "in xargs|-I{}|sh|-c|{}", "in xargs|-I{}|echo|{}", "in xargs|git|log", "in xargs|tar|cf|out.tar",
	"in xargs|tar|cf|out.tar|--", "in xargs", "in xargs|env",
	"bash|-c|echo \"$1\"|bash|X", "bash|-c|[[ $1 -gt 0 ]]|bash|X", "bash|-c|echo $(($1))|bash|X", "bash|-c|declare -i n=$1|bash|X", "bash|-c|echo ${!1}|bash|X", "bash|-c|$1|bash|X", "bash|-c|a=(1); echo ${a[$1]}|bash|X", "bash|-c|test -v \"$1\"|bash|X",
	"bash|-c|X", "bash|-lc|X", "/bin/bash|-c|X", "/usr/bin/env|bash|-c|X", "env|sh|-c|X", "env|-S|X", "env|X|true", "env|A=X|true", "env|PATH=X|git|log", "timeout|5|sh|-c|X", "timeout|5|X", "nice|sh|-c|X", "nohup|sh|-c|X", "setsid|sh|-c|X",
	"stdbuf|-o0|sh|-c|X", "xargs|-a|f|sh|-c|X", "flock|out.lock|-c|X", "flock|out.lock|X", "script|-qc|X|/dev/null", "timeout|5|echo|X", "nice|cat|--|X", "env|echo|X",
	"find|X", "find|.|-name|X", "find|.|-print|X", "find|.|-exec|sh|-c|X|;", "find|.|-exec|X|;", "find|./X", "find|.|-name|f|-exec|echo|X|;",
	"git|log|X", "git|log|--end-of-options|X", "git|log|--|X", "git|log|--grep|X", "git|log|--format|X", "git|log|-n1|HEAD..X", "git|-c|X|log", "git|-c|core.pager=X|log", "git|diff|X", "git|diff|--stat|X", "git|show|X", "git|show|HEAD:X", "git|rev-parse|X", "git|rev-list|X",
	"git|checkout|X", "git|switch|X", "git|branch|X", "git|tag|X", "git|commit|--allow-empty|-m|X", "git|clone|X|outc", "git|clone|--|X|outc", "git|clone|-b|X|--|.|outc", "git|fetch|X", "git|fetch|--|X", "git|push|.|X", "git|push|.|HEAD:refs/heads/X",
	"git|grep|X", "git|grep|-e|X", "git|archive|X", "git|config|alias.x|X", "git|config|user.name|X", "git|config|X|y", "git|rebase|-x|X|HEAD", "git|blame|X", "git|format-patch|X", "git|add|X", "git|X", "git|submodule|foreach|X", "git|bisect|run|X", "git|ls-remote|X", "git|merge|X", "git|difftool|-x|X", "git|shortlog|X", "git|cherry-pick|X", "git|cat-file|-p|X",
	"tar|cf|out.tar|X", "tar|cf|out.tar|--|X", "tar|cf|out.tar|./X", "tar|-cf|X|f", "tar|cf|X|f", "tar|xf|X", "tar|cf|out.tar|-I|X|f", "tar|--checkpoint=1|--checkpoint-action=X|-cf|out.tar|f", "tar|--checkpoint-act=exec=X|--checkpoint=1|-cf|out.tar|f", "tar|cf|out.tar|--exclude|X|f",
	"awk|X|f", "awk|{print}|X", "awk|-v|v=X|{print v}|f", "awk|-f|X|f", "mawk|X|f", "sed|X|f", "sed|-n|p|X", "sed|-n|p|--|X", "sed|s/a/X/|f", "sed|-e|X|f",
	"sort|X", "sort|--|X", "sort|-o|X|f", "sort|-k1|f", "split|X", "split|--filter|X|f", "cp|X|f", "cp|--|f|outX", "cp|f|X", "mv|X|f", "ln|X|f", "install|X|f", "dd|X", "dd|if=X|of=outdd",
	"perl|-e|X", "perl|-e|print $ARGV[0]|X", "perl|-e|print $ARGV[0]|--|X", "perl|-ne|print|X", "perl|X", "perl|-pe|s/a/X/|f", "python3|-c|X", "python3|X", "python3|own.py|X", "python3|-c|print(1)|X", "python3|-m|X", "node|-e|X", "node|-e|1|X", "node|own.js|X", "node|X", "node|-r|X|own.js",
	"make|X", "make|-f|own.mk|V=X", "make|-f|own.mk|all", "make|SHELL=X|-f|own.mk", "cat|X", "cat|--|X", "ls|X", "ls|-l|X", "echo|X", "printf|%s|X", "printf|X", "test|-n|X", "test|X|=|b", "grep|X|f", "grep|-F|--|X|f", "grep|-e|X|f", "head|-n1|X", "wc|-l|X", "stat|X", "basename|X", "dirname|X", "date|+%s|X", "mkdir|-p|out/X", "rm|-f|X", "tee|/dev/null|out/X",
	"less|X", "zip|out.zip|X", "zip|out.zip|-TT|X|f", "curl|X", "curl|-s|file:///X", "curl|-d|X|http://127.0.0.1:1/", "curl|-H|X: X|http://127.0.0.1:1/", "curl|-w|X|file:///dev/null", "curl|-o|X|file:///dev/null", "curl|-K|X", "wget|X", "wget|-e|X|http://127.0.0.1:1/",
	"jq|-n|X", "jq|-n|--arg|v|X|$v", "jq|.|X", "sqlite3|out.db|X", "sqlite3|X", "sqlite3|-cmd|X|out.db", "ssh|X", "ssh|-oBatchMode=yes|X|ls", "ssh|-o|X|127.0.0.1|ls", "ssh|-p1|127.0.0.1|ls X", "ed|X", "man|X", "file|X", "diff|f|X", "xargs|-a|f|X", "script|X",
	"X", "X|a", "./own.sh|X", "./X", "frob|X", "frob|--|X", "frob|--title|X", "frob|--title=X", "frob|-v|X", "frob|--verbose|X", "frob|pre-X", "./frob|X", "busybox|sh|-c|X", "gcc|X", "gcc|-wrapper|X|own.c", "go|run|X", "go|test|-exec|X|./...", "npm|run|X", "npx|X", "docker|run|X", "kubectl|exec|p|--|sh|-c|X",
	"PATH=X git|log", "BASH_ENV=X bash|own.sh", "ENV=X sh|-i|own.sh", "LD_PRELOAD=X cat|f", "LD_LIBRARY_PATH=X cat|f", "GIT_SSH_COMMAND=X git|ls-remote|ssh://127.0.0.1/x", "GIT_EXTERNAL_DIFF=X git|diff|HEAD~1", "GIT_PAGER=X git|log", "GIT_CONFIG_COUNT=X git|log", "GIT_CONFIG_PARAMETERS=X git|log", "PAGER=X git|log", "EDITOR=X git|commit|--allow-empty",
	"NODE_OPTIONS=X node|own.js", "PYTHONSTARTUP=X python3|own.py", "PYTHONPATH=X python3|own.py", "PERL5OPT=X perl|-e|1", "PERL5LIB=X perl|-e|1", "MAKEFLAGS=X make|-f|own.mk", "CC=X make|-f|own.mk", "TAR_OPTIONS=X tar|cf|out.tar|f", "GREP_COLOR=X grep|a|f", "TITLE=X printenv|TITLE", "LESSOPEN=X cat|f", "BASH_FUNC_git=X bash|own.sh", "SHELL=X env", "PS4=X bash|-xc|true",
	"N=X bash|-c|[[ $N -gt 0 ]]", "N=X bash|-c|echo $((N + 1))", "N=X bash|-c|echo \"$N\"", "N=X bash|-c|eval \"$N\"", "N=X bash|-c|git log \"$N\"", "N=X sh|-c|printf '%s' \"$N\"",
}

// scripts are those that no list of words is: X stands for a value. The second of a pair is for bash.
var scripts = []string{
	"n=X; [[ $n -gt 0 ]]", "n=X; echo $((n))", "n=X; m=$n; echo $((m + 1))", "n=X; a=(1 2); echo ${a[$n]}", "n=X; a[n]=1", "n=X; echo ${HOME:$n}", "n=X; let m=n", "n=X; (( n > 1 ))", "n=X; declare -i m=$n", "n=X; test -v \"$n\"", "n=X; unset \"$n\"", "n=X; echo ${!n}", "n=X; printf -v \"$n\" a",
	"for n in X; do echo $((n)); done", "read n <<< X; echo $((n))", "echo X | { read n; echo $((n)); }", "n=$(echo X); [[ $n -eq 1 ]]", "n=\"$(cat <<< X)\"; ((n))", "f() { echo $(($1)); }; f X", "set -- X; echo $(($1))", "mapfile a <<< X; echo $((a))", "n=X; RANDOM=$n", "n=X; for ((i=0;i<n;i++)); do :; done",
	"n=X; $n", "n=X; eval \"$n\"", "n=X; sh -c \"$n\"", "n=X; git log \"$n\"", "n=X; echo \"$n\" | sh", "n=X; bash <<< \"$n\"", "n=X; . \"$n\"", "n=X; trap \"$n\" EXIT", "PATH=X git log", "PATH=X; git log", "export BASH_ENV=X; bash own.sh", "GIT_PAGER=X git log", "X", "X a",
	"n=X; echo \"$n\"", "n=X; [ \"$n\" = a ]", "n=X; [ \"$n\" -gt 3 ] || true", "n=X; [[ $n == a* ]]", "n=X; echo \"${#n}\"; echo $((${#n} + 1))", "n=X; c=$(printf '%s' \"$n\" | wc -c); echo $((c + 1))", "n=X; git log -- \"$n\"", "n=X; echo \"$n\" | cat", "n=X; case $n in a) ;; *) echo b ;; esac", "for n in X; do echo \"$n\"; done",
	"echo X > out.txt; cat out.txt", "cat <<E\nX\nE", "f() { echo \"$1\"; }; f X", "printf '%s\\n' X | grep -c a || true", "printf '%s\\n' X | xargs echo", "printf '%s\\n' X | xargs git log", "printf '%s\\n' X | sh", "printf '%s\\n' X | tee out2", "git log \"\"X", "git log $none\"X\"", "git log $(echo X)", "git log --grep=X", "X=a; echo $X",
	"if [ -n X ]; then echo yes; fi", "[ -e X ] && echo there || true", "cd X || true", "export TITLE=X; printenv TITLE", "echo X | while read -r l; do echo \"$l\"; done", "test X = b || true", "v=X; python3 own.py \"$v\"", "v=X; ./own.sh \"$v\" --x=\"$v\"", "awk -v v=X '{print v}' f", "echo X >&2", "sort -- X || true",
}

// share is how many steps there are for one that is run with an attack.
const share = 16

// TestValuesStayData makes a step of each command and script, in each place and shape of list, asks validate, and runs what
// it accepts by the real programs: each attack with its share of the steps, or with all where FLOWRUN_ALL_VALUES is set.
func TestValuesStayData(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of programs")
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	bin, evil := filepath.Join(root, "bin"), filepath.Join(root, "evil")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	flowrun := filepath.Join(root, "flowrun")
	if err := os.Symlink(self, flowrun); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(bin, "frob"), "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in --) exit ;; --title) shift ;; --run=*) ${1#--run=} ;; esac; shift; done\n")
	for _, name := range []string{"touch.sh", "git", "cat", "ls"} {
		write(filepath.Join(evil, name), "#!/bin/sh\n: > pwned\n")
	}
	write(filepath.Join(evil, "touch.mk"), "$(shell touch pwned)\nall:\n")
	write(filepath.Join(evil, "touch.js"), "require('fs').writeFileSync('pwned', '')")
	write(filepath.Join(evil, "sitecustomize.py"), "open('pwned', 'w')")

	tried, steps := generated()
	missing := 0
	for i := range steps {
		if s := &steps[i]; !s.shell && !strings.ContainsAny(s.program, "/X") && s.program != "frob" {
			if _, err := exec.LookPath(s.program); err != nil {
				s.missing = true
				missing++
			}
		}
	}

	// What is accepted: each step is a file of its own.
	var files []string
	for i, s := range steps {
		file := filepath.Join(root, "check", fmt.Sprintf("s%d.hcl", i))
		write(file, source([]step{s}))
		files = append(files, file)
	}
	out, _ := exec.Command(flowrun, append([]string{"validate", "--format", "json"}, files...)...).Output()
	refused := map[int]bool{}
	codes := map[string]int{}
	var answer struct {
		Diagnostics []struct {
			Code, Severity, Summary string
			Range                   struct{ Filename string }
		}
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%v: %.500s", err, out)
	}
	for _, d := range answer.Diagnostics {
		var n int
		name := filepath.Base(d.Range.Filename)
		if _, err := fmt.Sscanf(name, "s%d.hcl", &n); err != nil || d.Severity != "error" {
			continue
		}
		if !strings.HasPrefix(d.Code, "F02") {
			t.Errorf("%s is refused for another reason: %s %s", steps[n].text, d.Code, d.Summary)
		}
		refused[n] = true
		codes[d.Code]++
	}
	var accepted []step
	for i, s := range steps {
		if !refused[i] && !s.missing {
			accepted = append(accepted, s)
		}
	}

	// Carry out what is accepted.
	home := filepath.Join(root, "home")
	write(filepath.Join(home, ".gitconfig"), "[user]\n name = a\n email = a@b\n")
	work := filepath.Join(root, "work")
	for _, s := range accepted {
		dir := filepath.Join(work, s.name)
		write(filepath.Join(dir, "f"), "a b\n")
		write(filepath.Join(dir, "own.sh"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
		write(filepath.Join(dir, "frob"), "#!/bin/sh\nexit 0\n")
		write(filepath.Join(dir, "own.py"), "import sys; print(sys.argv)\n")
		write(filepath.Join(dir, "own.js"), "console.log(process.argv)\n")
		write(filepath.Join(dir, "own.mk"), "all:\n\t@echo made\n")
	}
	git := exec.Command("sh", "-c", `for d in */; do (cd "$d" && git init -q . && git add f && git commit -qm one && echo c >>f && git commit -qam two) || exit 1; done`)
	git.Dir, git.Env = work, append(os.Environ(), "HOME="+home)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	executed, written, runs := 0, 0, 0
	before := listed(t, work)
	for k, attack := range attacks {
		var some []step
		for i, s := range accepted {
			if os.Getenv("FLOWRUN_ALL_VALUES") != "" || (i+k)%share == 0 {
				some = append(some, s)
			}
		}
		write(filepath.Join(work, "all.hcl"), source(some))
		attack = strings.ReplaceAll(attack, "EVIL", evil)
		value := filepath.Join(root, "value")
		write(value, attack)
		c := exec.Command(flowrun, "apply", "all.hcl", "--input", "x=@"+value, "--var", "x=@"+value)
		c.Dir, c.Env = work, append(os.Environ(), "FLOWRUN_STORE="+filepath.Join(root, "store"), "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "GIT_TERMINAL_PROMPT=0")
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState.ExitCode() != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		runs += len(some)
		after := listed(t, work)
		for name := range after {
			if before[name] {
				continue
			}
			step := strings.SplitN(name, string(filepath.Separator), 2)[0]
			text := step
			for _, s := range accepted {
				if s.name == step {
					text = s.text
				}
			}
			if strings.Contains(name, "pwned") {
				executed++
			} else {
				written++
			}
			t.Errorf("%q made %s in\n%s", attack, name, text)
		}
		before = after
	}
	t.Logf("%d commands and scripts, %d steps, %d combinations with an attack: %d steps refused %v, %d accepted, %d not here; %d programs ran, %d executed a value, %d files written",
		tried, len(steps), len(steps)*len(attacks), len(refused), codes, len(accepted), missing, runs, executed, written)
	if len(steps)*len(attacks) < 300 || len(accepted) < len(steps)/4 || len(refused) < len(steps)/4 {
		t.Error("too few of a kind to mean anything")
	}
}

// listed are the files below a folder, but those that the steps themselves say they make, and git's own.
func listed(t *testing.T, dir string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() && (name == ".git" || strings.HasPrefix(name, "out") || name == ".flowrun") {
			return filepath.SkipDir
		}
		if !d.IsDir() && !strings.HasPrefix(name, "out") && name != "all.hcl" {
			rel, _ := filepath.Rel(dir, path)
			out[rel] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type step struct {
	name, text, program string
	shell, missing      bool
}

// source is a file with steps.
func source(steps []step) string {
	var b strings.Builder
	b.WriteString("variable \"x\" { type = string }\nlocals {\n  x = var.x\n}\nworkflow \"w\" {\n  input \"x\" { type = string }\n  timeout = \"20m\"\n  output \"x\" { value = \"${input.x}${local.x}\" }\n")
	var agents strings.Builder
	for _, s := range steps {
		if _, after, ok := strings.Cut(s.text, "agent!"); ok {
			fmt.Fprintf(&agents, "agent %q {\n%s\n  dir = %q\n}\n", s.name, after, s.name)
			fmt.Fprintf(&b, "  step %q {\n    on_error = \"continue\"\n    timeout = \"10s\"\n    agent = agent.%s\n    task = input.x\n  }\n", s.name, s.name)
			continue
		}
		fmt.Fprintf(&b, "  step %q {\n    on_error = \"continue\"\n    timeout = \"10s\"\n    dir = %q\n%s\n  }\n", s.name, s.name, s.text)
	}
	return agents.String() + b.String() + "}\n"
}

// generated are the steps of all commands and scripts.
func generated() (commandsAndScripts int, out []step) {
	add := func(program string, shell bool, text string) {
		out = append(out, step{name: fmt.Sprintf("s%d", len(out)), text: text, program: program, shell: shell})
	}
	for i, c := range commands {
		extra, text := "", c
		if rest, ok := strings.CutPrefix(c, "in "); ok {
			extra, text = "\n    stdin = input.x", rest
		} else if before, rest, ok := strings.Cut(c, "=X "); ok && !strings.Contains(before, "|") && !strings.Contains(before, " ") {
			extra, text = "\n    env = { "+before+" = input.x }", rest
		}
		words := strings.Split(text, "|")
		if words[0] == "sh -c" {
			words = append([]string{"sh", "-c"}, words[1:]...)
		}
		program := words[0]
		add(program, false, "    run = ["+list(words, "input.x")+"]"+extra)
		shape := i % 5
		head, tail := words[:len(words)-1], words[len(words)-1:]
		switch shape {
		case 0:
			add(program, false, "    run = concat(["+list(head, "input.x")+"], ["+list(tail, "input.x")+"])"+extra)
		case 1:
			add(program, false, "    run = input.x == \"\" ? [\"true\"] : ["+list(words, "input.x")+"]"+extra)
		case 2:
			add(program, false, "    run = flatten([["+list(head, "input.x")+"], "+list(tail, "input.x")+"])"+extra)
		case 3:
			if tail[0] == "X" && len(head) > 0 {
				add(program, false, "    run = concat(["+list(head, "input.x")+"], [for v in split(\"\\u0001\", input.x) : v])"+extra)
			}
		case 4:
			add(program, false, "    run = ["+list(words, "local.x")+"]"+extra)
		}
		if extra == "" {
			var b []string
			for _, w := range words {
				switch {
				case w == "X":
					b = append(b, []string{"${input.x}", "\"${input.x}\"", "'${input.x}'"}[i%3])
				default:
					b = append(b, "'"+strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(w, "'", `'\''`), "${", "$${"), "X", "${input.x}")+"'")
				}
			}
			add(program, true, "    shell = \""+[]string{"sh", "bash"}[i%2]+"\"\n    run = "+quoted(strings.Join(b, " ")))
		}
		if i%4 == 0 && extra == "" || strings.HasPrefix(c, "in ") {
			add(program, false, "agent!  type = \"exec\"\n  input = \"text\"\n  command = ["+list(words, "var.x")+"]")
		}
	}
	for i, s := range scripts {
		text := strings.ReplaceAll(strings.ReplaceAll(s, "${", "$${"), "X", []string{"${input.x}", "\"${input.x}\""}[i%2])
		if s == "X=a; echo $X" {
			text = "X=a; echo $X ${input.x}"
		}
		add("bash", true, "    shell = \"bash\"\n    run = "+quoted(text))
		if i%3 == 0 {
			add("bash", true, "    shell = \"bash\"\n    env = { V = input.x }\n    run = "+quoted(strings.ReplaceAll(strings.ReplaceAll(s, "${", "$${"), "X", "\"$V\"")))
		}
		if i%5 == 0 {
			add("bash", true, "agent!  type = \"shell\"\n  shell = \"bash\"\n  output_format = \"text\"\n  run = "+quoted(strings.ReplaceAll(text, "input.x", "var.x")))
			add("bash", true, "    run = \"true\"\n    gate \"g\" {\n      shell = \"bash\"\n      run = "+quoted(text)+"\n    }")
		}
	}
	return len(commands) + len(scripts), out
}

// list are words as members of a list.
func list(words []string, value string) string {
	var out []string
	for _, w := range words {
		if w == "X" {
			out = append(out, value)
			continue
		}
		out = append(out, quoted(strings.ReplaceAll(strings.ReplaceAll(w, "${", "$${"), "X", "${"+value+"}")))
	}
	return strings.Join(out, ", ")
}

func quoted(text string) string {
	return `"` + strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n").Replace(text) + `"`
}
