package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// checkOns checks the blocks on, once the inputs of all workflows are known.
func (c *checker) checkOns() {
	const why = "An event arrives before a run exists, so  when  and  with  of an  on  block read only event, var and local."
	hidden := map[string]string{}
	for _, name := range schema.Roots {
		hidden[name] = why
	}
	first, named := map[string]*Block{}, map[string]*Block{}
	for _, b := range c.program.Ons {
		if text := subscribed(b.Name); text != "" && b.Name != "" {
			c.report(diag.Diagnostic{Code: "F0410", Subject: nameRange(b), Context: b.Words(), Summary: fmt.Sprintf("An \"on\" block cannot use the event %.80q", b.Name), Detail: text})
		}
		env := c.env(roots{"event": root("event", b.onData())}, hidden)
		c.expressions(b, func(string) *expr.Env { return env })
		c.hook(b, named[b.Name])
		c.files(b, named[b.Name])
		if named[b.Name] == nil {
			named[b.Name] = b
		}
		a := b.attr("workflow")
		r := a.ref()
		to := c.workflows[r.Name]
		if to == nil {
			if r.Name != "" {
				c.unknownDeclared(b, r, "workflow", c.callable)
			}
			continue
		}
		key := b.Name + " " + r.Name
		if before := first[key]; before != nil {
			c.report(diag.Diagnostic{Code: "F0411", Subject: b.Src.Header, Context: b.Words(), Summary: fmt.Sprintf("The event %q starts workflow %q twice", b.Name, r.Name),
				Detail: "One event starts one run of a workflow. Put both conditions into one block:  when = \"A || B\".",
				Notes:  []diag.Note{{Text: "the first one", Range: before.Src.Header}}})
			continue
		}
		first[key] = b
		c.givenTo(to, b, a)
		c.onSecrets(b, to)
	}
}

// subscribed says what is wrong with the name of a block on; "" if nothing is.
func subscribed(name string) string {
	plain, open := strings.CutSuffix(name, ".*")
	if strings.HasPrefix(plain+".", ownEvents) {
		if open || slices.Contains(schema.OwnEvents, name) {
			return ""
		}
		text := fmt.Sprintf("The events of flowrun itself are %s.", some(schema.OwnEvents))
		if near := diag.Nearest(name, schema.OwnEvents); near != "" {
			text = fmt.Sprintf("Did you mean %q? ", near) + text
		}
		return text
	}
	if why := EventName(plain); why != "" {
		return why + " The last part may be  *,  for all events with this prefix:  \"order.*\"."
	}
	return ""
}

// onSecrets reports a required input of a workflow that is sensitive: an event is written down.
func (c *checker) onSecrets(b *Block, to *Workflow) {
	a := b.attr("with")
	if a == nil || a.Expr == nil {
		return
	}
	for _, in := range to.Inputs {
		if s := in.attr("sensitive"); s == nil || !s.Flag {
			continue
		}
		if _, given := a.Expr.Type.Attrs[in.Name]; given || a.Expr.Type.Kind != value.ObjectT {
			c.report(diag.Diagnostic{Code: "F0412", Subject: a.key(in.Name), Context: b.Words(), Summary: fmt.Sprintf("Input %q of workflow %q is sensitive", in.Name, to.Name),
				Detail: "Events are kept in the store, so their data cannot be secret. Let the workflow read a sensitive variable instead of the input.",
				Notes:  []diag.Note{{Text: "declared here", Range: nameRange(in.Block)}}})
		}
	}
}
