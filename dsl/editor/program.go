package editor

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// Program is the documents of one program and of its tests.
type Program struct{ Docs []*Doc }

// Symbol is a declared name.
type Symbol struct {
	Root  string // what paths to it begin with: step for every node, var, local, input, and the kind of other blocks
	Scope string // the workflow of a node or an input
	Name
	Doc   *Doc
	Block *Block // for a local, the block locals
	Attr  *Attr  // of a local
}

// Location is a piece of a document.
type Location struct {
	Doc *Doc
	Span
}

// nodeKinds are blocks that declare a node, wherever in a workflow they are.
var nodeKinds = []string{"step", "sequence", "parallel", "switch", "feedback", "consensus", "delegate", "compete"}

// patternKinds are nodes that become several ones, whose names begin with that of the block.
var patternKinds = []string{"feedback", "consensus", "delegate", "compete"}

// Symbols lists what the documents declare.
func (p *Program) Symbols() (out []*Symbol) {
	for _, d := range p.Docs {
		out = append(out, d.Symbols()...)
	}
	return out
}

// Symbols lists what the document declares.
func (d *Doc) Symbols() (out []*Symbol) {
	if topKind(d.Name) == "flowtest" {
		return nil
	}
	for _, b := range d.Top.Blocks {
		switch {
		case b.Kind.Text == "locals":
			for _, a := range b.Attrs {
				out = append(out, &Symbol{Root: "local", Name: a.Name, Doc: d, Block: b, Attr: a})
			}
		case b.Kind.Text == "variable":
			out = append(out, &Symbol{Root: "var", Name: b.Label, Doc: d, Block: b})
		case b.Spec == nil || b.Spec.Label == "" || b.Spec.AnyLabel:
		default:
			out = append(out, &Symbol{Root: b.Kind.Text, Name: b.Label, Doc: d, Block: b})
			if b.Kind.Text == "workflow" {
				out = inside(out, d, b)
			}
		}
	}
	return slices.DeleteFunc(out, func(s *Symbol) bool { return s.Text == "" })
}

// inside adds the nodes and inputs of a workflow.
func inside(out []*Symbol, d *Doc, w *Block) []*Symbol {
	for open := slices.Clone(w.Blocks); len(open) > 0; open = open[1:] {
		b := open[0]
		switch {
		case slices.Contains(nodeKinds, b.Kind.Text) && b.Spec != nil:
			out = append(out, &Symbol{Root: "step", Scope: w.Label.Text, Name: b.Label, Doc: d, Block: b})
		case b.Kind.Text == "input" && b.Parent == w:
			out = append(out, &Symbol{Root: "input", Scope: w.Label.Text, Name: b.Label, Doc: d, Block: b})
		}
		open = append(open, b.Blocks...)
	}
	return out
}

// around is the workflow of a block: the one that it is in, or that its test names; "" if there is none.
func around(b *Block, d *Doc) string {
	for ; b != nil && b.Parent != nil; b = b.Parent {
		if b.Parent.Parent != nil {
			continue
		}
		if b.Kind.Text == "workflow" {
			return b.Label.Text
		}
		for _, p := range d.Paths {
			if p.Attr.Block == b && p.Attr.Text == "workflow" && len(p.Names) > 1 {
				return p.Names[1].Text
			}
		}
	}
	return ""
}

// mention is a name in a text that may mean a symbol.
type mention struct {
	Location
	text  string
	roots []string // what it may mean
	scope string   // the workflow that nodes and inputs are looked for in; "" means any
	dash  bool     // a part before a dash may be meant
	plain bool     // a name with a dash must be in brackets there
}

// countedRoots are names of tests whose members are agents, nodes, gates and workflows by their names.
var countedRoots = map[string][]string{
	"calls": {"agent", "step", "gate"}, "max_at_once": {"agent", "step", "gate", "workflow"}, "max_in_use": {"agent", "step", "gate", "quota"},
	"breakers": {"agent", "quota"}, "routines": {"routine"}, "node": {"step"}, "before": {"step"},
}

// stubRoots are the blocks of a test whose labels name something.
var stubRoots = map[string][]string{"step": {"step"}, "decide": {"step"}, "agent": {"agent"}, "gate": {"step", "gate"}, "channel": {"channel"}}

// mentions lists the names in a document that may mean a symbol.
func (d *Doc) mentions() (out []mention) {
	test := topKind(d.Name) == "flowtest"
	for _, p := range d.Paths {
		names := p.Names
		if len(names) > 2 && names[0].Text == "last" {
			names = names[1:]
		}
		if len(names) < 2 {
			continue
		}
		open := false
		if test && names[0].Text == "runs" && len(names) > 3 { // runs.LABEL.step.NAME
			names, open = names[2:], d.Src[names[3].From-1] == '.'
		}
		m := mention{Location{d, names[1].Span}, names[1].Text, []string{names[0].Text}, "", p.Condition, open}
		if names[0].Text == "step" || names[0].Text == "input" || test {
			m.scope = around(p.Attr.Block, d)
		}
		if test && countedRoots[names[0].Text] != nil {
			m.roots = countedRoots[names[0].Text]
			out = append(out, pieces(m)...)
			continue
		}
		out = append(out, m)
	}
	if !test {
		return out
	}
	for _, b := range d.Top.Blocks {
		for _, in := range b.Blocks {
			if roots := stubRoots[in.Kind.Text]; roots != nil {
				out = append(out, pieces(mention{Location{d, in.Label.Span}, in.Label.Text, roots, around(in, d), false, false})...)
			}
			for _, a := range in.Attrs {
				if v := strings.TrimSpace(string(d.Src[a.Value.From:a.Value.To])); (a.Text == "node" || a.Text == "from") && len(v) > 2 && v[0] == '"' {
					from := a.Value.From + strings.IndexByte(string(d.Src[a.Value.From:a.Value.To]), '"') + 1
					out = append(out, pieces(mention{Location{d, Span{from, from + len(v) - 2}}, v[1 : len(v)-1], []string{"step"}, around(in, d), false, false})...)
				}
			}
		}
	}
	return out
}

