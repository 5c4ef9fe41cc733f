package check

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// MaxName bounds the length of every declared name.
const MaxName = 64

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// decode checks a block's structure against its schema. The block is usable even where it has errors: what was wrong is left out.
func (c *checker) decode(src *syntax.Block, s *schema.Block) *Block {
	b := &Block{Schema: s, Src: src, Attrs: make(map[string]*Attr, len(src.Body.Attrs))}
	c.labels(b)
	for _, a := range src.Body.Attrs {
		c.attribute(b, a)
	}
	b.Blocks = c.inner(b, &src.Body, s, b.Words())
	b.stray = b.stray || len(b.Blocks) < len(src.Body.Blocks)
	for i := range s.Attrs {
		if a := &s.Attrs[i]; a.Required && !b.stray && b.Attrs[a.Name] == nil && src.Body.Attr(a.Name) == nil {
			c.report(diag.Diagnostic{Code: "F0106", Subject: src.Header, Context: b.Words(),
				Summary: fmt.Sprintf("Missing attribute %q in %s", a.Name, b.Words()), Detail: "It is required. " + a.Doc + takes(a)})
		}
	}
	return b
}

// inner decodes the blocks inside a body.
func (c *checker) inner(parent *Block, body *syntax.Body, s *schema.Block, where string) (out []*Block) {
	once := map[string]*syntax.Block{}
	for _, src := range body.Blocks {
		child := schema.Blocks[src.Kind]
		if !s.Has(src.Kind) || src.Kind == "file" {
			c.strayBlock(src, s, where)
			continue
		}
		if child.Later {
			c.report(notYet(src.Range, fmt.Sprintf("Block %q", src.Kind), child.Doc, where))
			continue
		}
		if first := once[src.Kind]; child.Once && first != nil {
			c.report(diag.Diagnostic{Code: "F0107", Subject: src.Range, Context: where, Summary: fmt.Sprintf("Block %q stands twice", src.Kind),
				Detail: fmt.Sprintf("%s can have one %q block. Put all of it into one.", upper(where), src.Kind),
				Notes:  []diag.Note{{Text: "the first one", Range: first.Range}}})
			continue
		}
		once[src.Kind] = src
		out = append(out, c.decode(src, child))
	}
	return out
}

func (c *checker) labels(b *Block) {
	labels, s := b.Src.Labels, b.Schema
	switch {
	case s.Label == "" && len(labels) > 0:
		c.report(diag.Diagnostic{Code: "F0104", Subject: labels[0].Range, Summary: fmt.Sprintf("Block %q has no label", s.Kind),
			Detail: fmt.Sprintf("Write it as  %s { … }.", s.Kind)})
	case s.Label != "" && len(labels) == 0:
		c.report(diag.Diagnostic{Code: "F0103", Subject: b.Src.Range, Summary: fmt.Sprintf("Block %q without a name", s.Kind),
			Detail: fmt.Sprintf("Write it as  %s \"NAME\" { … }.", s.Kind)})
	case s.Label != "":
		b.Name = labels[0].Text
		if len(labels) > 1 {
			c.report(diag.Diagnostic{Code: "F0104", Subject: labels[1].Range, Context: b.Words(), Summary: fmt.Sprintf("More than one label on a %q block", s.Kind),
				Detail: fmt.Sprintf("Write it as  %s \"NAME\" { … }.", s.Kind)})
		}
		if !goodName(b.Name) {
			c.report(diag.Diagnostic{Code: "F0105", Subject: labels[0].Range, Summary: fmt.Sprintf("%.80q cannot be a name", b.Name),
				Detail: fmt.Sprintf("A name begins with a letter or _, goes on with letters, digits, _ and -, and has at most %d characters.", MaxName)})
			b.Name = ""
		}
	}
}

func goodName(s string) bool { return len(s) <= MaxName && name.MatchString(s) }

func (c *checker) attribute(b *Block, src *syntax.Attr) {
	if b.Schema.Free {
		b.Attrs[src.Name] = &Attr{Schema: freeAttr, Src: src}
		return
	}
	switch s := b.Schema.Attr(src.Name); {
	case s == nil:
		b.stray = true
		c.strayAttr(b, src)
	case s.Later:
		b.stray = true
		c.report(notYet(src.Range, fmt.Sprintf("Attribute %q", src.Name), "", b.Words()))
	default:
		b.Attrs[src.Name] = &Attr{Schema: s, Src: src}
	}
}

var freeAttr = &schema.Attr{Name: "local", Kind: schema.Value}

