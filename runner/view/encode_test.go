package view_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// alone is a value beside the journal, and long a list or an object of values.
type alone struct{ value value.Value }

func (a alone) Read() (value.Value, error) { return a.value, nil }

type long struct{ members value.Value }

func (l long) Members() value.Value { return l.members }

func (l long) Read() (value.Value, error) {
	whole := func(v value.Value) value.Value {
		if l, is := v.(event.Long); is {
			v, _ = l.Read()
		}
		return v
	}
	switch v := l.members.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, whole(e))
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = whole(e)
		}
		return out, nil
	}
	return l.members, nil
}

// TestEncodeForgets: the kept text of a node goes with each change, also with those that are no transition of the node.
func TestEncodeForgets(t *testing.T) {
	r := view.New(&ir.Workflow{Name: "w", Nodes: []ir.Node{{Name: "all", Kind: ir.Step, ForEach: &ir.Expr{}}, {Name: "call", Kind: ir.Step}}})
	before := ""
	apply := func(ev event.Event, caused event.Reaction) {
		t.Helper()
		r.Apply([]event.Event{ev}, &caused)
		got, err := r.Encode(func(*view.Document) {})
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(r.Document())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("encoded, the run is\n%s\nnot\n%s\n%v", got, want, err)
		}
		var parts []byte
		err = r.Write(func(d *view.Document) { d.Unanswered = []view.TryDoc{{}} }, map[string]any{"more": 1.0}, json.Marshal, func(part []byte) error {
			parts = append(parts, part...)
			return nil
		})
		d := r.Document()
		d.Unanswered = []view.TryDoc{{}}
		want, _ = json.Marshal(d)
		if want = append(bytes.TrimSuffix(want, []byte("}")), `,"more":1}`...); err != nil || !bytes.Equal(parts, want) {
			t.Errorf("in parts, the run is\n%s\nnot\n%s\n%v", parts, want, err)
		}
		if string(got) == before {
			t.Errorf("nothing has changed: %s", got)
		}
		before = string(got)
	}
	moves := func(list ...event.Transition) event.Reaction { return event.Reaction{Transitions: list} }
	apply(event.Event{At: 1}, moves(event.Transition{Node: "all", Name: "all", To: event.Succeeded}, event.Transition{Node: "call", Name: "call", To: event.Running}))
	apply(event.Event{At: 2}, moves(event.Transition{Node: "all[0]", Name: "all", To: event.Skipped})) // all is not empty any more
	apply(event.Event{At: 3}, event.Reaction{Commands: []event.Command{{StartChild: &event.StartChild{Run: "child", Node: "call"}}}})
	apply(event.Event{At: 4, ChildFinished: &event.ChildFinished{Run: "child", Node: "call"}}, event.Reaction{})
	list := long{[]any{"a", long{map[string]any{"<": alone{"&"}, "b": nil}}, long{[]any{}}}}
	apply(event.Event{At: 5}, moves(event.Transition{Node: "call", Name: "call", To: event.Succeeded, Reason: `"output":null`, Result: &event.Result{Output: list}},
		event.Transition{Node: "all", Name: "all", To: event.FailedS, Result: &event.Result{Output: long{map[string]any{"x": 1.0, "\"": list}}}}))
	apply(event.Event{At: 5}, moves(event.Transition{Node: "call", Name: "call", Note: event.Warned, Reason: "late"}))
}
