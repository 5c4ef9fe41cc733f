package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks a plain command.
func (s *scan) call(c *syntax.CallExpr, w where) {
	for _, a := range c.Assigns {
		s.assign(a, w)
	}
	bans := map[*syntax.Word]*ban{}
	s.judge(c.Args, bans)
	for _, x := range c.Args {
		s.word(x, w.but(bans[x]))
	}
}

// readsInput are the files that stand for the standard input.
var readsInput = set("- /dev/stdin /dev/fd/0 /proc/self/fd/0")

// judge says for each word of a command why no value can stand there, if none can. It returns the same for what the
// command reads.
func (s *scan) judge(words []*syntax.Word, bans map[*syntax.Word]*ban) (reads *ban) {
	if len(words) == 0 {
		return nil
	}
	bans[words[0]] = banCommand
	name, whole := s.literal(words[0])
	name = path.Base(name)
	t := tools[name]
	switch {
	case !whole:
		return nil
	case own[name] != nil:
		return own[name](s, words, bans)
	case t != nil:
		j := &judge{scan: s, tool: t, name: name, bans: bans}
		return j.command(words[1:])
	}
	return s.embedded(words, bans)
}

// embedded looks into the arguments of a command that the table does not have for one that it has: docker exec NAME sh -c ….
func (s *scan) embedded(words []*syntax.Word, bans map[*syntax.Word]*ban) (reads *ban) {
	for i := 1; i < len(words); i++ {
		name, whole := s.literal(words[i])
		t := tools[path.Base(name)]
		if !whole || t == nil || !t.stdin && !t.reads {
			continue
		}
		if i+1 == len(words) {
			return banInput(path.Base(name))
		}
		next, _ := s.literal(words[i+1])
		if strings.HasPrefix(next, "-") {
			return s.judge(words[i:], bans)
		}
	}
	return nil
}

// literal is the text that a word begins with, as far as it is known without running anything; whole tells whether that is
// all of it.
func (s *scan) literal(w *syntax.Word) (text string, whole bool) {
	var b strings.Builder
	whole = literalParts(w.Parts, &b, s)
	return b.String(), whole
}