func notYet(at diag.Range, what, doc, where string) diag.Diagnostic {
	d := diag.Diagnostic{Code: "F0110", Subject: at, Context: where, Summary: what + " is not carried out by this release yet",
		Detail: "It belongs to the language, but nothing would happen, so a file that uses it is refused. Remove it, or use a newer flowrun."}
	if doc != "" {
		d.Detail = "What it is for: " + strings.ToLower(doc[:1]) + doc[1:] + " " + d.Detail
	}
	return d
}

// strayAttr reports an attribute that the block does not have.
func (c *checker) strayAttr(b *Block, src *syntax.Attr) {
	d := diag.Diagnostic{Code: "F0101", Subject: src.Range, Context: b.Words(),
		Summary: fmt.Sprintf("Unknown attribute %q in %s", src.Name, b.Words())}
	var known []string
	for i := range b.Schema.Attrs {
		if !b.Schema.Attrs[i].Later {
			known = append(known, b.Schema.Attrs[i].Name)
		}
	}
	near := diag.Nearest(src.Name, known)
	meant := schema.Meant[src.Name]
	switch {
	case b.Schema.Has(src.Name) && schema.Blocks[src.Name].Later:
		d = notYet(src.Range, fmt.Sprintf("Block %q", src.Name), schema.Blocks[src.Name].Doc, b.Words())
	case b.Schema.Has(src.Name):
		d.Code, d.Summary = "F0108", fmt.Sprintf("%q is a block", src.Name)
		d.Detail = fmt.Sprintf("Write it without an equals sign:  %s { … }.", src.Name)
	case near != "" && (meant == "" || near[0] == src.Name[0]):
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: src.Range, Text: near}
	case meant != "" && fits(b.Schema, meant):
		d.Detail = "In flowrun this is written  " + meant
		if a := b.Schema.Attr(strings.Fields(meant)[0]); a != nil && a.Later {
			d.Detail += ", which is not carried out by this release yet."
		}
	default:
		d.Detail = fmt.Sprintf("%s can have %s.", article(b.Schema.Kind), list(known))
	}
	c.report(d)
}

// strayBlock reports a block that may not stand where it does.
func (c *checker) strayBlock(src *syntax.Block, s *schema.Block, where string) {
	d := diag.Diagnostic{Code: "F0102", Subject: src.Range, Context: where, Summary: fmt.Sprintf("Unknown block %q in %s", src.Kind, place(where))}
	var known []string
	for _, k := range s.Blocks {
		if !schema.Blocks[k].Later {
			known = append(known, k)
		}
	}
	meant := schema.Meant[src.Kind]
	switch a := s.Attr(src.Kind); {
	case a != nil && a.Later:
		d = notYet(src.Range, fmt.Sprintf("Attribute %q", src.Kind), "", where)
	case a != nil:
		d.Code, d.Summary = "F0109", fmt.Sprintf("%q is an attribute", src.Kind)
		d.Detail = fmt.Sprintf("Write it with an equals sign:  %s = VALUE.", src.Kind) + takes(a)
	case diag.Nearest(src.Kind, known) != "":
		near := diag.Nearest(src.Kind, known)
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: src.Range, Text: near}
	case schema.Blocks[src.Kind] != nil && src.Kind != "file":
		d.Code, d.Summary = "F0111", fmt.Sprintf("Block %q cannot stand in %s", src.Kind, place(where))
		d.Detail = fmt.Sprintf("It stands in %s.", list(parents(src.Kind)))
	case meant != "":
		d.Detail = "In flowrun this is written  " + meant
	default:
		d.Detail = fmt.Sprintf("Here can stand %s.", list(known))
	}
	c.report(d)
}

// fits tells whether the first word of a suggestion is something that the block has.
func fits(s *schema.Block, meant string) bool {
	word := strings.FieldsFunc(meant, func(r rune) bool { return r == ' ' })[0]
	return s.Attr(word) != nil || s.Has(word) || word == "a"
}

func place(where string) string {
	if where == "" {
		return "a file"
	}
	return where
}

func article(what string) string {
	switch {
	case what == "":
		return "A file"
	case strings.ContainsRune("aeio", rune(what[0])):
		return "An " + what
	}
	return "A " + what
}

// parents lists the kinds of block that a kind may stand in.
func parents(kind string) (out []string) {
	for _, k := range []string{"file", "workflow", "sequence", "parallel", "step", "agent", "gate", "variable", "input"} {
		if schema.Blocks[k].Has(kind) {
			out = append(out, map[bool]string{true: "the top of a file", false: "a " + k}[k == "file"])
		}
	}
	return out
}

// list writes names as a sentence does: a, b and c.
func list(names []string) string {
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// takes says in a message what an attribute takes.
func takes(a *schema.Attr) string {
	switch a.Kind {
	case schema.Word:
		return " It is one of " + quoted(a.Words) + "."
	case schema.Duration:
		return ` It is a duration, such as "1m30s".`
	}
	return ""
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return list(out)
}
