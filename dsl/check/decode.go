package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// maxLabel bounds labels that are any text, in bytes.
const maxLabel = 300

// MaxName bounds the length of every declared name.
const MaxName = 64

var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// decode checks a block's structure against its schema. The block is usable even where it has errors: what was wrong is left out.
func (c *checker) decode(src *syntax.Block, s *schema.Block, within string) *Block {
	b := &Block{Schema: s, Src: src, within: within, Attrs: make(map[string]*Attr, len(src.Body.Attrs))}
	c.labels(b)
	for _, a := range src.Body.Attrs {
		c.attribute(b, a)
	}
	b.Blocks = c.inner(b, &src.Body, s, b.Words())
	b.stray = b.stray || len(b.Blocks) < len(src.Body.Blocks)
	for i := range s.Attrs {
		a := &s.Attrs[i]
		if !a.Required || b.stray || b.Attrs[a.Name] != nil || src.Body.Attr(a.Name) != nil {
			continue
		}
		if s.Kind == "repeat" {
			c.report(diag.Diagnostic{Code: "F0266", Subject: src.Header, Context: b.Words(), Summary: "Repeat without a limit",
				Detail: "The condition could stay false forever, and a run must end. Set the maximum number of iterations:  max = 10."})
		} else {
			detail := "It is required. " + a.Doc + takes(a)
			if s.Kind == "agent" && a.Name == "type" {
				detail = fmt.Sprintf("For a program or a coding agent, write  type = \"exec\", or  preset = \"claude\"  in place of type and command. The types are %s.", quoted(a.Words))
			}
			c.report(diag.Diagnostic{Code: "F0106", Subject: src.Header, Context: b.Words(),
				Summary: fmt.Sprintf("Missing attribute %q in %s", a.Name, b.Words()), Detail: detail})
		}
	}
	return b
}

// inner decodes the blocks inside a body.
func (c *checker) inner(parent *Block, body *syntax.Body, s *schema.Block, where string) (out []*Block) {
	once := map[string]*syntax.Block{}
	for _, src := range body.Blocks {
		child := s.Inside(src.Kind)
		if !s.Has(src.Kind) || src.Kind == "file" {
			c.strayBlock(src, s, where)
			continue
		}
		if child.Later != nil {
			c.report(notYet(src.Range, fmt.Sprintf("Block %q", src.Kind), child.Later, where))
			continue
		}
		if first := once[src.Kind]; child.Once && first != nil {
			c.report(diag.Diagnostic{Code: "F0107", Subject: src.Range, Context: where, Summary: fmt.Sprintf("Block %q appears twice", src.Kind),
				Detail: fmt.Sprintf("%s can have only one %q block. Move everything into one.", upper(where), src.Kind),
				Notes:  []diag.Note{{Text: "the first one", Range: first.Range}}})
			continue
		}
		once[src.Kind] = src
		out = append(out, c.decode(src, child, where))
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
			Detail: labelForm(s)})
	case s.Label != "":
		b.Name = labels[0].Text
		if len(labels) > 1 {
			c.report(diag.Diagnostic{Code: "F0104", Subject: labels[1].Range, Context: b.Words(), Summary: fmt.Sprintf("More than one label on a %q block", s.Kind),
				Detail: labelForm(s)})
		}
		switch {
		case s.AnyLabel && strings.TrimSpace(b.Name) != "" && len(b.Name) <= maxLabel:
		case s.AnyLabel:
			c.report(diag.Diagnostic{Code: "F0105", Subject: labels[0].Range, Summary: fmt.Sprintf("%.80q is not a valid label of a %q block", b.Name, s.Kind),
				Detail: fmt.Sprintf("A label is a text of 1 to %d bytes.", maxLabel)})
			b.Name = ""
		case !goodName(b.Name):
			c.report(diag.Diagnostic{Code: "F0105", Subject: labels[0].Range, Summary: fmt.Sprintf("%.80q cannot be a name", b.Name),
				Detail: fmt.Sprintf("A name begins with a letter or _, contains letters, digits, _ and -, and has at most %d characters.", MaxName)})
			b.Name = ""
		}
	}
}

// labelForm shows a block with its label.
func labelForm(s *schema.Block) string {
	return fmt.Sprintf("Write it as  %s %q { … }.", s.Kind, strings.ToUpper(s.Label))
}

func goodName(s string) bool { return len(s) <= MaxName && name().MatchString(s) }

func (c *checker) attribute(b *Block, src *syntax.Attr) {
	if b.Schema.Free {
		b.Attrs[src.Name] = &Attr{Schema: freeAttr, Src: src}
		return
	}
	switch s := b.Schema.Attr(src.Name); {
	case s == nil:
		b.stray = true
		c.strayAttr(b, src)
	case s.Later != nil:
		b.stray = true
		d := notYet(src.Range, fmt.Sprintf("Attribute %q", src.Name), s.Later, b.Words())
		if other := counterpart(b, src); other != "" {
			d.Detail = other
		}
		c.report(d)
	default:
		b.Attrs[src.Name] = &Attr{Schema: s, Src: src}
	}
}

var freeAttr = &schema.Attr{Name: "local", Kind: schema.Value}
