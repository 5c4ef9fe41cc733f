package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// The column of names has at most maxLabel cells, and on a narrow screen leaves besideLabel for indent, mark and duration,
// but not fewer than minLabel.
const (
	maxLabel    = 48
	besideLabel = 12
	minLabel    = 4
)

// rowNode is a node to be rowNode, indented by its depth; with a depth of -1 it is shown by its whole path.
type rowNode struct {
	n     *view.Node
	depth int
	said  string // the last word of its agent, or that it waits for a slot
	// stands is where the clock of an interrupted run stands; 0 for others.
	stands event.Time
	// folded replaces the node: it counts nodes that are not shown. n is nil.
	folded string
}

// stood marks what was running when the run lost its driver.
const stood = "‖"

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// icon marks a status by shape, so that it can be told without colour.
func icon(s event.Status, frame int) string {
	switch s {
	case event.Succeeded:
		return "✓"
	case event.FailedS:
		return "✗"
	case event.Running:
		return spinner[frame%len(spinner)]
	case event.Waiting:
		return "…"
	case event.Skipped:
		return "-"
	case event.Blocked:
		return "!"
	case event.Cancelled:
		return "×"
	}
	return "·"
}

// rows renders nodes as a table: mark and name, duration, what is worth a word. Lines are cut at columns; 0 is not a bound.
func rows(t *Term, nodes []rowNode, now event.Time, frame, columns int) []string {
	width, most := 0, maxLabel
	if columns > 0 {
		most = min(most, max(minLabel, columns-besideLabel))
	}
	for _, e := range nodes {
		if e.n == nil {
			continue
		}
		width = max(width, min(Cells(label(e)), most))
	}
	out := make([]string, len(nodes))
	for i, e := range nodes {
		out[i] = row(t, e, width, now, frame, columns)
	}
	return out
}

func row(t *Term, e rowNode, width int, now event.Time, frame, columns int) string {
	if e.n == nil {
		return strings.Repeat("  ", max(0, e.depth)+1) + t.Style(dim, e.folded)
	}
	name := Truncate(label(e), width)
	took, at, mark, word := "", now, icon(e.n.Status, frame), remark(e.n)
	if e.stands != 0 {
		if at = e.stands; e.n.Status == event.Running {
			mark, word = stood, join(view.Interrupted, word)
		}
	}
	if e.n.StartedAt != 0 {
		took = Duration(e.n.Duration(at))
	}
	text := strings.Repeat("  ", max(0, e.depth)+1)
	rest := fmt.Sprintf(" %s%s %7s  %s", strings.TrimLeft(name, " "), strings.Repeat(" ", max(0, width-Cells(name))), took, join(word+toGo(e.n, now), e.said))
	rest = strings.TrimRight(rest, " ")
	if columns > 0 {
		rest = Truncate(rest, max(1, columns-len(text)-1))
	}
	return text + t.Style(style(e.n.Status, e.n.Result), mark) + rest
}

// toGo says how long it is until a node that waits goes on, or that nobody saw to it: what was said when it began to wait is old.
func toGo(n *view.Node, now event.Time) string {
	left := n.Due.Sub(now).Round(time.Second)
	switch {
	case n.Status != event.Waiting || n.Due == 0 || left == 0:
		return ""
	case left < 0:
		return fmt.Sprintf(" (was due %s ago)", Seconds(-left))
	}
	return fmt.Sprintf(" (%s to go)", Seconds(left))
}

// join puts two remarks side by side; either may be "".
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// label is the node's name with the indent that its mark gets, so that columns behind it line up.
func label(e rowNode) string {
	name := Clean(e.n.Title())
	if e.depth >= 0 {
		name = strings.Repeat("  ", e.depth) + Clean(strings.TrimPrefix(e.n.Title(), strings.TrimSuffix(e.n.Path, segment(e.n.Path))))
	}
	return named(name, Clean(e.n.Pattern))
}

// named puts the pattern that the file has in place of a node behind its name.
func named(name, pattern string) string {
	if pattern == "" {
		return name
	}
	return name + " (" + pattern + ")"
}

// segment is the last part of a path: of build/api[3] it is api[3].
func segment(path string) string {
	above := view.Parent(path)
	for above != "" && strings.HasPrefix(path[len(above):], "[") {
		above = view.Parent(above)
	}
	return strings.TrimPrefix(path[len(above):], "/")
}

// remark says what a status alone does not.
func remark(n *view.Node) string {
	var parts []string
	reason := why(n.Status, n.Reason, n.Result)
	switch n.Status {
	case event.Running:
		reason = ""
		if n.Attempt > 1 {
			reason = fmt.Sprintf("attempt %d", n.Attempt)
		}
		if n.Members > 0 {
			reason = fmt.Sprintf("%d of %d", n.Ended(), n.Members)
		}
	case event.Pending:
		reason = ""
	case event.Succeeded:
		reason = ""
		if n.Attempt > 1 {
			reason = Count(n.Attempt, "attempt")
		}
	default:
		reason = Clean(string(n.Status)) + because(withSaid(reason, n.Said()))
		if n.Attempt > 1 {
			parts = append(parts, Count(n.Attempt, "attempt"))
		}
	}
	if reason != "" {
		parts = append([]string{reason}, parts...)
	}
	if n.Child != "" && !strings.Contains(reason, n.Child) {
		parts = append(parts, "run "+Clean(n.Child))
	}
	if f := facts(n.Result); f != "" && n.Status.Terminal() {
		parts = append(parts, f)
	}
	for _, g := range n.Gates {
		if g.Warning {
			parts = append(parts, "warning of gate "+Clean(g.Gate)+because(g.Message))
		}
	}
	for _, w := range n.Warnings {
		parts = append(parts, "warning"+because(w))
	}
	if c := n.Compensation; c != nil {
		words := strings.ReplaceAll(string(c.Status), "_", " ")
		if c.Result != nil && c.Result.Error != nil {
			words += because(c.Result.Error.Message)
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, ", ")
}
