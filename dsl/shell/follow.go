package shell

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// source is where the value of a shell variable comes from.
type source struct{ refuse func(*ban) }

// held are the variables of a script that hold a value, each with where it comes from. It is a set of names for the whole
// script: the order of assignments is not looked at.
type held map[string][]*source

// maxSources bounds how many values are remembered for one variable.
const maxSources = 8

func (h held) add(name string, from []*source) (changed bool) {
	for _, f := range from {
		known := len(h[name]) >= maxSources
		for _, o := range h[name] {
			known = known || o == f
		}
		if !known {
			h[name] = append(h[name], f)
			changed = true
		}
	}
	return changed
}

// follows are the reasons that hold for a variable with a value as for the value itself.
func (b *ban) follows() bool {
	switch b {
	case nil, banPattern, banPlace, banEscaped, banAnsi, banQuotedHeredoc, banDescriptor, banFormat, banTest:
		return false
	}
	return true
}

// of are the sources of what a variable holds. The arguments behind the ninth are known as $@.
func (h held) of(name string) []*source {
	if len(name) > 1 && name[0] >= '0' && name[0] <= '9' {
		name = "@"
	}
	return h[name]
}

// blame refuses the values that a variable holds.
func (s *scan) blame(name string, b *ban) {
	if !b.follows() {
		return
	}
	for _, f := range s.held.of(name) {
		f.refuse(b.by(name))
	}
}

// sources are where the values in a node come from.
func (s *scan) sources(n syntax.Node) (out []*source) {
	if n == nil {
		return nil
	}
	first, last := s.within(n.Pos().Offset(), n.End().Offset())
	for i := first; i < last; i++ {
		if !s.marks[i].value.Tame {
			out = append(out, s.sourceOf(i))
		}
	}
	for _, name := range s.mentioned(n) {
		out = append(out, s.held.of(name)...)
	}
	return out
}

// sourceOf is the source that stands for the i-th value.
func (s *scan) sourceOf(i int) *source {
	m := &s.marks[i]
	if m.source == nil {
		m.source = &source{func(b *ban) {
			if !m.refused {
				m.refused = true
				s.list = append(s.list, b.of(m.value))
			}
		}}
	}
	return m.source
}

// mention is a place where a script reads a variable that holds a value. Around it stand arithmetic and commands of which
// only a number comes out, the outermost first: where one of them is a part of what is looked at, no value is. A command is
// a mention of what it puts out.
type mention struct {
	at    uint
	name  string
	hides []syntax.Node
	call  bool
}

// maxMentions bounds how many mentions in one node are looked at.
const maxMentions = 64

// mentioned are the variables in a node that hold a value, but those of which only a number comes out.
func (s *scan) mentioned(n syntax.Node) (out []string) {
	if len(s.mentions) == 0 || n == nil {
		return nil
	}
	start, end := n.Pos().Offset(), n.End().Offset()
	i := sort.Search(len(s.mentions), func(i int) bool { return s.mentions[i].at >= start })
	for ; i < len(s.mentions) && len(out) < maxMentions && s.mentions[i].at < end; i++ {
		m := s.mentions[i]
		if m.call && m.at == start && isWord(n) { // the name of that command
			continue
		}
		if !slices.ContainsFunc(m.hides, func(h syntax.Node) bool { return h.Pos().Offset() >= start && h.End().Offset() <= end }) {
			out = append(out, m.name)
		}
	}
	return out
}

func isWord(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp:
		return true
	}
	return false
}

// index finds the mentions of a script.
func (s *scan) index(f *syntax.File) {
	s.mentions = nil
	if len(s.held) == 0 {
		return
	}
	s.mentions = s.indexed(f, false)
	s.mentions = s.indexed(f, true) // what counts depends on where values are mentioned
}

