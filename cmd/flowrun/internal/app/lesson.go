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
	out := learn.Task{Agent: t.Agent, Run: run, Step: t.Node, Text: learn.Clip(t.Text, maxTaskText), OK: t.OK, Attempts: t.Attempts, Output: learn.Outline(t.Output), Trust: entry.ByRule, At: t.At.Go()}
	if e := t.Problem; e != nil {
		out.Problem = &learn.Problem{Kind: e.Kind, Reason: e.Reason, Message: learn.Clip(e.Message, maxTaskText),
			ExitCode: e.ExitCode, Gate: e.Gate, Status: e.Status, Stdout: ending(t.Stdout), Stderr: ending(t.Stderr)}
	}
	return lesson{run: run, task: out, said: t.Learned, use: t.Memory}
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
	if err := add(ctx, m, learn.FromTask(x.task)); err != nil {
		return err
	}
	said := x.task
	if said.Trust = entry.Untrusted; x.use.Trusted {
		said.Trust = entry.ByAgent
	}
	var ids []string
	for n, s := range x.said {
		e := said.Said(n, entry.Entry{Type: entry.Type(s.Type), Text: s.Text, Lesson: s.Lesson, Context: s.Context, Observation: s.Observation, Tags: s.Tags,
			Importance: s.Importance})
		if err := add(ctx, m, e); err != nil {
			return err
		}
		ids = append(ids, e.ID)
	}
	if len(ids) == 0 || !x.use.Promote || x.use.Trusted || !x.task.OK {
		return nil
	}
	err := m.Promote(ctx, ids, entry.OfAgent(x.task.Agent), entry.Source{Run: x.run, Step: x.task.Step, Source: "promote", Author: "flowrun", Trust: entry.ByRule})
	if errors.Is(err, memory.ErrNoEntry) {
		return nil // it was a repeat, or has been forgotten
	}
	return err
}

// add writes an entry; what stands under its id already, stands.
func add(ctx context.Context, m *memory.Memory, e entry.Entry) error {
	_, err := m.Add(ctx, e)
	if errors.Is(err, memory.ErrExists) {
		return nil
	}
	return err
}
