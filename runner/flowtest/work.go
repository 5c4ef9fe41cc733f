package flowtest

import (
	"context"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// workIn lists a queue of work, with moments in seconds since the start.
func (t *test) workIn(q event.Queue) (value.Value, error) {
	v, err := t.host.Ask(context.Background(), event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: q, All: true}})
	if err != nil {
		return nil, err
	}
	list := []any{}
	items, _ := v.(map[string]any)["items"].([]any)
	for _, e := range items {
		i, err := event.ItemOf(e)
		if err != nil {
			return nil, err
		}
		o, from := i.Value().(map[string]any), e.(map[string]any)
		delete(o, "source")
		delete(o, "url")
		delete(o, "data")
		o["state"], o["by"], o["agents"], o["claim"] = from["state"], from["by"], from["agents"], nil
		o["created_at"] = i.CreatedAt.Sub(t.start).Seconds()
		if claim, is := from["claim"].(map[string]any); is {
			if o["claim"], err = t.claim(claim); err != nil {
				return nil, err
			}
		}
		list = append(list, o)
	}
	return list, nil
}

// claims lists the claims of all items.
func (t *test) claims() (value.Value, error) {
	v, err := t.host.Ask(context.Background(), event.StoreRequest{Claims: true})
	list := []any{}
	claims, _ := v.([]any)
	for _, e := range claims {
		if err == nil {
			e, err = t.claim(e)
		}
		list = append(list, e)
	}
	return list, err
}

// claim is a claim as conditions read it.
func (t *test) claim(v value.Value) (value.Value, error) {
	c, err := event.ClaimOf(v)
	o := map[string]any{"item": c.Item, "state": string(c.State), "token": float64(c.Token), "loop": c.Loop, "agent": c.Agent, "run": c.Run,
		"until": nil, "failures": float64(c.Failures), "lost": float64(c.Lost)}
	if c.Until != 0 {
		o["until"] = c.Until.Sub(t.start).Seconds()
	}
	return o, err
}
