package learning

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/learn"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/tasks"
)

// Of work that was refused no praise is kept, whoever spoke it; of what an untrusted agent said, its run keeps what it did not say of
// a success, and others read what flowrun knows.
func TestWhatALessonLeaves(t *testing.T) {
	said := []event.Learned{{Type: "success", Lesson: "praise"}, {Type: "insight", Lesson: "insight"}}
	failed := &event.Error{Reason: event.ReasonExit, ExitCode: 3, Message: "exit code 3"}
	refused := &event.Error{Reason: event.ReasonRound, Message: "round 1 did not meet its condition: ok"}
	for name, c := range map[string]struct {
		told    []tasks.Task
		trusted bool
		promote bool
		run     string // what the run alone keeps
		agent   string // what the agent reads in others
	}{
		"plain":                  {told: []tasks.Task{{Ending: tasks.Accepted, Attempts: 1, Output: "great"}}},
		"accepted":               {told: []tasks.Task{{Ending: tasks.Accepted, Learned: said}}, run: "insight, praise"},
		"accepted and trusted":   {told: []tasks.Task{{Ending: tasks.Accepted, Learned: said}}, trusted: true, agent: "insight, praise"},
		"accepted by a rule":     {told: []tasks.Task{{Ending: tasks.Open, Learned: said}, {Ending: tasks.Accepted, Learned: said}}, promote: true, agent: "insight, praise"},
		"open, by a rule":        {told: []tasks.Task{{Ending: tasks.Open, Learned: said}}, promote: true, run: "insight"},
		"refused, trusted":       {told: []tasks.Task{{Ending: tasks.Open, Learned: said}, {Ending: tasks.Refused, Problem: refused, Believed: true, Heard: []tasks.Heard{{Name: "review", Output: map[string]any{"why": "no tests"}}}}}, trusted: true, agent: "The result was refused: review: why = no tests. Make sure of that before handing in., insight"},
		"refused":                {told: []tasks.Task{{Ending: tasks.Refused, Problem: refused, Rule: "round 1", Heard: []tasks.Heard{{Name: "review", Output: "no tests"}}}}, run: "The result was refused: review: no tests. Make sure of that before handing in.", agent: "The result was refused: round 1. Make sure of that before handing in."},
		"failed":                 {told: []tasks.Task{{Ending: tasks.Failed, Attempts: 1, Problem: failed, Stderr: "error: no disk", Learned: said}}, run: "See to this first: error: no disk., insight", agent: "It failed (exit code 3): find out why before trying it the same way."},
		"failed, then open":      {told: []tasks.Task{{Ending: tasks.Open, Attempts: 2, Problem: failed, Stderr: "error: no disk", Believed: true}}, trusted: true, agent: "See to this first: error: no disk."},
		"failed, then unproven":  {told: []tasks.Task{{Ending: tasks.Open, Attempts: 2, Problem: failed, Believed: true}, {Ending: tasks.Unproven, Attempts: 2, Problem: failed, Believed: true}}, trusted: true, agent: "It failed without saying why: find out before trying it the same way."},
		"failed, then accepted":  {told: []tasks.Task{{Ending: tasks.Accepted, Attempts: 2, Problem: failed, Stderr: "error: no disk", Believed: true}}, trusted: true, agent: "It works once this is seen to: error: no disk."},
		"failed, then by a rule": {told: []tasks.Task{{Ending: tasks.Accepted, Attempts: 2, Problem: failed, Stderr: "error: no disk"}}, promote: true, agent: "It works once this is seen to: error: no disk., It works once this is seen to: exit code 3."},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := memory.Open(t.TempDir(), memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for i := range c.told {
				one := c.told[i]
				one.Node, one.Name, one.Agent, one.Asked, one.At = "s", "s", "coder", "Do it.", 7
				one.Memory = event.MemoryUse{Learn: true, Trusted: c.trusted, Promote: c.promote}
				x := newLesson("run1", &one)
				for range 2 { // recorded again after a crash, it is the same
					if err := x.writeTo(context.Background(), m); err != nil {
						t.Fatal(err)
					}
				}
			}
			for scope, want := range map[string]string{"run:run1": c.run, "agent:coder": c.agent} {
				if got := lessonsIn(t, m, scope); got != want {
					t.Errorf("%s has %q, want %q", scope, got, want)
				}
			}
		})
	}
}

// An attempt that succeeded is not counted among those that failed, whatever became of the work.
func TestFailedAttemptsAreCounted(t *testing.T) {
	failed := &event.Error{Reason: event.ReasonExit, ExitCode: 3, Message: "exit code 3"}
	for ending, want := range map[tasks.Ending]string{tasks.Failed: "failed 3 times (exit code 3)", tasks.Open: "failed 2 times (exit code 3)", tasks.Unproven: "failed 2 times (exit code 3)",
		tasks.Accepted: "succeeded on attempt 3"} {
		x := newLesson("r", &tasks.Task{Ending: ending, Attempts: 3, Problem: failed})
		if got := learn.FromTask(x.task).Observation; got != want {
			t.Errorf("%d: %q, want %q", ending, got, want)
		}
	}
}

// lessonsIn lists the lessons of a scope, sorted.
func lessonsIn(t *testing.T, m *memory.Memory, scope string) string {
	t.Helper()
	all, err := m.List(context.Background(), memory.Filter{Viewer: memory.Viewer{All: true}, Everything: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range all {
		if string(i.Scope) == scope {
			out = append(out, i.Lesson)
		}
		if i.Count != 1 {
			t.Errorf("%q is counted %d times", i.Lesson, i.Count)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
