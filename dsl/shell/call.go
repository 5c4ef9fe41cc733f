package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// call walks a plain command.
func (s *scan) call(c *syntax.CallExpr, w where) {
	for _, a := range c.Assigns {
		s.assign(a, w)
	}
	if w.no.follows() {
		for _, name := range s.puts(c) {
			s.blame(name, w.no)
		}
	}
	no := map[*syntax.Word]*ban{}
	for _, words := range s.variants(c.Args) {
		s.judge(words)
		for _, x := range words {
			if no[x.node] == nil {
				no[x.node] = x.no
			}
		}
	}
	for _, x := range c.Args {
		if _, ok := arguments(x); ok && w.hands { // judged with each call of the function
			s.word(x, w)
		} else {
			s.word(x, w.but(no[x]))
		}
	}
}

// ran is why no value may be in what a plain command reads; nil if it may.
func (s *scan) ran(c *syntax.CallExpr) *ban {
	for _, words := range s.variants(c.Args) {
		if b := s.judge(words); b != nil {
			return b
		}
	}
	return nil
}

// readsInput are the files that stand for the standard input.
var readsInput = set("- /dev/stdin /dev/fd/0 /proc/self/fd/0")

// judge says for each word of a command why no value can stand there, if none can. It returns the same for what the command
// reads.
func (s *scan) judge(words []*word) (reads *ban) {
	if len(words) > 0 && words[0].whole && s.funcs[words[0].text] != nil {
		words[0].no = banCommand
		reads = s.callOf(words[0].text, words)
		if !special[words[0].text] { // sh takes its own
			return reads
		}
	}
	return s.external(words)
}

// external does so where a function of that name is not asked.
func (s *scan) external(words []*word) (reads *ban) {
	if len(words) == 0 {
		return nil
	}
	words[0].no = banCommand
	name := path.Base(words[0].text)
	t := find(name)
	switch {
	case !words[0].whole || strings.HasPrefix(name, "-"): // the latter are options of a program that is not seen
		if !words[0].holds { // or it is refused as the name of a command
			if reads = s.hidden(words); reads != nil {
				return reads
			}
		}
		t, name = s.guessed(words[0])
	case own[name] != nil:
		return own[name](s, words)
	}
	if strings.Contains(words[0].text, "/") {
		s.runs(words[0])
	}
	if t == nil {
		if reads = s.embedded(words); reads != nil || ofTheAuthor(words[0].text) {
			return reads
		}
		t = unknown
	}
	j := &judge{scan: s, tool: t, name: name}
	return j.command(words[1:])
}

// special are the builtins that sh takes before functions of their names: POSIX 2.14.
var special = set("break : continue . eval exec exit export readonly return set shift times trap unset")

// runs refuses what stands in a file that is run, and a value in the folder where it lies.
func (s *scan) runs(w *word) {
	if s.files && w.node != nil {
		s.blame(s.file(w.node), banWritten)
	}
	if s.folder != nil && w.text != "" && w.text[0] != '/' && w.text[0] != '~' && !readsInput[w.text] {
		s.folder(banFolder)
	}
}

// goes notes a folder that a value names.
func (s *scan) goes(words []*word) {
	for _, w := range words {
		if !w.free || s.folder != nil {
			continue
		}
		s.folder = func(b *ban) {
			if w.no == nil {
				w.no = b
			}
			if w.node != nil {
				for _, from := range s.sources(w.node) {
					from.refuse(b)
				}
			}
		}
	}
}

var version = lazyregexp.New(`^([a-z][a-z-]*?)-?[0-9]{1,3}(\.[0-9]+)*$`)

// find is the tool of a name; python3.12 and gcc-13 are those without their version.
func find(name string) *tool {
	name = strings.TrimSuffix(name, ".exe")
	if t := tables().tools[name]; t != nil {
		return t
	}
	if m := version().FindStringSubmatch(name); m != nil {
		return tables().tools[m[1]]
	}
	return nil
}

// code is how options look like whose value is run.
var code = lazyregexp.New(`^(-[a-z]?[ce]|--eval|--command)$`)
var codeWith = lazyregexp.New(`^(-[a-z]?[ce]|--(eval|command)=)`)

