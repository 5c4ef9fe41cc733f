package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// wordHint says which command another tool's word means here.
type wordHint struct {
	words string // the words of other tools, behind the name of the group of commands if they belong to one: "runs: rm delete"
	// line is the command. A word in capital letters stands for the rest of the user's words, or for itself if there are none;
	// RUN stands for latest then. Without such a word the rest is left out.
	line string
	why  string // a sentence in front of it, or ""
}

// missingFlag is the error of the flag library about a flag that does not exist.
type missingFlag interface {
	error
	GetSpecifiedName() string
	GetSpecifiedShortnames() string // all letters behind one dash from the unknown one on; "" for a long flag
}

var wordHints = []wordHint{
	{"start exec execute up launch trigger deploy", "apply FILE", ""},
	{"check lint verify vet", "validate PATH", ""},
	{"format", "fmt PATH", ""},
	{"new create", "init", ""},
	{"dry-run preview", "plan FILE", ""},
	{"ls list ps history jobs executions", "runs list", ""},
	{"status show describe inspect info get", "runs show RUN", ""},
	{"state", "runs list", ""},
	{"output outputs result", "runs show latest --json", ""},
	{"follow attach top monitor", "runs watch RUN", ""},
	{"log tail", "logs RUN", ""},
	{"stop kill abort terminate interrupt", "cancel RUN", ""},
	{"continue recover", "resume RUN", ""},
	{"rerun redo again restart", "retry RUN", ""},
	{"taint", "retry latest --from STEP", ""},
	{"destroy down undo rollback", "cancel RUN", "A cancel runs the compensations of a run that has not ended. A finished run is not undone."},
	{"diff compare", "runs diff A B", "This compares two runs. flowrun replay RUN --file FILE compares a run with a changed file."},
	{"delete rm remove purge prune clean gc", "runs prune --keep 10 --dry-run", "Runs are removed by their number or their age:"},
	{"runs: delete rm remove purge clean gc", "prune --keep 10 --dry-run", "Runs are removed by their number or their age:"},
	{"runs: ls ps all history", "list", ""},
	{"runs: status get describe inspect info", "show RUN", ""},
	{"memory: delete rm remove", "forget ID…", ""},
	{"memory: ls", "list", ""},
	{"memory: find query", "search TEXT", ""},
	{"approve accept reject deny answer", "inbox", "This lists the questions for people, with the command to answer:"},
	{"schedule schedules cron crontab", "routines list", ""},
	{"daemon server scheduler start-server", "serve", ""},
	{"publish send signal", "emit NAME", ""},
	{"lock locks quota breaker", "limits", ""},
	{"draw visualize diagram dot dag", "graph FILE", ""},
	{"repl shell eval", "console RUN", ""},
	{"docs manual reference", "explain WORD", ""},
	{"workflow workflows dags pipelines", "plan .", ""},
	{"workspace workspaces environments env", "runs list --env=ENVIRONMENT", "Each environment has its own runs:"},
	{"secret secrets", "explain secrets", ""},
	{"login logout config configure", "doctor", "flowrun has no account and no settings."},
}

// flagHint says what another tool's flag means here.
type flagHint struct {
	// commands are the commands that it is about, "" for all; flags are the flags, with their dashes.
	commands, flags string
	value           bool // the flag has a value
	// instead replaces the flag: another flag, followed by the value where the flag has one; "| …", which goes to the end of the line;
	// or another command, "command plan". With "" the flag is left out.
	instead string
	why     string
}