func (s *scan) indexed(f *syntax.File, hiding bool) (out []mention) {
	var open []syntax.Node // those that are walked, with nil for one that hides nothing
	var hides []syntax.Node
	note := func(n syntax.Node, name string, call bool) {
		out = append(out, mention{n.Pos().Offset(), name, slices.Clone(hides), call})
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			if last := open[len(open)-1]; last != nil {
				hides = hides[:len(hides)-1]
			}
			open = open[:len(open)-1]
			return true
		}
		var hider syntax.Node
		if s.substituted(n) {
			note(n, input, false)
		}
		switch n := n.(type) {
		case *syntax.ArithmExp:
			if hiding {
				hider = n
			}
		case *syntax.CmdSubst:
			if hiding && s.counts(n.Stmts) {
				hider = n
			}
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length && s.held.of(n.Param.Value) != nil {
				note(n, n.Param.Value, false)
			}
		case *syntax.CallExpr:
			for _, name := range s.puts(n) {
				note(n.Args[0], name, true)
			}
		case *syntax.Redirect:
			if s.files && n.Op == syntax.RdrIn && s.held[s.file(n.Word)] != nil {
				note(n.Word, s.file(n.Word), false)
			}
		}
		open = append(open, hider)
		if hider != nil {
			hides = append(hides, hider)
		}
		return true
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].at < out[j].at })
	return out
}

// digests are programs whose output begins with digits or letters of their own, whatever they read.
var digests = set("wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum date nproc id mktemp")

// counts tells whether a command's output is that of a digest.
func (s *scan) counts(list []*syntax.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	c := list[len(list)-1].Cmd
	for {
		b, ok := c.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.Pipe {
			break
		}
		c = b.Y.Cmd
	}
	call, ok := c.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(list) > 1 {
		return false
	}
	name, _ := s.literal(call.Args[0])
	if s.funcs[name] != nil {
		return false
	}
	name = path.Base(name)
	counting, operands, before := digests[name], 0, ""
	for _, a := range call.Args[1:] {
		text, _ := s.literal(a)
		counting = counting || name == "grep" && (text == "-c" || text == "--count")
		if !strings.HasPrefix(text, "-") {
			operands++
		}
		shown := name != "grep" || operands > 1 // which puts the names of files out, and not the pattern
		if name == "date" && (before == "-d" || strings.HasPrefix(text, "--date=")) {
			shown = false
		}
		if shown && s.carries(a) {
			return false
		}
		before = text
	}
	return counting
}

// positional are the names of arguments.
var positional = strings.Fields("1 2 3 4 5 6 7 8 9 @ *")

// follow finds out which variables hold values. Each round takes one step from variable to variable.
func (s *scan) follow(f *syntax.File) {
	const rounds = 50
	for range rounds {
		changed := false
		give := func(name string, from []*source) {
			if name != "" && len(from) > 0 && s.held.add(name, from) {
				changed = true
			}
		}
		s.index(f)
		s.filled(f, s.held[into], give)
		syntax.Walk(f, func(n syntax.Node) bool { s.step(n, give); return true })
		for _, name := range slices.Sorted(maps.Keys(s.held)) {
			if isName(name) {
				give(allVars, s.held[name])
			}
		}
		if !changed {
			return
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.held)) {
		s.blame(name, banFar)
	}
}

func (s *scan) step(n syntax.Node, give func(string, []*source)) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && n.Value != nil {
			give(n.Name.Value, s.assigns(n.Value))
		}
		if n.Name != nil && n.Array != nil {
			give(n.Name.Value, s.sources(n.Array))
		}
	case *syntax.ForClause:
		if l, ok := n.Loop.(*syntax.WordIter); ok {
			for _, x := range l.Items {
				give(l.Name.Value, s.assigns(x))
			}
			if !l.InPos.IsValid() { // for i do
				give(l.Name.Value, s.held["@"])
			}
		}
	case *syntax.ParamExp:
		if n.Exp != nil && n.Exp.Word != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			give(n.Param.Value, s.sources(n.Exp.Word))
		}
	case *syntax.Stmt:
		for _, r := range n.Redirs {
			switch {
			case r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob || r.Op == syntax.RdrAll || r.Op == syntax.AppAll || r.Op == syntax.RdrInOut:
				s.written(s.file(r.Word), s.sources(n.Cmd), give)
				for _, o := range n.Redirs {
					if o.Hdoc != nil || o.Op == syntax.WordHdoc || o.Op == syntax.RdrIn {
						s.written(s.file(r.Word), s.sources(o), give)
					}
				}
			case r.Op == syntax.RdrIn:
				s.readBy(n, s.held[s.file(r.Word)], give)
				for _, p := range r.Word.Parts {
					if p, ok := p.(*syntax.ProcSubst); ok && !s.counts(p.Stmts) {
						s.readBy(n, s.sources(p), give)
					}
				}
			case r.Op == syntax.WordHdoc:
				s.readBy(n, s.sources(r.Word), give)
			case r.Hdoc != nil:
				s.readBy(n, s.sources(r.Hdoc), give)
			}
		}
	case *syntax.BinaryCmd:
		if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && !s.counts([]*syntax.Stmt{n.X}) {
			s.filled(n.Y, s.sources(n.X), give)
			for _, r := range n.Y.Redirs {
				if r.Op != syntax.RdrIn && r.Word != nil {
					s.written(s.file(r.Word), s.sources(n.X), give)
				}
			}
		}
	case *syntax.FuncDecl:
		give(n.Name.Value+outOf, s.sources(n.Body))
		s.filled(n.Body, s.held[n.Name.Value+into], give)
	case *syntax.CallExpr:
		s.exported(n, give)
		s.passed(n, give)
		s.copies(n, give)
	}
}

