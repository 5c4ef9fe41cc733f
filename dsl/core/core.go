// Package core rewrites what is made of the core language to it, before anything is checked: each pattern (feedback, …) of a workflow
// becomes the group of steps that it stands for.
//
// It works on the text. An [edit] replaces a part of a file, and what it writes is in parts a copy of what the author wrote; the result
// is parsed as if somebody had written it. So the check, the lowering to IR, the machine and everything behind it know the core alone,
// and what [Program.Text] gives is exactly what runs. The place of each copied part is kept, so that what is found in the
// result can be said of the file of the author: see [Program.Home].
//
// An agent with a preset gets the attributes of the preset that it does not have itself (preset.go).
//
// It goes over the files twice: first approvals with revise are put into rounds (revise.go), then patterns are rewritten. A new pattern is
// a function in patterns.
// The package reads blocks by the table of dsl/schema through dsl/check. It must never import lower or anything of the runner. Enter
// at [Rewrite]. What holds always: a file without patterns is the same file afterwards; the names of nodes that are made are
// NAME_ROLE, and none of them is the name of another node of the workflow.
package core

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// MaxGrowth bounds how many bytes larger patterns may make a file: an attribute can be copied for each of many agents.
const MaxGrowth = 32 << 20

// Program is the files of a program in core form.
type Program struct {
	Files []*syntax.File
	maps  map[string]*sourceMap // by the name of the file; of those that were rewritten
	used  map[diag.Range]bool   // the labels of pools that patterns have put the members of
	made  map[string]made       // by the name of the node
	kinds map[string]string     // of patterns, by WORKFLOW/NODE
	// scores are the places of the expressions that argmax is written around.
	scores map[diag.Range]bool
	// before is the program that this one was made of, if that was made of the files of the author; else nil.
	before *Program
}

// patterns checks each kind of pattern, and returns what writes it.
var patterns = map[string]func(*pattern) (write func()){
	"feedback":  (*pattern).feedback,
	"consensus": (*pattern).consensus,
	"compete":   (*pattern).compete,
}

// pattern is a block that is rewritten.
type pattern struct {
	*check.Block
	*writer
	workflow *names
	declared *declarations
	before   string // the sibling before in a sequence, or ""
	list     *diag.List
	made     map[string]made
	failed   bool // it has an error
}

// edit replaces a part of a file. Where from and to are equal, it inserts.
type edit struct {
	from, to int
	write    func(*writer)
}

// names are those of the nodes of a workflow, by their lower-case form.
type names map[string]named

type named struct {
	at   diag.Range
	made string // what it was made of, in words; "" for what the author wrote
}

// Rewrite makes the core form of the files of a program, which have been parsed. Findings are about patterns and revisions alone, and are
// said of the files of the author. With an error among them the result is good for a check alone.
func Rewrite(files []*syntax.File) (*Program, diag.List) {
	first, list := rewrite(files, (*collector).revisions)
	out, found := rewrite(first.Files, (*collector).nodes)
	if len(first.maps) > 0 {
		out.before = first
		found = first.Home(found)
	}
	return out, append(list, found...)
}

// rewrite rewrites the workflows of files. edits finds what is to be done in a workflow, with the names of its nodes.
func rewrite(files []*syntax.File, edits func(*collector, *syntax.Block, names)) (*Program, diag.List) {
	out := &Program{Files: slices.Clone(files), maps: map[string]*sourceMap{}, used: map[diag.Range]bool{}, made: map[string]made{}, kinds: map[string]string{}, scores: map[diag.Range]bool{}}
	var list diag.List
	c := &collector{list: &list, out: out, declared: &declarations{files: files, used: out.used}}
	for i, f := range files {
		c.edits, c.file = nil, f
		for _, b := range f.Body.Blocks {
			switch b.Kind {
			case "agent":
				c.preset(b)
			case "workflow":
				c.workflow = b
				edits(c, b, namesOf(b))
			}
		}
		if len(c.edits) == 0 {
			continue
		}
		w := newWriter(f)
		sort.SliceStable(c.edits, func(i, j int) bool { return c.edits[i].from < c.edits[j].from })
		for _, e := range c.edits {
			w.copyTo(e.from)
			e.write(w)
			w.at = e.to
		}
		w.copyTo(len(f.Src))
		if w.size > len(f.Src)+MaxGrowth {
			list = append(list, diag.Diagnostic{Code: "F0001", Subject: c.edits[0].place(f), Summary: "The patterns of a file are too large",
				Detail: fmt.Sprintf("The nodes that they create may have at most %d MiB more text than the file. Keep long texts in a local, in file(\"PATH\"), or in the output of a step before.", MaxGrowth>>20)})
			continue
		}
		text := w.text()
		parsed, found := lenient.Parse(f.Name, text)
		out.maps[f.Name] = w.sourceMap(text)
		if found.HasErrors() { // a form of expression that can stand behind an equals sign and nowhere else
			list = append(list, out.Home(found)...)
			continue
		}
		out.Files[i] = parsed
	}
	return out, list
}

