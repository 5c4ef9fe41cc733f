package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// notYet refuses what is planned.
func notYet(at diag.Range, what string, p *schema.Planned, where string) diag.Diagnostic {
	if p.Never {
		return diag.Diagnostic{Code: "F0110", Subject: at, Context: where, Summary: what + " is not in the language",
			Detail: p.Doc + " " + p.Instead}
	}
	return diag.Diagnostic{Code: "F0110", Subject: at, Context: where, Summary: what + " is planned and not in this release",
		Detail: p.Doc + " Until then: " + p.Instead}
}

// strayAttr reports an attribute that the block does not have.
func (c *checker) strayAttr(b *Block, src *syntax.Attr) {
	d := diag.Diagnostic{Code: "F0101", Subject: src.Range, Context: b.Words(),
		Summary: fmt.Sprintf("Unknown attribute %q in %s", src.Name, b.Words())}
	var known []string
	for i := range b.Schema.Attrs {
		if b.Schema.Attrs[i].Later == nil {
			known = append(known, b.Schema.Attrs[i].Name)
		}
	}
	near := diag.Nearest(src.Name, known)
	meant, elsewhere := schema.Meant[src.Name], counterpart(b, src)
	switch {
	case b.Schema.Has(src.Name) && b.Schema.Inside(src.Name).Later != nil:
		d = notYet(src.Range, fmt.Sprintf("Block %q", src.Name), b.Schema.Inside(src.Name).Later, b.Words())
	case b.Schema.Has(src.Name):
		d.Code, d.Summary = "F0108", fmt.Sprintf("%q is a block", src.Name)
		d.Detail = fmt.Sprintf("Write it without an equals sign:  %s.", asBlock(b.Schema.Inside(src.Name), src))
	case elsewhere != "":
		d.Detail = elsewhere
	case near != "" && (meant == "" || near[0] == src.Name[0]):
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: src.Range, Text: near}
	case b.Schema.Attr("replies") != nil && schema.ReplyMember(src.Name) != nil:
		d.Detail = fmt.Sprintf("Put it into a reply:  replies = [{ %s = … }].", src.Name)
	case strings.HasPrefix(meant, b.Schema.Kind+" { "):
		d.Detail = "In flowrun, write  " + strings.TrimSuffix(strings.TrimPrefix(meant, b.Schema.Kind+" { "), " }")
	case meant != "" && fits(b.Schema, meant):
		d.Detail = "In flowrun, write  " + meant
	case b.Schema.Has("step") && schema.Blocks["step"].Attr(src.Name) != nil:
		d.Detail = fmt.Sprintf("A step holds it. Write  step \"NAME\" { %s = %s }  inside of %s.", src.Name, other{b, src}.text("…"), place(b.Words()))
	default:
		d.Detail = fmt.Sprintf("%s can have %s.", article(b.Schema.Kind), list(known))
	}
	c.report(d)
}

// strayBlock reports a block that may not stand where it does.
func (c *checker) strayBlock(src *syntax.Block, s *schema.Block, where string) {
	d := diag.Diagnostic{Code: "F0102", Subject: src.Range, Context: where, Summary: fmt.Sprintf("Unknown block %q in %s", src.Kind, placeIn(s, where))}
	var known []string
	for _, k := range s.Blocks {
		if s.Inside(k).Later == nil {
			known = append(known, k)
		}
	}
	if len(src.Labels) == 1 && s.Has("step") {
		if c.misspelt == nil {
			c.misspelt = map[string]bool{}
		}
		c.misspelt[fmt.Sprintf("Unknown step %q", src.Labels[0].Text)] = true
	}
	meant, other := schema.Meant[src.Kind], counterBlock(src, s, where)
	switch a := s.Attr(src.Kind); {
	case other != "":
		d.Detail = other
	case a != nil && a.Later != nil:
		d = notYet(src.Range, fmt.Sprintf("Attribute %q", src.Kind), a.Later, where)
	case a != nil:
		d.Code, d.Summary = "F0109", fmt.Sprintf("%q is an attribute", src.Kind)
		d.Detail = fmt.Sprintf("Write it with an equals sign:  %s = %s.", src.Kind, example(a))
		if o := asObject(src); o != "" && (a.Kind == schema.Env || a.Kind == schema.Value) {
			d.Detail = fmt.Sprintf("Write it with an equals sign:  %s = %s.", src.Kind, o)
		}
	case schema.Blocks[src.Kind] != nil && src.Kind != "file":
		d.Code, d.Summary = "F0111", fmt.Sprintf("Block %q is not allowed in %s", src.Kind, placeIn(s, where))
		label := "NAME"
		if len(src.Labels) > 0 && goodName(src.Labels[0].Text) {
			label = src.Labels[0].Text
		}
		inside := inOneLine(src)
		if src.Kind == "wait" && len(src.Body.Attrs) == 0 {
			inside = "wait { duration = \"1h\" }  or  wait { event = \"NAME\" }"
		}
		switch d.Detail = inStep(s, label, src.Kind, inside); {
		case d.Detail != "":
		case s.Has("workflow") && schema.Blocks["workflow"].Has(src.Kind):
			d.Detail = "A workflow holds it: put it into  workflow \"NAME\" { … }."
		default:
			d.Detail = fmt.Sprintf("Allowed in: %s.", list(parents(src.Kind)))
		}
		if src.Kind == "memory" && s.Has("remember") {
			d.Detail = "A step with  remember { text = \"…\" }  stores something, and one with  recall { query = \"…\" }  finds it."
		}
		if src.Kind == "test" {
			d.Detail = "Tests are in a separate file, NAME.flowtest.hcl, beside the program."
		}
	case diag.Nearest(src.Kind, known) != "":
		near := diag.Nearest(src.Kind, known)
		d.Detail = fmt.Sprintf("Did you mean %q?", near)
		d.Edit = &diag.Edit{Range: src.Range, Text: near}
	case meant != "":
		d.Detail = "In flowrun, write  " + meant
	default:
		d.Detail = fmt.Sprintf("Allowed here: %s.", list(known))
	}
	c.report(d)
}

// fits tells whether the first word of a suggestion is something that the block has.
func fits(s *schema.Block, meant string) bool {
	word := strings.FieldsFunc(meant, func(r rune) bool { return r == ' ' })[0]
	return s.Attr(word) != nil || s.Has(word) || word == "a"
}

// parents lists the kinds of block that a kind may stand in.
func parents(kind string) (out []string) {
	for _, k := range []string{"file", "workflow", "sequence", "parallel", "switch", "case", "default", "finally", "step", "agent", "memory", "gate", "variable", "input", "flowtest", "test"} {
		if schema.Blocks[k].Has(kind) {
			out = append(out, topOf(k))
		}
	}
	return out
}

// topOf is a kind of block with its article; for the top of a file, that.
func topOf(kind string) string {
	switch kind {
	case "file":
		return "the top of a file"
	case "flowtest":
		return "the top of a test file, NAME.flowtest.hcl"
	}
	return strings.ToLower(article(kind))
}

// placeIn is place for a block of a kind; it tells test files from others.
func placeIn(s *schema.Block, where string) string {
	if s.Key() == "flowtest" {
		return "a test file"
	}
	return place(where)
}