// hidden judges the words of a program that is not written out, as $SHELL -c …: it may be one that runs text.
func (s *scan) hidden(words []*word) (reads *ban) {
	reads = s.embedded(words)
	running, first := false, words[0].node != nil && (!isQuoted(words[0].node.Parts[0]) || strings.Contains(s.raw(words[0]), "[@]")) // $RUN may be sh -c; "$RUN" is one program
	for i, w := range words {
		operand := i > 0 && first && !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(words[0].text, "-")
		first = first && !operand
		if w.no == nil && (running || operand && w.holds || i > 0 && !w.whole && codeWith().MatchString(w.text)) {
			w.no = banCode("this program", "")
		}
		running = running || w.whole && code().MatchString(w.text)
	}
	return reads
}

// guessed is the tool of a program that is not written out, by what its path ends with or its variable is called.
func (s *scan) guessed(w *word) (*tool, string) {
	if w.node != nil {
		text := s.text[w.node.Pos().Offset():w.node.End().Offset()]
		if name := strings.Trim(path.Base(text), `"`); strings.Contains(text, "/") && find(name) != nil {
			return find(name), name
		}
		if v := variable(w.node); v != nil {
			name := strings.ToLower(v.Param.Value)
			if strings.Contains(name, "ssh") {
				name = "ssh"
			}
			if t := find(name); t != nil && name != "shell" {
				return t, name
			}
		}
	}
	return unknown, "this program"
}

// scriptName is how scripts are called.
var scriptName = lazyregexp.New(`\.(sh|bash|py|pl|rb|js|mjs|ts|php|lua)$`)

// ofTheAuthor reports whether a program is named by its path: it lies beside the file, and what it makes of a word that
// begins with - is up to whoever wrote it.
func ofTheAuthor(name string) bool {
	return strings.Contains(name, "/") && (!strings.HasPrefix(name, "/") || scriptName().MatchString(name))
}

// embedded looks into the arguments of a command that the table does not have for one that it has: in-container NAME sh -c ….
func (s *scan) embedded(words []*word) (reads *ban) {
	for i := 1; i < len(words); i++ {
		name := path.Base(words[i].text)
		t := find(name)
		if !words[i].whole || t == nil || !t.stdin && !t.reads && t.first != isCommand {
			continue
		}
		if i+1 == len(words) {
			if t.first == isCommand {
				return nil
			}
			b := banInput(name)
			b.shell = t.shell
			return b
		}
		if strings.HasPrefix(words[i+1].text, "-") || t.first == isCommand && find(path.Base(words[i+1].text)) != nil {
			return s.external(words[i:])
		}
	}
	return nil
}

// judge is the work of finding out what the words of one command are.
type judge struct {
	*scan
	tool *tool
	name string

	operands int
	program  bool   // an option has said what it runs
	dashes   bool   // -- has been there
	input    bool   // -s, or - in the place of a file
	replaces bool   // xargs puts what it reads into words
	mark     string // in the place of this text; unknown if empty
	opens    bool   // perl opens the files that it is given, and runs those with a | at the end
	inline   bool   // -c: the first operand is a script, and no file
	values   int    // operands that begin with a value
	key      bool   // git config: the key is known to be harmless
	entry    *word
	argued   bool  // -s: operands are arguments
	script   *word // of sh -c
}