var flagHints = []flagHint{
	{"apply", "-f --field --raw-field", true, "--input", ""},
	{"apply", "--file --filename", true, "FILE", ""},
	{"apply retry resume", "--auto-approve --yes -y --force -f --no-input", false, "", "It starts at once and does not ask."},
	{"apply", "--dry-run --dryrun --check --noop --what-if -n", false, "command plan", ""},
	{"apply plan", "-e --set --param --params -p --arg -i --parameter", true, "--input", ""},
	{"apply plan", "--variable -D", true, "--var", ""},
	{"apply plan", "--tfvars --vars-file --values", true, "--var-file", ""},
	{"apply", "-j --jobs --concurrency --parallelism --max-parallel", true, "--parallel", ""},
	{"apply", "--step --steps --only --task --job -t", true, "--target", ""},
	{"apply retry resume", "--verbose -v --debug --show-output --output-logs", false, "--logs", ""},
	{"apply", "-d --background --daemon --async", false, "--detach", ""},
	{"apply", "--junit", true, "--report junit=", ""},
	{"apply plan retry resume", "--out -o", true, "", "A plan is not kept in a file: each run keeps its own definition."},
	{"logs", "-n --tail --lines", true, "| tail -n", ""},
	{"logs", "--grep --filter", true, "| grep", ""},
	{"logs", "--step --job --node", true, "STEP", ""},
	{"list show stats", "-o --output --format", true, "--json", "The other format is JSON:"},
	{"serve", "-p --port", true, "--listen 127.0.0.1:", ""},
	{"serve", "--addr --address --bind", true, "--listen", ""},
	{"validate test", "--recursive -r -R", false, "./...", ""},
	{"fmt", "--write --recursive -w -i -r", false, "", "It formats the files in place. For all folders below: flowrun fmt ./..."},
	{"validate", "--strict --warnings-as-errors", false, "--fail-level warning", ""},
	{"fmt", "-d", false, "--diff", ""},
	{"validate", "--sarif", false, "--format sarif", ""},
	{"validate test", "--junit --junitxml --junit-xml", true, "--format junit=", ""},
	{"validate test", "-o --output", true, "--format text=", ""},
	{"test", "-v --verbose", false, "", "It always prints each test."},
	{"test", "--cover --cov", false, "--coverage", ""},
	{"validate test", "--github", false, "--format github", ""},
	{"graph", "-o --output --out", true, ">", ""},
	{"list runs", "-n --last --max", true, "--limit", ""},
	{"list runs", "-a --all", false, "--limit 0", ""},
	{"list runs", "--failed --failures", false, "--status failed", ""},
	{"list runs", "--running --active", false, "--status running", ""},
	{"prune", "--yes -y --force -f", false, "", "It does not ask; --dry-run shows what it would remove."},
	{"retry", "--failed --failed-only", false, "", "Steps that succeeded are reused; only the others run."},
	{"retry", "--step --job --node", true, "--only", ""},
	{"cancel", "--force -f --yes -y", false, "", "It does not ask. A second cancel does not wait for running attempts."},
	{"cancel", "-m --message --comment", true, "--reason", ""},
	{"test", "-k --filter --name", true, "--run", ""},
	{"", "--no-color --no-colour --nocolor", false, "--color never", ""},
	{"", "--state --data-dir --home", true, "--store", ""},
	{"", "-q --quiet --silent", false, "2>/dev/null", "Progress goes to standard error, results go to standard output."},
	{"", "--format=json -o=json --output=json", false, "--json", ""},
}

