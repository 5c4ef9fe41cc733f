package replay

import (
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// State is what is compared of a node, or of a run.
type State struct {
	Status   event.Status `json:"status"`
	Attempts int          `json:"attempts,omitempty"`
	ExitCode *int         `json:"exit_code,omitempty"`
	Output   view.Data    `json:"output"`
	Error    *event.Error `json:"error,omitempty"`
	// Tolerated tells that the failure does not count.
	Tolerated bool `json:"tolerated,omitempty"`
	// Reason says why, in words. It is not compared.
	Reason string `json:"reason,omitempty"`
}

// Difference is a node that would have come to something else. Was or Is is nil where it is not there; Node is "" for the run.
type Difference struct {
	Node string `json:"node"`
	Was  *State `json:"was"`
	Is   *State `json:"is"`
	// Open tells that it is not known what it would have come to: it waits for what the journal does not have.
	Open bool `json:"open,omitempty"`
}

// Compare lists the nodes that differ between two views of a run, the run itself first, then in the order of the second view; what
// only the first one has comes last.
func Compare(was *view.Run, out *Outcome) []Difference {
	is := out.View
	var list []Difference
	add := func(node string, a, b *State) {
		if !same(a, b) {
			open := b != nil && !b.Status.Terminal() && !out.Ended && len(out.New) > 0
			list = append(list, Difference{Node: node, Was: a, Is: b, Open: open})
		}
	}
	add("", runState(was), runState(is))
	is.Each(func(n *view.Node, _ int) { add(n.Path, stateOf(was, n.Path), stateOf(is, n.Path)) })
	was.Each(func(n *view.Node, _ int) {
		if is.Node(n.Path) == nil {
			add(n.Path, stateOf(was, n.Path), nil)
		}
	})
	return list
}

func runState(r *view.Run) *State {
	s := &State{Status: r.Status, Error: r.Error, Reason: r.Reason}
	if r.Outputs != nil {
		s.Output = view.Outputs(r.Outputs)
	}
	return s
}

func stateOf(r *view.Run, path string) *State {
	n := r.Node(path)
	if n == nil {
		return nil
	}
	s := &State{Status: n.Status, Attempts: n.Attempt, Reason: r.Why(n)}
	if res := n.Result; res != nil {
		s.Error, s.Tolerated = res.Error, res.Tolerated
		if n.Status.Terminal() {
			s.Output = view.Data{Value: res.Shown().Output}
		}
		if res.ExitCode >= 0 {
			code := res.ExitCode
			s.ExitCode = &code
		}
	}
	return s
}

func same(a, b *State) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status && a.Attempts == b.Attempts && value.Equal(a.Output.Value, b.Output.Value) && number(a.ExitCode) == number(b.ExitCode) &&
		a.Tolerated == b.Tolerated && failure(a.Error) == failure(b.Error)
}

func number(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// failure is what an error is, however it is put.
func failure(e *event.Error) event.Error {
	if e == nil {
		return event.Error{}
	}
	facts := *e
	facts.Message = ""
	return facts
}
