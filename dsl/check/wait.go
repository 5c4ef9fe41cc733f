package check

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/diag"
)

// wait checks that a wait is either for a duration or until a moment.
func (c *checker) wait(b *Block) {
	long, at := b.attr("duration"), b.attr("at")
	d := diag.Diagnostic{Code: "F0284", Subject: b.Src.Header, Context: b.Words()}
	switch {
	case long == nil && at == nil && !b.stray:
		d.Summary, d.Detail = "Nothing to wait for", "A wait has one of  duration = \"1h\"  and  at = \"2030-01-31T09:00:00Z\"."
	case long != nil && at != nil:
		d.Subject, d.Summary = at.Src.Range, "Both duration and at in one wait"
		d.Detail = "It waits for one thing. Make two steps of it; a sequence puts them in order."
		d.Notes = []diag.Note{{Text: "duration stands here", Range: long.Src.Range}}
	case at != nil && at.known != nil:
		text, _ := at.known.Const.(string)
		if _, err := time.Parse(time.RFC3339, text); err == nil {
			return
		}
		d.Subject, d.Summary = at.span(), fmt.Sprintf("at cannot be %.40q", text)
		d.Detail = "A moment is written as in RFC 3339, with its time zone: \"2030-01-31T09:00:00Z\" or \"2030-01-31T10:00:00+01:00\"."
	default:
		return
	}
	c.report(d)
}