// unknownCommand refuses words where a command was expected.
func unknownCommand(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	e := &args.Error{Message: fmt.Sprintf("%s has no command %q", c.CommandPath(), words[0]), Hint: "See " + c.CommandPath() + " --help."}
	if _, err := os.Stat(words[0]); err == nil && strings.HasSuffix(words[0], ".hcl") {
		e.Hint = "To run a file: " + c.Root().Name() + " apply " + quoteWord(filepath.Clean(words[0]))
		return e
	}
	if line, why := otherCommand(c, words); line != "" {
		e.Hint = inFlowrun(line, why)
		return e
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	if near := diag.Nearest(words[0], names); near != "" {
		e.Hint = fmt.Sprintf("Did you mean %q?", near)
	} else if c.Name() == "loop" && len(words) == 1 {
		e.Hint = inFlowrun(quoteLine([]string{c.Root().Name(), "loop", "run", words[0]}), "")
	}
	return e
}

func inFlowrun(line, why string) string {
	if why != "" {
		return why + "\n  " + line
	}
	return "In flowrun, write: " + line
}

// otherCommand returns the line that words mean which are not a command of c, with the rest of the words, and a sentence about it; or "".
func otherCommand(c *cobra.Command, words []string) (line, why string) {
	root := new(app).newRootCommand() // the root of c may have only the group that was asked for
	if !c.HasParent() && len(words) > 1 {
		rest := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
		switch {
		case words[0] == "workflow" && slices.Contains([]string{"run", "start", "execute"}, words[1]):
			return root.Name() + " " + fillLine("apply FILE", rest[1:min(2, len(rest))]), ""
		case words[0] == "signal" && len(rest) == 2: // of a run
			return quoteLine([]string{root.Name(), "emit", rest[1], "--run", rest[0]}), ""
		case words[0] == "history" && len(rest) == 1:
			return quoteLine([]string{root.Name(), "events", rest[0]}), ""
		}
	}
	if !c.HasParent() && len(words) == 3 && slices.Contains([]string{"approve", "reject"}, words[0]) {
		return quoteLine([]string{root.Name(), "decide", words[1], words[2], words[0]}), ""
	}
	find := func(group string) (string, string) {
		for _, h := range wordHints {
			about, list, ofGroup := strings.Cut(h.words, ": ")
			if !ofGroup {
				about, list = "", h.words
			}
			if about == group && slices.Contains(strings.Fields(list), words[0]) {
				line := strings.TrimSpace(group + " " + h.line)
				return root.Name() + " " + fillLine(line, knownFlags(root, line, words[1:])), h.why
			}
		}
		return "", ""
	}
	if c.HasParent() {
		if line, why = find(c.Name()); line != "" {
			return line, why
		}
	}
	for _, other := range root.Commands() { // a command of another group, or of none
		if other.Name() == words[0] && c.HasParent() {
			return quoteLine(append([]string{root.Name()}, words...)), ""
		}
		for _, sub := range other.Commands() {
			if sub.Name() == words[0] && !other.Hidden && other.Name() != "completion" && other.CommandPath() != c.CommandPath() {
				line = quoteLine(append([]string{root.Name(), other.Name()}, words...))
			}
		}
	}
	if known, why := find(""); known != "" && (line == "" || !c.HasParent()) {
		return known, why
	}
	return line, ""
}

// knownFlags returns words without the flags that the command of a line does not have.
func knownFlags(root *cobra.Command, line string, words []string) []string {
	c, _, err := root.Find(strings.Fields(line))
	if err != nil {
		return words
	}
	return slices.DeleteFunc(withTwoDashes(c, words), func(w string) bool {
		return strings.HasPrefix(w, "-") && c.Flags().Lookup(strings.TrimLeft(beforeEqual(w), "-")) == nil
	})
}

// fillLine puts words in the place of the word in capital letters.
func fillLine(line string, words []string) string {
	parts := strings.Fields(line)
	for i, p := range parts {
		if strings.ToUpper(p) != p || strings.ToLower(p) == p {
			continue
		}
		switch {
		case len(words) > 0:
			parts[i], words = quoteLine(words), nil
		case p == "RUN":
			parts[i] = "latest"
		case p == "PATH":
			parts[i] = "."
		}
		if p == "FILE" && strings.Contains(line, "RUN") {
			parts[i] = p // the words are about the run
		}
	}
	return strings.Join(parts, " ")
}

// unknownFlag returns the refusal of a flag that does not exist, with the line that means the same.
func (a *app) unknownFlag(c *cobra.Command, missing missingFlag) error {
	arguments := slices.Clone(a.arguments)
	if !a.err.Live { // the line may go to a log, and a value may be a secret that the log does not have yet
		for i, w := range arguments {
			arguments[i] = withoutPairValue(w)
		}
	}
	given := c.Flags().Args() // the words before the flag
	if c.HasSubCommands() && len(given) > 0 {
		return unknownCommand(c, arguments[slices.Index(arguments, given[0]):])
	}
	e := &args.Error{Message: missing.Error(), Hint: "See " + c.CommandPath() + " --help."}
	at := slices.IndexFunc(arguments, func(w string) bool { return isMissingFlag(w, missing) })
	if at < 0 {
		return e
	}
	if fixed := withTwoDashes(c, arguments); !slices.Equal(fixed, arguments) {
		e.Message = fmt.Sprintf("%q: a long flag has two dashes", arguments[at])
		e.Hint = inFlowrun(quoteLine(append([]string{c.Root().Name()}, fixed...)), "")
		return e
	}
	for _, h := range flagHints {
		if h.commands != "" && !slices.Contains(strings.Fields(h.commands), c.Name()) {
			continue
		}
		for _, flag := range strings.Fields(h.flags) {
			value, attached, ok := flagMatches(arguments[at], flag)
			if ok && flag == "-f" && h.instead == "--input" && (at+1 >= len(arguments) || !isPair().MatchString(arguments[at+1])) {
				e.Hint = inFlowrun((&flagHint{value: true, instead: "FILE"}).rewrite(c, arguments, at, value, attached), "")
				return e
			}
			if ok {
				e.Hint = inFlowrun(h.rewrite(c, arguments, at, value, attached), h.why)
				return e
			}
		}
	}
	if near := diag.Nearest(strings.TrimLeft(beforeEqual(arguments[at]), "-"), flagsOf(c)); near != "" {
		e.Hint = "Did you mean --" + near + "?"
	}
	return e
}

// withoutPairValue hides the value of a pair, name=value, also behind a flag: --var=name=value.
func withoutPairValue(word string) string {
	flag := ""
	if before, rest, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
		flag, word = before+"=", rest
	}
	if name, _, ok := strings.Cut(word, "="); ok {
		word = name + "=…"
	}
	return flag + word
}

func beforeEqual(word string) string {
	before, _, _ := strings.Cut(word, "=")
	return before
}

// isMissingFlag reports whether a word is the one in which the library found no flag.
func isMissingFlag(word string, missing missingFlag) bool {
	if letters := missing.GetSpecifiedShortnames(); letters != "" {
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") &&
			strings.HasSuffix(beforeEqual(word), beforeEqual(letters))
	}
	return beforeEqual(word) == "--"+missing.GetSpecifiedName()
}

