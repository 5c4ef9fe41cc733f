package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
)

// handoff checks what is known of a hand-over from the file.
func (c *checker) handoff(b *Block) {
	c.tells(b, "notify")
	c.handoffTo(b)
	size := 0
	for _, spec := range b.Schema.Attrs {
		a := b.attr(spec.Name)
		if a == nil || a.known == nil {
			continue
		}
		size += len(value.Append(nil, a.known.Const))
		if text, is := a.known.Const.(string); is && spec.Required && strings.TrimSpace(text) == "" {
			c.report(diag.Diagnostic{Code: "F0440", Subject: a.span(), Context: b.Words(), Summary: spec.Name + " is empty",
				Detail: "The agent that continues needs it: " + spec.Doc})
		}
	}
	if size > limits.MaxHandoff {
		c.report(diag.Diagnostic{Code: "F0440", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("A hand-over of %d bytes", size),
			Detail: fmt.Sprintf("The limit is %d bytes as JSON. Write large parts to a file, and name it in artifacts.", limits.MaxHandoff)})
	}
}

// handoffTo checks the agent or the pool that work is handed over to.
func (c *checker) handoffTo(b *Block) {
	a := b.attr("to")
	if a == nil || len(a.Names) == 0 {
		return
	}
	switch r := a.Names[0]; {
	case r.Pool && c.pools[r.Name] == nil:
		c.unknownDeclared(b, r, "pool", c.pools)
	case !r.Pool && c.agents[r.Name] == nil:
		c.unknownDeclared(b, r, "agent", c.agents)
	case r.Pool:
		for _, g := range c.membersOf(c.pools[r.Name]) {
			a.Strings = append(a.Strings, g.Name)
		}
	}
}
