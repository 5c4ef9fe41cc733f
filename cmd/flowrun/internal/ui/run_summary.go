package ui

import (
	"fmt"
	"html"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// maxFailures bounds how many failures a summary shows with their last lines; the table has all.
const maxFailures = 20

// RunSummary is a run as Markdown for a job summary, in at most so many bytes; "" where not even its head fits. Failures
// come first, with the last lines that they wrote.
func RunSummary(r *view.Run, scene Scene, now event.Time, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### flowrun: %s %s\n\nrun %s, after %s%s\n\n", cell(r.Workflow), r.Status, cell(r.ID), Duration(r.Duration(now)),
		cell(because(why(r.Status, r.Reason, &event.Result{Error: r.Error}))))
	if b.Len()+summaryTail > most {
		return ""
	}
	shown := 0
	r.Each(func(n *view.Node, _ int) {
		if n.Status != event.FailedS || !acted(n) || shown == maxFailures || n.Result != nil && n.Result.Tolerated {
			return
		}
		if text := failureOf(n, scene); b.Len()+len(text)+summaryTail <= most {
			shown++
			b.WriteString(text)
		}
	})
	const head = "| | node | took | attempts | |\n|---|---|---|---|---|\n"
	b.WriteString(head)
	left, full := 0, false
	r.Each(func(n *view.Node, _ int) {
		row := fmt.Sprintf("| %s %s | %s | %s | %d | %s |\n", icon(n.Status, 0), n.Status, cell(named(n.Title(), n.Pattern)), Duration(n.Duration(now)), n.Attempt,
			cell(Truncate(gist(join(r.Description(n), why(n.Status, n.Reason, n.Result))), MaxReason)))
		if full = full || b.Len()+len(row)+summaryTail > most; full {
			left++
			return
		}
		b.WriteString(row)
	})
	if left > 0 {
		fmt.Fprintf(&b, "\n… and %s more.\n", Count(left, "node"))
	}
	return b.String()
}

// failureOf is one failure, folded up.
func failureOf(n *view.Node, scene Scene) string {
	at := ""
	if scene.Where != nil {
		if at = scene.Where(n.Name); at != "" {
			at = " at " + at
		}
	}
	text := ""
	if res := n.Result; res != nil {
		res = res.Shown()
		if text = lastLines(res.Stderr, StderrLines); text == "" {
			text = lastLines(res.Stdout, StderrLines)
		}
	}
	return fmt.Sprintf("<details><summary>%s%s: %s</summary>\n\n<pre>%s</pre>\n</details>\n\n", cell(named(n.Title(), n.Pattern)), cell(at),
		cell(Truncate(gist(why(n.Status, n.Reason, n.Result)), MaxReason)), html.EscapeString(excerpt(text)))
}