func literalParts(parts []syntax.WordPart, b *strings.Builder, s *scan) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			if first, last := s.within(p.Left.Offset(), p.Right.Offset()); first < last {
				b.WriteString(strings.TrimPrefix(s.text[p.Left.Offset():s.marks[first].start], "$")[1:])
				return false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if !literalParts(p.Parts, b, s) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// judge is the work of finding out what the words of one command are.
type judge struct {
	*scan
	tool *tool
	name string
	bans map[*syntax.Word]*ban

	operands int
	program  bool // an option has said what it runs
	dashes   bool // -- has been there
	input    bool // -s, or - in the place of a file
	replaces bool // xargs puts what it reads into words
	opens    bool // perl opens the files that it is given, and runs those with a | at the end
	inline   bool // -c: the first operand is a script, and no file
}

// command goes through the words behind a command's name: options with their values, then what they are for.
func (j *judge) command(words []*syntax.Word) (reads *ban) {
	for i := 0; i < len(words); i++ {
		text, whole := j.literal(words[i])
		if j.operands > 0 && j.kind() == isCommand {
			return j.inner(words[i:])
		}
		if !j.dashes && strings.HasPrefix(text, "-") && text != "-" && (j.operands == 0 || j.tool.mixed) {
			if text == "--" && whole {
				j.dashes = true
			} else {
				i += j.option(words, i, text, whole)
				j.dashes = j.program && j.tool.ends
			}
			continue
		}
		if j.operands == 0 && j.tool.bundle && whole { // tar xzf FILE
			i += j.option(words, i, "-"+text, whole)
			j.operands++
			continue
		}
		if j.tool.assigns && !j.begins(words[i]) {
			if name, _, ok := strings.Cut(text, "="); ok && isName(name) {
				j.bans[words[i]] = j.assigned(name)
				continue
			}
		}
		if j.kind() == isCommand {
			return j.inner(words[i:])
		}
		j.operand(words[i], text)
	}
	if j.tool.reads || j.tool.stdin && (j.input || j.operands == 0 && !j.program) || j.name == "ssh" && j.remote(words) {
		return banInput(j.name)
	}
	return nil
}

// inner judges the command that a command runs. xargs puts what it reads behind the words of that, or into them.
func (j *judge) inner(words []*syntax.Word) *ban {
	reads := j.scan.judge(words, j.bans)
	if reads != nil || !strings.HasSuffix(j.name, "xargs") {
		return reads
	}
	name, _ := j.literal(words[0])
	t := tools[path.Base(name)]
	if t != nil && (j.replaces && t.stdin || len(words) == 1 && (t.first == isCommand || t.first == isText || t.rest == isCommand)) {
		return banInput("xargs " + name)
	}
	return nil
}

// remote tells whether the other side's shell runs what ssh reads: where ssh is given no command, or one that runs it.
func (j *judge) remote(words []*syntax.Word) bool {
	if j.operands <= 1 {
		return true
	}
	for _, w := range words {
		text, _ := j.literal(w)
		for _, word := range strings.Fields(text) {
			if t := tools[path.Base(word)]; t != nil && (t.stdin || t.reads) {
				return true
			}
		}
	}
	return false
}

// kind is what the next word that is no option is.
func (j *judge) kind() kind {
	switch {
	case j.program && !j.tool.shell:
		return isData
	case j.operands == 0:
		return j.tool.first
	}
	return j.tool.rest
}

func (j *judge) operand(w *syntax.Word, text string) {
	switch j.kind() {
	case isText:
		j.bans[w] = banCode(j.name, j.tool.how)
	case isFile:
		j.bans[w] = banSource
		if j.inline {
			j.bans[w] = banCode(j.name+" -c", j.tool.how)
		}
		j.input = j.input || readsInput[text]
	default:
		if j.opens {
			j.bans[w] = banCode(j.name+" -n", "It runs a file's name that ends with |. Let the shell open the file:  perl -pe '…' < {value}.")
			break
		}
		open := !j.dashes && (j.operands == 0 || j.tool.mixed)
		if open && j.begins(w) && (j.tool.runs || j.program) {
			j.bans[w] = banOption(j.name, j.tool.dash)
		}
	}
	j.operands++
}

// option judges one word of options. It returns how many words behind it belong to it.
func (j *judge) option(words []*syntax.Word, i int, text string, whole bool) (more int) {
	next := func(b *ban) int {
		if i+1 < len(words) && b != nil {
			j.bans[words[i+1]] = b
		}
		return 1
	}
	code := banCode(j.name+" "+text, j.tool.how)
	if strings.HasPrefix(text, "--") {
		name, _, has := strings.Cut(text, "=")
		j.replaces = j.replaces || name == "--replace"
		switch {
		case !whole && !has: // the value is a part of the option's name
			j.bans[words[i]] = banOption(j.name, j.tool.dash)
		case j.tool.code[name]:
			j.program = true
			if has {
				j.bans[words[i]] = banCode(j.name+" "+name, j.tool.how)
				return 0
			}
			return next(code)
		case j.tool.values[name] && !has:
			return next(nil)
		case j.tool.pairs[name]:
			return 2
		}
		return 0
	}
	if whole && len(text) > 2 && j.tool.code[text] { // gdb -ex COMMAND
		j.program = true
		return next(code)
	}
	for at, c := range text[1:] {
		rest := text[2+at:]
		letter := "-" + string(c)
		j.replaces = j.replaces || letter == "-I" || letter == "-i" || letter == "-J"
		switch {
		case j.tool.code[letter]:
			j.program = true
			if rest != "" || !whole {
				j.bans[words[i]] = banCode(j.name+" "+letter, j.tool.how)
				return 0
			}
			return next(banCode(j.name+" "+letter, j.tool.how))
		case j.tool.values[letter]:
			if rest != "" || !whole {
				return 0
			}
			return next(nil)
		case strings.Contains("np", letter[1:]) && j.name == "perl":
			j.opens = true
		case letter == "-s" && j.tool.shell:
			j.input = true
		case letter == "-c" && j.tool.shell:
			j.inline = true
		}
	}
	if !whole { // the value may hold more letters
		j.bans[words[i]] = banOption(j.name, j.tool.dash)
	}
	return 0
}
