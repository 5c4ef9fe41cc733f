package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/judge"
	"github.com/flowrun/flowrun/runner/view"
)

// Story writes one node in full: its status and why, what it waited for and what waits for it, each attempt with its end. Without all,
// a long list of the nodes below it is folded.
func Story(t *Term, r *view.Run, s *view.Story, scene Scene, now event.Time, all bool) {
	n := s.Node()
	took, at, word := "", now, Clean(string(n.Status))
	if r.Stands != 0 {
		if at = r.Stands; n.Status == event.Running {
			word = view.Interrupted
		}
	}
	if n.StartedAt != 0 {
		took = " after " + Duration(n.Duration(at)) + ", started " + t.When(n.StartedAt, now)
	}
	t.Printf("%s of run %s: %s%s\n", Clean(n.Path), Clean(r.ID), t.Style(style(n.Status, n.Result), word), took)
	if scene.Where != nil {
		if at := scene.Where(n.Name); at != "" {
			t.Printf("  at %s\n", Clean(at))
		}
	}
	if about := r.Description(n); about != "" {
		fact(t, "description", ": "+Clean(about))
	}
	if n.Pattern != "" {
		fact(t, "pattern", ": "+Clean(n.Pattern))
	}
	if n.Item != "" {
		fact(t, "item", ": "+Clean(n.Item))
	}
	fact(t, "why", because(r.Why(n))+toGo(n, now))
	if when := s.Condition(); !strings.Contains(r.Why(n), when) {
		fact(t, "condition", because(when))
	}
	fact(t, "waited for", because(awaited(s.Awaits())))
	fact(t, "needed by", because(strings.Join(s.Dependents(), ", ")))
	if n.Child != "" {
		fact(t, "run", ": "+Clean(n.Child))
	}
	if f := facts(n.Result); f != "" {
		fact(t, "result", ": "+f)
	}
	if s.Left > 0 {
		t.Printf("  %s more before\n", Count(s.Left, "attempt"))
	}
	for i := range s.Tries {
		if s.Tries[i].Begun != nil {
			t.Printf("%s", begunTry(t, &s.Tries[i], &scene, now))
			continue
		}
		t.Printf("%s", try(t, &s.Tries[i], &scene))
	}
	for _, v := range s.Gates {
		t.Printf("  attempt %d: %s\n", v.Attempt, verdict(t, &v.Verdict))
		if v.Said != "" {
			t.Printf("%s\n", indent(excerpt(lastLines(v.Said, StderrLines)), "    | "))
		}
		if v.Evidence != nil {
			t.Printf("%s", evidence(v.Evidence))
		}
	}
	for _, w := range n.Warnings {
		fact(t, "warning", because(w))
	}
	if c := n.Compensation; c != nil {
		fact(t, "compensation", ": "+strings.ReplaceAll(string(c.Status), "_", " "))
	}
	parts(t, r, n, now, all)
	if n.Result != nil && n.Result.Error != nil {
		fact(t, "error", fmt.Sprintf(": %s/%s", n.Result.Error.Kind, n.Result.Error.Reason)+because(n.Result.Error.Message))
	}
	if n.Result != nil && n.Status == event.Succeeded && n.Result.Output != nil {
		fact(t, "output", ": "+Truncate(oneLine(n.Result.Shown().Output), MaxReason))
	}
}

// evidence is what a verdict rests on, a line for what judged and one for each finding.
func evidence(e *event.Evidence) string {
	var b strings.Builder
	var facts []string
	say := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	if len(e.Ran) > 0 {
		say("ran %s", Truncate(Clean(strings.TrimSpace(strings.Join(e.Ran, " "))), MaxReason)) // the default shell has no name
	}
	if e.Judge != "" {
		say("judge %s", Clean(e.Judge))
	}
	if e.ExitCode != nil {
		say("exit code %d", *e.ExitCode)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Scores)) {
		say("%s %v", Clean(name), e.Scores[name])
	}
	if f := e.Figure; f != nil {
		text := func(figure float64) string { return event.MeasuredText(f.Metric, figure, 6) }
		if say("%s %s (median of %d)", Clean(f.Metric), text(f.Median), len(f.Samples)); f.Baseline == nil {
			say("the first figure of baseline %s", Clean(f.Name))
		} else {
			say("baseline %s %s, at most %s", Clean(f.Name), text(*f.Baseline), text(f.Most))
		}
	}
	if e.Digest != "" {
		say("answer sha256:%.12s", e.Digest)
	}
	if len(facts) > 0 {
		fmt.Fprintf(&b, "    evidence: %s\n", strings.Join(facts, ", "))
	}
	for _, f := range e.Findings {
		fmt.Fprintf(&b, "    %s\n", Clean(judge.Words(f)))
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "    and %d more findings\n", e.More)
	}
	return b.String()
}

