package shell

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// A value that comes to a command by a way of its own: through a declaration, a loop, what a command reads, a program in
// a variable. None runs; what stands beside them stays accepted.
func TestWays(t *testing.T) {
	task := Part{Value: true, Text: "the task"}
	for _, c := range []struct {
		script string
		bash   bool
		stdin  bool
		fine   bool
	}{
		{script: `export n=«x»; $n`},
		{script: `export n=«x»; sh -c "$n"`},
		{script: `export n=«x»; eval "$n"`},
		{script: `readonly n=«x»; sh -c "echo $n"`},
		{script: `f() { local n=$1; $n; }; f «x»`},
		{script: `f() { local n="$1"; sh -c "echo $n"; }; f «x»`},
		{script: `export n=«x»; echo "$n"`, fine: true},
		{script: `export n=$(printf %s «x» | wc -c); $n`, fine: true},

		{script: `git log -«x»`},
		{script: `sort -«x» f`},
		{script: `tar -«x» -cf o.tar f`},
		{script: `find . -«x»`},
		{script: `[ -«x» «y» ]`, bash: true},
		{script: `echo -«x»`, fine: true},
		{script: `cat -`, fine: true},

		{script: `flock l -c "echo «x»"`},
		{script: `flock -w 5 l -c "echo «x»"`},
		{script: `docker run img -c "echo «x»"`},
		{script: `flock l echo «x»`, fine: true},
		{script: `docker run img --title "a «x»"`, fine: true},

		{script: `echo «x» | xargs -I% sh -c "echo %"`},
		{script: `echo «x» | xargs -I % sh -c 'echo %'`},
		{script: `echo «x» | xargs -I % sh -c "echo $HOME %"`},
		{script: `echo «x» | xargs --replace=F sh -c 'echo F'`},
		{script: `echo «x» | xargs -I N git log N`},
		{script: `echo «x» | xargs -iN git log N`},
		{script: `echo «x» | xargs -I{} cp "a/{}" "$HOME/b"`, fine: true},
		{script: `echo «x» | xargs -I% cp "a/%" b`, fine: true},

		{script: `while read -r n; do echo $((n)); done < <(printf '%s\n' «x»)`, bash: true},
		{script: `mapfile -t a < <(printf '%s\n' «x»); ((a[0]))`, bash: true},
		{script: `read -r n < <(echo «x»); [[ $n -gt 3 ]]`, bash: true},
		{script: `read -r n < <(echo «x»); echo "$n"`, bash: true, fine: true},
		{script: `read -r n < <(echo «x» | wc -c); ((n))`, bash: true, fine: true},

		{script: `v=«x»; echo ${v@P}`, bash: true},
		{script: `v=«x»; echo "${v@Q}"`, bash: true, fine: true},

		{script: `declare -i n; read -r n <<< «x»`, bash: true},
		{script: `declare -i n; printf -v n %s «x»`, bash: true},
		{script: `printf -vn %s «x»; ((n))`, bash: true},
		{script: `printf -v a[0] %s «x»; ((a[0]))`, bash: true},
		{script: `read -r a[0] <<< «x»; ((a[0]))`, bash: true},
		{script: `mapfile -t <<< «x»; ((MAPFILE[0]))`, bash: true},

		{script: `set -- «x»; for i do sh -c "echo $i"; done`},
		{script: `f() { for i; do sh -c "echo $i"; done; }; f «x»`},
		{script: `f() { sh -c "echo ${10}"; }; f 1 2 3 4 5 6 7 8 9 «x»`},

		{script: `h=$g; g=$f; f=$e; e=$d; d=$c; c=$b; b=$a; a=«x»; $h`},

		{script: `$SHELL -c "echo «x»"`},
		{script: `"${SHELL:-sh}" -c "echo «x»"`},
		{script: `PY=python3; $PY -c "print('«x»')"`},
		{script: `SUDO=env; $SUDO sh -c "echo «x»"`},
		{script: `$NODE --eval="«x»"`},
		{script: `$PY tool.py --title "a «x»"`, fine: true},

		{script: `v=«x»; [ $v = prod ]`, bash: true},
		{script: `v=«x»; [ "$v" = prod ]`, bash: true, fine: true},
		{script: `[ «x» = prod ]`, bash: true, fine: true},

		{script: `n=$(cat); $n`, stdin: true},
		{script: `$(cat)`, stdin: true},
		{script: `eval "$(cat)"`, stdin: true},
		{script: `sh -c "$(jq -r .c)"`, stdin: true},
		{script: `n=$(head -n 1); sh -c "echo $n"`, stdin: true},
		{script: `n=$(</dev/stdin); $n`, stdin: true, bash: true},
		{script: `n=$(cat | tr -d x); $n`, stdin: true},
		{script: `sh < /dev/stdin`, stdin: true},
		{script: `echo $(( $(cat) ))`, stdin: true, bash: true},
		{script: `git log $(cat)`, stdin: true},
		{script: `source <(cat)`, stdin: true, bash: true},
		{script: `bash < <(cat)`, stdin: true, bash: true},
		{script: `echo "$(cat)" | sh`, stdin: true},
		{script: `sh -c 'eval "$(cat)"'`, stdin: true},
		{script: `n=$(while read -r l; do echo "$l"; done); $n`, stdin: true},
		{script: `n=$(timeout 5 cat); $n`, stdin: true},
		{script: `f() { cat; }; n=$(f); $n`, stdin: true},
		{script: `while read -r n; do echo $((n)); done < <(cat)`, stdin: true, bash: true},
		{script: `git log "$(echo cat)"`, stdin: true, fine: true},
		{script: `n=$(cat); echo "$n"`, stdin: true, fine: true},
		{script: `n=$(cat f); $n`, stdin: true, fine: true},
		{script: `git log "$(jq -r .branch f.json)"`, stdin: true, fine: true},
		{script: `git log $(git rev-parse HEAD)`, stdin: true, fine: true},
		{script: `n=$(wc -c); $n`, stdin: true, fine: true},
		{script: `n=$(echo a | sed s/a/b/); $n`, stdin: true, fine: true},
		{script: `jq -n --arg v "$(cat)" '{v: $v}'`, stdin: true, fine: true},

		// The name of a command in a variable: what it is known to hold, and what it may hold.
		{script: `RUN="sh -c"; $RUN "echo «x»"`},
		{script: `RUN=; [ -t 0 ] && RUN="sh -c"; $RUN "echo «x»"`},
		{script: `P=sh; O=-c; "$P" $O "echo «x»"`},
		{script: `$RUN "echo «x»"`},
		{script: `$RUN -x "echo «x»"`},
		{script: `${RUN:-sh -c} "echo «x»"`},
		{script: `"$BIN/awk" "«x»" f`},
		{script: `"$SSH" host "ls «x»"`},
		{script: `f=g; g() { sh -c "$1"; }; $f «x»`},
		{script: "alias r='sh -c'\nr \"echo «x»\""},
		{script: `RUN="git commit"; $RUN -m «x»`, fine: true},
		{script: `"${RUN:-echo}" "a «x»"`, fine: true},
		{script: `RUN=echo; $RUN "a «x»"`, fine: true},
		{script: `$SUDO git commit -m «x»`, fine: true},

		// What commands and functions put out.
		{script: `export V=«x»; n=$(printenv V); $n`},
		{script: `export V=«x»; sh -c "$(printenv V)"`},
		{script: `export V=«x»; printenv V | sh`},
		{script: `export V=«x»; n=$(env | grep ^V= | cut -c3-); eval "$n"`},
		{script: `export V=«x»; awk 'BEGIN { print ENVIRON["V"] }' | sh`},
		{script: `export V=«x»; n=$(python3 -c 'import os; print(os.environ["V"])'); $n`},
		{script: `g() { printf %s «x»; }; n=$(g); $n`},
		{script: `g() { printf %s «x»; }; g | sh`},
		{script: `g() { printf %s «x»; }; h() { g; }; sh -c "$(h)"`},
		{script: `g() { printf %s «x»; }; $(g)`},
		{script: `g() { printf %s «x»; }; git log $(g)`},
		{script: `f() { sh; }; echo «x» | f`},
		{script: `f() { g; }; g() { cat | sh; }; echo «x» | f`},
		{script: `f() { sh; }; f <<< «x»`, bash: true},
		{script: `f() { read -r n; $n; }; echo «x» | f`},
		{script: `f() { g; sh; }; g() { f; }; echo «x» | g`},
		{script: `export V=«x»; n=$(printenv V); echo "$n"`, fine: true},
		{script: `g() { printf %s «x»; }; n=$(g); echo "$n"; g | cat`, fine: true},
		{script: `g() { printf %s «x»; }; n=$(g | wc -c); $n`, fine: true},

		// Text that is run later, or by another shell.
		{script: `v=«x»; trap 'sh -c "$v"' EXIT`},
		{script: `v=«x»; trap '$v' EXIT`},
		{script: `v=«x»; eval 'n=$v'; $n`},
		{script: `v=«x»; eval git log \$v`},
		{script: `v=«x»; eval "eval '\$v'"`},
		{script: `eval 'f() { sh -c "$1"; }'; f «x»`},
		{script: `v=«x»; alias r='eval "$v"'`},
		{script: "export v=«x»; bash <<'E'\neval \"$v\"\nE"},
		{script: "export v=«x»; bash -s <<E\neval \"\\$v\"\nE"},
		{script: "export v=«x»; cat <<'E' | sh\neval \"$v\"\nE"},
		{script: `export v=«x»; echo 'eval "$v"' | sh`},
		{script: `export v=«x»; bash <<< 'eval "$v"'`, bash: true},
		{script: `export v=«x»; su -c 'eval "$v"' me`},
		{script: `export v=«x»; script -qc 'eval "$v"' /dev/null`},
		{script: `export v=«x»; flock l -c 'eval "$v"'`},
		{script: `export v=«x»; watch 'eval "$v"'`},
		{script: `export v=«x»; sh -c "cd $HOME; eval \"\$v\""`},
		{script: `v=«x»; trap 'rm -f -- "$v"' EXIT`, fine: true},
		{script: `v=«x»; clean() { rm -f -- "$1"; }; trap 'clean "$v"' EXIT`, fine: true},
		{script: `v=«x»; eval 'echo "$v"'`, fine: true},
		{script: "export v=«x»; bash <<'E'\necho \"$v\"\nE", fine: true},
		{script: `export v=«x»; flock l -c 'echo "$v"'`, fine: true},

		// Redirections that stay.
		{script: "exec 0<<E\n«x»\nE\nsh"},
		{script: `exec < <(echo «x»); sh`, bash: true},
		{script: `exec 3<<< «x»; sh <&3`, bash: true},
		{script: `exec < <(echo «x»); read -r n; $n`, bash: true},
		{script: `exec > >(sh); echo «x»`, bash: true},
		{script: `coproc sh; echo «x» >&"${COPROC[1]}"`, bash: true},
		{script: `coproc S { sh; }; echo «x» >&"${S[1]}"`, bash: true},
		{script: `exec > log; echo «x»`, fine: true},
		{script: `exec > >(tee log); echo «x»`, bash: true, fine: true},

		// Programs of which only digits come out, and those that put words of theirs beside them.
		{script: `$(date +«x»)`},
		{script: `$(date "+%s «x»")`},
		{script: `n=$(date «x»); eval "$n"`},
		{script: `n=$(md5sum «x»); sh -c "echo $n"`},
		{script: `n=$(wc -c «x»); sh -c "echo $n"`},
		{script: `n=$(mktemp «x».XXXX); sh -c "echo $n"`},
		{script: `n=$(grep -c a f «x»); sh -c "echo $n"`},
		{script: `wait -n -p «x»`, bash: true},
		{script: `wait -np «x»`, bash: true},
		{script: `v=«x»; wait -n -p "$v"`, bash: true},
		{script: `wait «x»`, bash: true},
		{script: `jobs -x sh -c "echo «x»"`, bash: true},
		{script: `n=$(date -d «x» +%s); echo $((n))`, bash: true, fine: true},
		{script: `n=$(printf %s «x» | md5sum); sh -c "echo $n"`, fine: true},
		{script: `n=$(wc -c < «x»); sh -c "echo $n"`, fine: true},
		{script: `n=$(grep -c «x» f); sh -c "echo $n"`, fine: true},

		// Functions are judged by what they do with their arguments.
		{script: `sh() { command sh "$@"; }; sh -c "echo «x»"`},
		{script: `r() { "$@"; }; r sh -c "echo «x»"`},
		{script: `r() { "$@"; }; r «x»`},
		{script: `r() { "$@"; }; r git log «x»`},
		{script: `r() { shift; "$@"; }; r 3 sh -c "echo «x»"`},
		{script: `r() { while [ "$1" = -v ]; do shift; done; "$@"; }; r -v sh -c "echo «x»"`},
		{script: `r() { "${@:2}"; }; r 3 sh -c "echo «x»"`, bash: true},
		{script: `r() { q "$@"; }; q() { sudo "$@"; }; r sh -c "echo «x»"`},
		{script: `r() { "$@"; }; echo «x» | r sh`},
		{script: `r() { "$@" -c "echo «x»"; }; r sh`},
		{script: `r() { $@; }; r echo «x»`},
		{script: `r() { r "$@"; "$@"; }; r sh -c «x»`},
		{script: `r() { set -- sh -c "$1"; "$@"; }; r «x»`},
		{script: `retry() { "$@"; }; retry echo «x»`, fine: true},
		{script: `retry() { n=$1; shift; until "$@"; do sleep 1; done; }; retry 3 git commit -m «x»`, fine: true},
		{script: `r() { echo "+ $*"; sudo "$@"; }; r git commit -m «x»`, fine: true},
		{script: `r() { "${@:2}"; }; r 3 echo «x»`, bash: true, fine: true},

		// A folder that a value names, and a program in it.
		{script: `cd «x» && ./run.sh`},
		{script: `cd "pkg/«x»"; sh build.sh`},
		{script: `v=«x»; cd "$v"; bin/run`},
		{script: `cd «x» && . ./env.sh`},
		{script: `env -C «x» ./run.sh`},
		{script: `(cd «x» && ls); ./run.sh`, fine: true},
		{script: `cd «x» && make && /opt/run.sh`, fine: true},

		// A file that the script wrote.
		{script: "cat <<E > t.sh\necho «x»\nE\nsh t.sh"},
		{script: "cat > t.sh <<E\necho «x»\nE\nchmod +x t.sh; ./t.sh"},
		{script: `echo «x» >> t.sh; . ./t.sh`},
		{script: `{ echo a; echo «x»; } > t.sh; bash < t.sh`},
		{script: `echo «x» | tee t.sh; sh t.sh`},
		{script: `echo «x» > t.sh; cat t.sh | sh`},
		{script: `echo «x» > t; n=$(cat t); $n`},
		{script: `echo «x» > t; read -r n < t; $n`},
		{script: `f=$(mktemp); echo «x» > "$f"; sh "$f"`},
		{script: `echo «x» > t; mv t u; sh u`},
		{script: `mkfifo p; sh < p & echo «x» > p`},
		{script: `echo «x» > q.mk; make -f q.mk`},
		{script: `echo «x» > out; sh own.sh; cat out`, fine: true},
		{script: `echo «x» > q.json; jq . q.json`, fine: true},

		{script: `echo «x» | sudo tee t.sh; sh t.sh`},
		{script: `echo «x» | cat > t.sh; sh t.sh`},
		{script: `echo «x» | sponge t.sh; sh t.sh`},
		{script: `echo «x» | dd of=t.sh; sh t.sh`},
		{script: `RUN=(sh -c); "${RUN[@]}" "echo «x»"`, bash: true},
		{script: `export V=«x»; n=$(sh -c 'echo "$V"'); $n`},
		{script: `v=«x»; PS4='$(eval "$v")'; set -x`, bash: true},
		{script: `v=«x»; PROMPT_COMMAND='$v'`, bash: true},
		{script: `v=«x»; PS4='+ $LINENO '; echo "$v"`, bash: true, fine: true},

		{script: `runuser -u me -- ./own.sh «x»`, fine: true},
		{script: `pytest dir/«x»`, fine: true},
		{script: `mlr --icsv cat in/«x».csv`, fine: true},
		{script: `mlr --icsv cat then put '$a = "«x»"' f`},
		{script: `mlr --icsv put '$a = 1' in/«x».csv`, fine: true},
		{script: `psql -o "|cat «x»" -f q.sql`},
		{script: `psql "--output=|cat «x»" -f q.sql`},
		{script: `psql -o "out/«x»" -f q.sql`, fine: true},
		{script: `gcloud beta compute ssh vm -- "ls «x»"`},
		{script: `gcloud alpha compute ssh vm --command "ls «x»"`},
		{script: `gem install a --source «x»`},
		{script: `gem install a -v «x»`, fine: true},
		{script: `npm install a --registry «x»`},

		{script: `f() { if a; then shift 3; fi; "$@"; }; f sh -c "echo «x»" echo a`},
		{script: `f() { if a; then shift; fi; sh "$@"; }; f own.sh -c "echo «x»"`},
		{script: `f() { set -- sh -c "echo $2"; "$@"; }; f echo «x»`},
		{script: `f() { f "$@"; echo "$@"; }; f «x»`, fine: true},
		{script: `v=«x»; eval 'if $v'`},
		{script: `v=«x»; eval "eval 'echo \"\$v\"'"`, fine: true},
	} {
		a, d := Around{}, POSIX
		if c.stdin {
			a.Stdin = &task
		}
		if c.bash {
			d = Bash
		}
		_, list := a.Rewrite(cut(c.script), d, place)
		if fine := len(list) == 0; fine != c.fine {
			t.Errorf("%s: accepted %v: %v", c.script, fine, list)
		}
		for _, f := range list {
			if f.Code == "F0231" || f.Code == "F0244" {
				t.Errorf("%s: refused for another reason: %s", c.script, f.Summary)
			}
		}
	}
}

