package ir

import (
	"errors"
	"fmt"
	"reflect"
)

// The types below are a program as its JSON has it: the action of a step is a member of its node. A program is converted as a whole.
// Methods of Node that did the same would have encoding/json scan each node twice (measured with BenchmarkLoad: loading took 1.6
// times as long, storing 3 times).
type (
	storedProgram struct {
		programFields
		Workflows []storedWorkflow `json:"workflows,omitempty"`
	}
	storedWorkflow struct {
		workflowFields
		Nodes   []storedNode   `json:"nodes,omitempty"`
		Finally *storedFinally `json:"finally,omitempty"`
	}
	storedFinally struct {
		Timeout *Expr        `json:"timeout,omitempty"`
		Nodes   []storedNode `json:"nodes"`
	}
	storedNode struct {
		nodeFields
		actions
		Children []storedNode `json:"children,omitempty"`
	}

	programFields  Program
	workflowFields Workflow
	nodeFields     Node
)

// store makes of a program what its JSON is made of. A step without an action, or a group with one, is an error.
func (p *Program) store() (*storedProgram, error) {
	s := &storedProgram{programFields: programFields(*p), Workflows: make([]storedWorkflow, len(p.Workflows))}
	for i := range p.Workflows {
		w, to := &p.Workflows[i], &s.Workflows[i]
		to.workflowFields = workflowFields(*w)
		var err error
		if to.Nodes, err = storeNodes(w.Nodes); err != nil {
			return nil, err
		}
		if f := w.Finally; f != nil {
			to.Finally = &storedFinally{Timeout: f.Timeout}
			if to.Finally.Nodes, err = storeNodes(f.Nodes); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// load makes a program of what its JSON was read into. A step that has no action that this release knows, or two, is an error, and
// so is a group with an action.
func (s *storedProgram) load() (*Program, error) {
	p := new(Program)
	*p = Program(s.programFields)
	if s.Workflows != nil {
		p.Workflows = make([]Workflow, len(s.Workflows))
	}
	for i := range s.Workflows {
		from, w := &s.Workflows[i], &p.Workflows[i]
		*w = Workflow(from.workflowFields)
		var err error
		if w.Nodes, err = loadNodes(from.Nodes); err != nil {
			return nil, fmt.Errorf("workflow %q: %w", w.Name, err)
		}
		if f := from.Finally; f != nil {
			w.Finally = &Finally{Timeout: f.Timeout}
			if w.Finally.Nodes, err = loadNodes(f.Nodes); err != nil {
				return nil, fmt.Errorf("workflow %q: %w", w.Name, err)
			}
		}
	}
	return p, nil
}

var errNodeAlone = errors.New("ir: a node is stored and loaded with its program only")

// MarshalJSON returns an error: JSON of a node alone would lack the action.
func (Node) MarshalJSON() ([]byte, error) { return nil, errNodeAlone }

// UnmarshalJSON returns an error, as MarshalJSON does.
func (*Node) UnmarshalJSON([]byte) error { return errNodeAlone }

func storeNodes(nodes []Node) (stored []storedNode, err error) {
	if nodes == nil {
		return nil, nil
	}
	stored = make([]storedNode, len(nodes))
	for i := range nodes {
		n, s := &nodes[i], &stored[i]
		if err := CheckAction(n); err != nil {
			return nil, err
		}
		s.nodeFields = nodeFields(*n)
		if n.Action != nil {
			reflect.ValueOf(&s.actions).Elem().Field(members[n.Action.Kind()]).Set(reflect.ValueOf(n.Action))
		}
		if s.Children, err = storeNodes(n.Children); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

func loadNodes(stored []storedNode) (nodes []Node, err error) {
	if stored == nil {
		return nil, nil
	}
	nodes = make([]Node, len(stored))
	for i := range stored {
		s, n := &stored[i], &nodes[i]
		*n = Node(s.nodeFields)
		if err := n.take(&s.actions); err != nil {
			return nil, err
		}
		if err := CheckAction(n); err != nil {
			return nil, err
		}
		if n.Children, err = loadNodes(s.Children); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// take makes the action of a node of the members of its JSON.
func (n *Node) take(all *actions) error {
	v := reflect.ValueOf(all).Elem()
	for i := range v.NumField() {
		if v.Field(i).IsNil() {
			continue
		}
		a := v.Field(i).Interface().(Action)
		if n.Action != nil {
			return fmt.Errorf("step %q has two actions: %s and %s", n.Name, n.Action.Kind(), a.Kind())
		}
		n.Action = a
	}
	return nil
}