// command goes through the words behind a command's name: options with their values, then what they are for.
func (j *judge) command(words []*word) (reads *ban) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		option := !j.dashes && strings.HasPrefix(w.text, "-") && !w.is("-") && (j.operands == 0 || j.tool.mixed)
		if j.operands > 0 && j.kind() == isCommand && !option {
			if !w.whole || !j.tool.code[w.text] || j.entry != nil { // flock FILE -c TEXT
				return j.inner(words[i:])
			}
			option = true
		}
		if !j.dashes && j.tool.plus && j.operands == 0 && strings.HasPrefix(w.text, "+") {
			if j.tool.shell {
				i += j.option(words, i)
			} else {
				w.no = banCode(j.name+" +", j.tool.how)
			}
			continue
		}
		if at := j.module(words, i); option && at > 0 {
			return j.runsModule(words[at:], w)
		}
		if option {
			if w.is("--") || w.is("--end-of-options") && j.tool.dash == dashGit {
				j.dashes = true
				if j.tool.late && j.kind() != isCommand && j.tool.rest != isCommand {
					return j.inner(words[i+1:])
				}
			} else {
				i += j.option(words, i)
				j.dashes = j.dashes || j.program && j.tool.ends
			}
			continue
		}
		if j.operands == 0 && j.tool.bundle && w.whole { // tar xzf FILE
			bundle := *w
			bundle.text = "-" + w.text
			words[i] = &bundle
			i += j.option(words, i)
			j.operands++
			continue
		}
		if j.tool.assigns && !w.begins {
			if name, _, ok := strings.Cut(w.text, "="); ok && isName(name) {
				w.no = j.assigned(name)
				continue
			}
		}
		if j.operands == 0 && j.tool.subs != nil {
			if sub := j.tool.subs[w.text]; sub != nil && w.whole {
				below := &judge{scan: j.scan, tool: sub, name: j.name + " " + w.text, dashes: j.dashes}
				return below.command(words[i+1:])
			}
			if !w.whole {
				w.no = banCommand
			}
			if reads := j.embedded(words[i:]); reads != nil {
				return reads
			}
		}
		if j.kind() == isCommand {
			return j.inner(words[i:])
		}
		j.operand(w)
		if j.script == w {
			reads = j.nested(w, words[i+1:])
		}
	}
	if reads != nil {
		return reads
	}
	if j.tool.reads && !j.program || j.input || j.tool.stdin && j.operands == 0 && !j.program || j.name == "ssh" && j.remote(words) {
		b := banInput(j.name)
		b.shell = j.tool.shell
		return b
	}
	return nil
}

// maxXargs bounds how deep they stand in each other: each is judged with and without what it reads.
const maxXargs = 3

// inner judges the command that a command runs. xargs puts what it reads behind the words of that, or into them.
func (j *judge) inner(words []*word) *ban {
	if j.entry != nil && len(words) > 0 {
		words = append([]*word{j.entry}, words...)
	}
	if j.name == "time" || j.name == "coproc" {
		return j.scan.judge(words)
	}
	if !strings.HasSuffix(j.name, "xargs") || len(words) == 0 {
		return j.external(words)
	}
	if j.xargs++; j.xargs > maxXargs {
		return banInput(j.name)
	}
	defer func() { j.xargs-- }()
	if reads := j.external(words); reads != nil {
		return reads
	}
	given := make([]*word, 0, len(words)+1)
	for _, w := range words {
		copied := *w
		if j.replaces && strings.Contains(j.raw(w), j.mark) {
			copied.whole, copied.holds, copied.begins = false, true, w.begins || strings.HasPrefix(w.text, j.mark)
			copied.text, _, _ = strings.Cut(w.text, j.mark)
		}
		copied.no = nil
		given = append(given, &copied)
	}
	if !j.replaces {
		given = append(given, &word{begins: true, holds: true})
	}
	if reads := j.external(given); reads != nil {
		return banInput("xargs " + words[0].text)
	}
	for _, w := range given {
		if w.holds && w.no != nil && w.no != banFormat && w.no != banName {
			return banXargs(words[0].text, w.no)
		}
	}
	return nil
}

// replace notes what xargs -I, -i and --replace put what is read in the place of: what stands behind the option in the same
// word, or the next one.
func (j *judge) replace(w *word, behind string, words []*word) {
	j.replaces, j.mark = true, behind
	if len(words) > 0 {
		w, j.mark = words[0], words[0].text
	}
	if !w.whole {
		j.mark = ""
	}
}

// raw is a word as the script has it.
func (s *scan) raw(w *word) string {
	if w.node == nil || w.whole {
		return w.text
	}
	return s.text[w.node.Pos().Offset():w.node.End().Offset()]
}

// remote tells whether the other side's shell runs what ssh reads: where ssh is given no command, or one that runs it.
func (j *judge) remote(words []*word) bool {
	if j.operands <= 1 {
		return true
	}
	for _, w := range words {
		for _, word := range strings.Fields(w.text) {
			if t := find(path.Base(word)); t != nil && (t.stdin || t.reads) {
				return true
			}
		}
	}
	return false
}

// kind is what the next word that is not an option is.
func (j *judge) kind() kind {
	switch {
	case j.program && !j.tool.shell && j.entry == nil && j.tool.rest == isData:
		return isData
	case j.operands == 0:
		return j.tool.first
	}
	return j.tool.rest
}

