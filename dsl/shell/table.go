package shell

import "strings"

// kind says what a program takes a word for.
type kind int

const (
	isData    kind = iota
	isText         // text that it runs
	isFile         // the file that it runs
	isCommand      // a command with its arguments
)

// tool is a program that runs text, files or commands that it is given. Words are told apart by their places, as the
// program itself does it.
type tool struct {
	first, rest kind
	code        map[string]bool // options whose value it runs
	values      map[string]bool // other options with a value
	pairs       map[string]bool // options with two
	stdin       bool            // it runs what it reads, where no word says what it runs
	reads       bool            // it always does
	shell       bool            // -c makes its first word a script, -s makes it run what it reads
	ends        bool            // behind an option with text all words are data
	runs        bool            // some option runs a program, so no word may begin with a value before --
	mixed       bool            // options may stand behind other words
	assigns     bool            // NAME=VALUE may stand first
	bundle      bool            // its first word is letters of options, with or without -
	how, dash   string          // what to do instead: for text, and for options
}

// The ways out that several programs share.
const (
	howShell  = "Write the text in single quotes and give the value behind it:  sh -c 'echo \"$1\"' sh {value}."
	howRemote = "Send the value to the other side's standard input:  printf '%s\\n' {value} | ssh HOST 'read -r v; echo \"$v\"'."
	howPython = "Read it from the arguments, sys.argv[1]:  python3 -c '…' {value}."
	howPerl   = "Read it from the arguments, $ARGV[0]:  perl -e '…' -- {value}."
	howAwk    = "Give it in the environment,  env = { V = {expr} }, and read ENVIRON[\"V\"]."
	howSed    = "sed has no other way to take a value. Use awk or perl with  env = { V = {expr} }:  perl -pe 's/OLD/$ENV{V}/'."
	howSQL    = "Give it as a variable of the client (psql -v v={value}, and :'v' in the text), which puts the quotes."
)

