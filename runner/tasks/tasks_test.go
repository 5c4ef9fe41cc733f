package tasks_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/tasks"
)

func start(node string, attempt int, agent string) event.Reaction {
	return event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Node: node, Name: "fix", Attempt: attempt, Argv: []string{agent},
		Agent: &event.AgentRequest{Name: agent, Task: "Fix it.", Memory: &event.MemoryUse{Learn: true}}}}}}
}

func finished(node string, learned ...event.Learned) []event.Event {
	return []event.Event{{AttemptFinished: &event.AttemptFinished{Node: node, Learned: learned}}}
}

func moved(node string, to event.Status, r event.Result) event.Transition {
	return event.Transition{Node: node, To: to, Result: &r, At: 7}
}

// A task is told once, at its end, by whom it ended, with the problem of the attempt before.
func TestTaskIsToldOnce(t *testing.T) {
	var f tasks.Fold
	problem := &event.Error{Kind: event.Recoverable, Reason: "exit", Message: "exit code 1", ExitCode: 1}
	first, second := start("fix[0]", 1, "coder"), start("fix[0]", 2, "other")
	second.Transitions = []event.Transition{moved("fix[0]", event.Waiting, event.Result{Error: problem, Stdout: `{"type":"result"}`, Stderr: "no such file"})}
	end := event.Reaction{Transitions: []event.Transition{moved("fix[0]", event.Succeeded, event.Result{Attempts: 2, Output: "done"}),
		{Node: "fix[0]", To: event.Succeeded, Note: event.Warned}, {To: event.Succeeded}}}
	for _, r := range []*event.Reaction{&first, &second} {
		if done, ended := f.Apply(finished("fix[0]", event.Learned{Lesson: "of the first attempt"}), r); done != nil || ended {
			t.Fatalf("told too early: %+v", done)
		}
	}
	said := event.Learned{Lesson: "Make the folder first."}
	done, ended := f.Apply(finished("fix[0]", said), &end)
	want := []tasks.Task{{Node: "fix[0]", Name: "fix", Agent: "other", Text: "Fix it.", OK: true, Attempts: 2, Problem: problem,
		Stderr: "no such file", Output: "done", Learned: []event.Learned{said}, Memory: event.MemoryUse{Learn: true}, At: 7}}
	if d := cmp.Diff(want, done); d != "" || !ended {
		t.Errorf("ended %v: %s", ended, d)
	}
	if done, _ := f.Apply(nil, &end); done != nil {
		t.Errorf("told again: %+v", done)
	}
}

// Plain text is what an agent said; lines of the protocol have been understood.
func TestStdoutOfPlainAgents(t *testing.T) {
	for format, want := range map[string]string{"": "", "text": "no space left"} {
		var f tasks.Fold
		r := start("fix", 1, "coder")
		r.Commands[0].Start.Agent.OutputFormat = format
		f.Apply(nil, &r)
		end := event.Reaction{Transitions: []event.Transition{moved("fix", event.FailedS, event.Result{Error: &event.Error{}, Stdout: "no space left"})}}
		if done, _ := f.Apply(nil, &end); len(done) != 1 || done[0].Stdout != want {
			t.Errorf("%q: %+v", format, done)
		}
	}
}

// What was cancelled, what was taken over from another run, and what no agent with a memory did, is no task.
func TestNoTasks(t *testing.T) {
	var f tasks.Fold
	for _, node := range []string{"cut", "reused"} {
		r := start(node, 1, "coder")
		f.Apply(nil, &r)
	}
	plain := event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Node: "program"}}, {Start: &event.Attempt{Node: "forgetful", Agent: &event.AgentRequest{}}}}}
	f.Apply(nil, &plain)
	end := event.Reaction{Transitions: []event.Transition{moved("cut", event.Cancelled, event.Result{}), moved("reused", event.Succeeded, event.Result{Reused: true}),
		moved("program", event.FailedS, event.Result{}), moved("forgetful", event.Succeeded, event.Result{})}}
	if done, ended := f.Apply(nil, &end); done != nil || ended {
		t.Errorf("%+v", done)
	}
}
