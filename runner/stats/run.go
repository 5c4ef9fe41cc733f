package stats

import (
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// Task is one execution of a step by an agent.
type Task struct {
	Node      string // the path
	Name      string // the declared name
	Agent     string // the member, where a pool was asked
	Started   event.Time
	Ended     event.Time
	Status    event.Status // succeeded or failed
	Attempts  int
	Escalated bool
	Usage     event.Usage
}

// Run is the fold of one run. It is not safe for concurrent use.
type Run struct {
	Workflow string
	Version  string // a short form of the definition's hash
	Tasks    []Task // in the order of their ends

	patterns map[string]string // of steps, by their declared names
	live     map[uint64]attempt
	done     []worked
	waiting  map[string]string // the declared names of steps that wait, by path
	began    event.Time        // of the first event
	last     event.Time
	ended    bool

	succeeded bool
	expect    func() (time.Duration, bool) // nil: of this run nobody knows
}

// attempt is one that an agent carries out.
type attempt struct {
	agent, name string
	from        event.Time
}

// worked is a span in which an agent had an attempt.
type worked struct {
	task Task
	span
}

// shortVersion is how many characters of a definition's hash name a version.
const shortVersion = 12

// NewRun makes the fold of a run of a workflow. definition is the hash of the program that it pins.
func NewRun(w *ir.Workflow, definition string) *Run {
	r := &Run{Workflow: w.Name, Version: definition[:min(len(definition), shortVersion)], patterns: map[string]string{}, live: map[uint64]attempt{}, waiting: map[string]string{}}
	r.learnPatterns(w.Nodes, "step", false)
	return r
}

// learnPatterns notes for each step the pattern that the file has in its place, or else the kind of the nearest group around it: of a
// for_each or a repeat, that word. made reports whether
// the nodes are those that a pattern is made of.
func (r *Run) learnPatterns(nodes []ir.Node, around string, made bool) {
	for i := range nodes {
		n := &nodes[i]
		pattern := around
		switch {
		case n.Pattern != "":
			pattern = n.Pattern
		case made:
		case n.Repeat != nil:
			pattern = "repeat"
		case n.ForEach != nil:
			pattern = "for_each"
		case n.Kind != ir.Step:
			pattern = string(n.Kind)
		}
		r.patterns[n.Name] = pattern
		r.learnPatterns(n.Children, pattern, made || n.Pattern != "")
	}
}

// Apply takes in one batch of events with what they caused.
func (r *Run) Apply(events []event.Event, reaction *event.Reaction) {
	for i := range events {
		r.takeEvent(&events[i])
	}
	for i := range reaction.Commands {
		if c := reaction.Commands[i].Start; c != nil && c.Agent != nil {
			r.live[c.Ticket] = attempt{c.Agent.Name, c.Name, r.last}
		}
	}
	for i := range reaction.Transitions {
		r.takeTransition(&reaction.Transitions[i])
	}
}

func (r *Run) takeEvent(ev *event.Event) {
	switch {
	case ev.AttemptFinished != nil:
		f := ev.AttemptFinished
		if a, known := r.live[f.Ticket]; known {
			if delete(r.live, f.Ticket); f.StartedAt != 0 {
				a.from = f.StartedAt
			}
			if f.Outcome != event.Refused {
				r.note(a, ev.At)
			}
		}
	case ev.DriverChanged != nil: // what its attempts did before is known up to the last event
		for _, ticket := range slices.Sorted(maps.Keys(r.live)) {
			r.note(r.live[ticket], r.last)
		}
		clear(r.live)
	}
	if r.began == 0 {
		r.began = ev.At
	}
	r.last = ev.At
}

func (r *Run) note(a attempt, to event.Time) {
	if a.from < to {
		r.done = append(r.done, worked{Task{Agent: a.agent, Name: a.name}, span{a.from, to}})
	}
}

func (r *Run) takeTransition(t *event.Transition) {
	if t.Node == "" {
		r.ended = r.ended || t.To.Terminal()
		r.succeeded = r.succeeded || t.To == event.Succeeded
		return
	}
	if t.From == t.To {
		return
	}
	if delete(r.waiting, t.Node); t.To == event.Waiting && t.Kind == string(ir.Step) {
		r.waiting[t.Node] = t.Name
	}
	res := t.Result
	if t.Kind != string(ir.Step) || res == nil || res.Agent == "" || res.Reused || t.To != event.Succeeded && t.To != event.FailedS {
		return
	}
	task := Task{Node: t.Node, Name: t.Name, Agent: res.Agent, Started: res.StartedAt, Ended: res.FinishedAt, Status: t.To, Attempts: res.Attempts, Escalated: res.Escalated != ""}
	if res.Usage != nil {
		task.Usage = *res.Usage
	}
	r.Tasks = append(r.Tasks, task)
}

// member is what a task belongs to. "" is not a member: the run belongs to nothing where tasks are set apart.
func (r *Run) member(by Group, t Task) string {
	switch by {
	case ByWorkflow:
		return r.Workflow
	case ByVersion:
		return r.Workflow + " " + r.Version
	case ByAgent:
		return t.Agent
	case ByPattern:
		return r.patterns[t.Name]
	}
	return ""
}

// work is what agents did, with what they do now as if it ended at until.
func (r *Run) work(until event.Time) []worked {
	list := slices.Clone(r.done)
	for _, a := range r.working() {
		list = append(list, worked{Task{Agent: a.agent, Name: a.name}, span{a.from, until}})
	}
	return list
}

// working are the attempts that agents carry out now, in the order of their starts.
func (r *Run) working() (list []attempt) {
	if r.ended {
		return nil
	}
	for _, ticket := range slices.Sorted(maps.Keys(r.live)) {
		list = append(list, r.live[ticket])
	}
	return list
}

// queue has the declared name of each step that waits, in the order of the paths.
func (r *Run) queue() (names []string) {
	if r.ended {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(r.waiting)) {
		names = append(names, r.waiting[path])
	}
	return names
}