// parts writes the nodes that are directly below a node.
func parts(t *Term, r *view.Run, n *view.Node, now event.Time, all bool) {
	list, left := n.Children, ""
	if !all {
		list, left = fold(list)
	}
	if left != "" {
		t.Printf("  %s\n", left)
	}
	nodes := make([]rowNode, len(list))
	for i, c := range list {
		nodes[i] = rowNode{n: c, stands: r.Stands}
	}
	for _, line := range rows(t, nodes, now, 0, 0) {
		t.Printf("%s\n", line)
	}
}

// fact writes what is known under a name; text begins with a colon, or there is nothing to write.
func fact(t *Term, name, text string) {
	if text != "" {
		t.Printf("  %s%s\n", name, text)
	}
}

func awaited(list []view.Awaited) string {
	parts := make([]string, len(list))
	for i, a := range list {
		status := Clean(string(a.Status))
		if status == "" {
			status = "not there yet"
		}
		parts[i] = a.Name + " (" + status + ")"
	}
	return strings.Join(parts, ", ")
}

// MaxRecalledShown bounds how many of the entries that were recalled into an attempt are named.
const MaxRecalledShown = 8

// recalled names entries of the memory; flowrun memory show tells more of one.
func recalled(list []event.Recalled) string {
	var names []string
	for i, r := range list {
		if i == MaxRecalledShown {
			names = append(names, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", Clean(r.ID), Clean(r.Type)))
	}
	return strings.Join(names, ", ")
}

// request is what an agent was asked to do, in short; flowrun runs show --json has all of it.
func request(r *view.RequestDoc) string {
	if r == nil || r.Agent == "" {
		return ""
	}
	var b strings.Builder
	for _, part := range []struct{ name, text string }{{"task", r.Task}, {"feedback", r.Feedback}, {"session", r.Session}} {
		if text := lineOf(part.text); text != "" {
			fmt.Fprintf(&b, "    %s: %s\n", part.name, text)
		}
	}
	return b.String()
}

// lineOf is a text of several lines in one, cut where it is long.
func lineOf(text string) string {
	return Truncate(Clean(strings.Join(strings.Fields(text), " ")), MaxReason)
}

// try writes an attempt, with the last of what it wrote to standard error, or to standard output where it failed without.
func try(t *Term, y *view.Try, scene *Scene) string {
	f := y.Answer
	var b strings.Builder
	outcome, style := string(f.Outcome), red
	if f.Outcome == event.OK {
		style = green
	}
	fmt.Fprintf(&b, "  %s: %s", attempt(f.Attempt, f.Gate, f.Compensate), t.Style(style, outcome))
	if f.StartedAt != 0 {
		fmt.Fprintf(&b, " after %s, started %s", Duration(y.Ended.Sub(f.StartedAt)), t.Clock(f.StartedAt))
	}
	if f.ExitCode != nil {
		fmt.Fprintf(&b, ", exit code %d", *f.ExitCode)
	}
	if f.Error != nil && (f.ExitCode == nil || f.Error.Reason != event.ReasonExit) {
		b.WriteString(because(f.Error.Message))
	}
	if y.Dropped {
		b.WriteString("  " + t.Style(yellow, "dropped: it came late or twice"))
	}
	b.WriteString("\n")
	b.WriteString(request(y.Request))
	if len(f.Recalled) > 0 {
		fmt.Fprintf(&b, "    recalled: %s\n", recalled(f.Recalled))
	}
	for _, l := range f.Learned[:min(len(f.Learned), MaxRecalledShown)] {
		fmt.Fprintf(&b, "    learned: %s\n", lineOf(cmp.Or(l.Lesson, l.Text, l.Observation)))
	}
	if f.Warning != "" {
		fmt.Fprintf(&b, "    %s\n", t.Style(yellow, "warning: "+Clean(f.Warning)))
	}
	f = f.Shown()
	tail := lastLines(f.Stderr, StderrLines)
	if tail == "" && f.Outcome != event.OK {
		tail = lastLines(f.Stdout, StderrLines)
	}
	if tail != "" {
		fmt.Fprintf(&b, "%s\n", indent(excerpt(tail), "    | "))
	}
	for _, log := range []string{f.StderrLog, f.StdoutLog} {
		if log != "" {
			fmt.Fprintf(&b, "    whole output: %s\n", scene.log(log))
		}
	}
	return b.String()
}
