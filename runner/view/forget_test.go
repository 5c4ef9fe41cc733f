package view

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
)

// repeated shows n iterations of a repeat in a view that forgets.
func repeated(w *ir.Workflow, n int) *Run {
	r := New(w)
	r.Forget()
	for i := 1; i <= n; i++ {
		path := fmt.Sprintf("poll/i%d", i)
		r.Apply(nil, &event.Reaction{Transitions: []event.Transition{
			{Node: path, Name: "poll", Kind: "step", To: event.Running}, {Node: path, Name: "poll", Kind: "step", To: event.Succeeded}}})
	}
	return r
}

func TestForgetsIterations(t *testing.T) {
	poll := ir.Node{Name: "poll", Kind: ir.Step, Repeat: &ir.Repeat{}}
	r := repeated(&ir.Workflow{Name: "w", Nodes: []ir.Node{poll}}, 1000)
	if r.Size() != 1+KeptIterations || r.Node("poll/i998") != nil || r.Node("poll/i999") == nil {
		t.Errorf("%d nodes are kept", r.Size())
	}
	if r.Leaves[event.Succeeded] != 1000 || r.Leaves[event.Pending] != 0 {
		t.Errorf("the leaves are %v", r.Leaves)
	}
	if n := r.Node("poll"); len(n.Children) != KeptIterations || n.Children[1].Iteration() != 1000 {
		t.Errorf("below the repeat are %v", n.Children)
	}
}

func TestForgetsNothingThatComesBack(t *testing.T) {
	undone := ir.Node{Name: "poll", Kind: ir.Step, Repeat: &ir.Repeat{}, Compensate: &ir.Compensate{}}
	for _, w := range []*ir.Workflow{nil, {Nodes: []ir.Node{undone}}} {
		if r := repeated(w, 10); r.Size() != 11 {
			t.Errorf("%d nodes of 11 are kept", r.Size())
		}
	}
}

// TestForgetsWhatLiesBelow has a group that is repeated.
func TestForgetsWhatLiesBelow(t *testing.T) {
	w := &ir.Workflow{Nodes: []ir.Node{{Name: "g", Kind: ir.Sequence, Repeat: &ir.Repeat{}, Children: []ir.Node{{Name: "s", Kind: ir.Step}}}}}
	r := New(w)
	r.Forget()
	for i := 1; i <= 100; i++ {
		r.Apply(nil, &event.Reaction{Transitions: []event.Transition{{Node: fmt.Sprintf("g/i%d", i), Name: "g", To: event.Running},
			{Node: fmt.Sprintf("g/i%d/s", i), Name: "s", Kind: "step", To: event.Succeeded}}})
	}
	if r.Size() != 1+2*KeptIterations {
		t.Errorf("%d nodes are kept", r.Size())
	}
}