func (j *judge) operand(w *word) {
	switch j.kind() {
	case isText:
		j.text(w, banCode(j.name, j.tool.how))
		j.program = j.program || j.tool.reads
	case isFile:
		if j.argued || j.pinned(w) {
			break
		}
		w.no = banSource
		if j.tool.within && w.text != "" {
			w.no = nil
		}
		if !j.inline {
			j.runs(w)
		}
		if j.inline {
			w.no = banCode(j.name+" -c", j.tool.how)
			j.script = w
		}
		j.input = j.input || readsInput[w.text]
	default:
		if j.opens {
			w.no = banCode(j.name+" -n", "It runs a file's name that ends with |. Let the shell open the file:  perl -pe '…' < {value}.")
			break
		}
		if j.name == "git config" {
			j.setting(w)
		}
		open := (!j.dashes || j.tool.bare) && (j.operands == 0 || j.tool.mixed)
		if w.begins {
			j.values++
		}
		if open && w.begins && !j.tool.safe && !(j.tool.alone && j.values == 1) {
			w.no = j.asOption()
		}
	}
	j.operands++
}

// setting judges a word of git config: the value of a key that is not known to be harmless could be a command.
func (j *judge) setting(w *word) {
	if j.operands > 0 {
		if !j.key {
			w.no = banCode(j.name, "Many of git's settings are commands. Write the setting out.")
		}
		return
	}
	for _, p := range plainSettings {
		j.key = j.key || strings.HasPrefix(strings.ToLower(w.text), p)
	}
	if set("get set unset list add")[w.text] && w.whole {
		j.operands--
	} else if !w.whole {
		w.no = banCode(j.name, "Many of git's settings are commands. Write the key out.")
	}
}

// asOption is why no value can begin a word here.
func (j *judge) asOption() *ban {
	if j.tool == unknown {
		return banUnknown(j.name)
	}
	return banOption(j.name, j.tool.dash)
}