// withTwoDashes gives the long flags of a command that have one dash a second one.
func withTwoDashes(c *cobra.Command, arguments []string) []string {
	fixed := slices.Clone(arguments)
	for i, w := range arguments {
		name := beforeEqual(strings.TrimPrefix(w, "-"))
		if strings.HasPrefix(w, "-") && len(name) > 1 && c.Flags().Lookup(name) != nil {
			fixed[i] = "-" + w
		}
	}
	return fixed
}

// flagMatches reports whether a word is a flag, also a long one with a single dash, and returns the value that is attached to it.
func flagMatches(word, flag string) (value string, attached, ok bool) {
	if word == flag || word == strings.TrimPrefix(flag, "-") && len(flag) > 3 {
		return "", false, true
	}
	name, value, attached := strings.Cut(word, "=")
	if name == flag || name == strings.TrimPrefix(flag, "-") && len(flag) > 3 {
		return value, attached, true
	}
	if len(flag) == 2 && strings.HasPrefix(word, flag) && strings.Trim(word[2:], "0123456789") == "" { // -n5
		return word[2:], true, true
	}
	return "", false, false
}

// rewrite returns the command line with the hint's words in place of the flag at a place.
func (h *flagHint) rewrite(c *cobra.Command, arguments []string, at int, value string, attached bool) string {
	end := at + 1
	if h.value && !attached && end < len(arguments) && !strings.HasPrefix(arguments[end], "-") {
		value, end = arguments[end], end+1
	}
	before, after := slices.Clone(arguments[:at]), arguments[end:]
	behind := ""
	switch name, isCommand := strings.CutPrefix(h.instead, "command "); {
	case isCommand:
		before[slices.Index(before, c.CalledAs())] = name
	case strings.HasPrefix(h.instead, "|"), strings.HasPrefix(h.instead, ">"), strings.HasPrefix(h.instead, "2>"):
		if behind = " " + h.instead; value != "" {
			behind += " " + quoteWord(value)
		}
	case h.instead == "STEP", h.instead == "FILE":
		return quoteLine(slices.Concat([]string{c.Root().Name()}, before, after, []string{value}))
	case h.instead == "--json":
		before = append(before, h.instead)
	case h.instead == "./...":
		return quoteLine([]string{c.Root().Name(), c.Name(), h.instead})
	case strings.HasSuffix(h.instead, "text="): // the format may be named in front of it
		format := "text"
		if i := slices.Index(before, "--format"); i >= 0 && i+1 < len(before) {
			format = before[i+1]
			before = slices.Delete(before, i, i+2)
		} else if !strings.Contains(value, ".") { // the name of a format
			before = append(before, "--format", value)
			break
		}
		before = append(before, "--format", format+"="+value)
	case strings.HasSuffix(h.instead, "="), strings.HasSuffix(h.instead, ":"):
		before = append(before, strings.Fields(h.instead+value)...)
	case h.instead != "":
		before = append(before, strings.Fields(h.instead)...)
		if h.value {
			before = append(before, value)
		}
	}
	return quoteLine(slices.Concat([]string{c.Root().Name()}, before, after)) + behind
}

// quoteLine quotes the words of a command line where a shell needs it.
func quoteLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}

// quoteWord quotes a word where a shell needs it; the signs of pairs and addresses need no quotes.
func quoteWord(word string) string {
	if rest := strings.NewReplacer("=", "", ":", "", "@", "", ",", "", "+", "", "…", "").Replace(word); rest != "" && ui.Quote(rest) == rest {
		return word
	}
	return ui.Quote(word)
}

// withoutPairs checks the words of apply and plan, and says which flag a pair NAME=VALUE among them needs.
func (a *app) withoutPairs(c *cobra.Command, words []string) error {
	at := slices.IndexFunc(words, func(w string) bool { return isPair().MatchString(w) })
	if at < 0 {
		return between(1, 2, "FILE|DIR [WORKFLOW]")(c, words)
	}
	line := []string{c.Root().Name(), c.Name()}
	for _, w := range words {
		if isPair().MatchString(w) {
			if line = append(line, "--input"); !a.err.Live { // as for unknown flags, the value may be a secret
				w = withoutPairValue(w)
			}
		}
		line = append(line, w)
	}
	return &args.Error{Message: fmt.Sprintf("%q is not the name of a workflow", withoutPairValue(words[at])),
		Hint: "An input has the flag --input, and a variable has the flag --var:\n  " + quoteLine(line)}
}

// notFiles are words that other tools have behind run, and the command that each means.
var notFiles = map[string]string{"list": "runs list", "ls": "runs list", "view": "runs show latest", "show": "runs show latest", "watch": "runs watch latest",
	"cancel": "cancel latest", "rerun": "retry latest", "delete": "runs prune --keep 10 --dry-run"}

// exists reports whether there is a file or folder of this name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// isPair matches a value as other tools take it without a flag: NAME=VALUE.
var isPair = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*=`)
