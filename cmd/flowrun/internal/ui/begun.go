package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Bounds of what is shown in a run's tree of attempts that have not answered: how many, the last ones, and the last lines of each.
// The page of a step shows all of them, with [StderrLines].
const (
	MaxBegunShown = 20
	begunLines    = 3
)

// Begun says in a line what is known of an attempt that has not answered: "attempt 1: interrupted, last heard after 12s, started …".
func Begun(t *Term, b *view.Begun, now event.Time) string {
	text := attempt(b.Attempt, b.Gate, b.Compensate) + ": "
	if b.Interrupted != "" {
		text += t.Style(yellow, view.Interrupted)
		if b.Heard > b.StartedAt {
			text += ", last heard after " + Duration(b.Heard.Sub(b.StartedAt))
		}
		return text + ", started " + t.When(b.StartedAt, now) + because(b.Interrupted)
	}
	text += fmt.Sprintf("running for %s", Duration(max(0, now.Sub(b.StartedAt))))
	if b.Process != 0 {
		text += fmt.Sprintf(" as process %d", b.Process)
	}
	text += ", started " + t.When(b.StartedAt, now)
	if b.Heard > b.StartedAt {
		text += ", last heard " + Duration(max(0, now.Sub(b.Heard))) + " ago"
	}
	return text
}

// wrote gives the last lines of what an attempt wrote, and what it said of its progress.
func wrote(b *view.Begun, lines int, margin string) string {
	var text strings.Builder
	for _, stream := range []string{b.Stdout, b.Stderr} {
		if tail := lastLines(stream, lines); tail != "" {
			fmt.Fprintf(&text, "%s\n", indent(excerpt(tail), margin+"| "))
		}
	}
	if b.Says != "" {
		fmt.Fprintf(&text, "%ssays: %s\n", margin, Truncate(gist(b.Says), SaidCells))
	}
	return text.String()
}

// begunTry writes an attempt that has not answered as a part of its step's story.
func begunTry(t *Term, y *view.Try, scene *Scene, now event.Time) string {
	var text strings.Builder
	b := y.Begun
	fmt.Fprintf(&text, "  %s\n%s", Begun(t, b, now), request(y.Request))
	if b.Command != "" {
		fmt.Fprintf(&text, "    command: %s\n", Truncate(gist(b.Command), MaxReason))
	}
	text.WriteString(wrote(b, StderrLines, "    "))
	for _, log := range []string{b.StderrLog, b.StdoutLog} {
		if log != "" {
			fmt.Fprintf(&text, "    whole output: %s\n", scene.log(log))
		}
	}
	return text.String()
}

// begunBelow writes what is shown of the attempts of a node in the tree of its run.
func begunBelow(t *Term, list []*view.Begun, node string, now event.Time) {
	for _, b := range list {
		if b.Node == node {
			t.Printf("      %s\n%s", Begun(t, b, now), wrote(b, begunLines, "      "))
		}
	}
}

// lastSaid is what an attempt under way said last: of its progress, else the last line that it wrote.
func lastSaid(b *view.Begun) string {
	text := b.Says
	for _, stream := range []string{b.Stderr, b.Stdout} {
		if text == "" {
			text = lastLines(stream, 1)
		}
	}
	return text
}

// lastWord names the process of an attempt under way, and what it said last; b may be nil.
func lastWord(b *view.Begun) string {
	if b == nil {
		return ""
	}
	text := ""
	if b.Process != 0 {
		text = fmt.Sprintf(" (process %d)", b.Process)
	}
	if said := lastSaid(b); said != "" {
		text += ": " + Truncate(gist(said), SaidCells)
	}
	return text
}
