// Package shell puts values into shell scripts as data.
//
// A script is written in the file and never computed; a value in it arrives in the environment, as FLOWRUN_V0,
// FLOWRUN_V1 and so on, and the script refers to it there: "${FLOWRUN_V0}", with the quotes that its place needs. So no
// value can become a part of a command. [Rewrite] parses the script with each reference in place, finds every reference
// again in the syntax tree by its offset, and decides by what stands around it: quotes are put around it, or nothing, or
// the place is refused with the way out. The text stays as it was byte for byte but for those quotes.
//
// What holds always: a place that the package does not know is refused (walk.go lists those it knows). table.go says what
// programs do with their words, their standard input and their environment; a program that it does not have is taken for
// one with options that run programs. [Around.Argv] judges lists of words by the same table. follow.go follows the variables
// of a script that hold a value; a file that holds one is not followed.
//
// The package imports diag and the parser of mvdan.cc/sh. It must never import expressions, the checker or anything that
// reaches the world. Enter at [Around.Rewrite] and [Around.Argv].
package shell

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/dsl/diag"
)

// Dialect says which shell runs a script.
type Dialect int

// The dialects.
const (
	POSIX Dialect = iota // sh
	Bash
)

func (d Dialect) String() string { return [...]string{"sh", "bash"}[d] }

// The bounds of a script with values in it. The parser calls itself for each level of nesting: 64 KiB of nothing but
// open brackets took 256 MiB of stack, and with MaxDepth the worst of 64 KiB took 75 MiB in all. One without values is
// not parsed and has no such bounds.
const (
	MaxScript = 64 << 10
	MaxValues = 1000
	MaxDepth  = 100
)

// Part is a piece of a script as the file has it: literal text, or a value.
type Part struct {
	Value bool
	Text  string     // the literal text; of a value its expression, as messages show it
	Range diag.Range // of a value
	From  []int      // of a literal: the offset in the file of each byte, and of what follows
	Tame  bool       // of a value: digits, true or false, or one of the texts that the file has
	Plain bool       // of a value: it cannot begin with -
}

// Variable is the name of the environment variable that holds the i-th value of a script.
func Variable(i int) string { return "FLOWRUN_V" + strconv.Itoa(i) }

// Rewrite returns the script that refers to the values of its parts, numbered in their order, as data; or what is wrong,
// each finding at the range of the value that it concerns. place makes a range of two offsets in the file. A script without
// values, of which no value around it is read, is returned as it is, unread: the shell itself is its judge.
func (a Around) Rewrite(parts []Part, d Dialect, place func(start, end int) diag.Range) (string, diag.List) {
	s := newScan(d)
	s.assemble(parts)
	if len(s.marks) == 0 {
		return s.text, a.script(s)
	}
	if b := s.bounds(); b != nil {
		return "", diag.List{b.of(s.marks[0].value)}
	}
	file, err := parse(s.text, d)
	if err != nil {
		return "", diag.List{s.unreadable(parts, err, s.marks[0].value.Range, place)}
	}
	a.hold(s, s.text)
	s.read(file)
	for i := range s.marks {
		s.refuse(i, banPlace) // whatever the walk did not come to
	}
	if s.list.HasErrors() {
		return "", s.list
	}
	return s.quoted(), nil
}

// script judges a script without values by what is around it.
func (a Around) script(s *scan) diag.List {
	value, ok := a.concerns(s.text)
	if !ok {
		return nil
	}
	if b := s.bounds(); b != nil {
		return diag.List{b.of(value)}
	}
	file, err := parse(s.text, s.dialect)
	if err != nil {
		return diag.List{s.unreadable(nil, err, value.Range, nil)}
	}
	a.hold(s, s.text)
	s.read(file)
	return s.list
}

func newScan(d Dialect) *scan {
	return &scan{dialect: d, declared: map[string]bool{}, arrays: map[string]bool{}, funcs: map[string]*function{}, aliases: map[string]string{}, held: held{}}
}