// tools is known to be incomplete: it has what scripts of builds and deployments use most. A program that is not in it gets
// its arguments as data, whatever it does with them; but see embedded. Where nothing says otherwise, what the program runs
// is what is listed.
var tools = func() map[string]*tool {
	out := map[string]*tool{}
	add := func(names string, t tool) {
		for _, n := range strings.Fields(names) {
			out[n] = &t
		}
	}
	// Interpreters: an option with the text, or a file; or what they read.
	add("sh bash dash ash zsh ksh mksh yash rbash fish csh tcsh", tool{first: isFile, stdin: true, shell: true, code: set("--rcfile --init-file"), values: set("-o -O"), how: howShell})
	add("python python2 python3 pypy pypy3", tool{first: isFile, stdin: true, code: set("-c -m"), ends: true, values: set("-W -X"), how: howPython})
	add("perl", tool{first: isFile, stdin: true, code: set("-e -E -M -m -I"), how: howPerl})
	add("ruby", tool{first: isFile, stdin: true, code: set("-e -r -I"), values: set("-C"), how: "Read it from the arguments, ARGV[0]:  ruby -e '…' -- {value}."})
	add("node nodejs bun", tool{first: isFile, stdin: true, code: set("-e -p -r --eval --print --require --import"), how: "Read it from the arguments, process.argv[1]:  node -e '…' -- {value}."})
	add("php", tool{first: isFile, stdin: true, code: set("-r -R -B -E -d -f --run"), how: "Read it from the arguments, $argv[1]:  php -r '…' -- {value}."})
	add("deno", tool{first: isData, rest: isText, how: "Read it from the environment,  env = { V = {expr} }."})
	add("tsx ts-node", tool{first: isFile, stdin: true, code: set("-e -p -r --eval --print --require --import")})
	add("lua luajit julia octave gnuplot Rscript osascript tclsh expect wish guile elixir groovy scala", tool{first: isFile, stdin: true, code: set("-e -c -l")})
	add("pwsh powershell", tool{first: isText, rest: isText, stdin: true})
	add("awk gawk mawk nawk", tool{first: isText, code: set("-e -f -l -i --source --file"), values: set("-v -F --assign --field-separator"), how: howAwk})
	add("sed gsed", tool{first: isText, runs: true, mixed: true, code: set("-e -f --expression --file"), values: set("-l"), how: howSed})
	add("jq yq", tool{first: isText, code: set("-f --from-file"), values: set("--indent -L"), pairs: set("--arg --argjson --slurpfile --rawfile"), mixed: true, how: "Give it by name,  jq --arg v {value} '… $v …', with the filter in single quotes."})
	add("psql mysql mariadb sqlite3 duckdb mongosh mongo", tool{first: isData, rest: isText, reads: true, runs: true, mixed: true, code: set("-c -e -f -cmd --command --execute --eval --file"),
		values: set("-h -p -U -d -v -u -P -D --host --port --username --dbname --variable --set --user --database"), how: howSQL})
	add("at batch", tool{reads: true, code: set("-f")})
	add("dc m4 ed ex crontab gdb", tool{first: isFile, rest: isFile, reads: true, code: set("-e -f -D -x -ex -iex --eval-command --init-eval-command --expression"), values: set("-q -t")})
	add("vi vim nvim emacs less more", tool{code: set("-c -S -s --cmd --eval --load"), runs: true})
	add("make gmake", tool{first: isText, rest: isText, mixed: true, code: set("-f -I -E --eval --file"), values: set("-C -j -l -o -W --directory --jobs"),
		how: "make expands $(…) in words and in variables. Give it in the environment,  env = { V = {expr} }, and let the recipe read \"$$V\"."})

	// Programs that run a command: their own words, then the command.
	add("nohup setsid command builtin time coproc busybox pkexec caffeinate npx bunx pnpx uvx", tool{first: isCommand, values: set("-f -o")})
	add("fakeroot gosu su-exec tini dumb-init unbuffer dbus-run-session", tool{first: isCommand})
	add("sshpass", tool{first: isCommand, values: set("-p -f -d -P")})
	add("retry", tool{first: isData, rest: isCommand, values: set("-t -d -s -n")})
	add("exec", tool{first: isCommand, values: set("-a")})
	add("nice ionice chrt stdbuf", tool{first: isCommand, values: set("-n -c -p -i -o -e --adjustment --class --classdata --input --output --error")})
	add("timeout gtimeout", tool{first: isData, rest: isCommand, values: set("-k -s --kill-after --signal")})
	add("env", tool{first: isCommand, assigns: true, code: set("-S --split-string"), values: set("-u -C --unset --chdir")})
	add("sudo doas", tool{first: isCommand, assigns: true, values: set("-u -g -p -r -t -T -C -D -h -R -U --user --group --host --prompt --chdir")})
	add("chroot taskset nsenter", tool{first: isData, rest: isCommand, runs: true})
	add("flock", tool{first: isData, rest: isCommand, runs: true, code: set("-c --command"), values: set("-w -E --timeout --wait"), how: howShell})
	add("xargs gxargs", tool{first: isCommand, values: set("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --replace --max-chars")})
	add("systemd-run unshare strace ltrace valgrind", tool{first: isCommand, values: set("-p -u -e -o -s -a -E --unit --property --slice --setenv")})
	add("su runuser script", tool{rest: isData, runs: true, mixed: true, code: set("-c --command --session-command"), values: set("-s -g -G -u -w"), how: howShell})

	// Programs and builtins that run their arguments as text.
	add("eval", tool{first: isText, rest: isText})
	add("parallel", tool{first: isText, rest: isText, reads: true, how: howShell})
	add("hyperfine watchexec socat", tool{first: isText, rest: isText, values: set("-w -m -r -n"), how: howShell})
	add("ansible", tool{first: isData, mixed: true, code: set("-a --args"), values: set("-i -m -u -e --inventory --module-name --user"), how: howShell})
	add("nix-shell", tool{first: isFile, mixed: true, code: set("-p --run --command"), how: howShell})
	add("nc ncat netcat", tool{runs: true, mixed: true, code: set("-e -c --exec --sh-exec")})
	add("watch tmux screen entr", tool{first: isText, rest: isText, values: set("-n --interval"), how: howShell})
	add("ssh", tool{rest: isText, runs: true, code: set("-o -F"), values: set("-B -b -c -D -E -e -I -i -J -L -l -m -O -p -Q -R -S -W -w"), how: howRemote})

	// Programs with options that run another program.
	add("scp sftp", tool{runs: true, code: set("-o -S -F -D"), values: set("-c -i -J -l -P -X")})
	add("rsync", tool{runs: true, mixed: true, code: set("-e --rsh --rsync-path"), values: set("-f -B -T -M --exclude --include --filter --files-from")})
	add("tar bsdtar gtar", tool{runs: true, mixed: true, bundle: true, code: set("-I -F --to-command --checkpoint-action --use-compress-program --info-script --new-volume-script --rsh-command"),
		values: set("-f -C -b -T -X -g -V -K -N -H -L --file --directory --files-from --exclude-from --exclude --transform --owner --group")})
	add("rg", tool{runs: true, mixed: true, code: set("--pre --hostname-bin"), values: set("-e -f -g -t -A -B -C -m -r --glob --type --regexp --max-count --replace")})
	add("fd fdfind", tool{runs: true, mixed: true, code: set("-x -X --exec --exec-batch"), values: set("-e -t -d -E --extension --type --max-depth --exclude")})
	add("zip sort man wget split", tool{runs: true, mixed: true, code: set("-TT -P -H --unzip-command --compress-program --pager --html --use-askpass --filter"),
		values: set("-o -O -k -t -S -T -b -l -n -C -a -e -q --output --output-document --key --suffix")})
	return out
}()
