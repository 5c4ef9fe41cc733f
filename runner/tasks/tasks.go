// Package tasks tells of each task of an agent how it ended, from a run's events and what they caused.
//
// It is a fold, as views are: equal journals give equal tasks, so that what is made of one (a learning) can be computed again
// after a crash and is the same. It knows no memory and no engine, reads no clock, and never sees a secret: what reads one
// is not in a command. Enter at [Fold.Apply].
//
// What always holds:
//
//   - A task that failed is told once, at its end, when all of its gates have spoken; one that was cancelled, or taken over from
//     another run, is not told.
//   - A task that succeeded is [Accepted] only when nothing can refuse it any more: each round of a repeat that it belongs to has met
//     its condition, the gates of the groups around it have passed, and where other nodes wait for it, the run has succeeded and
//     none of these has failed. Until then it is [Open].
//   - What may be told outside of the run is told apart from what an agent said: [Task.Believed], [Task.Asked], [Task.Rule].
//
// What is kept is one entry for each task that is under way, that something may refuse, or that has something to teach and is Open.
package tasks

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Ending says how a task came out, as far as that is known.
type Ending uint8

// The endings. A task that was told as Open may be told again as one of those behind.
const (
	Failed   Ending = iota // the agent did not do it
	Open                   // it succeeded, and something may still refuse it
	Accepted               // it succeeded, and nothing can refuse it
	Unproven               // it succeeded, and what it was done for did not
	Refused                // it succeeded, and a gate or the round that it belonged to refused it: Problem says why
)

// Task is a task that has ended.
type Task struct {
	Node  string // the instance's path
	Name  string // of the step
	Agent string // who had it
	// Asked is what was asked, in the words of the file and of who started the run, without what its steps said; "" where it reads a secret.
	Asked string
	// Ending says how it came out, and GivenUp that a failed one went on to another agent.
	Ending   Ending
	GivenUp  bool
	Attempts int // of this agent
	// Problem is what went wrong in the last attempt or, where the task succeeded, in the one before, and nil where nothing did;
	// of a task that was refused it is what was said of it. Rule is the part of it that is the file's: the message of a gate, the
	// condition of a repeat. Believed tells that the file trusts all whose words are in Problem, Stdout, Stderr and Output.
	Problem  *event.Error
	Rule     string
	Believed bool
	// Heard is what those said who were asked about the round that was refused.
	Heard []Heard
	// Stdout and Stderr are of the attempt with the problem. What an agent says in lines of the protocol is not a Stdout: it has been
	// understood, and what it says that it learned goes its own way.
	Stdout, Stderr string
	Output         value.Value
	// Learned is what the agent said that it learned, in the attempt that ended the task.
	Learned []event.Learned
	Memory  event.MemoryUse
	At      event.Time
}

// Heard is what a step said that the condition of a repeat asks.
type Heard struct {
	Name    string
	Output  value.Value
	Problem *event.Error // nil where it succeeded
	Stderr  string
}

// Fold is the state of one run.
type Fold struct {
	program *Program
	flow    *flow
	first   *event.RunStarted
	above   callers

	live   map[string]*live
	open   []*open            // in the order in which they ended
	within map[string][]*open // by the path of the repeat or group that may refuse them
	rounds map[string]*round  // of repeats, by their paths
	failed map[spot]bool      // nodes that failed, by what they lie in
	full   int                // when open is to be swept
}

// NewFold begins a run of a program. Without a program nothing is accepted, and all that was asked is taken for what a step said.
func NewFold(p *Program) *Fold { return &Fold{program: p} }

type live struct {
	Task
	plain bool // its output is plain text
	first int  // the number of this agent's first attempt
	last  int
}

// Apply takes in events and what they caused, in the order in which they became durable, and gives what there is to tell of tasks
// now. Ended tells that the run has.
func (f *Fold) Apply(events []event.Event, r *event.Reaction) (told []Task, ended bool) {
	for i := range events {
		if first := events[i].RunStarted; first != nil {
			f.first = first
		}
		if a := events[i].AttemptFinished; a != nil && a.Gate == "" && !a.Compensate {
			if t := f.live[a.Node]; t != nil {
				t.Learned = a.Learned
			}
		}
	}
	for i := range r.Transitions {
		t := &r.Transitions[i]
		if t.Node == "" {
			if t.To.Terminal() {
				ended = true
				told = f.close(told, t.To == event.Succeeded)
			}
			continue
		}
		if t.Gate != nil || t.Note != "" {
			continue
		}
		told = f.newRound(told, t.Node)
		if t.Result != nil {
			told = f.result(told, t)
		}
	}
	for i := range r.Commands {
		if a := r.Commands[i].Start; a != nil && a.Agent != nil && a.Agent.Memory != nil {
			f.start()
			told = f.begin(told, a)
		}
	}
	return told, ended
}

// start reads the workflow, when the first agent with a memory has a task.
func (f *Fold) start() {
	if f.program == nil || f.first == nil || f.flow != nil {
		return
	}
	f.flow = f.program.flow(f.first.Workflow)
	if f.first.Parent != "" {
		f.above = f.program.above(f.first.Workflow)
	}
}

// begin notes an attempt. What went wrong in the agent's one before stays known; of another agent's it is told.
func (f *Fold) begin(told []Task, a *event.Attempt) []Task {
	t := f.live[a.Node]
	if t != nil && t.Agent != a.Agent.Name {
		given := t.Task
		given.GivenUp, given.Attempts = true, t.last-t.first+1
		told = append(told, given)
		t = nil
	}
	if t == nil {
		if f.live == nil {
			f.live = map[string]*live{}
		}
		t = &live{Task: Task{Node: a.Node, Name: a.Name, Agent: a.Agent.Name}, first: a.Attempt}
		f.live[a.Node] = t
	}
	t.last, t.Memory, t.Learned = a.Attempt, *a.Agent.Memory, nil
	t.Asked, t.Believed = "", t.Memory.Trusted
	if n := f.number(a.Name); n >= 0 {
		t.Asked = f.flow.asked(n, a.Agent.Task, f.first, f.above.said)
	}
	t.plain = a.Agent.OutputFormat == "text"
	return told
}

// number is that of a node in the workflow, or less than 0.
func (f *Fold) number(name string) int {
	if f.flow == nil {
		return -1
	}
	return f.flow.Number(name)
}

// result takes in the end of an attempt or of a node.
func (f *Fold) result(told []Task, t *event.Transition) []Task {
	task := f.live[t.Node]
	if r := t.Result; task != nil && r.Error != nil {
		r = r.Shown()
		if task.Problem, task.Stdout, task.Stderr = r.Error, r.Stdout, r.Stderr; !task.plain {
			task.Stdout = ""
		}
		task.At = t.At
		if n := f.number(t.Name); n >= 0 {
			task.Rule = f.flow.rule(n, r.Error.Gate, f.first, f.above.said)
		}
	}
	if !t.To.Terminal() {
		return told
	}
	delete(f.live, t.Node)
	f.heard(t)
	if task != nil && !t.Result.Reused && !t.Result.Set {
		task.Attempts, task.Output, task.At = t.Result.Attempts-task.first+1, t.Result.Shown().Output, t.At
		switch t.To {
		case event.FailedS:
			told = append(told, task.Task)
		case event.Succeeded:
			told = f.succeeded(told, &task.Task)
		}
	}
	return f.passed(told, t)
}
