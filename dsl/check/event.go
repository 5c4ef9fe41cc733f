package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// waitOutput is the data of an event, or nothing.
func waitOutput(_ *checker, _ *Workflow, n *Node) value.Type {
	b := n.Inner("wait")
	if b.attr("event") == nil {
		return nullType
	}
	return b.eventData()
}

// eventData is the type of the data of the event that a wait is for.
func (b *Block) eventData() value.Type {
	if a := b.attr("data"); a != nil && a.Type != nil {
		return *a.Type
	}
	return value.AnyType
}

// ownEvents is how the names of flowrun's own events begin.
const ownEvents = "flowrun."

var eventName = lazyregexp.New(`^[a-z0-9._-]+$`)

// EventName checks the name of an event, and returns what is wrong with it; "" if nothing is.
func EventName(name string) string {
	switch {
	case len(name) > limits.MaxEventName || !eventName().MatchString(name):
		return fmt.Sprintf("The name of an event has 1 to %d characters: lower-case letters, digits, dots, dashes and underscores.", limits.MaxEventName)
	case strings.HasPrefix(name, ownEvents):
		return "Names that begin with  " + ownEvents + "  are reserved for flowrun. An  on  block can use  " + strings.Join(schema.OwnEvents, ", ") + ",  and a wait hears  " + strings.Join(schema.AwaitedEvents, ", ") + ".  Choose another name."
	}
	return ""
}

func (c *checker) eventName(b *Block) {
	a := b.attr("event")
	if a == nil || !isWritten(a) { // it is not written out, which was told
		return
	}
	if why := EventName(a.Text); why != "" {
		c.report(diag.Diagnostic{Code: "F0255", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("%.80q is not a valid name of an event", a.Text), Detail: why})
	}
}

// emit checks the name of an event, and what is known of its data.
func (c *checker) emit(b *Block) {
	c.eventName(b)
	if a := b.attr("data"); a != nil && a.known != nil {
		if size := len(value.Append(nil, a.known.Const)); size > limits.MaxKVValue {
			c.report(diag.Diagnostic{Code: "F0255", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("The data of an event of %d bytes", size),
				Detail: fmt.Sprintf("The limit is %d bytes as JSON. Write the data to a file, or to a key of kv, and say where it is.", limits.MaxKVValue)})
		}
	}
}

// sync checks what is known of a sync point before the run.
func (c *checker) sync(b *Block) {
	say := func(a *Attr, summary, detail string) {
		c.report(diag.Diagnostic{Code: "F0256", Subject: a.span(), Context: b.Words(), Summary: summary, Detail: detail})
	}
	for _, name := range []string{"point", "as"} {
		if a := b.attr(name); a != nil && a.known != nil {
			switch text, is := a.known.Const.(string); {
			case is && text == "":
				say(a, name+" is empty", fmt.Sprintf("The name of a point, or of a party, has 1 to %d bytes.", limits.MaxSyncName))
			case len(text) > limits.MaxSyncName:
				say(a, fmt.Sprintf("%s has %d bytes", name, len(text)), fmt.Sprintf("The limit is %d bytes.", limits.MaxSyncName))
			}
		}
	}
	if a := b.attr("needs"); a != nil && a.known != nil {
		switch list, is := a.known.Const.([]any); {
		case is && len(list) == 0:
			say(a, "needs is empty", "It names all parties that must be ready, including the party of this step:  needs = [\"api\", \"ui\"].")
		case len(list) > limits.MaxParties:
			say(a, fmt.Sprintf("needs has %d parties", len(list)), fmt.Sprintf("The limit is %d.", limits.MaxParties))
		}
	}
	if a := b.attr("reason"); a != nil {
		ready := b.attr("ready")
		if ready == nil || ready.known != nil && ready.known.Const == true {
			say(a, "A reason of a party that is ready", "reason explains why the party is not ready. Add  ready = false, or a condition.")
		}
	}
	if a := b.attr("ready"); a != nil && a.Expr != nil && a.Expr.Kind == ir.Const && a.Expr.Const == nil {
		say(a, "ready is null", "It is true or false.")
	}
}

// published reads an event that a test publishes, or a check-in at a sync point.
func (c *testChecker) published(b *Block, m *ir.Moment) {
	m.Name, m.Key, m.As, m.Reason = b.Name, b.Text("key"), b.Text("as"), b.Text("reason")
	if a := b.attr("run"); a != nil && isWritten(a) {
		if m.Of = a.Text; c.runs.named[a.Text] == nil {
			c.unknownName(b, a.span(), "run", a.Text, c.runs.labels(), inQuotes)
		}
	}
	if m.Kind == ir.EmitMoment {
		if why := EventName(b.Name); why != "" {
			c.report(diag.Diagnostic{Code: "F0255", Subject: nameRange(b), Context: b.Words(), Summary: fmt.Sprintf("%.80q is not a valid name of an event", b.Name), Detail: why})
		}
	}
	known := true
	if a := b.attr("data"); a != nil {
		m.Data, known = c.constant(b, a)
	}
	if m.Kind == ir.EmitMoment {
		m.Forge = b.attr("forge") != nil && b.attr("forge").Flag
		c.delivered(b, m, known)
	}
	if a := b.attr("as"); a != nil && a.Text == "" && isWritten(a) || m.Kind == ir.CheckInMoment && b.Name == "" {
		c.report(diag.Diagnostic{Code: "F0256", Subject: nameRange(b), Context: b.Words(), Summary: "A check-in without a name", Detail: fmt.Sprintf("The name of a point, or of a party, has 1 to %d bytes.", limits.MaxSyncName)})
	}
}
