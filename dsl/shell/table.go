package shell

import (
	"strings"
	"sync"
)

// This file is the one table of what programs do with their arguments and their environment. Each row names its source: the
// manual, and the section that says it. A row that is not here gets the rules of unknown.

// kind says what a program takes a word for.
type kind int

const (
	isData    kind = iota
	isText         // text that it runs
	isFile         // the file that it runs
	isCommand      // a command with its arguments
)

// tool is a program that runs text, files or commands that it is given, or one whose options are known. Words are told
// apart by their places, as the program itself does it. No word may begin with a value before -- unless the tool is safe:
// with a - in front it would be an option.
type tool struct {
	first, rest kind
	safe        bool                  // no option runs a program or writes a file, so a value may begin a word
	code        map[string]bool       // options whose value it runs, or that make a value decide what runs
	values      map[string]bool       // other options with a value
	careful     map[string]bool       // options whose value must not begin with -, either
	pairs       map[string]bool       // options with two
	folder      map[string]bool       // those of values that say where the command runs
	within      bool                  // of isFile: text before a value, such as a folder, is enough
	stdin       bool                  // it runs what it reads, where no word says what it runs
	reads       bool                  // it does so with words, too, unless an option gives the text
	shell       bool                  // -c makes its first word a script, -s makes it run what it reads
	ends        bool                  // behind an option with text all words are data
	mixed       bool                  // options may stand behind other words
	assigns     bool                  // NAME=VALUE may stand first
	bundle      bool                  // its first word is letters of options, with or without -
	single      bool                  // long options begin with one -
	loose       bool                  // a long option that is not listed takes the next word, unless it is named like a flag
	late        bool                  // the command stands behind --
	entry       bool                  // --entrypoint names the program that gets the words
	apart       bool                  // its options are not those of its subcommands
	alone       bool                  // one word that is a value is its text: without it, there is nothing to do
	flags       map[string]bool       // options without a value, or with one only behind =
	loads       map[string]bool       // those of code behind which the text, the file or the command is still to come
	plus        bool                  // words that begin with + are options, too
	bare        bool                  // -- does not end its options
	modules     bool                  // -m MODULE takes the words behind it
	pins        string                // what stands between a package's name and its version
	defines     func(key string) bool // tells of -D KEY=VALUE whether the key is harmless
	how, dash   string                // what to do instead: for text, and for options
	subs        map[string]*tool
}

// The ways out that several programs share.
const (
	howShell   = "Write the text in single quotes and give the value behind it:  sh -c 'echo \"$1\"' sh {value}."
	howRemote  = "Send the value to the other side's standard input:  printf '%s\\n' {value} | ssh HOST 'read -r v; echo \"$v\"'."
	howPython  = "Read it from the arguments, sys.argv[1]:  python3 -c '…' {value}."
	howPerl    = "Read it from the arguments, $ARGV[0]:  perl -e '…' -- {value}."
	howAwk     = "Give it in the environment,  env = { V = {expr} }, and read ENVIRON[\"V\"]."
	howSed     = "sed has no other way to take a value. Use awk or perl with  env = { V = {expr} }:  perl -pe 's/OLD/$ENV{V}/'."
	howYq      = "Give it in the environment,  env = { V = {expr} }, and read strenv(V)."
	howSQL     = "Give it as a variable of the client (psql -v v={value}, and :'v' in the text), which puts the quotes."
	howFlags   = "A space in the value would begin another option, and -extld=PROGRAM runs one. Let the program read the value from a file or the environment, or declare the value with an enum."
	howDD      = "Write if= and of= out:  dd if=./{value} …."
	dashPrefix = "Write text before it, such as ./ for a file:  ./{value}."
	dashGit    = "Put --end-of-options before it, or -- where it is a path:  git … --end-of-options {value}."
)

// row is a line of the table: names of programs, where it is written, and what they do. below are its subcommands.
type row struct {
	names, source string
	tool          tool
	below         []row
}

// boolean are names of long options that take no value in nearly all programs; see tool.loose.
var boolean = set("--verbose --quiet --silent --force --yes --assume-yes --dry-run --all --recursive --help --version --debug --json --interactive --fix --check --strict " +
	"--ci --draft --fill --web --squash --merge --rebase --delete-branch --admin --auto --public --private --prerelease --latest --generate-notes --rm --init --privileged --read-only --detach --tty --stdin " +
	"--publish-all --pull --push --load --force-rm --compress --no-cache --delete --quiet --wait --atomic --install --create-namespace --reuse-values --reset-values --follow --watch --ignore-not-found " +
	"--server-side --prune --now --overwrite --append --inplace --list --stats --progress --archive --update --frozen-lockfile --production --save-dev --global --workspaces --release --locked --offline " +
	"--frozen --workspace --all-features --all-targets --print --continue --no-color --insecure --location --fail --head --raw --raw-output --null --stdout --write --staged --cached --dryrun")

