package shell

import "testing"

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
