package learning

import (
	"context"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/tasks"
)

// Bounds of the texts that a lesson keeps, in bytes.
const (
	maxTaskText   = 4 << 10
	maxTaskStream = 8 << 10
)

// newLesson keeps the parts of a task that the memory can learn from.
func newLesson(run string, t *tasks.Task) lesson {
	out := learn.Task{Agent: t.Agent, Run: run, Step: t.Node, Text: learn.Clip(t.Asked, maxTaskText), OK: t.Ending == tasks.Accepted, Attempts: t.Attempts,
		Output: learn.Outline(t.Output), Rule: t.Rule, Trust: entry.ByRule, At: t.At.Go()}
	if e := t.Problem; e != nil {
		out.Problem = &learn.Problem{Kind: string(e.Kind), Reason: string(e.Reason), Message: learn.Clip(e.Message, maxTaskText),
			ExitCode: e.ExitCode, Gate: e.Gate, Status: e.Status, Stdout: clipStart(t.Stdout), Stderr: clipStart(t.Stderr)}
	}
	switch {
	case t.GivenUp:
		out.Part = "given up by " + t.Agent
	case t.Ending == tasks.Open || t.Ending == tasks.Unproven:
		out.Attempts-- // the last one did not fail
	case t.Ending == tasks.Refused:
		out.Part, out.Attempts = "refused", 1
		out.Problem.Message = describeReviews(t.Heard, out.Problem.Message)
	}
	return lesson{run: run, task: out, believed: t.Believed, ending: t.Ending, said: t.Learned, use: t.Memory}
}

// describeReviews joins the words of the reviewers of a round; otherwise is the text if there are none.
func describeReviews(list []tasks.Heard, otherwise string) string {
	var out []string
	for _, h := range list {
		said := learn.Review(h.Output)
		if h.Problem != nil {
			said = learn.Clip(h.Problem.Message+" "+h.Stderr, maxTaskText)
		}
		if said != "" {
			out = append(out, h.Name+": "+said)
		}
	}
	if len(out) == 0 {
		return otherwise
	}
	return strings.Join(out, "; ")
}

// clipStart keeps the end of a stream: that is where a program says what went wrong.
func clipStart(s string) string {
	if len(s) <= maxTaskStream {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxTaskStream:], "")
}

// writeTo writes the outcome of a task, and the learnings that its agent reported.
func (x *lesson) writeTo(ctx context.Context, m *memory.Memory) error {
	ids, err := x.writeOutcome(ctx, m)
	if err != nil {
		return err
	}
	said := x.task
	if said.Trust = entry.Untrusted; x.use.Trusted {
		said.Trust = entry.ByAgent
	}
	for n, s := range x.said {
		if s.Type == string(entry.Success) && x.ending != tasks.Accepted {
			continue // it may be refused yet, or was
		}
		e := said.Said(n, entry.Entry{Type: entry.Type(s.Type), Text: s.Text, Lesson: s.Lesson, Context: s.Context, Observation: s.Observation, Tags: s.Tags,
			Importance: s.Importance})
		if err := addEntry(ctx, m, e); err != nil {
			return err
		}
		ids = append(ids, e.ID)
	}
	if x.ending != tasks.Accepted || !x.use.Promote || x.use.Trusted {
		return nil
	}
	for _, id := range ids {
		err := m.Promote(ctx, []string{id}, entry.OfAgent(x.task.Agent), entry.Source{Run: x.run, Step: x.task.Step, Source: "promote", Author: "flowrun", Trust: entry.ByRule})
		if err != nil && !errors.Is(err, memory.ErrNoEntry) { // it was a repeat, or has been forgotten
			return err
		}
	}
	return nil
}

// writeOutcome writes how a task ended, where that teaches something. A task that a reviewer may still refuse is written at once with the
// errors that it met, so that later steps read them; that entry stays, however the task ends. An agent that the file does not trust
// writes for its own run only, until a rule promotes the entry; other runs read the facts that flowrun knows and the words of the file.
// The result lists the entries that a rule may promote.
func (x *lesson) writeOutcome(ctx context.Context, m *memory.Memory) (stays []string, err error) {
	t := x.task
	if x.ending != tasks.Failed && t.Problem == nil {
		return nil, nil
	}
	if x.believed {
		return nil, addEntry(ctx, m, learn.FromTask(t))
	}
	if err := addEntry(ctx, m, learn.Facts(t)); err != nil {
		return nil, err
	}
	t.Trust = entry.Untrusted
	e := learn.FromTask(t)
	return []string{e.ID}, addEntry(ctx, m, e)
}

// addEntry writes an entry. An entry that has the same id already stays as it is.
func addEntry(ctx context.Context, m *memory.Memory, e entry.Entry) error {
	_, err := m.Add(ctx, e)
	if errors.Is(err, memory.ErrExists) {
		return nil
	}
	return err
}
