package tasks_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/tasks"
)

// load checks a program.
func load(t *testing.T, src string) *tasks.Program {
	t.Helper()
	p, list := dsl.Load(fstest.MapFS{"w.flow.hcl": {Data: []byte(src)}}, "w.flow.hcl", dsl.Options{})
	if p == nil || p.IR == nil {
		t.Fatalf("%v\n%s", list, src)
	}
	return tasks.NewProgram(p.IR)
}

const fix = `
agent "coder" { type = "null" }
agent "other" { type = "null" }
workflow "w" {
  step "fix" {
    for_each = [1]
    agent    = agent.coder
    fallback = [agent.other]
    task     = "Fix it."
  }
}
`

func start(node string, attempt int, agent string) event.Reaction {
	return event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Node: node, Name: "fix", Attempt: attempt, Argv: []string{agent},
		Agent: &event.AgentRequest{Name: agent, Task: "Fix it.", Memory: &event.MemoryUse{Learn: true}}}}}}
}

func started() []event.Event {
	return []event.Event{{RunStarted: &event.RunStarted{Run: "r", Workflow: "w"}}}
}

func finished(node string, learned ...event.Learned) []event.Event {
	return []event.Event{{AttemptFinished: &event.AttemptFinished{Node: node, Learned: learned}}}
}

func moved(node string, to event.Status, r event.Result) event.Transition {
	return event.Transition{Node: node, Name: "fix", To: to, Result: &r, At: 7}
}

// A task is told once, at its end, with the problem of the attempt before. That one agent gave it up is told of that one.
func TestTaskIsToldOnce(t *testing.T) {
	f := tasks.NewFold(load(t, fix))
	problem := &event.Error{Kind: event.Recoverable, Reason: event.ReasonExit, Message: "exit code 1", ExitCode: 1}
	first, second, third := start("fix[0]", 1, "coder"), start("fix[0]", 2, "other"), start("fix[0]", 3, "other")
	failed := moved("fix[0]", event.Waiting, event.Result{Error: problem, Stdout: `{"type":"result"}`, Stderr: "no such file"})
	second.Transitions, third.Transitions = []event.Transition{failed}, []event.Transition{failed}
	end := event.Reaction{Transitions: []event.Transition{moved("fix[0]", event.Succeeded, event.Result{Attempts: 3, Output: "done"}),
		{Node: "fix[0]", Name: "fix", To: event.Succeeded, Note: event.Warned}, {To: event.Succeeded}}}
	f.Apply(started(), new(event.Reaction))
	if done, _ := f.Apply(nil, &first); done != nil {
		t.Fatalf("told too early: %+v", done)
	}
	gaveUp := event.Learned{Lesson: "It is too much for me."}
	want := tasks.Task{Node: "fix[0]", Name: "fix", Agent: "coder", Asked: "Fix it.", GivenUp: true, Attempts: 1, Problem: problem,
		Stderr: "no such file", Learned: []event.Learned{gaveUp}, Memory: event.MemoryUse{Learn: true}, At: 7}
	done, _ := f.Apply(finished("fix[0]", gaveUp), &second)
	if d := cmp.Diff([]tasks.Task{want}, done); d != "" {
		t.Error(d)
	}
	if done, ended := f.Apply(finished("fix[0]", event.Learned{Lesson: "of the first attempt"}), &third); done != nil || ended {
		t.Fatalf("told too early: %+v", done)
	}
	said := event.Learned{Lesson: "Make the folder first."}
	done, ended := f.Apply(finished("fix[0]", said), &end)
	want.Agent, want.GivenUp, want.Ending, want.Attempts, want.Output, want.Learned = "other", false, tasks.Accepted, 2, "done", []event.Learned{said}
	if d := cmp.Diff([]tasks.Task{want}, done); d != "" || !ended {
		t.Errorf("ended %v: %s", ended, d)
	}
	if done, _ := f.Apply(nil, &end); done != nil {
		t.Errorf("told again: %+v", done)
	}
}

// Plain text is what an agent said; lines of the protocol have been understood.
func TestStdoutOfPlainAgents(t *testing.T) {
	for format, want := range map[string]string{"": "", "text": "no space left"} {
		f := tasks.NewFold(load(t, fix))
		r := start("fix[0]", 1, "coder")
		r.Commands[0].Start.Agent.OutputFormat = format
		f.Apply(started(), &r)
		end := event.Reaction{Transitions: []event.Transition{moved("fix[0]", event.FailedS, event.Result{Error: &event.Error{}, Stdout: "no space left"})}}
		if done, _ := f.Apply(nil, &end); len(done) != 1 || done[0].Stdout != want {
			t.Errorf("%q: %+v", format, done)
		}
	}
}

// What was cancelled, what was taken over from another run, what no agent with a memory did, and what succeeded at once, is nothing
// to tell of.
func TestNoTasks(t *testing.T) {
	f := tasks.NewFold(load(t, fix))
	f.Apply(started(), new(event.Reaction))
	for _, node := range []string{"fix[0]", "fix[1]", "fix[2]"} {
		r := start(node, 1, "coder")
		f.Apply(nil, &r)
	}
	plain := event.Reaction{Commands: []event.Command{{Start: &event.Attempt{Node: "program"}}, {Start: &event.Attempt{Node: "forgetful", Agent: &event.AgentRequest{}}}}}
	f.Apply(nil, &plain)
	end := event.Reaction{Transitions: []event.Transition{moved("fix[0]", event.Cancelled, event.Result{}), moved("fix[1]", event.FailedS, event.Result{Reused: true}),
		moved("fix[2]", event.Succeeded, event.Result{Output: "done"}), moved("program", event.FailedS, event.Result{}), moved("forgetful", event.Succeeded, event.Result{})}}
	if done, ended := f.Apply(nil, &end); done != nil || ended {
		t.Errorf("%+v", done)
	}
}

// A fold that knows no program accepts nothing, and repeats nothing that was asked.
func TestWithoutAProgram(t *testing.T) {
	f := tasks.NewFold(nil)
	r := start("fix", 1, "coder")
	f.Apply(started(), &r)
	end := event.Reaction{Transitions: []event.Transition{moved("fix", event.Succeeded, event.Result{Attempts: 1})}}
	done, _ := f.Apply(finished("fix", event.Learned{Type: "success", Lesson: "all is well"}), &end)
	if len(done) != 1 || done[0].Ending != tasks.Unproven || done[0].Asked != "" {
		t.Errorf("%+v", done)
	}
}