// readBy gives what a statement reads to the variables that it reads into: those of the whole script for exec alone.
func (s *scan) readBy(st *syntax.Stmt, from []*source, give func(string, []*source)) {
	if s.stays(st) {
		give(into, from)
	} else if st.Cmd != nil {
		s.filled(st.Cmd, from, give)
	}
}

// runsIts is why no value may be in what a statement reads, as consumes says it.
func (s *scan) runsIts(st *syntax.Stmt) *ban {
	if !s.stays(st) {
		return s.consumes(st.Cmd)
	}
	if !s.asked {
		s.asked, s.consumed = true, s.consumes(s.whole)
	}
	return s.consumed
}

// stays tells whether the redirections of a statement hold for those behind it.
func (s *scan) stays(st *syntax.Stmt) bool {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) != 1 {
		return false
	}
	name, _ := s.literal(c.Args[0])
	return name == "exec"
}

func (s *scan) written(file string, from []*source, give func(string, []*source)) {
	if len(from) > 0 && !strings.HasPrefix(file, fileOf+"/dev/") {
		s.files = true
		give(file, from)
	}
}

// copies gives files what tee, cp and mv put into them.
func (s *scan) copies(c *syntax.CallExpr, give func(string, []*source)) {
	if len(c.Args) < 2 {
		return
	}
	name, _ := s.literal(c.Args[0])
	switch last := c.Args[len(c.Args)-1]; name {
	case "cp", "mv", "ln", "install":
		for _, x := range c.Args[1 : len(c.Args)-1] {
			s.written(s.file(last), s.held[s.file(x)], give)
		}
	}
}

// exported gives the variables of export, local and their kin their values, where sh has them as words of a plain command.
func (s *scan) exported(c *syntax.CallExpr, give func(string, []*source)) {
	if len(c.Args) == 0 {
		return
	}
	if name, _ := s.literal(c.Args[0]); !declaring[name] {
		return
	}
	for _, a := range c.Args[1:] {
		text, _ := s.literal(a)
		name, _, ok := strings.Cut(text, "=")
		if !ok || !isName(name) {
			continue
		}
		if l, ok := a.Parts[0].(*syntax.Lit); ok && l.Value == name+"=" && len(a.Parts) > 1 {
			a = &syntax.Word{Parts: a.Parts[1:]}
		}
		give(name, s.assigns(a))
	}
}

// assigns are the sources of what a word becomes.
func (s *scan) assigns(x *syntax.Word) []*source {
	if len(x.Parts) == 1 {
		p := x.Parts[0]
		if q, ok := p.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
			p = q.Parts[0]
		}
		switch p := p.(type) {
		case *syntax.CmdSubst:
			if s.counts(p.Stmts) {
				return nil
			}
		case *syntax.ArithmExp:
			return nil
		}
	}
	return s.sources(x)
}

// writers are programs that write what they read to files that their words name.
var writers = set("tee sponge dd")

