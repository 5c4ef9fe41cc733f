package view

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// Story is all that a journal tells of one node. Make it with [Run.Story] before the run's batches are applied.
type Story struct {
	run *Run
	// Path is the instance's path.
	Path string
	// Tries are the node's attempts and those of its gates and its compensation, in the order in which they ended, MaxTries
	// at most: Left counts the first ones, which are left out then.
	Tries []Try
	Left  int
	// Gates are the verdicts of all attempts, in the order in which they were given, MaxTries at most.
	Gates []Verdict
	asked asked
}

// MaxTries bounds what a story keeps of attempts, and of verdicts.
const MaxTries = 200

// Try is one attempt as it ended. Ended is the time of the event that said so. Dropped tells that it came late or twice. One that has
// not answered has Begun in place of all that.
type Try struct {
	Answer  *event.AttemptFinished
	Ended   event.Time
	Dropped bool
	Begun   *Begun
	Request *RequestDoc // nil: the journal does not say what it was asked to do
	seq     uint64      // of the event
}

// Verdict is a gate's word on an attempt.
type Verdict struct {
	Attempt int
	event.Verdict
}

// Awaited is a node that another waits for. Status is "" where it is not there: its group has not begun.
type Awaited struct {
	Name   string
	Path   string
	Status event.Status
}

// Story begins the story of a node.
func (r *Run) Story(path string) *Story { return &Story{run: r, Path: path} }

// Apply takes in one event with what it caused.
func (s *Story) Apply(ev event.Event, caused *event.Reaction) {
	if f := ev.AttemptFinished; f != nil && f.Node == s.Path {
		if f.Session != "" {
			s.asked.enter(f.Ticket, f.Session)
		}
		s.Tries = append(s.Tries, Try{Answer: f, Ended: ev.At, Dropped: len(caused.Commands)+len(caused.Transitions) == 0, Request: s.asked[f.Ticket], seq: ev.Seq})
		if len(s.Tries) > MaxTries {
			s.Tries = slices.Delete(s.Tries, 0, 1)
			s.Left++
		}
	}
	if x := ev.External; x != nil && x.Kind == event.ExternalSession && x.Node == s.Path {
		s.asked.enter(event.SessionOf(x))
	}
	for i := range caused.Commands {
		if c := caused.Commands[i].Start; c != nil && c.Node == s.Path {
			if s.asked == nil {
				s.asked = asked{}
			}
			s.asked.note(c)
		}
	}
	for i := range caused.Transitions {
		if t := &caused.Transitions[i]; t.Gate != nil && t.Node == s.Path {
			s.Gates = append(s.Gates, Verdict{t.Attempt, *t.Gate})
			if len(s.Gates) > MaxTries {
				s.Gates = slices.Delete(s.Gates, 0, 1)
			}
		}
	}
}

// With returns the story with the node's attempts that have not answered; s stays as it is. begun are those of the run.
func (s *Story) With(begun []*Begun) *Story {
	told := *s
	s = &told
	s.Tries = slices.Clone(s.Tries)
	for _, b := range begun {
		if b.Node != s.Path {
			continue
		}
		at := len(s.Tries)
		for b.NextDriver != 0 && at > 0 && s.Tries[at-1].seq > b.NextDriver {
			at--
		}
		s.Tries = slices.Insert(s.Tries, at, Try{Begun: b, Request: s.asked[b.Ticket], seq: b.NextDriver})
	}
	return s
}

// Node is the node as it stands.
func (s *Story) Node() *Node { return s.run.byPath[s.Path] }

// Awaits lists what the node waits or waited for, with where that stands.
func (s *Story) Awaits() (list []Awaited) {
	n := s.Node()
	d := s.run.declared[n.Name]
	if d == nil || strings.HasSuffix(n.Path, "]") || n.Iteration() > 0 {
		return nil
	}
	for _, name := range s.run.awaited(n, d) {
		a := Awaited{Name: name}
		if o := s.run.nearest(n, name); o != nil {
			a.Path, a.Status = o.Path, o.Status
		}
		list = append(list, a)
	}
	return list
}

// Dependents names what waits for the node, sorted.
func (s *Story) Dependents() (names []string) {
	n := s.Node()
	for name, d := range s.run.declared { // any order: sorted below
		if slices.Contains(d.Needs, n.Name) || slices.Contains(d.Observes, n.Name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if next := s.run.follower(n); next != "" && !slices.Contains(names, next) {
		names = append(names, next)
	}
	return names
}

// follower is the sibling behind a node of a sequence, or "".
func (r *Run) follower(n *Node) string {
	if n.Parent == nil {
		return ""
	}
	group := r.declared[n.Parent.Name]
	if group == nil || group.Kind != ir.Sequence {
		return ""
	}
	for i := 0; i+1 < len(group.Children); i++ {
		if group.Children[i].Name == n.Name {
			return group.Children[i+1].Name
		}
	}
	return ""
}

// nearest is the node of a name that n can mean: of those that are not instances or iterations by themselves, the one with which it
// shares most of its path.
func (r *Run) nearest(n *Node, name string) (found *Node) {
	most := -1
	for _, o := range r.Named(name) {
		shared := 0
		for up := o; up != nil; up = up.Parent {
			if n.Path == up.Path || strings.HasPrefix(n.Path, up.Path+"/") || strings.HasPrefix(n.Path, up.Path+"[") {
				shared = max(shared, len(up.Path))
			}
		}
		if shared > most {
			found, most = o, shared
		}
	}
	return found
}

// Named lists the nodes of a declared name that are not instances or iterations of another one, in order.
func (r *Run) Named(name string) (list []*Node) {
	r.Each(func(n *Node, _ int) {
		if n.Name == name && !strings.HasSuffix(n.Path, "]") && n.Iteration() == 0 {
			list = append(list, n)
		}
	})
	return list
}
