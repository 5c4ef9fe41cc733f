package flowtest

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine/sim"
	"github.com/flowrun/flowrun/runner/event"
)

// noteAsk lets the decisions come that are for a node that asks people for the first time.
func (t *test) noteAsk(run string, q *event.Ask) {
	if t.asks[run][q.Number] {
		return // it is told again after a crash
	}
	if t.asks == nil {
		t.asks, t.shows = map[string]map[uint64]bool{}, map[string][]string{}
	}
	if t.asks[run] == nil {
		t.asks[run] = map[uint64]bool{}
	}
	t.asks[run][q.Number] = true
	key := run + " " + q.Plain
	t.shows[key] = append(t.shows[key], q.Shown)
	if t.settle != nil {
		t.settleAsk(run, q)
	}
	at := t.where(run, q.Node)
	if q.Node == "" { // the run itself
		at.instance, at.path = at.instance+".", at.path+"."
	}
	known := len(t.decides)
	left := t.decides[:0]
	for _, m := range t.decides {
		if m.Name != at.instance && m.Name != at.path {
			left = append(left, m)
			continue
		}
		t.due++
		t.host.Schedule(sim.Moment{At: q.Since.Add(m.After), Do: func() error { return t.decide(&m, run, q.Plain) }})
	}
	if t.decides = left; len(left) == known && t.settle == nil && len(t.open) < maxHints {
		t.open = append(t.open, openQuestion(at.instance, q))
	}
}

// maxHints bounds the hints of a test.
const maxHints = 4

// openQuestion is the hint about a question that no block decide answers, with a block that answers it.
func openQuestion(node string, q *event.Ask) Hint {
	word, output := q.Words[0], ""
	if word == event.WordDone && q.Output != nil {
		output = "\n  output   = " + written(sample(*q.Output, 0))
	}
	return Hint{Text: fmt.Sprintf("%s asked people, and no block decide answers. Put this into the test:", node),
		Block: fmt.Sprintf("decide %q {\n  decision = %q%s\n}", node, word, output)}
}

// hints are the open questions, and the decisions that were refused.
func (t *test) hints() []Hint {
	out := t.open
	list, err := t.refused()
	rows, _ := list.([]any)
	for _, e := range rows {
		if o, ok := e.(map[string]any); ok && err == nil && len(out) < 2*maxHints {
			out = append(out, Hint{Text: fmt.Sprintf("the decision %v of %v for %v was refused: %v", o["word"], o["by"], o["node"], o["message"])})
		}
	}
	return out
}

// settleAsk lets people answer what a rehearsed run asks. What a person may not answer is refused, and the run waits on.
func (t *test) settleAsk(run string, q *event.Ask) {
	decisions, after, known := t.settle(t.runs[run].workflow, q)
	if !known || len(decisions) == 0 {
		return
	}
	t.due++
	r := event.DecideRequest{Run: run, Node: q.Plain}
	shown := q.Shown
	t.host.Schedule(sim.Moment{At: q.Since.Add(after), Do: func() error {
		t.due--
		for _, d := range decisions {
			r.Decision = event.Decision{Word: d.Word, By: d.By, Comment: d.Comment, Input: d.Input, Output: d.Output, Shown: shown}
			if _, err := t.host.Ask(context.Background(), event.StoreRequest{Decide: &r}); err != nil {
				return err
			}
		}
		return nil
	}})
}

// decide lets a person answer a node of a run, by its path without iterations.
func (t *test) decide(m *ir.Moment, run, node string) error {
	t.due--
	t.asked[m.At] = true
	d := event.Decision{Word: event.Word(m.Decision.Word), By: m.Decision.By, Comment: m.Decision.Comment, Input: m.Decision.Input, Output: m.Decision.Output}
	if n := m.Decision.Shown; n > 0 {
		shown := t.shows[run+" "+node]
		if n > len(shown) {
			t.fail(Failure{Kind: Broken, At: m.At, Text: fmt.Sprintf("%s has been shown %d times", m.Name, len(shown)), After: t.elapsed()})
			return nil
		}
		d.Shown = shown[n-1]
	}
	_, err := t.host.Ask(context.Background(), event.StoreRequest{Decide: &event.DecideRequest{Run: run, Node: node, Decision: d}})
	return err
}

// inbox lists what waits for people, with moments in seconds since the start, and paths and runs as the test names them.
func (t *test) inbox() (value.Value, error) {
	return t.namedRows(event.StoreRequest{Asks: true}, "since", "until")
}

// refused lists the decisions that were refused.
func (t *test) refused() (value.Value, error) {
	return t.namedRows(event.StoreRequest{Refused: true}, "at")
}

func (t *test) namedRows(q event.StoreRequest, moments ...string) (value.Value, error) {
	v, err := t.host.Ask(context.Background(), q)
	list, _ := v.([]any)
	for _, e := range list {
		o := e.(map[string]any)
		for _, name := range moments {
			text, there := o[name].(string)
			if !there {
				continue
			}
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return nil, err
			}
			o[name] = event.At(at).Sub(t.start).Seconds()
		}
		run, _ := o["run"].(string)
		node, _ := o["node"].(string)
		if s := t.runs[run]; s != nil {
			if node == "." {
				o["node"] = t.where(run, "").instance + "."
			} else {
				o["node"] = t.where(run, node).instance
			}
			if s.label != "" {
				o["run"] = s.label
			}
		}
	}
	return v, err
}