// A value as the folder of a step decides which program and which script a relative path names there.
func TestFolder(t *testing.T) {
	dir := Part{Value: true, Text: "dir"}
	a := Around{Dir: &dir}
	for line, refused := range map[string]bool{
		"./run.sh": true, "bin/run": true, "sh build.sh": true, "env ./run.sh": true, "python3 tools/a.py": true, "bash -c ./run.sh": true, "timeout 5 ./run.sh": true,
		"make": false, "go test ./...": false, "/opt/run.sh": false, "sh /opt/run.sh": false, "cat a/b": false, "sh -c 'ls'": false,
	} {
		var words [][]Part
		for _, w := range wordsOfLine(line) {
			words = append(words, cut(w))
		}
		if got := len(a.Argv(words)) > 0; got != refused {
			t.Errorf("list %s: refused %v", line, got)
		}
		if _, list := a.Rewrite(cut(line), POSIX, place); len(list) > 0 != refused {
			t.Errorf("script %s: refused %v", line, list)
		}
	}
	dir.Tame = true
	if list := a.Argv([][]Part{cut("./run.sh")}); list != nil {
		t.Errorf("a folder that is written out is refused: %v", list)
	}
}

// A script without values in it that cannot be read is refused where values are around it, and only there.
func TestUnread(t *testing.T) {
	value := Part{Value: true, Text: "x"}
	for name, text := range map[string]string{
		"long": "eval \"$V\" #" + strings.Repeat("a", MaxScript), "deep": strings.Repeat("( ", MaxDepth+1) + "eval \"$V\"" + strings.Repeat(")", MaxDepth+1), "another shell's": "eval \"$V\"\n(a=(b)",
	} {
		for around, a := range map[string]Around{
			"env":   {Env: func(name string) (Part, bool) { return value, name == "V" }},
			"stdin": {Stdin: &value},
		} {
			if _, list := a.Rewrite(cut(text), POSIX, place); len(list) != 1 || strings.TrimSpace(list[0].Detail) == "" {
				t.Errorf("%s, %s: %v", name, around, list)
			}
		}
		if _, list := (Around{}).Rewrite(cut(text), POSIX, place); list != nil {
			t.Errorf("%s is refused without values: %v", name, list)
		}
	}
	for _, inner := range []string{"'if $1", "'if $@", "((((" + strings.Repeat("(", MaxDepth) + " $1"} {
		if list := (Around{}).Argv([][]Part{cut("sh"), cut("-c"), cut(inner), cut("sh"), cut("«x»")}); len(list) != 1 {
			t.Errorf("%.9s: %v", inner, list)
		}
	}
	for text, a := range map[string]Around{"'if $V": {Env: func(name string) (Part, bool) { return value, name == "V" }}, "'if": {Stdin: &value}} {
		if list := a.Argv([][]Part{cut("sh"), cut("-c"), cut(text)}); len(list) != 1 {
			t.Errorf("%s: %v", text, list)
		}
	}
}

// Scripts of the greatest length that ask most of the judge take little CPU time: others may use this machine.
func TestSlowScripts(t *testing.T) {
	fill := func(head, unit string) string {
		return head + strings.Repeat(unit, (MaxScript-len(head)-40)/len(unit))
	}
	half := "v=«x»\nf() {\n" + strings.Repeat("x \"$@\"\n", MaxScript/14) + "}\n"
	for name, script := range map[string]string{
		"calls": fill(half, "f $v\n"), "pipes": fill(half, "a $v|f\n"), "evals": fill("v=«x»\n", "eval '$v'\n"), "texts for a shell": fill("v=«x»\n", "echo 'eval $v'|sh\n"), "exec": fill("v=«x»\n", "exec 3<<<$v\n"),
		"arguments": "v=«x»\nf() { while a; do shift; done; b \"$@\"; }\nf " + strings.Repeat("$v ", 20000), "itself": "v=«x»\nf() { " + strings.Repeat("f \"$@\" 1\n", 50) + "}\nf $v",
	} {
		began := cpu(t)
		Rewrite(cut(script), Bash, place)
		if took := cpu(t) - began; took > 5*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

// cpu is the processor time that this process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