// option judges one word of options. It returns how many words behind it belong to it.
func (j *judge) option(words []*word, i int) (more int) {
	w := words[i]
	next := func(b *ban) int {
		if i+1 < len(words) && b != nil {
			j.text(words[i+1], b)
			j.runs(words[i+1])
			j.input = j.input || readsInput[words[i+1].text]
		}
		return 1
	}
	careful := func(name string) int {
		if i+1 < len(words) && words[i+1].begins {
			words[i+1].no = banOption(j.name+" "+name, dashPrefix)
		}
		if i+1 < len(words) {
			j.pipe(words[i+1], words[i+1].text)
		}
		return 1
	}
	if j.tool.defines != nil && strings.HasPrefix(w.text, "-D") {
		return j.define(words, i)
	}
	name, value, has := strings.Cut(w.text, "=")
	if name == "--replace" && strings.HasSuffix(j.name, "xargs") {
		if !has {
			value = "{}"
		}
		j.replace(w, value, nil)
		return 0
	}
	if j.tool.single && strings.HasPrefix(name, "--") && !named(j.tool.code, name) {
		name = name[1:]
	}
	if strings.HasPrefix(w.text, "--") || j.tool.single && len(name) > 2 {
		switch {
		case !w.whole && !has: // the value is a part of the option's name
			w.no = j.asOption()
		case named(j.tool.code, name) && !j.tool.values[name] && (has || !j.tool.flags[name]):
			j.program = j.program || !named(j.tool.loads, name)
			if has {
				j.text(w, banCode(j.name+" "+name, j.tool.how))
				j.input = j.input || readsInput[value]
				return 0
			}
			return next(banCode(j.name+" "+name, j.tool.how))
		case has && j.tool.entry && name == "--entrypoint":
			entry := *w
			entry.text, w.no = value, banCommand
			j.entry = &entry
			return 0
		case has:
			if j.tool.careful[name] {
				if value == "" && !w.whole {
					w.no = banOption(j.name+" "+name, dashPrefix)
				}
				j.pipe(w, value)
			}
			if j.tool.folder[name] {
				j.goes(words[i : i+1])
			}
			return 0
		case j.tool.entry && name == "--entrypoint" && i+1 < len(words):
			j.entry = words[i+1]
			j.entry.no = banCommand
			return 1
		case j.tool.careful[name]:
			return careful(name)
		case j.tool.values[name]:
			if j.tool.folder[name] {
				j.goes(words[i+1 : min(i+2, len(words))])
			}
			return next(nil)
		case j.tool.pairs[name]:
			return 2
		case j.tool.loose && !boolean[name] && !j.tool.flags[name] && !strings.HasPrefix(name, "--no-"):
			if i+1 < len(words) && words[i+1].holds {
				return 1
			}
		}
		return 0
	}
	if w.whole && len(w.text) > 2 && j.tool.code[w.text] { // gdb -ex COMMAND
		j.program = true
		return next(banCode(j.name+" "+w.text, j.tool.how))
	}
	for at, c := range w.text[1:] {
		rest := w.text[2+at:]
		letter := "-" + string(c)
		if strings.HasSuffix(j.name, "xargs") {
			switch {
			case letter == "-i" && rest == "" && w.whole:
				j.replace(w, "{}", nil)
				return 0
			case letter == "-i" || rest != "" && (letter == "-I" || letter == "-J"):
				j.replace(w, rest, nil)
				return 0
			case letter == "-I" || letter == "-J":
				j.replace(w, "", words[i+1:min(i+2, len(words))])
				return 1
			}
		}
		switch {
		case j.name == "git" && letter == "-c" && rest == "" && i+1 < len(words) && plainSetting(words[i+1].text):
			return 1
		case j.tool.code[letter]:
			j.program = j.program || !j.tool.loads[letter]
			j.opens = j.opens || j.tool == tables().tools["perl"] && readsFiles(rest, words[i+1:])
			if rest != "" || !w.whole {
				j.text(w, banCode(j.name+" "+letter, j.tool.how))
				j.input = j.input || readsInput[rest]
				return 0
			}
			return next(banCode(j.name+" "+letter, j.tool.how))
		case j.tool.careful[letter]:
			if rest == "" && !w.whole {
				w.no = banOption(j.name+" "+letter, dashPrefix)
			}
			j.pipe(w, rest)
			if rest != "" || !w.whole {
				return 0
			}
			return careful(letter)
		case j.tool.shell && (letter == "-o" || letter == "-O"): // the name is the next word; more letters may stand behind
			if i+1+more < len(words) && (rest == "" || !strings.HasPrefix(words[i+1+more].text, "-")) {
				more++
			}
		case j.tool.values[letter]:
			if j.tool.folder[letter] {
				j.goes(words[i:min(i+2, len(words))])
			}
			if rest != "" || !w.whole {
				return 0
			}
			return next(nil)
		case strings.Contains("npaF", letter[1:]) && j.tool == tables().tools["perl"]:
			j.opens = true
			if letter == "-F" {
				return 0
			}
		case letter == "-s" && j.tool.shell:
			j.input, j.argued = true, true
		case letter == "-c" && j.tool.shell:
			j.inline = true
		}
	}
	if !w.whole && !j.tool.safe && !(j.tool == unknown && strings.Contains(w.text, "=")) { // the value may hold more letters
		w.no = j.asOption()
	}
	return more
}

// text refuses values in a text that the program runs. One without is judged by the variables that it reads, where a shell
// runs it.
func (j *judge) text(w *word, b *ban) {
	w.no = b
	if j.tool.how != howShell || w.holds {
		return
	}
	text := w.text
	if !w.whole && w.node != nil {
		text = j.spelled(w.node.Parts)
	}
	if strings.HasPrefix(text, "-") { // -cTEXT, --command=TEXT
		text = text[min(len(text), 2):]
		if strings.HasPrefix(w.text, "--") {
			_, text, _ = strings.Cut(w.text, "=")
		}
	}
	if j.nested(&word{text: text, whole: true}, nil) != nil {
		j.input = true
	}
}

// pipe refuses a value in the name of a file that begins with |, which is a command then.
func (j *judge) pipe(w *word, text string) {
	if strings.HasPrefix(strings.TrimSpace(text), "|") {
		w.no = banCode(j.name, "")
	}
}

// named tells whether a long option is one of a set, or the beginning of one: most programs take that for the whole.
func named(options map[string]bool, name string) bool {
	if options[name] {
		return true
	}
	if !strings.HasPrefix(name, "--") || len(name) < 3 {
		return false
	}
	for o := range options { // any order: all are looked at
		if strings.HasPrefix(o, name) {
			return true
		}
	}
	return false
}