// safeRows are programs of which no option runs a program or writes to a file that it names.
func safeRows() []row {
	return []row{
		{names: "echo printf true false : test [ pwd cd pushd popd dirs set shift return exit break continue wait umask ulimit type times jobs fg bg kill sleep local unalias", source: "POSIX 2.14 Special Built-In Utilities; bash(1) SHELL BUILTIN COMMANDS"},
		{names: "cat head tail wc ls dir vdir stat cut tr comm join paste fold fmt nl od expand unexpand rev tac seq basename dirname realpath readlink pathchk uniq column tsort factor numfmt pr ptx", source: "GNU coreutils manual, sections 3 to 8; util-linux rev(1), column(1)"},
		{names: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum base64 base32 basenc", source: "GNU coreutils manual, 6 Summarizing files; shasum(1)"},
		{names: "grep egrep fgrep zgrep strings cmp diff look", source: "grep(1) OPTIONS; diff(1) OPTIONS: none with a program (-l runs pr)"},
		{names: "mkdir rmdir rm unlink touch chmod chown chgrp truncate sync mkfifo tee", source: "GNU coreutils manual, 11 to 13, and 17.1 tee: options change how, operands say what"},
		{names: "date cal id whoami who groups uname hostname nproc arch df du tty printenv uptime expr free getconf tput clear which whereis pgrep pidof ps getent", source: "GNU coreutils manual, 15 to 21; procps"},
		{names: "gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat", source: "gzip(1), bzip2(1), xz(1) OPTIONS: the name of the output is made of that of the input"},
		{names: "ping ping6 dig host nslookup", source: "ping(8), dig(1), host(1), nslookup(1): OPTIONS: none runs a program or writes"},
		{names: "jo envsubst uuidgen logger notify-send pbcopy xclip wl-copy", source: "their manual pages, OPTIONS"},
	}
}

// rows is known to be incomplete: it has what scripts of builds and deployments use most.
func rows() []row {
	return []row{
		// Interpreters: an option with the text, or a file; or what they read.
		{names: "sh bash dash ash zsh ksh ksh93 mksh oksh yash rbash fish csh tcsh posh osh elvish nu xonsh", source: "POSIX sh(1) OPTIONS; bash(1) OPTIONS, INVOCATION", tool: tool{first: isFile, stdin: true, shell: true, plus: true, code: set("--rcfile --init-file --init-command -C"), loads: set("--rcfile --init-file -C"), values: set("-o -O"), how: howShell}},
		{names: "python python2 python3 pypy pypy3 ipython", source: "docs.python.org/3/using/cmdline.html, Interface options", tool: tool{first: isFile, stdin: true, code: set("-c -m"), ends: true, modules: true, values: set("-W -X"), how: howPython}},
		{names: "perl", source: "perlrun(1), Command Switches; perlop(1), I/O Operators for <> and |", tool: tool{first: isFile, stdin: true, code: set("-e -E -M -m -I -x -d -D"), loads: set("-M -m -I -x -d -D"), how: howPerl}},
		{names: "ruby irb jruby", source: "ruby(1) OPTIONS", tool: tool{first: isFile, stdin: true, code: set("-e -r -I"), loads: set("-r -I"), values: set("-C"), how: "Read it from the arguments, ARGV[0]:  ruby -e '…' -- {value}."}},
		{names: "node nodejs", source: "nodejs.org/api/cli.html, Options", tool: tool{first: isFile, stdin: true, code: set("-e -p -r --eval --print --require --import --loader --experimental-loader --env-file --experimental-config-file --test-reporter --test-global-setup --openssl-config"),
			loads: set("-r --require --import --loader --experimental-loader --env-file --experimental-config-file --test-reporter --test-global-setup --openssl-config"), flags: set("--test"), values: set("-C --conditions"), how: "Read it from the arguments, process.argv[1]:  node -e '…' -- {value}."}},
		{names: "php php-cgi", source: "php(1) OPTIONS", tool: tool{first: isFile, stdin: true, code: set("-r -R -B -E -d -f -c -z -F --run --process-code --process-begin --process-end --define --file"), how: "Read it from the arguments, $argv[1]:  php -r '…' -- {value}."}},
		{names: "deno bun", source: "docs.deno.com/runtime/reference/cli; bun.sh/docs/cli/run", tool: tool{first: isData, rest: isText, how: "Read it from the environment,  env = { V = {expr} }."}, below: []row{
			{names: "run", source: "the same: options come before the script", tool: tool{first: isFile, code: set("--config -c --import-map --preload -r --require")}},
			{names: "test install add", source: "the same", tool: tool{first: isFile, rest: isFile}},
		}},
		{names: "tsx ts-node", source: "typestrong.org/ts-node/docs/options", tool: tool{first: isFile, stdin: true, code: set("-e -p -r --eval --print --require --import -C --compiler -O --compiler-options --loader")}},
		{names: "lua luajit julia octave gnuplot Rscript R osascript tclsh expect wish guile elixir iex erl groovy scala racket sbcl clojure clj swift ghci runghc ocaml raku gs kotlin jshell crystal v qjs",
			source: "their manual pages: -e and its kin", tool: tool{first: isFile, stdin: true, code: set("-e -c -l -E --eval --expression -E --load -r --require --print")}},
		{names: "pwsh powershell", source: "learn.microsoft.com: about_Pwsh", tool: tool{first: isText, rest: isText, stdin: true}},
		{names: "awk gawk mawk nawk original-awk bwk goawk", source: "POSIX awk(1) OPTIONS; gawk(1) -i -l -E; mawk(1) -W exec", tool: tool{first: isText, code: set("-e -f -l -i -E -W --source --file --exec --include --load -D -o -p -d --dump-variables --profile --pretty-print"), values: set("-v -F --assign --field-separator"), how: howAwk}},
		{names: "sed gsed", source: "GNU sed manual, 3.8 Commands Specific to GNU sed: e, w; 2.2 Options", tool: tool{first: isText, mixed: true, code: set("-e -f --expression --file --in-place"), flags: set("--in-place"), loads: set("--in-place"), values: set("-l --line-length"), how: howSed}},
		{names: "jq gojq jaq", source: "jq manual, Invoking jq: it has neither exec nor a way to write", tool: tool{first: isText, safe: true, code: set("-f --from-file -L"), values: set("--indent --tab"), pairs: set("--arg --argjson --slurpfile --rawfile"), mixed: true, how: "Give it by name,  jq --arg v {value} '… $v …', with the filter in single quotes."}},
		{names: "yq", source: "mikefarah.gitbook.io/yq: -i, -s write; load reads", tool: tool{first: isText, code: set("-f --from-file -s --split-exp --expression"), values: set("--indent -L -o -p -I"), pairs: set("--arg --argjson --slurpfile --rawfile"), mixed: true, how: howYq}, below: []row{
			{names: "e eval ea eval-all", source: "mikefarah.gitbook.io/yq/commands/evaluate", tool: tool{first: isText, mixed: true, how: howYq}},
		}},
		{names: "psql", source: "psql(1) Meta-Commands: \\!, \\o; Options", tool: tool{first: isData, rest: isText, reads: true, mixed: true, code: set("-c -f --command --file"), values: set("-h -p -U -d -v -P -F -R -T --host --port --username --dbname --variable --set --pset"), careful: set("-o -L --output --log-file"), how: howSQL}},
		{names: "mysql mariadb", source: "dev.mysql.com: mysql Client Commands, system; -e", tool: tool{first: isData, reads: true, mixed: true, code: set("-e --execute --init-command --pager --tee --plugin-dir --defaults-file --defaults-extra-file"), values: set("-h -P -u -D -S --host --port --user --database"), how: howSQL}},
		{names: "sqlite3 duckdb", source: "sqlite.org/cli.html: .shell, .system, -cmd, -init; duckdb.org/docs/clients/cli", tool: tool{first: isData, rest: isText, reads: true, mixed: true, single: true, code: set("-cmd -c -s -init -f -vfs -A -zip --cmd --init"), dash: dashPrefix, how: howSQL}},
		{names: "mongosh mongo clickhouse-client clickhouse usql sqlcmd", source: "their references: --eval, --query", tool: tool{first: isData, rest: isText, reads: true, mixed: true, code: set("-e -q --eval --query --multiquery -Q -i --file -f"), values: set("-h -p -u -U -d -n -a --host --port --username --user --password --database"), how: howSQL}},
		{names: "redis-cli valkey-cli", source: "redis.io/docs/latest/develop/tools/cli: --eval; redis.io/docs/latest/commands: EVAL, SCRIPT, FUNCTION, MODULE, CONFIG", tool: tool{stdin: true, code: set("--eval"), values: set("-h -p -a -n -u -r -i -d -D --user --pass")}, below: []row{
			{names: "eval EVAL eval_ro EVAL_RO", source: "redis.io/docs/latest/commands/eval", tool: tool{first: isText}},
			{names: "script SCRIPT function FUNCTION module MODULE config CONFIG debug DEBUG slaveof SLAVEOF replicaof REPLICAOF", source: "the same", tool: tool{first: isText, rest: isText}},
		}},
		{names: "lftp ftp smbclient sqlplus", source: "lftp(1) -c, -e, -f, !; ftp(1) !; smbclient(1) -c, !; SQL*Plus User's Guide: HOST, @file", tool: tool{reads: true, mixed: true, code: set("-c -e -f"), values: set("-u -p -U -P -W -A -I -m")}},
		{names: "rename prename file-rename perl-rename", source: "rename(1p) -e: a perl expression", tool: tool{first: isText, mixed: true, code: set("-e -E"), how: howPerl}},
		{names: "mlr", source: "miller.readthedocs.io, Flags: --prepipe, --load, -s; filter, put: system, tee, exec", tool: tool{mixed: true, code: set("-s --prepipe --prepipex --load --mload"), values: set("--from --ofmt --ifs --ofs --ips --ops --fs --ps --irs --ors --nr-progress-mod")}, below: mlrVerbs},
		{names: "at batch", source: "at(1)", tool: tool{reads: true, code: set("-f")}},
		{names: "dc m4 ed red ex crontab gdb lldb", source: "dc(1) !; m4(1) esyscmd; ed(1) !; crontab(1); gdb(1) -ex", tool: tool{first: isFile, rest: isFile, reads: true, code: set("-e -f -D -x -ex -iex --eval-command --init-eval-command --expression -o -O -s -S -k"), values: set("-q -t")}},
		{names: "vi vim nvim gvim view vimdiff emacs emacsclient nano less more pico", source: "vim(1) OPTIONS: -c, +; emacs(1); less(1): +, -k, LESSOPEN", tool: tool{plus: true, code: set("-c -S -s -u -k -e --cmd --eval --execute --load -l --lesskey-src --lesskey-content -f --funcall")}},
		{names: "make gmake bmake remake just task rake ninja tox nox invoke", source: "GNU make manual, 6.2 and 9.5 Overriding Variables: $(shell …); just.systems; rakefile", tool: tool{first: isText, rest: isText, mixed: true, code: set("-f -I -E --eval --file --makefile --shell -e -r"), values: set("-C -j -l -o -W --directory --jobs"),
			how: "make expands $(…) in words and in variables. Give it in the environment,  env = { V = {expr} }, and let the recipe read \"$$V\"."}},
		{names: "convert magick mogrify identify composite montage pdflatex latex xelatex lualatex tex", source: "imagemagick.org/script/security-policy.php: | and msl:; texlive: \\write18", tool: tool{first: isText, rest: isText, mixed: true, dash: dashPrefix}},
		{names: "dd", source: "GNU coreutils manual, 11.2 dd: of=", tool: tool{first: isText, rest: isText, how: howDD}},

		// Programs that run a command: their own words, then the command.
		{names: "nohup setsid command builtin time coproc busybox toybox pkexec caffeinate fakeroot gosu su-exec tini dumb-init unbuffer dbus-run-session eatmydata torify torsocks proxychains linux64 linux32 setarch i386 x86_64 winpty aoss chpst daemonize cpulimit rlwrap",
			source: "POSIX nohup(1), time(1), command(1); setsid(1); busybox.net: busybox APPLET", tool: tool{first: isCommand, values: set("-f -o -t -w -u")}},
		{names: "hash", source: "bash(1) SHELL BUILTIN COMMANDS: hash -p", tool: tool{code: set("-p")}},
		{names: "sshpass", source: "sshpass(1)", tool: tool{first: isCommand, values: set("-p -f -d -P")}},
		{names: "retry", source: "github.com/minfrin/retry", tool: tool{first: isData, rest: isCommand, values: set("-t -d -s -n")}},
		{names: "exec", source: "bash(1) SHELL BUILTIN COMMANDS: exec", tool: tool{first: isCommand, values: set("-a")}},
		{names: "nice ionice chrt stdbuf prlimit setpriv choom", source: "GNU coreutils manual, 23; util-linux ionice(1), chrt(1), prlimit(1), setpriv(1)", tool: tool{first: isCommand, values: set("-n -c -p -i -o -e --adjustment --class --classdata --input --output --error --reuid --regid")}},
		{names: "timeout gtimeout", source: "GNU coreutils manual, 23.6 timeout", tool: tool{first: isData, rest: isCommand, values: set("-k -s --kill-after --signal")}},
		{names: "env genv cross-env", source: "GNU coreutils manual, 23.2 env: -S; github.com/kentcdodds/cross-env", tool: tool{first: isCommand, assigns: true, code: set("-S --split-string"), values: set("-u -C --unset --chdir -a --argv0"), folder: set("-C --chdir")}},
		{names: "cross-env-shell", source: "github.com/kentcdodds/cross-env: cross-env-shell", tool: tool{first: isText, rest: isText, assigns: true, how: howShell}},
		{names: "sudo doas sudoedit", source: "sudo(8) OPTIONS; doas(1)", tool: tool{first: isCommand, assigns: true, values: set("-u -g -p -r -t -T -C -D -h -R -U --user --group --host --prompt --chdir"), folder: set("-D --chdir")}},
		{names: "chroot taskset", source: "chroot(1), taskset(1)", tool: tool{first: isData, rest: isCommand, values: set("--userspec --groups")}},
		{names: "nsenter", source: "nsenter(1)", tool: tool{first: isCommand, values: set("-t -S -G --target --setuid --setgid")}},
		{names: "unshare bwrap firejail proot systemd-nspawn", source: "unshare(1), bwrap(1), firejail(1), systemd-nspawn(1)", tool: tool{first: isCommand, values: set("-D -M -p -u --chdir --dir --setenv --property")}},
		{names: "flock", source: "flock(1)", tool: tool{first: isData, rest: isCommand, code: set("-c --command"), values: set("-w -E --timeout --wait --conflict-exit-code"), how: howShell}},
		{names: "xargs gxargs", source: "GNU findutils manual, 8.4 xargs options", tool: tool{first: isCommand, values: set("-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --replace --max-chars")}},
		{names: "systemd-run strace ltrace valgrind perf dtruss ktrace catchsegv rr hotspot heaptrack", source: "strace(1), ltrace(1), valgrind(1), systemd-run(1)", tool: tool{first: isCommand, values: set("-p -u -e -s -a -E --unit --property --slice --setenv"), careful: set("-o")}},
		{names: "runuser", source: "runuser(1): with -u", tool: tool{first: isCommand, values: set("-u -g -G -w --user --group --supp-group --whitelist-environment")}},
		{names: "su script scriptreplay", source: "su(1) -c, -s: words behind the user are the shell's; script(1) -c", tool: tool{rest: isText, mixed: true, code: set("-c --command --session-command -s --shell"), values: set("-g -G -u -w"), how: howShell}},
		{names: "uv uvx", source: "docs.astral.sh/uv/reference/cli", tool: tool{first: isCommand, loose: true, mixed: true, code: uvLoads, loads: uvLoads, values: set("-p --python --directory --project")}, below: []row{
			{names: "run", source: "the same", tool: tool{first: isCommand, code: uvLoads, loads: uvLoads, values: set("-p --python --directory --project --env-file --extra --group")}},
			{names: "pip add tool", source: "the same: installing runs what is installed", tool: tool{first: isData, rest: isFile, mixed: true, pins: "==", code: pipLoads}},
		}},
		{names: "bundle pipenv poetry hatch pdm rye conda mamba pixi mise asdf rbenv pyenv nvm volta doppler infisical op aws-vault chamber envchain dotenv dotenvx vault-exec sops honcho foreman devbox teller",
			source: "their references: exec, run, x, --", tool: tool{loose: true, mixed: true}, below: []row{
				{names: "exec x run", source: "the same", tool: tool{first: isCommand, late: true, loose: true, code: set("--command"), values: set("-n -p -e -c -f --env --profile --project --name --config")}},
				{names: "exec-env exec-file", source: "getsops.io/docs: exec-env FILE COMMAND runs a shell", tool: tool{rest: isText, how: howShell}},
			}},
		{names: "direnv", source: "direnv(1): exec DIR COMMAND", tool: tool{mixed: true}, below: []row{{names: "exec", source: "direnv(1)", tool: tool{rest: isCommand}}}},
		{names: "npx bunx pnpx", source: "docs.npmjs.com/cli/commands/npx: -c, -p", tool: tool{first: isCommand, code: set("-c --call -p --package"), loads: set("-p --package"), values: set("-w --workspace")}},
		{names: "npm pnpm yarn", source: "docs.npmjs.com/cli/using-npm/config: script-shell, node-options; commands exec, run, install; scripts: what is installed runs", tool: tool{mixed: true, loose: true, code: set("-c --call --script-shell --node-options --onload-script --git --shell"), values: set("-w -C --workspace --prefix --dir --registry --tag")}, below: []row{
			{names: "exec x dlx", source: "the same", tool: tool{first: isCommand, code: set("-c --call --package -p"), loads: set("--package -p")}},
			{names: "install i add ci update up upgrade link create init", source: "the same: --registry says whose packages run", tool: tool{first: isFile, rest: isFile, mixed: true, loose: true, code: set("--registry"), loads: set("--registry")}},
			{names: "config set", source: "the same", tool: tool{first: isText, rest: isText, mixed: true}},
			{names: "run run-script test t start stop restart", source: "the same: arguments after -- are the script's", tool: tool{mixed: true, loose: true}},
		}},
		{names: "pip pip3 pipx", source: "pip.pypa.io/en/stable/cli/pip_install: -e, -r, -c, -i, -f name what is installed, and installing runs it", tool: tool{rest: isFile, mixed: true, loose: true, pins: "==", code: pipLoads, values: set("-t --target --version")}},
		{names: "apt apt-get", source: "apt-get(8): -o, -c; install PACKAGE=VERSION", tool: tool{rest: isFile, mixed: true, loose: true, pins: "=", code: set("-o --option -c --config-file"), values: set("-t --target-release")}},
		{names: "gem luarocks cpan cpanm brew dnf yum apk pacman snap choco winget composer opam cabal stack gleam",
			source: "their manuals: installing runs scripts of what is installed; composer exec", tool: tool{first: isData, rest: isFile, mixed: true, loose: true, code: indexes, loads: indexes, values: set("-i -r -e -v -t -C --version")}},

		// Programs and builtins that run their arguments as text.
		{names: "eval", source: "POSIX eval(1)", tool: tool{first: isText, rest: isText}},
		{names: "parallel", source: "parallel(1)", tool: tool{first: isText, rest: isText, reads: true, how: howShell}},
		{names: "hyperfine watchexec socat concurrently nodemon pm2 chokidar wait-on start-server-and-test npm-run-all run-s run-p", source: "hyperfine(1); socat(1) EXEC, SYSTEM; their READMEs", tool: tool{first: isText, rest: isText, code: set("--exec -x --prepare --setup --cleanup --conclude --reference"), values: set("-w -m -r -n"), how: howShell}},
		{names: "ansible", source: "ansible(1): -a with the modules command and shell", tool: tool{first: isData, mixed: true, code: set("-a -e --args --extra-vars --module-path --playbook-dir"), values: set("-i -m -u --inventory --module-name --user"), how: howShell}},
		{names: "ansible-playbook", source: "ansible-playbook(1); docs.ansible.com: extra vars are templates", tool: tool{first: isFile, rest: isFile, mixed: true, code: set("-e --extra-vars --module-path --ssh-common-args --ssh-extra-args"), values: set("-i -u -l -t --inventory --limit --tags --user")}},
		{names: "nix-shell nix nix-env nix-build", source: "nix.dev/manual: nix-shell --run, --command; nix develop -c; -E", tool: tool{first: isFile, rest: isFile, mixed: true, code: set("-p -E -c --run --command --expr --packages --option"), how: howShell}},
		{names: "nc ncat netcat", source: "ncat(1) -e, -c", tool: tool{mixed: true, code: set("-e -c --exec --sh-exec --lua-exec"), values: set("-p -w -s -x")}},
		{names: "watch tmux screen entr zellij dvtm abduco ttyd gotty", source: "watch(1): passed to sh -c; tmux(1); screen(1)", tool: tool{first: isText, rest: isText, values: set("-n --interval"), how: howShell}},
		{names: "ssh autossh mosh dropbear dbclient slogin", source: "ssh(1): the command runs in the user's shell; ssh_config(5) ProxyCommand, LocalCommand", tool: tool{rest: isText, code: set("-o -F"), values: set("-B -b -c -D -E -e -I -i -J -L -l -m -O -p -Q -R -S -W -w"), how: howRemote}},
		{names: "adb", source: "developer.android.com/tools/adb: shell", tool: tool{first: isData, rest: isText, values: set("-s")}},
		{names: "vagrant multipass virsh", source: "developer.hashicorp.com/vagrant/docs/cli/ssh -c; multipass exec", tool: tool{mixed: true, code: set("-c --command")}, below: []row{{names: "exec", source: "multipass.run/docs/exec", tool: tool{first: isData, rest: isCommand, late: true}}}},
		{names: "gcloud az fly flyctl heroku railway render eb", source: "cloud.google.com/sdk: compute ssh --command; learn.microsoft.com: az vm run-command --scripts; fly ssh console -C", tool: tool{mixed: true, loose: true, code: set("--command --command-line --exec-command --cmd -C --scripts --ssh-flag --metadata --custom-data --script --configuration --flags-file"), values: set("-g -n -l -o -a")}, below: []row{
			{names: "compute", source: "cloud.google.com/sdk/gcloud/reference/compute/ssh", tool: tool{mixed: true, loose: true}, below: computeRows},
			{names: "alpha beta preview", source: "cloud.google.com/sdk/gcloud/reference/beta/compute/ssh", tool: tool{mixed: true, loose: true}, below: []row{
				{names: "compute", source: "the same", tool: tool{mixed: true, loose: true}, below: computeRows}}},
			{names: "run run:detached exec", source: "heroku run: the words are a command", tool: tool{first: isText, rest: isText, loose: true, mixed: true, values: set("-a --app"), how: howShell}},
		}},

		{names: "pytest py.test", source: "docs.pytest.org/en/stable/reference/reference.html: -p and -c load, --junitxml writes", tool: tool{first: isFile, rest: isFile, within: true, mixed: true, loose: true, code: set("-p -c -o --override-ini --config-file --rootdir --confcutdir"), values: set("-k -m -n -W")}},

		{names: "mocha ava", source: "mochajs.org, Command-Line Usage: the words are files that it runs", tool: tool{first: isFile, rest: isFile, mixed: true, loose: true, code: set("-r --require --file --spec --config --package --reporter -R --ui -u --import --loader"), values: set("-g -f -t --grep --fgrep --timeout")}},

		// Containers and machines.
		{names: "docker podman nerdctl finch", source: "docs.docker.com/reference/cli/docker", tool: tool{mixed: true, loose: true, apart: true, code: set("-H --host --config --tlscacert"), values: set("-c -l --context --log-level")}, below: append(containers, []row{
			{names: "compose", source: "docs.docker.com/reference/cli/docker/compose", tool: tool{mixed: true, loose: true, code: set("-f --file --env-file --project-directory"), values: set("-p --profile --project-name --ansi")}, below: append(containers, row{
				names: "up down start stop restart ps logs rm pull push images", source: "the same: none of their options runs or writes", tool: tool{safe: true}})},
			{names: "container", source: "docs.docker.com/reference/cli/docker/container", tool: tool{mixed: true, loose: true}, below: containers},
			{names: "buildx", source: "docs.docker.com/reference/cli/docker/buildx", tool: tool{mixed: true, loose: true, values: set("-t -f -o")}},
			{names: "pull push tag rmi rm stop start restart kill inspect logs pause unpause wait port top login logout images ps rename diff info version history", source: "their pages under docs.docker.com/reference/cli/docker: no option runs or writes", tool: tool{safe: true}},
		}...)},
		{names: "docker-compose podman-compose", source: "docs.docker.com/reference/cli/docker/compose", tool: tool{mixed: true, loose: true, code: set("-f --file --env-file --project-directory"), values: set("-p --profile")}, below: containers},
		{names: "kubectl oc", source: "kubernetes.io/docs/reference/kubectl: --kubeconfig with an exec plugin; exec, run, debug -- COMMAND", tool: tool{mixed: true, loose: true, code: set("--kubeconfig"), values: set("-n -c -f -l -o -k -s --namespace --context --cluster --user --as --server --token --container --selector --output --filename --image --replicas --timeout --field-manager --type --patch -p")}, below: []row{
			{names: "exec", source: "kubernetes.io/docs/reference/kubectl/generated/kubectl_exec", tool: tool{first: isData, rest: isCommand, mixed: true, late: true}},
			{names: "run debug", source: "kubernetes.io/docs/reference/kubectl/generated/kubectl_run, kubectl_debug", tool: tool{mixed: true, loose: true, late: true, code: set("--overrides --custom")}},
		}},
		{names: "lxc incus lxc-attach machinectl crictl ctr flatpak flatpak-spawn toolbox distrobox limactl lima colima", source: "their manuals: exec INSTANCE -- COMMAND, shell, run", tool: tool{mixed: true, loose: true, late: true}, below: []row{
			{names: "exec shell run", source: "the same", tool: tool{first: isData, rest: isCommand, mixed: true, late: true, values: set("-n --user --cwd --env --mode")}}}},
		{names: "helm", source: "helm.sh/docs/helm: --post-renderer runs; template --output-dir writes; -- ends options", tool: tool{mixed: true, loose: true, code: set("--post-renderer --post-renderer-args --kubeconfig"), values: set("-n -f")}, below: []row{
			{names: "plugin", source: "helm.sh/docs/topics/plugins: install runs hooks", tool: tool{first: isData, rest: isFile}}}},
		{names: "terraform tofu terragrunt", source: "developer.hashicorp.com/terraform/cli/commands: -out, -state-out write; -plugin-dir, -chdir load", tool: tool{mixed: true, single: true, loose: true, code: set("-plugin-dir -from-module -chdir"), values: set("-var -var-file -target -backend-config -replace -parallelism"), flags: set("-auto-approve -json -no-color -destroy -refresh-only -upgrade -reconfigure -migrate-state -compact-warnings -raw -check -recursive -diff -list -force"), dash: dashPrefix}},
		{names: "aws", source: "docs.aws.amazon.com/cli: argparse, options take the next word; ssm send-command runs its parameters", tool: tool{mixed: true, loose: true, code: set("--command --user-data --cli-input-json --cli-input-yaml"), flags: set("--only-show-errors --no-cli-pager --no-paginate --no-sign-request --no-verify-ssl --no-progress --human-readable --summarize")}, below: []row{
			{names: "ssm", source: "docs.aws.amazon.com/cli/latest/reference/ssm: --parameters commands=", tool: tool{mixed: true, loose: true, code: set("--parameters --cli-input-json")}},
		}},
		{names: "gh glab hub", source: "cli.github.com/manual: pflag, -- ends options; alias, extension, codespace ssh run; release download -D, run download -D write", tool: tool{mixed: true, loose: true, values: set("-t -b -B -H -R -F -f -l -a -r -m -n -X -q -L -s -c -e")}, below: []row{
			{names: "alias", source: "cli.github.com/manual/gh_alias_set: ! runs a shell", tool: tool{first: isData, rest: isText, mixed: true}},
			{names: "extension ext", source: "cli.github.com/manual/gh_extension", tool: tool{first: isData, rest: isFile, mixed: true}},
			{names: "codespace cs", source: "cli.github.com/manual/gh_codespace_ssh", tool: tool{first: isData, rest: isText, mixed: true}},
			{names: "config", source: "cli.github.com/manual/gh_config_set: editor, pager, browser", tool: tool{first: isData, rest: isText, mixed: true}},
		}},

		// Compilers and build tools.
		{names: "go", source: "go help build: -exec, -toolexec, -ldflags; go help testflag: -o, -cpuprofile; go help vet: -vettool", tool: tool{single: true, loose: true, mixed: true, dash: dashPrefix, code: set("-exec -toolexec -vettool -overlay -ldflags -gcflags -asmflags -gccgoflags -modfile"), values: set("-o -run -bench -count -timeout -tags -p -parallel -cpu -coverprofile -mod -C -skip -fuzz -coverpkg"),
			flags: set("-v -x -n -a -race -short -json -cover -trimpath -failfast -i -m -u -d -s -w -f"), how: howFlags}, below: []row{
			{names: "run", source: "go help run: behind the package, words are the program's", tool: tool{first: isFile, single: true, code: set("-exec -toolexec -ldflags -gcflags -overlay"), values: set("-o -tags -mod -C -p"), how: howFlags}},
			{names: "env", source: "go help env: -w writes CC and its kin", tool: tool{first: isText, rest: isText}},
			{names: "tool generate", source: "go help tool, go help generate", tool: tool{first: isText, rest: isText}},
		}},
		{names: "cargo", source: "doc.rust-lang.org/cargo/commands: --config sets runner, rustc-wrapper; run, test -- are the program's", tool: tool{mixed: true, loose: true, code: set("--config -Z -C"), values: set("-p -F -j --package --features --target --bin --example --test --profile --manifest-path")}, below: []row{
			{names: "install add", source: "doc.rust-lang.org/cargo/commands/cargo-install.html: build scripts run", tool: tool{first: isFile, mixed: true, loose: true, code: set("--config -Z --git --registry --index --path"), loads: set("--git --registry --index --path")}},
		}},
		{names: "gcc g++ cc c++ clang clang++ rustc ld gold lld tcc icc nvcc zig dmd ldc2", source: "gcc(1): -wrapper, -fplugin, -B, -specs, @file, -o", tool: tool{mixed: true, single: true, code: set("-wrapper -fplugin -specs -B -Xlinker -T -Xclang -load --plugin"), values: set("-D -U -I -L -l -std -O"), careful: set("-o"), dash: dashPrefix}},
		{names: "cmake ctest cpack meson bazel buck bazelisk", source: "cmake(1): -P, -E, -D, -C; bazel.build/reference/command-line-reference: --run_under", tool: tool{mixed: true, loose: true, defines: cmakeKey, code: set("-P -E -C --run_under --script")}},
		{names: "mvn mvnw gradle gradlew ant sbt lein", source: "maven.apache.org: exec:exec -Dexec.executable; gradle -I; ant(1) -D", tool: tool{first: isText, rest: isText, mixed: true, defines: mavenKey, code: set("-I -s -gs --init-script --init"), values: set("-f -pl -P -p --tests")}},
		{names: "java", source: "docs.oracle.com java(1): -javaagent, -jar, -cp, -XX:OnError", tool: tool{first: isFile, single: true, code: set("-jar -m --module -cp -classpath --class-path -p --module-path -javaagent -agentpath -agentlib -XX:OnOutOfMemoryError -XX:OnError -XX:Flags -XX:VMOptionsFile"),
			loads: set("-cp -classpath --class-path -p --module-path -javaagent -agentpath -agentlib -XX:OnOutOfMemoryError -XX:OnError -XX:Flags -XX:VMOptionsFile"), ends: true, how: "Give it behind the class or the file of -jar."}},
		{names: "pandoc", source: "pandoc.org/MANUAL.html: --filter, --lua-filter, --pdf-engine, -o", tool: tool{mixed: true, code: set("-F -L -o -d --filter --lua-filter --pdf-engine --pdf-engine-opt --defaults --data-dir --extract-media"), values: set("-f -t -V -M --from --to --metadata --variable")}},

		// Programs with options that run another program, or write a file.
		{names: "curl", source: "curl(1): -K, -o, -w %output{}, --engine, --libcurl, -c; -- ends options", tool: tool{mixed: true, code: set("-K -w --config --write-out --engine"), values: set("-X -H -d -F -u -A -e -b -m -x -T -E -r -C -Y -y -Q -z --header --data --data-raw --data-binary --data-urlencode --json --form --form-string --url --user --user-agent --referer --request --cookie --max-time --connect-timeout --retry --retry-delay --proxy --cacert --cert --key --oauth2-bearer --aws-sigv4 --resolve --range --url-query --variable"),
			careful: set("-o -c -D --output --cookie-jar --dump-header --output-dir --trace --trace-ascii --stderr")}},
		{names: "wget", source: "wget(1): -e, -O, -o, --use-askpass, --config", tool: tool{mixed: true, code: set("-e --execute --use-askpass --config"), values: set("-t -T -U --header --user --password --post-data --body-data --method --timeout --tries --user-agent --referer"), careful: set("-O -o -P -a -i --output-document --output-file --directory-prefix")}},
		{names: "http https xh", source: "httpie.io/docs/cli: -o, --download", tool: tool{mixed: true, loose: true, values: set("-a -A -s")}},
		{names: "ssh-keygen", source: "ssh-keygen(1) -D, -w: libraries that it loads; -f writes", tool: tool{code: set("-D -w -O"), values: set("-C -N -P -t -b -I -n -V -z -E -m"), careful: set("-f")}},
		{names: "sftp", source: "sftp(1) -b, -D, -o, -S, -F; Interactive Commands: !", tool: tool{reads: true, code: set("-b -o -S -F -D"), values: set("-B -c -i -J -l -P -R -s -X")}},
		{names: "scp", source: "scp(1) -o, -S, -F, -D", tool: tool{code: set("-o -S -F -D"), values: set("-c -i -J -l -P -X")}},
		{names: "rsync", source: "rsync(1) -e, --rsync-path, --log-file, -M", tool: tool{mixed: true, code: set("-e -M --rsh --rsync-path --remote-option"), values: set("-f -B --exclude --include --filter --bwlimit --chmod --chown --timeout --port"), careful: set("-T --files-from --exclude-from --include-from --log-file --backup-dir --password-file --temp-dir --partial-dir --write-batch")}},
		{names: "tar bsdtar gtar", source: "GNU tar manual, 3.4.2 Options: --to-command, --checkpoint-action, -I, -F; 6.1 -f HOST:FILE runs rsh", tool: tool{mixed: true, bundle: true, code: set("-I -F --to-command --checkpoint-action --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command"),
			values: set("-b -V -K -N -H -L --exclude --transform --xform --owner --group --mode --mtime --format --strip-components --label"), careful: set("-f -C -T -X -g --file --directory --files-from --exclude-from --index-file --volno-file --listed-incremental --one-top-level")}},
		{names: "rg", source: "rg(1) --pre, --hostname-bin", tool: tool{mixed: true, code: set("--pre --hostname-bin"), values: set("-e -f -g -t -A -B -C -m -r --glob --type --regexp --max-count --replace")}},
		{names: "fd fdfind", source: "fd(1) -x, -X", tool: tool{mixed: true, code: set("-x -X --exec --exec-batch"), values: set("-e -t -d -E --extension --type --max-depth --exclude")}},
		{names: "zip sort gsort man split csplit shuf diff3 sdiff ctags ag", source: "zip(1) -TT; sort(1) --compress-program, -o; man(1) -P, -H; split(1) --filter; sdiff(1) --diff-program", tool: tool{mixed: true, code: set("-TT -P -H --unzip-command --compress-program --pager --html --filter --diff-program"),
			values: set("-k -t -S -b -l -n -C -a --key --suffix --field-separator"), careful: set("-o -T -O -e -q --output --output-document")}},
		{names: "cp mv ln install", source: "GNU coreutils manual, 2.6 Target directory: -t; install --strip-program", tool: tool{mixed: true, code: set("--strip-program"), values: set("-m -o -g -S --mode --owner --group --suffix"), careful: set("-t --target-directory")}},
		{names: "file", source: "file(1) -C writes a compiled magic file", tool: tool{mixed: true, values: set("-F -P -e"), careful: set("-m -f")}},
		{names: "unzip 7z 7za unrar", source: "unzip(1) -d; 7z -o: both write elsewhere", tool: tool{mixed: true, bare: true, dash: dashPrefix, careful: set("-d -x")}},

		// Agents of the command line: the prompt is one word; without a prompt they have nothing to do and end.
		{names: "claude", source: "docs.claude.com/en/docs/claude-code/cli-reference: -p PROMPT; --mcp-config, --settings run", tool: tool{mixed: true, loose: true, alone: true, code: set("--mcp-config --settings --plugin-dir --agents"), values: set("-p --print -r --resume --model")}},
		{names: "codex", source: "developers.openai.com/codex/cli/reference: -c sets notify, mcp_servers", tool: tool{mixed: true, loose: true, code: set("-c --config"), values: set("-m -s -C -p -i --model --sandbox --cd --profile --image")}, below: []row{
			{names: "exec e", source: "the same: exec PROMPT", tool: tool{mixed: true, loose: true, alone: true, code: set("-c --config"), values: set("-m -s -C -p -i -o")}},
		}},
		{names: "gemini qwen aider cursor-agent opencode amp goose copilot crush droid llm ollama", source: "their references: -p PROMPT, --message TEXT, run PROMPT", tool: tool{mixed: true, loose: true, alone: true, values: set("-p -m -i -t -x")}, below: []row{
			{names: "run", source: "opencode.ai/docs/cli: run PROMPT; ollama run MODEL PROMPT", tool: tool{mixed: true, loose: true, alone: true, values: set("-m -t")}},
		}},

		{names: "git", source: "git(1) -c, --exec-path, --config-env; git-config(1): alias.*, core.sshCommand and more", tool: tool{code: set("-c --config-env --exec-path"), values: set("-C"), careful: set("--git-dir --work-tree --namespace"), dash: dashGit, mixed: true, apart: true,
			how: "Settings such as alias.x and core.sshCommand are commands. Write the setting out."}, below: []row{
			{names: "add branch cat-file check-ignore check-attr checkout clean commit commit-tree describe for-each-ref hash-object ls-files ls-tree merge-base mv name-rev notes remote reset restore rev-parse rm show-ref show-branch sparse-checkout status switch symbolic-ref tag update-ref update-index var verify-commit verify-tag worktree write-tree check-ref-format count-objects gc lfs",
				source: "their manual pages; tried with --output=, -o, --exec= and --upload-pack= at git 2.39: nothing is written or run", tool: tool{safe: true, mixed: true}},
			{names: "config", source: "git-config(1): many keys are commands", tool: tool{mixed: true, safe: true}}, // see setting
			{names: "log show diff whatchanged reflog shortlog blame annotate rev-list diff-tree diff-index diff-files range-diff format-patch cherry-pick revert fast-export stash cherry bundle", source: "git-diff(1) --output; git-format-patch(1) -o; git-log(1)",
				tool: tool{mixed: true, careful: set("-o --output --output-directory"), values: set("-n -S -G -L -m -X --author --committer --grep --since --until --after --before --max-count --skip --message"), dash: dashGit}},
			{names: "clone", source: "git-clone(1) -u, -c, --template", tool: tool{mixed: true, code: set("-u -c --upload-pack --config --template"), values: set("-b -o -j --branch --depth --origin --jobs --filter --reference --separate-git-dir")}},
			{names: "init", source: "git-init(1) --template: its hooks run", tool: tool{mixed: true, code: set("--template"), values: set("-b --initial-branch")}},
			{names: "fetch ls-remote fetch-pack", source: "git-fetch(1) --upload-pack", tool: tool{mixed: true, code: set("--upload-pack --exec"), values: set("-j -o --depth --jobs --refmap --server-option --sort")}},
			{names: "pull merge", source: "git-pull(1) --upload-pack, -s runs git-merge-STRATEGY", tool: tool{mixed: true, code: set("--upload-pack -s --strategy"), values: set("-j -o -m -X -F --depth --message")}},
			{names: "push send-pack", source: "git-push(1) --receive-pack, --exec", tool: tool{mixed: true, code: set("--receive-pack --exec"), values: set("-o --push-option")}},
			{names: "archive", source: "git-archive(1) --exec, -o", tool: tool{mixed: true, code: set("--exec"), values: set("--format --prefix --remote"), careful: set("-o --output"), dash: dashGit}},
			{names: "grep", source: "git-grep(1) -O", tool: tool{mixed: true, code: set("-O --open-files-in-pager"), values: set("-e -A -B -C -f -m --max-depth --threads"), dash: "Give it behind -e:  git grep -e {value}."}},
			{names: "rebase", source: "git-rebase(1) -x", tool: tool{mixed: true, code: set("-x --exec -s --strategy"), values: set("-X --onto")}},
			{names: "difftool mergetool", source: "git-difftool(1) -x", tool: tool{mixed: true, code: set("-x --extcmd -t --tool")}},
			{names: "bisect", source: "git-bisect(1) run", tool: tool{}, below: []row{{names: "run", source: "git-bisect(1), Bisect run", tool: tool{first: isCommand}}}},
			{names: "submodule", source: "git-submodule(1) foreach: evaluated in the shell", tool: tool{mixed: true}, below: []row{{names: "foreach", source: "git-submodule(1) foreach", tool: tool{first: isText, rest: isText}}}},
			{names: "filter-branch filter-repo for-each-repo daemon send-email instaweb web--browse credential svn p4 cvsimport imap-send help", source: "git-filter-branch(1); git-send-email(1) --smtp-server, --sendmail-cmd", tool: tool{first: isText, rest: isText, mixed: true}},
		}},
	}
}

// computeRows are the commands of gcloud compute whose words behind -- are a command of the shell on the other side.
var computeRows = []row{
	{names: "ssh", source: "cloud.google.com/sdk/gcloud/reference/compute/ssh", tool: tool{rest: isText, mixed: true, loose: true, values: set("--zone --project --region"), how: howRemote}},
	{names: "tpus", source: "cloud.google.com/sdk/gcloud/reference/compute/tpus/tpu-vm/ssh: --command", tool: tool{mixed: true, loose: true, code: set("--command")}},
}

// containers are the commands of docker and its kin that run one in a container.
var containers = []row{
	{names: "run create", source: "docs.docker.com/reference/cli/docker/container/run", tool: tool{first: isData, rest: isCommand, loose: true, entry: true, code: set("--health-cmd"), loads: set("--health-cmd"), values: set("-a -c -e -h -l -m -p -u -v -w --env --env-file --name --network --user --volume --workdir --label --platform --cpus --memory --publish --mount --hostname --entrypoint")}},
	{names: "exec", source: "docs.docker.com/reference/cli/docker/container/exec", tool: tool{first: isData, rest: isCommand, values: set("-e -u -w --env --user --workdir --env-file --detach-keys --index")}},
	{names: "build", source: "docs.docker.com/reference/cli/docker/buildx/build: -o, --iidfile, --metadata-file write", tool: tool{mixed: true, loose: true, values: set("-t -f -m -c --build-arg --tag --file --target --platform --label"), careful: set("-o --output --iidfile --metadata-file")}},
}

// mlrVerbs are the verbs of Miller whose words are more than names of fields and files.
var mlrVerbs = []row{
	{names: "put filter", source: "miller.readthedocs.io/en/latest/reference-verbs: EXPRESSION, -f, -e, -s", tool: tool{first: isText, mixed: true, code: set("-f -e -s"), how: "Give it in the environment,  env = { V = {expr} }, and read ENV[\"V\"]."}},
	{names: "tee split", source: "the same: tee -p is a pipe; both write files", tool: tool{first: isFile, mixed: true, code: set("-p --prefix --suffix")}},
}

// plainSettings are the beginnings of git's settings whose values are never commands: git-config(1), Variables.
var plainSettings = strings.Fields("user. branch. http. safe.directory push. pull. commit.gpgsign commit.template tag. color. init.defaultbranch core.autocrlf core.filemode core.quotepath fetch. advice. merge.conflictstyle committer. author. credential.username lfs.url")

// indexes are options of installers that say whose packages are installed. The version of a package that is written out is
// data, as in NAME==VERSION: whoever may choose it may choose an old one.
var indexes = set("-o --option -c --config --source --clear-sources --server --index --index-url --extra-index-url --registry --repository --repo --repofrompath --requirement --mirror")

// uvLoads and pipLoads are options whose value names what is installed and run.
var (
	uvLoads  = set("--with --from --with-editable --with-requirements --index --index-url --extra-index-url --default-index --find-links")
	pipLoads = set("-e --editable -r --requirement -c --constraint -i --index-url --extra-index-url -f --find-links --python --pip-args --spec")
)

// cmakeKey tells whether a variable of cmake decides nothing of what it runs and loads: cmake-variables(7), find_package.
func cmakeKey(key string) bool {
	for _, end := range strings.Fields("_DIR _ROOT _EXECUTABLE _COMPILER _PROGRAM _LIBRARY _LAUNCHER _PATH") {
		if strings.HasSuffix(key, end) {
			return false
		}
	}
	return key == "CMAKE_BUILD_TYPE" || isName(key) && !strings.HasPrefix(key, "CMAKE_") && !strings.HasPrefix(key, "FETCHCONTENT_")
}

var mavenKeys = set("newVersion revision changelist sha1 test it.test groups excludedGroups skipTests releaseVersion developmentVersion tag version project.version")

// mavenKey tells the same of a property: versions:set, Surefire, Maven CI Friendly Versions, the release plugin.
func mavenKey(key string) bool { return mavenKeys[key] }

// moduleRows are modules of python that run text or files; others go by their names in rows.
func moduleRows() []row {
	return []row{
		{names: "timeit pdb cProfile profile trace doctest unittest runpy code cgitb coverage IPython ptpython", source: "docs.python.org/3/library: their command lines", tool: tool{first: isText, rest: isText, mixed: true, stdin: true, how: howPython}},
	}
}

// deciding are variables whose value decides what a shell, or a program that is started often, runs or loads. A * stands
// for any rest of a name.
func deciding() []row {
	return []row{
		{names: "PATH CDPATH BASH_ENV ENV IFS PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND SHELLOPTS BASHOPTS SHELL BASH_CMDS BASH_ALIASES BASH_LOADABLES_PATH EXECIGNORE FPATH ZDOTDIR FCEDIT BASH_FUNC_*", source: "bash(1) Shell Variables, INVOCATION; POSIX sh(1) ENVIRONMENT VARIABLES; zsh(1) STARTUP FILES"},
		{names: "LD_* DYLD_* GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES HOSTALIASES LIBPATH SHLIB_PATH", source: "ld.so(8) ENVIRONMENT; dyld(1)"},
		{names: "GIT_SSH GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG GIT_CONFIG_* GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR GIT_ALLOW_PROTOCOL GIT_TRACE* GIT_TRACE2* GIT_MAN_VIEWER GIT_INDEX_FILE", source: "git(1) Environment Variables; git-config(1)"},
		{names: "SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR SSH_SK_PROVIDER PAGER MANPAGER MANOPT EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE LESS LESSKEYIN LESSKEY_CONTENT SYSTEMD_PAGER SYSTEMD_EDITOR KUBE_EDITOR AWS_PAGER GH_PAGER GH_EDITOR GH_BROWSER GLAB_PAGER BAT_PAGER DELTA_PAGER PSQL_PAGER PSQL_EDITOR PSQLRC MYSQL_PS1 MYSQL_HOME GVIMINIT GH_CONFIG_DIR VIMINIT EXINIT MYVIMRC VIM VIMRUNTIME INPUTRC", source: "man(1), less(1), environ(7); gh help environment; psql(1), vim(1)"},
		{names: "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS YARN_YARN_PATH PUPPETEER_EXECUTABLE_PATH CHROME_BIN ESBUILD_BINARY_PATH npm_config_* NPM_CONFIG_* YARN_RC_FILENAME BUN_OPTIONS ELECTRON_RUN_AS_NODE DENO_DIR COREPACK_*", source: "nodejs.org/api/cli.html, Environment variables; docs.npmjs.com/cli/using-npm/config; yarnpkg.com/configuration/yarnrc; pptr.dev/api/puppeteer.configuration; esbuild.github.io"},
		{names: "PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONPYCACHEPREFIX PYTHONEXECUTABLE PIP_* UV_* VIRTUAL_ENV CONDA_EXE PYTEST_ADDOPTS PYTEST_PLUGINS PYLINTRC MPLBACKEND FLASK_APP CLOUDSDK_PYTHON AZURE_EXTENSION_DIR", source: "docs.python.org/3/using/cmdline.html, Environment variables; pip.pypa.io/en/stable/topics/configuration; docs.pytest.org; cloud.google.com/sdk: topic startup; learn.microsoft.com/cli/azure: extensions"},
		{names: "PERL5OPT PERL5LIB PERL5DB PERLLIB PERL5SHELL PERLIO RUBYOPT RUBYLIB RUBYSHELL GEMRC IRBRC SPEC_OPTS GEM_HOME GEM_PATH BUNDLE_* PHPRC PHP_INI_SCAN_DIR LUA_INIT* LUA_PATH* LUA_CPATH* R_PROFILE* R_ENVIRON* R_HOME JULIA_LOAD_PATH GUILE_LOAD_PATH ERL_AFLAGS ERL_ZFLAGS ERL_FLAGS ELIXIR_ERL_OPTIONS AWKPATH AWKLIBPATH TCLLIBPATH", source: "perlrun(1) ENVIRONMENT; ruby(1), php(1), lua(1), R(1), gawk(1)"},
		{names: "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH JAVACMD MAVEN_OPTS MAVEN_ARGS MAVEN_CONFIG MVN_* GRADLE_OPTS GRADLE_USER_HOME ANT_OPTS ANT_ARGS SBT_OPTS JVM_OPTS DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_*", source: "docs.oracle.com java(1): JDK_JAVA_OPTIONS; JVM TI: JAVA_TOOL_OPTIONS; maven.apache.org/configure.html; learn.microsoft.com/dotnet"},
		{names: "MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES MAKE MAKESHELL CC CXX CPP FC LD AR AS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CMAKE_* COMPILER_PATH GCC_EXEC_PREFIX CCACHE_PREFIX PKG_CONFIG PKG_CONFIG_PATH GOFLAGS GOENV GOROOT GOTOOLDIR GOCACHEPROG GOPROXY GONOSUMDB GOTOOLCHAIN CGO_* GCCGO GO_EXTLINK_ENABLED GOAUTH GOWORK GOBIN CONFIG_SITE CONFIG_SHELL RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS RUSTDOCFLAGS RUSTUP_TOOLCHAIN CARGO_*", source: "GNU make manual, 5.7.2; go help environment; doc.rust-lang.org/cargo/reference/environment-variables.html; gcc(1) ENVIRONMENT; autoconf manual, 15.8 Site Defaults"},
		{names: "DOCKER_HOST DOCKER_CONFIG DOCKER_CLI_PLUGIN_EXTRA_DIRS BUILDX_* COMPOSE_FILE COMPOSE_ENV_FILES CONTAINER_HOST KUBECONFIG HELM_PLUGINS HELM_KUBE* HELM_DATA_HOME KUBECTL_EXTERNAL_DIFF TF_CLI_ARGS* TF_CLI_CONFIG_FILE TF_PLUGIN_CACHE_DIR TF_DATA_DIR TF_LOG_PATH VAULT_CONFIG_PATH TERRAGRUNT_TFPATH TG_TF_PATH AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE ANSIBLE_* VAGRANT_*", source: "docs.docker.com/reference/cli/docker: DOCKER_HOST ssh://; kubernetes.io: exec credential plugins; developer.hashicorp.com/terraform/cli/config/environment-variables; docs.aws.amazon.com/cli: credential_process"},
		{names: "CODEX_HOME CLAUDE_CONFIG_DIR CLAUDE_CODE_SHELL_PREFIX", source: "docs.claude.com/en/docs/claude-code/settings, Environment variables; developers.openai.com/codex/config-advanced: CODEX_HOME"},
		{names: "RSYNC_RSH RSYNC_CONNECT_PROG RSYNC_PROXY TAR_OPTIONS TAPE RSH ZIPOPT UNZIP GZIP XZ_OPT CURL_HOME WGETRC OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES SSLKEYLOGFILE MAGICK_CONFIGURE_PATH FFREPORT GNUPGHOME BORG_RSH PARALLEL PARALLEL_SHELL SCREENRC TMUX_TMPDIR FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS RIPGREP_CONFIG_PATH HGRCPATH HGEDITOR HGMERGE HG CVS_RSH SVN_SSH SVN_EDITOR SCRIPT HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS", source: "rsync(1), tar(1), zip(1), wget(1), openssl-env(7), fzf(1), rg(1), hg(1), svn(1), ffmpeg(1) -report, gpg(1), borg(1), parallel(1), imagemagick.org/script/resources.php: ENVIRONMENT; XDG Base Directory Specification: programs run what they find in their settings there"},
	}
}

// known is what the tables say, by names.
type known struct {
	tools, modules map[string]*tool
	settings       map[string]bool
	prefixes       []string // of further settings
}

// tables puts the tables together when the first script is looked at: most commands look at none.
var tables = sync.OnceValue(func() *known {
	k := &known{tools: map[string]*tool{}, modules: map[string]*tool{}, settings: map[string]bool{}}
	for _, r := range safeRows() {
		r.tool.safe, r.tool.mixed = true, true
		r.enter(k.tools, nil)
	}
	for _, r := range rows() {
		r.enter(k.tools, nil)
	}
	for _, r := range moduleRows() {
		r.enter(k.modules, nil)
	}
	for _, r := range deciding() {
		for _, n := range strings.Fields(r.names) {
			if p, open := strings.CutSuffix(n, "*"); open {
				k.prefixes = append(k.prefixes, p)
			} else {
				k.settings[n] = true
			}
		}
	}
	return k
})

// enter puts a row's tool under its names, and below it those of its subcommands, which have its options, too.
func (r *row) enter(out map[string]*tool, above *tool) {
	t := r.tool
	if above != nil && !above.apart {
		t.code, t.values, t.flags, t.loads = union(t.code, above.code), union(t.values, above.values), union(t.flags, above.flags), union(t.loads, above.loads)
		t.single = t.single || above.single
		for o := range t.values { // any order: each for itself
			if r.tool.values[o] && !r.tool.code[o] {
				delete(t.code, o) // the same letter is another option here
			} else if r.tool.code[o] {
				delete(t.values, o)
			}
		}
	}
	if len(r.below) > 0 {
		t.subs = map[string]*tool{}
		for _, b := range r.below {
			b.enter(t.subs, &t)
		}
	}
	for _, n := range strings.Fields(r.names) {
		out[n] = &t
	}
}

func union(a, b map[string]bool) map[string]bool {
	if len(b) == 0 {
		return a
	}
	out := map[string]bool{}
	for _, m := range []map[string]bool{a, b} {
		for k := range m { // any order: each for itself
			out[k] = true
		}
	}
	return out
}

// unknown is a program of which nothing is known: it is taken for one that has options which run programs, takes them
// anywhere, and knows --.
var unknown = &tool{mixed: true, loose: true}

// Decides reports whether the value of an environment variable decides what programs run.
func Decides(name string) bool {
	if tables().settings[name] {
		return true
	}
	for _, p := range tables().prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
