package enginetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// ask carries out an operation on the key "n" of what runs share.
func ask(t *testing.T, h Host, operation ir.KVOperation, v value.Value) value.Value {
	t.Helper()
	got, err := h.Ask(context.Background(), event.StoreRequest{KV: &event.KVRequest{Operation: operation, Namespace: "default", Key: "n", Value: v}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// counting is a run that counts four times: twice at once, and then twice in turn.
func counting() Program {
	return Program{Tasks: []Task{{Name: "a", Count: "n"}, {Name: "b", Count: "n"}, {Name: "c", Count: "n", After: []string{"a", "b"}}, {Name: "d", Count: "n", After: []string{"c"}}}}
}

// countsOnce kills the host before and after each of its commits, and finishes the run on another one.
func countsOnce(t *testing.T, s Store) {
	atEveryCommit(t, func(n int, after bool) bool {
		where := fmt.Sprintf("commit %d, after it %v", n, after)
		h := s.Open(t, Factory, newWitness())
		ask(t, h, ir.KVDelete, nil)
		run := start(t, h, counting())
		lived := crashAt(t, s, h, run, n, after)
		if lived {
			h.Close()
		}
		h = s.Open(t, Factory, newWitness())
		defer h.Close()
		mustEnd(t, s, h, run, event.Succeeded)
		if got := ask(t, h, ir.KVGet, nil); !value.Equal(got, 4.0) {
			t.Errorf("%s: the number is %v, want 4", where, got)
		}
		counts := outputs(t, h, run)["counts"].(map[string]any)
		if counts["a"].(float64)+counts["b"].(float64) != 3 || counts["c"] != 3.0 || counts["d"] != 4.0 {
			t.Errorf("%s: the answers are %v", where, counts)
		}
		return lived
	})
}

// outputs is what a run that has ended gave.
func outputs(t *testing.T, h Host, run string) map[string]value.Value {
	t.Helper()
	end, err := h.Drive(context.Background(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	return end.Outputs
}

// countsTogether has called runs count at once.
func countsTogether(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	defer h.Close()
	p := Program{Workflows: map[string]Program{"child": counting()}}
	for i := range 10 {
		p.Tasks = append(p.Tasks, Task{Name: fmt.Sprint("t", i), Call: "child"})
	}
	mustEnd(t, s, h, start(t, h, p), event.Succeeded)
	if got := ask(t, h, ir.KVGet, nil); !value.Equal(got, 40.0) {
		t.Errorf("the number is %v, want 40", got)
	}
}

// countsText has a run add to a text.
func countsText(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	defer h.Close()
	ask(t, h, ir.KVSet, "text")
	run := start(t, h, counting())
	mustEnd(t, s, h, run, event.FailedS)
	for _, ev := range events(t, h, run)[1:] {
		if f := ev.AttemptFinished; f == nil || f.Error == nil || f.Error.Kind != event.Blocking || f.Error.Reason != event.ReasonStore {
			t.Errorf("the run hears %s %+v", ev.Kind(), f)
		}
	}
	if got := ask(t, h, ir.KVGet, nil); !value.Equal(got, "text") {
		t.Errorf("the value is %v", got)
	}
}

// countCancelled cancels a run before it is driven.
func countCancelled(t *testing.T, s Store) {
	h := s.Open(t, Factory, newWitness())
	defer h.Close()
	run := start(t, h, counting())
	if err := h.Cancel(context.Background(), run, "not now"); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, s, h, run, event.Cancelled)
	if got := ask(t, h, ir.KVGet, nil); got != nil {
		t.Errorf("the number is %v, want none", got)
	}
}
