package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// An approval with revise puts the nodes from the revised step to itself into a sequence NAME_rounds with a repeat: a revision begins
// another round. References to these nodes from outside read the last round. In core form the approval already stands in such a sequence.

// defaultRevisions is how many revisions an approval takes that does not say so.
const defaultRevisions = 5

// rounds are the siblings from a revised step to its approval.
type rounds struct {
	step        *syntax.Block // the approval
	approve     *check.Block
	in          *syntax.Block // the sequence
	first, last int           // among the nodes of the sequence
	from, to    int           // offsets in the file
	revised     *syntax.Block
	comment     string // the step that carries the comment to inner rounds of the same revised step, or ""
}

func (r *rounds) name() string { return r.step.Labels[0].Text }

func (r *rounds) group() string { return r.name() + "_rounds" }

func (r *rounds) words() string { return fmt.Sprintf("step %q", r.name()) }

func (r *rounds) holds(at int) bool { return r.from <= at && at < r.to }

// revisions finds the approvals with revise of a workflow, and makes the edits that put them into rounds.
func (c *collector) revisions(w *syntax.Block, taken names) {
	v := &reviser{collector: c, taken: taken, parents: map[*syntax.Block]*syntax.Block{}, byName: map[string]*syntax.Block{}}
	v.find(w)
	if len(v.all) == 0 {
		return
	}
	slices.SortStableFunc(v.all, func(a, b *rounds) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	v.all = slices.DeleteFunc(v.all, func(r *rounds) bool { return !v.enterNames(r) })
	for _, r := range v.all {
		v.begin(r)
	}
	for _, r := range slices.Backward(v.all) {
		v.end(r)
	}
	v.feedback()
	v.outputs()
	v.references(w, schema.Blocks["workflow"], nil)
}

// reviser rewrites the revisions of a workflow.
type reviser struct {
	*collector
	taken   names
	all     []*rounds // those around others stand before them
	parents map[*syntax.Block]*syntax.Block
	byName  map[string]*syntax.Block // nodes
}

// find enters the nodes below a block, and their rounds.
func (v *reviser) find(in *syntax.Block) {
	nodes := nodesOf(in)
	for _, b := range in.Body.Blocks {
		if isNode := slices.Contains(nodes, b); isNode {
			v.parents[b] = in
			if _, twice := v.byName[b.Labels[0].Text]; !twice {
				v.byName[b.Labels[0].Text] = b
			}
			if a := inner(b, "approve"); a != nil && b.Kind == "step" && a.Body.Attr("revise") != nil {
				v.enter(in, nodes, b, a)
			}
		}
		if slices.Contains(groups, b.Kind) {
			v.parents[b] = in
			v.find(b)
		}
	}
}

// nodesOf lists the nodes in a block, patterns among them.
func nodesOf(in *syntax.Block) (nodes []*syntax.Block) {
	holds := schema.Blocks[in.Kind]
	for _, b := range in.Body.Blocks {
		if holds != nil && holds.Has(b.Kind) && len(b.Labels) > 0 && (slices.Contains(schema.Nodes, b.Kind) || schema.IsPattern(b.Kind)) {
			nodes = append(nodes, b)
		}
	}
	return nodes
}

func inner(b *syntax.Block, kind string) *syntax.Block {
	for _, i := range b.Body.Blocks {
		if i.Kind == kind {
			return i
		}
	}
	return nil
}

// enter judges the rounds of an approval, and adds them if they are not in core form.
func (v *reviser) enter(in *syntax.Block, nodes []*syntax.Block, step, approve *syntax.Block) {
	b, found := check.Decode(approve)
	a := b.Attrs["revise"]
	if found.HasErrors() || a == nil || len(a.Names) == 0 { // the check says why
		return
	}
	r := &rounds{step: step, approve: b, in: in}
	name, at := a.Names[0].Name, a.Names[0].Range
	r.first = slices.IndexFunc(nodes, func(n *syntax.Block) bool { return n.Labels[0].Text == name })
	r.last = slices.Index(nodes, step)
	core := in.Kind == "sequence" && len(in.Labels) > 0 && in.Labels[0].Text == r.group() && inner(in, "repeat") != nil
	say := func(at diag.Range, summary, detail string) {
		v.report(diag.Diagnostic{Code: "F0327", Subject: at, Context: "approve of " + r.words(), Summary: summary, Detail: detail})
	}
	switch {
	case in.Kind != "sequence":
		say(at, fmt.Sprintf("%s revises a step, but is not in a sequence", capital(r.words())),
			fmt.Sprintf("A revision repeats all steps from %s to %s, in order. Put them into a sequence:\n\n%s", name, r.name(), r.example(name)))
		return
	case r.first < 0 || r.first >= r.last:
		detail := fmt.Sprintf("revise names a node before %s in the same sequence. ", r.name())
		if r.last == 0 {
			detail += fmt.Sprintf("There is none. Write:\n\n%s", r.example(name))
		} else {
			var before []string
			for _, n := range nodes[:r.last] {
				before = append(before, n.Labels[0].Text)
			}
			detail += fmt.Sprintf("Nodes before it: %s.", strings.Join(before, ", "))
		}
		say(at, fmt.Sprintf("%q is not before %s in its sequence", name, r.words()), detail)
		return
	case core:
		return
	}
	r.revised = nodes[r.first]
	r.from, r.to = r.revised.Range.Start.Byte, int(step.End)
	for _, n := range []*syntax.Block{r.revised, step} {
		again := inner(n, "repeat")
		switch {
		case again != nil && (n == step || n.Body.Attr("agent") != nil):
			say(again.Range, fmt.Sprintf("Step %q has a repeat, and takes part in revisions", n.Labels[0].Text), "A revision starts another round of the steps. Remove the repeat, or put the steps inside it into a separate sequence.")
			return
		case n == step && n.Body.Attr("for_each") != nil:
			say(n.Body.Attr("for_each").Range, fmt.Sprintf("%s revises a step, and has a for_each", capital(r.words())), "Put both steps into a sequence, and the for_each on the sequence: then each instance has its own rounds.")
			return
		}
	}
	for _, other := range v.all {
		if other.in == in && other.first < r.first && r.first <= other.last {
			say(at, fmt.Sprintf("The rounds of %s begin inside the rounds of step %q", r.words(), other.name()),
				fmt.Sprintf("Those begin at %s. Name it in revise, or a node after %s.", other.revised.Labels[0].Text, other.name()))
			return
		}
	}
	v.all = append(v.all, r)
}

// example is the sequence that an approval with revise needs.
func (r *rounds) example(revised string) string {
	return fmt.Sprintf("  sequence \"NAME\" {\n    step %q { agent = agent.NAME }\n    step %q {\n      approve {\n        prompt = \"…\"\n        revise = step.%s\n      }\n    }\n  }", revised, r.name(), revised)
}

func (c *collector) report(d diag.Diagnostic) {
	if len(*c.list) < check.MaxFindings {
		*c.list = append(*c.list, d)
	}
}

// enterNames takes the names of the nodes that rounds are made of, and reports one that cannot be.
func (v *reviser) enterNames(r *rounds) bool {
	roles := map[string]string{"rounds": "the rounds of %s"}
	for _, o := range v.all {
		if o != r && o.revised == r.revised && o.to < r.to {
			roles["comment"], r.comment = "the comment of %s", r.name()+"_comment"
		}
	}
	block, _ := check.Decode(r.step)
	p := &pattern{Block: block, workflow: &v.taken, list: v.list, made: v.out.made}
	for _, role := range []string{"rounds", "comment"} {
		if shown := roles[role]; shown != "" {
			p.node(role, shown, "")
		}
	}
	return !p.failed
}

// begin writes the head of the sequence.
func (v *reviser) begin(r *rounds) {
	v.edits = append(v.edits, edit{r.from, r.from, func(w *writer) {
		w.anchor(r.approve.Attrs["revise"].Src.Range)
		w.say("sequence %q {\nrepeat {\nuntil = \"step.%s.output?.decision != 'revised'\"\n", r.group(), r.name())
		if a := r.approve.Attrs["max_revisions"]; a == nil {
			w.say("max = %d\n", defaultRevisions+1)
		} else if n, err := strconv.Atoi(a.Src.Text()); err == nil {
			w.anchor(a.Src.Range)
			w.say("max = %d\n", n+1)
		} else {
			w.anchor(a.Src.Range)
			w.say("max = 1 + (")
			w.expr(a, nil)
			w.say(")\n")
		}
		w.anchor(r.approve.Attrs["revise"].Src.Range)
		w.say("}\n")
		if r.comment != "" {
			w.say("step %q {\nvalue = last.step.%s.output.comment\n}\n", r.comment, r.name())
		}
	}})
}

// end writes the end of the sequence. Where it holds other rounds, its output has the same form as without them.
func (v *reviser) end(r *rounds) {
	around := slices.ContainsFunc(v.all, func(o *rounds) bool { return o.in == r.in && r.from <= o.from && o.to < r.to })
	v.edits = append(v.edits, edit{r.to, r.to, func(w *writer) {
		w.anchor(r.step.Header)
		if around {
			v.value(w, nodesOf(r.in)[r.first:r.last+1], r.to-1)
		}
		w.say("\n}")
	}})
}

// feedback gives each revised step the comment of the round before.
func (v *reviser) feedback() {
	for _, r := range v.all {
		innermost := !slices.ContainsFunc(v.all, func(o *rounds) bool { return o.revised == r.revised && o.to < r.to })
		if !innermost || r.revised.Kind != "step" || r.revised.Body.Attr("agent") == nil {
			continue
		}
		before := ""
		for _, o := range v.all { // the one around stands last before it
			if o.revised == r.revised && o.to > r.to {
				before = "step." + o.comment + ".output"
			}
		}
		said := fmt.Sprintf("last.step.%s.output.comment", r.name())
		first := fmt.Sprintf("iteration > 1 ? %s : ", said)
		anchor := r.approve.Attrs["revise"].Src.Range
		if own := r.revised.Body.Attr("feedback"); own != nil {
			if before != "" {
				first += before + " != null ? " + before + " : "
			}
			at := own.Span().Start.Byte
			v.edits = append(v.edits, edit{at, at, func(w *writer) { w.anchor(anchor); w.say("%s", first) }})
			continue
		}
		if before != "" {
			said = first + before
		}
		open := r.revised.Header.End.Byte
		for v.file.Src[open] != '{' {
			open++
		}
		said = "\nfeedback = " + said
		if oneLine := v.file.Range(open, int(r.revised.End)); oneLine.Start.Line == oneLine.End.Line {
			said += "\n"
			last := int(r.revised.End) - 1
			v.edits = append(v.edits, edit{last, last, func(w *writer) { w.anchor(anchor); w.say("\n") }})
		}
		v.edits = append(v.edits, edit{open + 1, open + 1, func(w *writer) { w.anchor(anchor); w.say("%s", said) }})
	}
}

// outputs keeps the outputs of the sequences that rounds stand in: an object by the names of the nodes that the author has written.
func (v *reviser) outputs() {
	done := map[*syntax.Block]bool{}
	for _, r := range v.all {
		if !done[r.in] && r.in.Body.Attr("value") == nil {
			at := int(r.in.End) - 1
			v.edits = append(v.edits, edit{at, at, func(w *writer) {
				w.anchor(r.approve.Attrs["revise"].Src.Range)
				v.value(w, nodesOf(r.in), r.in.Range.Start.Byte)
			}})
		}
		done[r.in] = true
	}
}

// value writes the output of a group as an object of the outputs of nodes, as they are read at a place.
func (v *reviser) value(w *writer, nodes []*syntax.Block, at int) {
	w.say("\n\nvalue = {\n")
	for _, n := range nodes {
		text, _ := v.path(n, at, '"')
		if text == "" {
			text = "step." + n.Labels[0].Text + ".output"
		}
		w.say("%s = %s\n", key(n.Labels[0].Text), text)
	}
	w.say("}\n")
}

// outer is the outermost of the rounds that hold a node and not an offset, or nil.
func (v *reviser) outer(n *syntax.Block, at int) *rounds {
	for _, r := range v.all {
		if r.holds(n.Range.Start.Byte) && !r.holds(at) {
			return r
		}
	}
	return nil
}

// path is how the output of a node in rounds reads for a place outside of them; "" for a node that can be read by its name there. It is
// not ok where the output of a group between does not have the outputs of its nodes.
func (v *reviser) path(n *syntax.Block, at int, quote byte) (text string, ok bool) {
	r := v.outer(n, at)
	if r == nil {
		return "", true
	}
	for b := n; b != r.in; b = v.parents[b] {
		if b != n && (b.Kind != "sequence" && b.Kind != "parallel" || b.Body.Attr("value") != nil || b.Body.Attr("for_each") != nil) {
			return "", false
		}
		text = member(b.Labels[0].Text, quote) + text
	}
	return "step." + r.group() + ".output" + text, true
}

// member is how a name reads behind an object, in quotes that its place allows.
func member(name string, quote byte) string {
	if plainName().MatchString(name) {
		return "." + name
	}
	return fmt.Sprintf("[%c%s%[1]c]", quote, name)
}

var plainName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// What follows the word step, a node, and the word last in an expression.
var (
	readNode = lazyregexp.New(`^\s*(?:\.\s*([A-Za-z0-9_-]+)|\[\\?["']([A-Za-z0-9_-]+)\\?["']\])`)
	readAttr = lazyregexp.New(`^\??\.([a-z_]+)`)
	readLast = lazyregexp.New(`^\.step\b`)
)

// references rewrites what the attributes of a block, and of the blocks in it, read of nodes in rounds that they do not stand in. previous
// is the sibling before the node of the block in a sequence, or nil.
func (v *reviser) references(b *syntax.Block, s *schema.Block, previous *syntax.Block) {
	for _, a := range b.Body.Attrs {
		var known *schema.Attr
		if s != nil {
			known = s.Attr(a.Name)
		}
		v.attribute(b, a, known, previous)
	}
	nodes, before := nodesOf(b), (*syntax.Block)(nil)
	for _, i := range b.Body.Blocks {
		var inside *schema.Block
		if s != nil {
			inside = s.Inside(i.Kind)
		}
		switch {
		case !slices.Contains(nodes, i):
			v.references(i, inside, previous)
		case b.Kind == "sequence":
			v.references(i, inside, before)
			before = i
		default:
			v.references(i, inside, nil)
		}
	}
}

// attribute rewrites what an attribute reads.
func (v *reviser) attribute(b *syntax.Block, a *syntax.Attr, known *schema.Attr, previous *syntax.Block) {
	src := a.File.Src
	refs := known != nil && (known.Kind == schema.Ref || known.Kind == schema.Refs)
	if refs && known.RefKind != "step" || b.Kind == "approve" && a.Name == "revise" {
		return
	}
	condition := known != nil && (known.Kind == schema.Condition || known.Kind == schema.Join)
	for _, m := range expr.Mentions(a.Expr(), src, condition, []string{"step", "last", "previous"}) {
		end, before := m.End, ""
		if m.Root == "last" {
			at := readLast().FindIndex(src[end:])
			if at == nil {
				continue
			}
			end, before = end+at[1], "last."
		}
		n := previous
		if m.Root != "previous" {
			at := readNode().FindSubmatchIndex(src[end:])
			if at == nil {
				continue
			}
			n = v.byName[string(src[end+max(at[2], at[4]):end+max(at[3], at[5])])]
			end += at[1]
		}
		if n == nil {
			continue
		}
		quote := byte('"')
		if condition {
			quote = '\'' // a condition stands in a string
		}
		text, until, ok := v.reading(n, m.Start, src[end:], quote)
		switch {
		case text != "" && refs:
			text, until = "step."+v.outer(n, m.Start).group(), 0
		case !ok:
			v.unreadable(b, a.File.Range(m.Start, end), n, m.Start)
		case text == "" && m.Root == "previous" && v.leaves(n, m.Start):
			text = "step." + n.Labels[0].Text
		case text == "":
			continue
		}
		v.edits = append(v.edits, edit{m.Start, end + until, func(w *writer) {
			w.anchor(a.File.Range(m.Start, end))
			w.say("%s%s", before, text)
		}})
	}
}

// leaves reports whether a place stands in rounds that a node does not stand in.
func (v *reviser) leaves(n *syntax.Block, at int) bool {
	return slices.ContainsFunc(v.all, func(r *rounds) bool { return r.holds(at) && !r.holds(n.Range.Start.Byte) })
}

// reading is how a place reads a node in rounds that the place does not stand in, in front of how the text goes on, and how much of that
// text it replaces. It is "" for a node that can be read by its name, and not ok for what cannot be read there.
func (v *reviser) reading(n *syntax.Block, at int, after []byte, quote byte) (text string, until int, ok bool) {
	r := v.outer(n, at)
	if r == nil {
		return "", 0, true
	}
	attr, word := readAttr().FindSubmatchIndex(after), ""
	if attr != nil {
		word = string(after[attr[2]:attr[3]])
	}
	if word == "output" {
		if text, ok := v.path(n, at, quote); ok {
			return text, attr[1], true
		}
	}
	return "step." + r.group(), 0, n == r.step && (word == "status" || word == "iterations")
}

// unreadable reports what cannot be read from outside of rounds.
func (v *reviser) unreadable(b *syntax.Block, at diag.Range, n *syntax.Block, place int) {
	r := v.outer(n, place)
	words := b.Kind
	if len(b.Labels) > 0 {
		words += fmt.Sprintf(" %q", b.Labels[0].Text)
	}
	v.report(diag.Diagnostic{Code: "F0328", Subject: at, Context: words, Summary: fmt.Sprintf("Node %q exists once in each round of %s", n.Labels[0].Text, r.words()),
		Detail: fmt.Sprintf("From outside, only the output of a node in the last round is available; for %s also status and iterations. For a node inside a switch, a for_each or a group with a value, read the output of that group.", r.words()),
		Notes:  []diag.Note{{Text: fmt.Sprintf("%s begins the rounds again", r.words()), Range: r.approve.Attrs["revise"].Src.Range}}})
}