var pieceOfPath = lazyregexp.New(`[^/\[]+(\[[^\]]*\])?`)

// pieces takes a path of nodes, such as review/check[1], apart.
func pieces(m mention) (out []mention) {
	for _, at := range pieceOfPath().FindAllStringIndex(m.text, -1) {
		piece := m
		piece.text, _, _ = strings.Cut(m.text[at[0]:at[1]], "[")
		piece.Span = Span{m.From + at[0], m.From + at[0] + len(piece.text)}
		out = append(out, piece)
	}
	return out
}

// table finds symbols by root and name.
type table map[string][]*Symbol

func (p *Program) table() table {
	t := table{}
	for _, s := range p.Symbols() {
		t[s.Root+" "+s.Text] = append(t[s.Root+" "+s.Text], s)
	}
	return t
}

// meant returns what a mention means, and its place: of a path a-b, a alone may be declared. Tests also name nodes of workflows that
// theirs calls or starts.
func (t table) meant(m mention) (*Symbol, Span) {
	if s, span := t.inScope(m); s != nil || topKind(m.Doc.Name) != "flowtest" {
		return s, span
	}
	m.scope = ""
	return t.inScope(m)
}

func (t table) inScope(m mention) (*Symbol, Span) {
	for text, derived := m.text, false; text != ""; {
		for _, root := range m.roots {
			for _, s := range t[root+" "+text] {
				if s.Scope != "" && m.scope != "" && s.Scope != m.scope {
					continue
				}
				if !derived || root == "step" && slices.Contains(patternKinds, s.Block.Kind.Text) {
					return s, Span{m.From, m.From + len(text)}
				}
			}
		}
		dash := strings.LastIndexByte(text, '-')
		line := strings.LastIndexByte(text, '_')
		switch {
		case m.dash && dash > line:
			text = text[:dash]
		case line > 0: // a node that a pattern becomes: NAME_votes
			text, derived = text[:line], true
		default:
			text = ""
		}
	}
	return nil, Span{}
}

// Find returns the symbol that is declared or read at a place of a document, and the place of its name; nil if there is none.
func (p *Program) Find(d *Doc, at int) (*Symbol, Span) {
	for _, s := range d.Symbols() {
		if s.Has(at) {
			return s, s.Span
		}
	}
	t := p.table()
	for _, m := range d.mentions() {
		if m.Has(at) {
			if s, span := t.meant(m); s != nil {
				return s, span
			}
		}
	}
	return nil, Span{}
}

// References returns the places that read a symbol, and with declaration, that of its declaration.
func (p *Program) References(s *Symbol, declaration bool) (out []Location) {
	if declaration {
		out = append(out, Location{s.Doc, s.Span})
	}
	t := p.table()
	for _, d := range p.Docs {
		for _, m := range d.mentions() {
			if found, span := t.meant(m); found != nil && found.Doc == s.Doc && found.Span == s.Span {
				out = append(out, Location{d, span})
			}
		}
	}
	return out
}

// CanRename reports whether all that reads a symbol is in the files of the program: inputs and variables are also given from outside.
func (s *Symbol) CanRename() bool { return s.Root != "var" && s.Root != "input" }

// Edit replaces a piece of a document.
type Edit struct {
	Location
	Text string
}

// Apply carries out the edits of a document, which do not overlap.
func Apply(d *Doc, edits []Edit) []byte {
	var mine []Edit
	for _, e := range edits {
		if e.Doc == d {
			mine = append(mine, e)
		}
	}
	slices.SortFunc(mine, func(a, b Edit) int { return a.From - b.From })
	var out []byte
	at := 0
	for _, e := range mine {
		if e.From >= at {
			out, at = append(append(out, d.Src[at:e.From]...), e.Text...), e.To
		}
	}
	return append(out, d.Src[at:]...)
}

// Rename returns the edits that give a symbol another name.
func (p *Program) Rename(s *Symbol, name string) []Edit {
	out, t := []Edit{{Location{s.Doc, s.Span}, name}}, p.table()
	for _, d := range p.Docs {
		for _, m := range d.mentions() {
			found, span := t.meant(m)
			if found == nil || found.Doc != s.Doc || found.Span != s.Span {
				continue
			}
			e := Edit{Location{d, span}, name}
			if m.plain && strings.Contains(name, "-") {
				e.From, e.Text = e.From-1, "['"+name+"']" // with the dot before it
			}
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}
