package flowtest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/notify"
)

// givenUp lists the dead letters of the store, with moments in seconds since the start.
func (t *test) givenUp() (value.Value, error) {
	v, err := t.host.Ask(context.Background(), event.StoreRequest{Dead: &event.DeadRequest{}})
	list, _ := v.([]any)
	for _, e := range list {
		o := e.(map[string]any)
		err = t.since(o, err, "at", "last")
		redrives, _ := o["redrives"].([]any)
		for _, r := range redrives {
			err = t.since(r.(map[string]any), err, "at")
		}
	}
	return v, err
}

// since makes seconds since the start of moments of an object.
func (t *test) since(o map[string]any, err error, names ...string) error {
	for _, name := range names {
		text, _ := o[name].(string)
		at, wrong := time.Parse(time.RFC3339, text)
		if wrong != nil {
			return wrong
		}
		o[name] = event.At(at).Sub(t.start).Seconds()
	}
	return err
}

// redrive tries again what was given up of a run.
func (t *test) redrive(ctx context.Context, m *ir.Moment, of *seen) error {
	v, err := t.host.Ask(ctx, event.StoreRequest{Dead: &event.DeadRequest{}})
	if err != nil {
		return err
	}
	found := false
	list, _ := v.([]any)
	for _, e := range list {
		o := e.(map[string]any)
		if o["run"] != of.id {
			continue
		}
		found = true
		id, _ := o["id"].(string)
		if _, err := t.host.Ask(ctx, event.StoreRequest{Dead: &event.DeadRequest{ID: id, RedrivenBy: "test"}}); err != nil {
			return err
		}
		if o["message"] == nil {
			err = t.retryRun(ctx, m, of)
		} else {
			err = t.resend(ctx, id, o, of)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		t.fail(Failure{Kind: Broken, At: m.At, Text: fmt.Sprintf("nothing of %s was given up", of.words()), After: m.After})
	}
	return nil
}

// resend sends a message to the stub of its channel again.
func (t *test) resend(ctx context.Context, id string, o map[string]any, of *seen) error {
	var text event.Message
	if err := json.Unmarshal(value.Append(nil, o["message"]), &text); err != nil {
		return err
	}
	g, err := t.program.graph(of.workflow)
	if err != nil {
		return err
	}
	channel, _ := o["channel"].(string)
	a, no := compose.New(g, expr.NewEvaluator(ir.NewestRules(), t.program.Files), of.first).Notice(&compose.Notice{Path: text.Node, Message: text, To: []string{channel}})
	if no != nil {
		return fmt.Errorf("%s: %s", id, no.Message)
	}
	a.Key = text.Key
	s := &notify.Send{Channel: &a.Notify.To[0], Message: text}
	request := event.DeadRequest{ID: id, Close: true}
	if after, why := t.deliver(a, s); why != nil {
		request = event.DeadRequest{ID: id, FailedAgain: why.Error()}
	} else {
		t.takeDown(s, after)
	}
	_, err = t.host.Ask(ctx, event.StoreRequest{Dead: &request})
	return err
}
