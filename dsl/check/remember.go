package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// remember checks that a step has one thing to remember, and for whom.
func (c *checker) remember(b *Block) {
	text, lesson := b.attr("text"), b.attr("lesson")
	d := diag.Diagnostic{Code: "F0290", Subject: b.Src.Header, Context: b.Words()}
	switch {
	case text == nil && lesson == nil && !b.stray:
		d.Summary, d.Detail = "Nothing to remember", "A remember has either  text = \"…\"  and  lesson = \"…\"."
		c.report(d)
	case text != nil && lesson != nil:
		d.Subject, d.Summary = lesson.Src.Range, "Both text and lesson in one remember"
		d.Detail = "An entry is a text, or a lesson with its context and observation. Remove one of the two."
		d.Notes = []diag.Note{{Text: "text is here", Range: text.Src.Range}}
		c.report(d)
	case text != nil:
		for _, name := range []string{"context", "observation"} {
			if a := b.attr(name); a != nil {
				d.Subject, d.Summary = a.Src.Range, fmt.Sprintf("%s has no effect with a text", name)
				d.Detail = "It belongs to a lesson:  lesson = \"…\". Remove it, or write the text as a lesson."
				c.report(d)
			}
		}
	}
	c.knownAgent(b, "agent")
	if a := b.attr("scope"); a != nil && a.Text != "" {
		c.scope(b, a)
	}
}

// scope checks who is to see an entry.
func (c *checker) scope(b *Block, a *Attr) {
	kind, name, named := strings.Cut(a.Text, ":")
	switch {
	case !named && (kind == "shared" || kind == "run"):
	case named && kind == "group":
		if !c.groups[name] {
			c.unknownGroup(b, name, a.span(), `"group:%s"`)
		}
	case named && kind == "agent":
		if c.agents[name] == nil {
			d := diag.Diagnostic{Code: "F0218", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("Unknown agent %.80q in a scope", name), Detail: "The program declares no agent of this name."}
			if near := c.nearest(name, c.agents); near != "" {
				d.Detail += fmt.Sprintf(" Did you mean %q?", near)
				d.Edit = &diag.Edit{Range: a.span(), Text: fmt.Sprintf("%q", "agent:"+near)}
			}
			c.report(d)
		}
	default:
		c.report(diag.Diagnostic{Code: "F0291", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%.80q is not a scope", a.Text),
			Detail: `It is one of "shared", "run", "agent:NAME" and "group:NAME".`})
	}
}

// recall checks whose memory a step searches.
func (c *checker) recall(b *Block) {
	c.knownAgent(b, "agent")
	c.groupsOf(b)
}
