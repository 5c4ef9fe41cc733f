package app

import (
	"context"
	"errors"
	"strings"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/tasks"
)

// Bounds of what is kept of a task until it is learned from, in bytes.
const (
	maxTaskText   = 4 << 10
	maxTaskStream = 8 << 10
)

// lessonOf keeps of a task what can be learned from it.
func lessonOf(run string, t *tasks.Task) lesson {
	out := learn.Task{Agent: t.Agent, Run: run, Step: t.Node, Text: learn.Clip(t.Asked, maxTaskText), OK: t.Ending == tasks.Accepted, Attempts: t.Attempts,
		Output: learn.Outline(t.Output), Rule: t.Rule, Trust: entry.ByRule, At: t.At.Go()}
	if e := t.Problem; e != nil {
		out.Problem = &learn.Problem{Kind: string(e.Kind), Reason: string(e.Reason), Message: learn.Clip(e.Message, maxTaskText),
			ExitCode: e.ExitCode, Gate: e.Gate, Status: e.Status, Stdout: ending(t.Stdout), Stderr: ending(t.Stderr)}
	}
	switch {
	case t.GivenUp:
		out.Part = "given up by " + t.Agent
	case t.Ending == tasks.Open || t.Ending == tasks.Unproven:
		out.Attempts-- // the last one did not fail
	case t.Ending == tasks.Refused:
		out.Part, out.Attempts = "refused", 1
		out.Problem.Message = saidOf(t.Heard, out.Problem.Message)
	}
	return lesson{run: run, task: out, believed: t.Believed, ending: t.Ending, said: t.Learned, use: t.Memory}
}

// saidOf is what those said who were asked about a round.
func saidOf(list []tasks.Heard, otherwise string) string {
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

// ending is the end of a stream, which says what went wrong.
func ending(s string) string {
	if len(s) <= maxTaskStream {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxTaskStream:], "")
}

// write writes a task's learning, and what its agent said that it learned.
func write(ctx context.Context, m *memory.Memory, x *lesson) error {
	ids, err := x.outcome(ctx, m)
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
		if err := add(ctx, m, e); err != nil {
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

// outcome writes what a task came to, where that teaches something. Of one that may be refused yet it is at once what had gone wrong
// in it, for the steps behind; that stands, whatever becomes of it. What an agent says that the file does not trust stays in its
// run, until it is promoted; others learn what flowrun knows of it and what the file says. It gives the ids of what stays.
func (x *lesson) outcome(ctx context.Context, m *memory.Memory) (stays []string, err error) {
	t := x.task
	if x.ending != tasks.Failed && t.Problem == nil {
		return nil, nil
	}
	if x.believed {
		return nil, add(ctx, m, learn.FromTask(t))
	}
	if err := add(ctx, m, learn.Facts(t)); err != nil {
		return nil, err
	}
	t.Trust = entry.Untrusted
	e := learn.FromTask(t)
	return []string{e.ID}, add(ctx, m, e)
}

// add writes an entry; what stands under its id already, stands.
func add(ctx context.Context, m *memory.Memory, e entry.Entry) error {
	_, err := m.Add(ctx, e)
	if errors.Is(err, memory.ErrExists) {
		return nil
	}
	return err
}
