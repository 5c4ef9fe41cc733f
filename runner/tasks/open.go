package tasks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// open is a task that succeeded, and that something may still refuse.
type open struct {
	Task
	node   int
	places []place
	told   bool // how it came out has been told
	left   int  // repeats and groups around it that have not accepted it
	waits  bool // nodes wait for it, or a caller does
}

// round is where a repeat stands, and what those said who are asked about its last iteration.
type round struct {
	number int
	heard  []Heard
	by     bool // the file trusts all of them who are agents
}

// spot is a node, in what it lies in.
type spot struct {
	in   string
	node int
}

// succeeded tells of a task that nothing can refuse, and keeps another.
func (f *Fold) succeeded(told []Task, t *Task) []Task {
	n := f.number(t.Name)
	if n < 0 {
		t.Ending = Unproven
		return append(told, *t)
	}
	o := &open{Task: *t, node: n, places: places(f.flow.Graph, t.Node), waits: f.above.judge || f.flow.awaited(n)}
	for _, p := range o.places {
		if f.flow.judgesBelow(p.node) {
			if f.within == nil {
				f.within = map[string][]*open{}
			}
			f.within[p.instance] = append(f.within[p.instance], o)
			o.left++
		}
	}
	if o.left == 0 && (!o.waits || !o.teaches()) {
		return o.come(told, Accepted)
	}
	f.open = append(f.open, o)
	if o.teaches() {
		t.Ending = Open
		told = append(told, *t)
	}
	return told
}

// teaches tells that a success has something to teach: a plain one has not.
func (o *open) teaches() bool { return o.Problem != nil || len(o.Learned) > 0 }

// come tells how an open task came out, where it has something to teach.
func (o *open) come(told []Task, to Ending) []Task {
	if o.told {
		return told
	}
	o.told = true
	if o.Ending = to; to == Accepted && o.teaches() || o.Problem != nil {
		told = append(told, o.Task)
	}
	return told
}

// refuse tells of an open task that it was refused, and before that what had gone wrong in it.
func (o *open) refuse(told []Task, why *event.Error, rule string, heard []Heard, believed bool) []Task {
	if o.told {
		return told
	}
	told = o.come(told, Unproven)
	t := o.Task
	t.Ending, t.Problem, t.Rule, t.Heard, t.Believed = Refused, why, rule, heard, believed && t.Memory.Trusted
	t.Stdout, t.Stderr, t.Output, t.Learned = "", "", nil, nil
	return append(told, t)
}

// newRound refuses what belongs to the rounds of a repeat before the one that a path lies in.
func (f *Fold) newRound(told []Task, path string) []Task {
	if f.flow == nil || !f.flow.judged || !strings.Contains(path, "/i") {
		return told
	}
	for _, p := range places(f.flow.Graph, path) {
		if of := f.flow.Nodes[p.node].Repeat; p.iteration == 0 || of == nil || !f.flow.judgesBelow(p.node) {
			continue
		}
		r := f.rounds[p.instance]
		if r == nil {
			if f.rounds == nil {
				f.rounds = map[string]*round{}
			}
			r = &round{number: p.iteration, by: true}
			f.rounds[p.instance] = r
		}
		if p.iteration > r.number {
			told = f.refuseRound(told, &p, r)
			*r = round{number: p.iteration, by: true}
		}
	}
	return told
}

// refuseRound refuses what belongs to the last round of a repeat: those whose work the condition judges learn what was said of it.
func (f *Fold) refuseRound(told []Task, p *place, r *round) []Task {
	rule := fmt.Sprintf("a gate refused round %d", r.number)
	if until := f.flow.Nodes[p.node].Repeat.Until; until != nil {
		rule = fmt.Sprintf("round %d did not meet its condition: %s", r.number, until.Text)
	}
	why := &event.Error{Kind: event.Recoverable, Reason: event.ReasonRound, Message: rule, ExitCode: -1}
	for _, o := range f.within[p.instance] {
		if f.flow.reviews(o.node, p.node) || o.in(p) != r.number {
			told = o.come(told, Unproven)
		} else {
			told = o.refuse(told, why, rule, r.heard, r.by)
		}
	}
	delete(f.within, p.instance)
	f.sweep()
	return told
}

// in is the iteration of a repeat that a task belongs to.
func (o *open) in(p *place) int {
	for i := range o.places {
		if o.places[i].instance == p.instance {
			return o.places[i].iteration
		}
	}
	return 0
}