// read walks a script.
func (s *scan) read(file *syntax.File) {
	s.size = len(s.text)
	file = s.later(file)
	s.whole = file
	s.declarations(file)
	if s.stdin != nil {
		s.held[input] = []*source{s.stdin}
		s.filled(file, []*source{s.stdin}, func(name string, from []*source) { s.held.add(name, from) })
		for _, st := range file.Stmts {
			if b := s.fed(st); b != nil {
				s.stdin.refuse(b)
				break
			}
		}
	}
	s.follow(file)
	s.blameUnread()
	s.stmts(file.Stmts, where{no: s.turned(file)})
	for _, name := range slices.Sorted(maps.Keys(s.held)) { // read and printf -v fill those, too
		if numbers[name] || s.declared[name] {
			s.blame(name, banArithmetic)
		}
	}
	s.comments(file)
}

// mark is where a value's reference stands in the text.
type mark struct {
	start, end int
	value      Part
	done       bool
	refused    bool    // by way of a variable
	source     *source // of the variables that hold it
	before     string  // what is put in before it, and behind it
	behind     string
}

// scan is one run of Rewrite.
type scan struct {
	dialect  Dialect
	text     string
	marks    []mark
	declared map[string]bool // numbers, and names of others
	arrays   map[string]bool
	funcs    map[string]*function
	known    map[string][]string // what the variables hold that hold nothing but texts of the script
	aliases  map[string]string
	held     held
	mentions []mention  // of those, by their place
	xargs    int        // how many of them stand in each other
	calling  []string   // the functions whose calls are being judged
	handedOn int        // see maxHanded
	readied  bool       // see readings
	folder   func(*ban) // refuses the value that names the folder; nil if none does
	unread   []string   // texts that are run later and cannot be read
	files    bool       // the script writes files with values
	whole    *syntax.File
	asked    bool // of consumed, which is what consumes says of it
	consumed *ban
	size     int     // of the script itself: behind it stand the texts that it runs later
	stdin    *source // nil: no value is on the standard input
	list     diag.List
}

// assemble makes the text with a reference in the place of each value.
func (s *scan) assemble(parts []Part) {
	var b strings.Builder
	for _, p := range parts {
		if !p.Value {
			b.WriteString(p.Text)
			continue
		}
		start := b.Len()
		b.WriteString("${" + Variable(len(s.marks)) + "}")
		s.marks = append(s.marks, mark{start: start, end: b.Len(), value: p})
	}
	s.text = b.String()
}

// quoted is the text with the quotes that were decided on.
func (s *scan) quoted() string {
	var b strings.Builder
	from := 0
	for _, m := range s.marks {
		b.WriteString(s.text[from:m.start])
		b.WriteString(m.before + s.text[m.start:m.end] + m.behind)
		from = m.end
	}
	b.WriteString(s.text[from:s.size])
	return b.String()
}

// put decides for the i-th value: it stands as it is, or between what is put before and behind it.
func (s *scan) put(i int, before, behind string) {
	m := &s.marks[i]
	if m.done {
		return
	}
	m.done, m.before, m.behind = true, before, behind
}

// refuse reports the i-th value, once.
func (s *scan) refuse(i int, b *ban) {
	if m := &s.marks[i]; !m.done {
		m.done = true
		if m.refused {
			return
		}
		m.refused = true
		s.list = append(s.list, b.of(m.value))
	}
}

// within gives the numbers of the values that stand between two offsets, from first up to last.
func (s *scan) within(start, end uint) (first, last int) {
	before := func(end uint) int {
		return sort.Search(len(s.marks), func(i int) bool { return uint(s.marks[i].start) >= end })
	}
	return before(start), before(end)
}

// holds tells whether a value stands in a node, however deep.
func (s *scan) holds(n syntax.Node) bool {
	first, last := s.within(n.Pos().Offset(), n.End().Offset())
	return first < last
}