// filled gives what a command reads to the variables that it reads into.
func (s *scan) filled(n syntax.Node, from []*source, give func(string, []*source)) {
	if n == nil || len(from) == 0 {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return true
		}
		name, _ := s.literal(c.Args[0])
		if s.funcs[name] != nil {
			give(name+into, from)
		}
		if slices.ContainsFunc(c.Args, func(x *syntax.Word) bool { return writers[x.Lit()] }) { // sudo tee FILE
			for _, x := range c.Args[1:] {
				s.written(fileOf+strings.TrimPrefix(strings.TrimPrefix(s.file(x), fileOf), "of="), from, give)
			}
		}
		if name != "read" && name != "mapfile" && name != "readarray" {
			return true
		}
		give("REPLY", from)
		give("MAPFILE", from)
		for _, a := range c.Args[1:] {
			name, _ := s.literal(a)
			if name, _, _ = strings.Cut(name, "["); isName(name) {
				give(name, from)
			}
		}
		return true
	})
}

// passed gives the words of set and of a function's call to the arguments, and those of printf -v to its variable.
func (s *scan) passed(c *syntax.CallExpr, give func(string, []*source)) {
	if len(c.Args) < 2 {
		return
	}
	name, _ := s.literal(c.Args[0])
	into := ""
	switch {
	case name == "set" || s.funcs[name] != nil:
	case name == "printf":
		text, _ := s.literal(c.Args[1])
		if !strings.HasPrefix(text, "-v") {
			return
		}
		if into = text[2:]; into == "" && len(c.Args) > 2 {
			into, _ = s.literal(c.Args[2])
		}
		if into, _, _ = strings.Cut(into, "["); into == "" {
			return
		}
	case name == "getopts":
		for _, v := range s.held["@"] {
			give("OPTARG", []*source{v})
		}
		return
	default:
		return
	}
	for _, a := range c.Args[1:] {
		from := s.sources(a)
		if into != "" {
			give(into, from)
			continue
		}
		for _, p := range positional {
			give(p, from)
		}
	}
}

// names refuses the variables that arithmetic names without $.
func (s *scan) names(n syntax.Node, b *ban) {
	if len(s.held) == 0 || n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			if b != banArithmetic {
				break
			}
			for _, name := range strings.FieldsFunc(n.Value, func(c rune) bool { return !isName("_" + string(c)) }) {
				if isName(name) {
					s.blame(name, b)
				}
			}
		case *syntax.CmdSubst:
			if s.substituted(n) {
				s.blame(input, b)
			}
			return !s.counts(n.Stmts)
		case *syntax.CallExpr:
			for _, name := range s.puts(n) {
				s.blame(name, b)
			}
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				s.blame(n.Param.Value, b)
			}
		}
		return true
	})
}

// nested judges the text of sh -c, which is written out, by what the words behind it and the variables hold. It returns why
// no value can be in what the text reads.
func (j *judge) nested(text *word, behind []*word) (reads *ban) {
	inner := held{}
	for name, from := range j.held { // any order: each for itself
		if isName(name) || strings.HasPrefix(name, fileOf) {
			inner[name] = slices.Clone(from)
		}
	}
	for i, w := range behind {
		if !w.free {
			continue
		}
		from := []*source{{func(b *ban) {
			if w.no == nil {
				w.no = b
			}
		}}}
		inner.add(strconv.Itoa(i), from)
		if i > 0 {
			inner.add("@", from)
			inner.add("*", from)
		}
	}
	spelled := text.text
	if !text.whole {
		if text.node == nil || text.holds {
			return nil
		}
		spelled = j.spelled(text.node.Parts)
	}
	s := newScan(Bash)
	s.text, s.held, s.files, s.folder = spelled, inner, j.files, j.folder
	f, err := parse(s.text, Bash)
	if err != nil || len(s.text) > MaxScript || depth(s.text) > MaxDepth { // what cannot be read may do anything
		no := banCode(j.name, howShell)
		each(spelled, func(name string) { s.blame(name, no) })
		s.blame("0", no)
		s.blame("@", no)
		return banInput(j.name)
	}
	s.stdin = &source{func(*ban) { reads = banInput(j.name) }}
	s.read(f)
	return reads
}