// broken writes what stands for a pattern with errors, so that the rest of the file can be checked: its output can be anything, and it has
// iterations and a winner.
func (p *pattern) broken() {
	name := p.Block.Name
	if inside := name + "_race"; name != "" && len(inside) <= check.MaxName {
		p.say("sequence %q {\nvalue = jsondecode(run.id)\nwinner = \"NAME\"\nrepeat {\nmax = 1\n}\nstep %q {\nvalue = 1\n}\n}", name, inside)
	} else if name != "" {
		p.say("step %q {\nvalue = jsondecode(run.id)\nrepeat {\nmax = 1\n}\n}", name)
	}
}

// Forget drops the trees of the files, which take most of the memory, and keeps their texts.
func (p *Program) Forget() {
	for i, f := range p.Files {
		p.Files[i] = &syntax.File{Name: f.Name, Src: f.Src}
	}
}

// Pattern is the kind of the pattern that a node of a workflow was made of; "" if the node was not made of one.
func (p *Program) Pattern(workflow, node string) string { return p.kinds[workflow+"/"+node] }

// lenient are the limits of a text that was made of one that has kept them.
var lenient = syntax.Limits{File: syntax.MaxRaised, Line: syntax.MaxRaised, Token: syntax.MaxRaised, Block: syntax.MaxRaised, Depth: syntax.MaxRaisedDepth}

func (e *edit) place(f *syntax.File) diag.Range { return f.Range(e.from, e.from) }

// collector finds the patterns of a file.
type collector struct {
	out      *Program
	file     *syntax.File
	workflow *syntax.Block
	edits    []edit
	list     *diag.List
	declared *declarations
}

// namesOf are the names that are taken in a workflow.
func namesOf(w *syntax.Block) names {
	taken := names{}
	var enter func(b *syntax.Block)
	enter = func(b *syntax.Block) {
		if len(b.Labels) > 0 && b.Kind != "input" && b.Kind != "output" && b.Kind != "gate" {
			taken[strings.ToLower(b.Labels[0].Text)] = named{at: b.Labels[0].Range}
		}
		for _, i := range b.Body.Blocks {
			enter(i)
		}
	}
	for _, b := range w.Body.Blocks {
		enter(b)
	}
	return taken
}

// nodes finds the patterns among the blocks of a block that holds nodes.
func (c *collector) nodes(in *syntax.Block, taken names) {
	before := ""
	for _, b := range in.Body.Blocks {
		if holds := schema.Blocks[in.Kind]; holds == nil || !holds.Has(b.Kind) {
			continue
		}
		if schema.IsPattern(b.Kind) {
			c.pattern(b, before, taken)
		} else if slices.Contains(groups, b.Kind) {
			c.nodes(b, taken)
		}
		if in.Kind == "sequence" && len(b.Labels) > 0 && (slices.Contains(schema.Nodes, b.Kind) || schema.IsPattern(b.Kind)) {
			before = b.Labels[0].Text
		}
	}
}

// groups are the kinds of block that nodes stand in.
var groups = []string{"sequence", "parallel", "switch", "case", "default", "finally"}

// pattern makes the edit that rewrites a pattern.
func (c *collector) pattern(src *syntax.Block, before string, taken names) {
	if len(*c.list) >= check.MaxFindings {
		return
	}
	b, found := check.Decode(src)
	*c.list = append(*c.list, found...)
	p := &pattern{Block: b, workflow: &taken, declared: c.declared, before: before, list: c.list, made: c.out.made}
	write := p.broken
	if _, there := p.made[b.Name]; !there {
		p.made[b.Name] = made{node: b.Name, shown: b.Words(), group: true}
	}
	if len(c.workflow.Labels) > 0 {
		c.out.kinds[c.workflow.Labels[0].Text+"/"+b.Name] = src.Kind
	}
	if a := b.Attrs["score"]; a != nil {
		c.out.scores[a.Src.Span()] = true
	}
	if !found.HasErrors() {
		if ok := patterns[src.Kind](p); !p.failed {
			write = ok
		}
	}
	c.edits = append(c.edits, edit{src.Range.Start.Byte, int(src.End), func(w *writer) {
		p.writer = w
		w.anchor(src.Header)
		write()
	}})
}

// name makes the name of a node of a pattern, and reports one that cannot be.
func (p *pattern) name(role string) string {
	name := p.Block.Name + "_" + role
	words := p.Words()
	at := p.Src.Labels[0].Range
	if len(name) > check.MaxName {
		p.report(diag.Diagnostic{Code: "F0341", Subject: at, Context: words, Summary: fmt.Sprintf("The name of %s is too long", words),
			Detail: fmt.Sprintf("It creates nodes such as %q, and a name has at most %d characters. Use a shorter name.", name, check.MaxName)})
		return name
	}
	key := strings.ToLower(name)
	if other, there := (*p.workflow)[key]; there {
		d := diag.Diagnostic{Code: "F0340", Subject: at, Context: words, Summary: fmt.Sprintf("%s creates a node %q, but this name is already used", capital(words), name),
			Detail: "The nodes of a pattern have its name and their role. Rename one of the two.", Notes: []diag.Note{{Text: "the other one", Range: other.at}}}
		if other.made != "" {
			d.Notes[0].Text = other.made + " creates a node of this name, too"
		}
		p.report(d)
		return name
	}
	(*p.workflow)[key] = named{at: at, made: words}
	return name
}

func (p *pattern) report(d diag.Diagnostic) {
	p.failed = p.failed || d.Severity == diag.Error
	if len(*p.list) < check.MaxFindings {
		*p.list = append(*p.list, d)
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
