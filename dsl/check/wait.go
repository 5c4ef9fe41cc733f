package check

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
)

// waitTakes are the attributes of a wait that belong to events.
var waitTakes = []string{"match", "data", "timeout"}

// wait checks that a wait is for a duration, until a moment or for an event.
func (c *checker) wait(b *Block) {
	var found []*Attr
	for _, name := range []string{"duration", "at", "event"} {
		if a := b.attr(name); a != nil {
			found = append(found, a)
		}
	}
	d := diag.Diagnostic{Code: "F0284", Subject: b.Src.Header, Context: b.Words()}
	if len(found) == 0 {
		if !b.stray {
			d.Summary, d.Detail = "Nothing to wait for", "A wait has exactly one of  duration = \"1h\",  at = \"2030-01-31T09:00:00Z\"  and  event = \"NAME\"."
			c.report(d)
		}
		return
	}
	if len(found) > 1 {
		d.Subject, d.Summary = found[1].Src.Range, fmt.Sprintf("Both %s and %s in one wait", found[0].Src.Name, found[1].Src.Name)
		d.Detail = "A wait has exactly one of the two. Make two steps; a sequence puts them in order. The attribute timeout limits the wait for an event."
		d.Notes = []diag.Note{{Text: found[0].Src.Name + " is here", Range: found[0].Src.Range}}
		c.report(d)
		return
	}
	if found[0].Src.Name == "event" {
		if a := found[0]; !contains(schema.AwaitedEvents, a.Text) {
			c.eventName(b)
		}
		return
	}
	for _, name := range waitTakes {
		if a := b.attr(name); a != nil {
			d.Subject, d.Summary = a.Src.Range, fmt.Sprintf("%s has no effect with %s", name, found[0].Src.Name)
			d.Detail = "It belongs to a wait for an event:  event = \"NAME\". Remove it, or wait for an event."
			c.report(d)
		}
	}
	if at := b.attr("at"); at != nil && at.known != nil {
		text, _ := at.known.Const.(string)
		if _, err := time.Parse(time.RFC3339, text); err == nil {
			return
		}
		d.Subject, d.Summary = at.span(), fmt.Sprintf("at cannot be %.40q", text)
		d.Detail = "Write the time in RFC 3339, with a time zone: \"2030-01-31T09:00:00Z\" or \"2030-01-31T10:00:00+01:00\"."
		c.report(d)
	}
}