// passed takes in that a node has ended: a repeat or a group that judged what lies in it, or one whose failure speaks against the
// work that it waited for.
func (f *Fold) passed(told []Task, t *event.Transition) []Task {
	if f.flow == nil || len(f.open) == 0 && t.To != event.FailedS {
		return told
	}
	all := places(f.flow.Graph, t.Node)
	if len(all) == 0 {
		return told
	}
	p := &all[len(all)-1]
	if t.To == event.FailedS {
		f.note(all)
	}
	list := f.within[t.Node]
	if e := t.Result.Error; e != nil && e.Reason == event.ReasonGate && e.Node == t.Node && f.flow.judgesBelow(p.node) && t.To == event.FailedS {
		for _, o := range f.within[p.instance] {
			if p.iteration == 0 || o.in(p) == p.iteration {
				told = o.refuse(told, e, f.flow.rule(p.node, e.Gate, f.first, f.above.said), nil, true)
			}
		}
		f.sweep()
	}
	if len(list) == 0 || t.Node != p.instance || p.iteration > 0 {
		return told
	}
	if r := f.rounds[p.instance]; r != nil && t.To != event.Succeeded {
		if e := t.Result.Error; e != nil && e.Reason == event.ReasonLimit && e.Node == t.Node {
			told = f.refuseRound(told, p, r)
		}
		for _, o := range f.within[p.instance] {
			told = o.come(told, Unproven)
		}
	}
	delete(f.rounds, p.instance)
	for _, o := range f.within[p.instance] {
		if o.left--; o.left == 0 && (!o.waits || !o.teaches()) {
			told = o.come(told, Accepted)
		}
	}
	delete(f.within, p.instance)
	f.sweep()
	return told
}

// note keeps that a node failed, with all that it lies in as far as the iteration: how that came out, its repeat tells.
func (f *Fold) note(all []place) {
	if f.failed == nil {
		f.failed = map[spot]bool{}
	}
	node := all[len(all)-1].node
	for _, p := range slices.Backward(all) {
		if f.failed[spot{p.inner(), node}] = true; p.iteration > 0 {
			return
		}
	}
	f.failed[spot{"", node}] = true
}

// inner is the path of the iteration, or of the instance.
func (p *place) inner() string {
	if p.iteration > 0 {
		return fmt.Sprintf("%s/i%d", p.instance, p.iteration)
	}
	return p.instance
}

// spoiled tells that a node failed that waited for a task.
func (f *Fold) spoiled(o *open) bool {
	for n := range f.flow.after(o.node) { // any order: it looks for one
		in := ""
		for i := range o.places {
			if p := &o.places[i]; p.node != o.node && f.flow.within(n, p.node) {
				in = p.inner()
			}
		}
		if f.failed[spot{in, n}] {
			return true
		}
	}
	return false
}

// close tells how the rest came out when the run has ended.
func (f *Fold) close(told []Task, succeeded bool) []Task {
	for _, o := range f.open {
		if succeeded && o.left == 0 && !f.above.judge && !(len(f.failed) > 0 && f.spoiled(o)) {
			told = o.come(told, Accepted)
		} else {
			told = o.come(told, Unproven)
		}
	}
	f.open, f.within, f.rounds, f.failed = nil, nil, nil, nil
	return told
}

// sweep forgets what has been told, each time that there is twice as much as was left.
func (f *Fold) sweep() {
	if len(f.open) >= f.full {
		f.open = slices.DeleteFunc(f.open, func(o *open) bool { return o.told })
		f.full = 2*len(f.open) + 16
	}
}

// maxHeard is how many of those are heard who are asked about a round.
const maxHeard = 8

// heard keeps what a node said that a repeat around it asks.
func (f *Fold) heard(t *event.Transition) {
	if len(f.rounds) == 0 || t.To != event.Succeeded && t.To != event.FailedS {
		return
	}
	all := places(f.flow.Graph, t.Node)
	if len(all) == 0 {
		return
	}
	own := all[len(all)-1]
	n := &f.flow.Nodes[own.node]
	if _, computed := n.Action.(*ir.Value); len(n.Below) > 0 || computed || n.ForEach != nil && own.whole == own.instance || n.Repeat != nil && own.iteration == 0 {
		return // its parts speak for themselves
	}
	for _, p := range all {
		r := f.rounds[p.instance]
		if r == nil || p.node == own.node || !f.flow.judgesOf(p.node)[own.node] {
			continue
		}
		if len(r.heard) < maxHeard {
			res := t.Result.Shown()
			r.heard = append(r.heard, Heard{Name: n.Name, Output: res.Output, Problem: res.Error, Stderr: res.Stderr})
		}
		if n.Own != nil {
			r.by = r.by && f.trusted(t.Result.Agent)
		}
	}
}

// trusted tells whether the file trusts an agent.
func (f *Fold) trusted(agent string) bool {
	for i := range f.program.Agents {
		if g := &f.program.Agents[i]; g.Name == agent {
			return g.Memory != nil && g.Memory.Trusted
		}
	}
	return false
}
