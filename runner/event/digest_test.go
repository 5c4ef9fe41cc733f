package event

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/flowrun/flowrun/dsl/value"
)

// silent are the fields that a digest leaves out though the journal's JSON, or a view, has them, each with the reason.
var silent = map[string]string{
	"Attempt.Base":          "the same for the whole run",
	"Attempt.Kind":          "follows from the program and the other fields",
	"AgentRequest.Recalled": "the host's; its answer says what it was",
	"Late.What":             "words",
	"CancelChild.Reason":    "words",
	"CancelAttempt.Reason":  "words",
	"Error.Message":         "words",
	"Transition.Reason":     "words",
	"Transition.Name":       "of the program",
	"Transition.Kind":       "of the program",
	"Verdict.Message":       "words",
	"Verdict.Said":          "words",
	"Result.Stdout":         "of the event",
	"Result.Stderr":         "of the event",
	"Result.StdoutLog":      "of the event",
	"Result.StderrLog":      "of the event",
	"Result.Output":         "of the event; digested where it was computed",
}

// TestDigestForgetsNoField sets every field of everything that a reaction can hold, one at a time, and sees whether the digest
// changes: it must, unless the table above says why not.
func TestDigestForgetsNoField(t *testing.T) {
	for _, make := range []func() (*Reaction, any){
		func() (*Reaction, any) { c := &Attempt{}; return &Reaction{Commands: []Command{{Start: c}}}, c },
		func() (*Reaction, any) { c := &CancelAttempt{}; return &Reaction{Commands: []Command{{Cancel: c}}}, c },
		func() (*Reaction, any) { c := &SetTimer{}; return &Reaction{Commands: []Command{{SetTimer: c}}}, c },
		func() (*Reaction, any) {
			c := &CancelTimer{}
			return &Reaction{Commands: []Command{{CancelTimer: c}}}, c
		},
		func() (*Reaction, any) { c := &StartChild{}; return &Reaction{Commands: []Command{{StartChild: c}}}, c },
		func() (*Reaction, any) {
			c := &CancelChild{}
			return &Reaction{Commands: []Command{{CancelChild: c}}}, c
		},
		func() (*Reaction, any) { c := &End{}; return &Reaction{Commands: []Command{{End: c}}}, c },
		func() (*Reaction, any) {
			c := &AgentRequest{}
			return &Reaction{Commands: []Command{{Start: &Attempt{Agent: c}}}}, c
		},
		func() (*Reaction, any) {
			c := &HTTPRequest{}
			return &Reaction{Commands: []Command{{Start: &Attempt{HTTP: c}}}}, c
		},
		func() (*Reaction, any) {
			m := &MemoryUse{}
			return &Reaction{Commands: []Command{{Start: &Attempt{Agent: &AgentRequest{Memory: m}}}}}, m
		},
		func() (*Reaction, any) {
			q := &Remember{}
			return &Reaction{Commands: []Command{{Start: &Attempt{Remember: q}}}}, q
		},
		func() (*Reaction, any) {
			q := &Recall{}
			return &Reaction{Commands: []Command{{Start: &Attempt{Recall: q}}}}, q
		},
		func() (*Reaction, any) {
			late := []Late{{}}
			return &Reaction{Commands: []Command{{Start: &Attempt{Late: late}}}}, &late[0]
		},
		func() (*Reaction, any) {
			e := &Error{}
			return &Reaction{Commands: []Command{{End: &End{Error: e}}}}, e
		},
		func() (*Reaction, any) {
			e := &Error{}
			return &Reaction{Transitions: []Transition{{Result: &Result{Error: e}}}}, e
		},
		func() (*Reaction, any) { r := &Reaction{Transitions: []Transition{{}}}; return r, &r.Transitions[0] },
		func() (*Reaction, any) {
			v := &Verdict{}
			return &Reaction{Transitions: []Transition{{Gate: v}}}, v
		},
		func() (*Reaction, any) {
			v := &Result{}
			return &Reaction{Transitions: []Transition{{Result: v}}}, v
		},
	} {
		r, at := make()
		before := r.AppendTo(nil)
		object := reflect.TypeOf(at).Elem()
		for i := range object.NumField() {
			r, at := make()
			set(t, reflect.ValueOf(at).Elem().Field(i))
			name := object.Name() + "." + object.Field(i).Name
			same := bytes.Equal(r.AppendTo(nil), before)
			if why := silent[name]; same != (why != "") {
				t.Errorf("%s: the digest is the same: %v (%s)", name, same, why)
			}
		}
	}
}

// set gives a field a value that is not its zero.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.Interface:
		v.Set(reflect.ValueOf(value.Value("x")))
	case reflect.Struct:
		set(t, v.Field(0))
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

// TestDigestTellsApart has reactions whose facts, written one after the other without lengths and ends, would be the same.
func TestDigestTellsApart(t *testing.T) {
	seen := map[string]int{}
	for i, r := range []Reaction{
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a", "b"}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a"}, Values: []string{"b"}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"avb"}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a", ""}}}}},
		{Commands: []Command{{Start: &Attempt{Argv: []string{"a"}}}}},
		{Commands: []Command{{Start: &Attempt{Env: map[string]string{"a": "b", "c": ""}}}}},
		{Commands: []Command{{Start: &Attempt{Env: map[string]string{"a": "b"}, Argv: []string{"c"}}}}},
		{Commands: []Command{{Start: &Attempt{}}, {Start: &Attempt{Argv: []string{"a"}}}}},
		{Commands: []Command{{Start: &Attempt{Stdin: new(string)}}}},
		{Commands: []Command{{Start: &Attempt{}}}},
		{Transitions: []Transition{{Node: "a"}, {Attempt: 1}}},
		{Transitions: []Transition{{Node: "a", Attempt: 1}, {}}},
		{Transitions: []Transition{{Result: &Result{Computed: true}}}},
		{Transitions: []Transition{{Result: &Result{Computed: true, Output: "null"}}}},
		{Transitions: []Transition{{Result: &Result{}}}},
	} {
		k := string(r.AppendTo(nil))
		if j, twice := seen[k]; twice {
			t.Errorf("reactions %d and %d have the same facts", j, i)
		}
		seen[k] = i
	}
}
