// Package tasks tells of each task of an agent how it ended, from a run's events and what they caused.
//
// It is a fold, as views are: equal journals give equal tasks, so that what is made of one (a learning) can be made again
// after a crash and is the same. It knows no memory and no engine, reads no clock, and never sees a secret: what reads one
// is not in a command. Enter at [Fold.Apply].
//
// What always holds: a task is told once, after its last attempt, when all of its gates have spoken; one that was cancelled,
// or taken over from another run, is not told. What is kept is one entry for each task that is under way.
package tasks

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Task is a task that has ended for good.
type Task struct {
	Node     string // the instance's path
	Name     string // of the step
	Agent    string // who had it last
	Text     string // what was asked; "" where that reads a secret
	OK       bool
	Attempts int
	// Problem is what went wrong in the last attempt or, where the task succeeded, in the one before; nil where nothing did.
	Problem *event.Error
	// Stdout and Stderr are of the attempt with the problem. What an agent says in lines of the protocol is no Stdout: it has been
	// understood, and what it says that it learned goes its own way.
	Stdout, Stderr string
	Output         value.Value
	// Learned is what the agent said that it learned, in the attempt that ended the task.
	Learned []event.Learned
	Memory  event.MemoryUse
	At      event.Time
}

// Fold is the state of one run. The zero value is ready.
type Fold struct {
	live map[string]*live
}

type live struct {
	Task
	plain bool // its output is plain text
}

// Apply takes in events and what they caused, in the order in which they became durable, and gives the tasks that ended with
// them. Ended tells that the run has.
func (f *Fold) Apply(events []event.Event, r *event.Reaction) (done []Task, ended bool) {
	for i := range events {
		if a := events[i].AttemptFinished; a != nil && a.Gate == "" && !a.Compensate {
			if t := f.live[a.Node]; t != nil {
				t.Learned = a.Learned
			}
		}
	}
	for i := range r.Transitions {
		t := &r.Transitions[i]
		switch {
		case t.Node == "":
			ended = ended || t.To.Terminal()
		case t.Result != nil && t.Gate == nil && t.Note == "" && f.live[t.Node] != nil:
			if task := f.told(t); task != nil {
				done = append(done, *task)
			}
		}
	}
	for i := range r.Commands {
		if a := r.Commands[i].Start; a != nil && a.Agent != nil && a.Agent.Memory != nil {
			f.begin(a)
		}
	}
	return done, ended
}

// begin notes an attempt. What went wrong in the one before stays known.
func (f *Fold) begin(a *event.Attempt) {
	t := f.live[a.Node]
	if t == nil {
		if f.live == nil {
			f.live = map[string]*live{}
		}
		t = &live{Task: Task{Node: a.Node, Name: a.Name}}
		f.live[a.Node] = t
	}
	t.Agent, t.Text, t.Memory, t.Learned = a.Agent.Name, a.Agent.Task, *a.Agent.Memory, nil
	t.plain = a.Agent.OutputFormat == "text"
}

// told takes in the end of an attempt or of the task, and gives the task if it has ended by itself.
func (f *Fold) told(t *event.Transition) *Task {
	task := f.live[t.Node]
	if r := t.Result; r.Error != nil {
		if task.Problem, task.Stdout, task.Stderr = r.Error, r.Stdout, r.Stderr; !task.plain {
			task.Stdout = ""
		}
	}
	if !t.To.Terminal() {
		return nil
	}
	delete(f.live, t.Node)
	if t.To != event.Succeeded && t.To != event.FailedS || t.Result.Reused {
		return nil
	}
	task.OK, task.Attempts, task.Output, task.At = t.To == event.Succeeded, t.Result.Attempts, t.Result.Output, t.At
	return &task.Task
}
