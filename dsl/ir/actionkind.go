package ir

import (
	"fmt"
	"reflect"
	"strings"
)

// Action is what a step does. The package holds all types that implement it, one for each kind.
type Action interface {
	Kind() ActionKind
	action()
}

// ActionKind names a kind of action, as the member of a node's JSON does and mostly also the file.
type ActionKind string

// The kinds of actions.
const (
	RunAction      ActionKind = "run"
	AgentAction    ActionKind = "agent"
	ValueAction    ActionKind = "value"
	CallAction     ActionKind = "call"
	HTTPAction     ActionKind = "http"
	RememberAction ActionKind = "remember"
	RecallAction   ActionKind = "recall"
	WaitAction     ActionKind = "wait"
	FailAction     ActionKind = "fail"
	EndAction      ActionKind = "end"
)

// actions are the members of a node's JSON that hold its action. One of them is set in a step, none in a group. The struct is the
// list of all actions: what is not in it can be neither stored nor loaded.
type actions struct {
	Run      *Run       `json:"run,omitempty"`
	Agent    *AgentTask `json:"agent,omitempty"`
	Value    *Value     `json:"value,omitempty"`
	Call     *Call      `json:"call,omitempty"`
	HTTP     *HTTP      `json:"http,omitempty"`
	Remember *Remember  `json:"remember,omitempty"`
	Recall   *Recall    `json:"recall,omitempty"`
	Wait     *Wait      `json:"wait,omitempty"`
	Fail     *Fail      `json:"fail,omitempty"`
	End      *End       `json:"end,omitempty"`
}

func (*Run) Kind() ActionKind       { return RunAction }
func (*AgentTask) Kind() ActionKind { return AgentAction }
func (*Value) Kind() ActionKind     { return ValueAction }
func (*Call) Kind() ActionKind      { return CallAction }
func (*HTTP) Kind() ActionKind      { return HTTPAction }
func (*Remember) Kind() ActionKind  { return RememberAction }
func (*Recall) Kind() ActionKind    { return RecallAction }
func (*Wait) Kind() ActionKind      { return WaitAction }
func (*Fail) Kind() ActionKind      { return FailAction }
func (*End) Kind() ActionKind       { return EndAction }

func (*Run) action()       {}
func (*AgentTask) action() {}
func (*Value) action()     {}
func (*Call) action()      {}
func (*HTTP) action()      {}
func (*Remember) action()  {}
func (*Recall) action()    {}
func (*Wait) action()      {}
func (*Fail) action()      {}
func (*End) action()       {}

// Course is how the steps of a kind are carried out.
type Course int

// The courses. The zero value is the course of a kind that nobody knows.
const (
	Computed  Course = iota + 1 // by the machine, at once: no time, no slot, one try
	Pausing                     // by a timer: no slot, one try
	Attempted                   // by attempts of executors: each holds a slot, and a failed one can be tried again
	Called                      // by a run of another workflow: no slot of this run; a failed one can be tried again
)

// Course returns how steps of the kind are carried out.
func (k ActionKind) Course() Course {
	switch k {
	case RunAction, AgentAction, HTTPAction, RememberAction, RecallAction:
		return Attempted
	case CallAction:
		return Called
	case WaitAction:
		return Pausing
	case ValueAction, FailAction, EndAction:
		return Computed
	}
	return 0
}

// Retried reports whether a failed try of such an action can be followed by another one.
func (k ActionKind) Retried() bool { c := k.Course(); return c == Attempted || c == Called }

// ActionKinds lists all kinds of actions.
var ActionKinds = listKinds()

// members holds the number of the field of actions for each kind.
var members = map[ActionKind]int{}

func listKinds() (kinds []ActionKind) {
	t := reflect.TypeFor[actions]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		kinds = append(kinds, ActionKind(name))
	}
	return kinds
}

func init() {
	for i, k := range ActionKinds {
		members[k] = i
	}
}

// CheckAction returns an error for a step without an action, for a group with one, and for an action of a kind that is not in
// [ActionKinds]. It does not look at the node's children.
func CheckAction(n *Node) error {
	switch {
	case n.Action == nil && n.Kind == Step:
		return fmt.Errorf("step %q has no action that this release knows", n.Name)
	case n.Action == nil:
		return nil
	case n.Kind != Step:
		return fmt.Errorf("node %q of kind %s has the action %s; only steps have one", n.Name, n.Kind, n.Action.Kind())
	}
	if _, known := members[n.Action.Kind()]; !known {
		return fmt.Errorf("step %q has the action %q, which this release does not know", n.Name, n.Action.Kind())
	}
	return nil
}
