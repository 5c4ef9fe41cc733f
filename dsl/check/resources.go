package check

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// resources checks what bounds the processes of an agent.
func (c *checker) resources(b *Block, env *expr.Env) {
	r := b.Inner("resources")
	if r == nil {
		return
	}
	c.expressions(r, func(string) *expr.Env { return env })
	if kind := b.Text("type"); kind == "http" || kind == "null" || kind == "chat" || kind == "a2a" {
		for _, name := range []string{"cpu_shares", "memory"} {
			if a := r.attr(name); a != nil {
				c.report(diag.Diagnostic{Code: "F0150", Subject: a.Src.Range, Context: r.Words(), Summary: fmt.Sprintf("%s has no effect for an agent of type %s", name, kind),
					Detail: "It limits processes that flowrun starts; only agents of type exec, shell, mcp and acp can be processes. Remove it."})
			}
		}
	}
	if a := r.attr("memory"); a != nil && a.Expr != nil && a.Expr.Kind == ir.Const {
		if text, ok := a.Expr.Const.(string); ok {
			if _, err := value.ParseMemory(text); err != nil {
				c.report(diag.Diagnostic{Code: "F0149", Subject: a.span(), Context: r.Words(), Summary: fmt.Sprintf("memory cannot be %.40q", text),
					Detail: "A memory limit is from 1MiB to 64TiB, " + value.SizeForms + "."})
			}
		}
	}
	c.priorityOf(r)
}
