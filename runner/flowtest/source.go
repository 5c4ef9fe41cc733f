package flowtest

import (
	"context"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// held is an item that a source of the loop holds.
type held struct {
	event.Item
	since event.Time
	by    string // who has it
}

// holdItems reads the items that the sources hold.
func (t *test) holdItems() error {
	t.sources, t.askedSources = map[string][]*held{}, map[string]int{}
	for i := range t.Items {
		x := &t.Items[i]
		item, err := event.ItemOf(x.Item)
		if err != nil {
			return err
		}
		t.sources[x.Source] = append(t.sources[x.Source], &held{Item: item, since: t.start.Add(x.After)})
	}
	return nil
}

// askSource answers in place of a source.
func (t *test) askSource(ctx context.Context, a *event.Attempt, ans *event.AttemptFinished) {
	q := a.Source
	if q.Verb == event.SourceList {
		t.askedSources[q.Source]++
		items, err := t.listItems(ctx, q)
		if ans.Output = map[string]any{"items": items, "left": 0.0}; err != nil {
			executor.Fail(ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, ExitCode: -1, Message: err.Error()})
		}
		return
	}
	why, closed, it := "", false, t.item(q.Source, q.Item.ID)
	switch {
	case it == nil:
		why, closed = "the source does not have the item", true
	case it.Closed:
		why, closed = "it is closed", true
	case q.Verb == event.SourceTake || q.Verb == event.SourceReport:
		v, err := t.host.Ask(ctx, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimLook, Item: q.Source + "/" + q.Item.ID, Token: q.Token}})
		c, bad := event.ClaimOf(v)
		if err != nil || bad != nil {
			executor.Fail(ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, ExitCode: -1, Message: "the store does not say who has the item"})
			return
		}
		switch why = c.Why; {
		case why != "":
		case q.Verb == event.SourceTake:
			it.by = q.Agent
		default:
			it.by = ""
			closed = q.Outcome.Status == event.ItemClosed
			if it.Closed = closed; closed {
				t.closeTicket(ctx, q, it)
			}
		}
	}
	ans.Output = map[string]any{"ok": why == "", "closed": closed, "why": why}
}

// listItems are the items of a source: those that are open, and those that open ones need. Each item of a roadmap becomes a ticket of the
// store, once.
func (t *test) listItems(ctx context.Context, q *event.SourceRequest) (list []any, err error) {
	list = []any{}
	needed := map[string]bool{}
	for _, it := range t.sources[q.Source] {
		for _, id := range it.Needs {
			needed[id] = true
		}
	}
	for _, it := range t.sources[q.Source] {
		if it.since > t.store.Now() || it.Closed && !needed[it.ID] {
			continue
		}
		if isRoadmap(q) && !it.Closed {
			ticket := event.Item{ID: ticketOf(q, it), Title: it.Title, Body: it.Body, Labels: it.Labels, Priority: it.Priority, Data: map[string]any{"item": it.ID}}
			_, err = t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: &ticket, By: q.Source}})
			if err != nil {
				return list, err
			}
		}
		one := it.Item
		one.Source = q.Source
		list = append(list, one.Object())
	}
	return list, nil
}

func isRoadmap(q *event.SourceRequest) bool {
	return q.Kind == ir.SourceFile && q.Config["tickets"] == true
}

func ticketOf(q *event.SourceRequest, it *held) string { return q.Source + "/" + it.ID }

func (t *test) closeTicket(ctx context.Context, q *event.SourceRequest, it *held) {
	if isRoadmap(q) { // there is none to close where the item was never listed
		_, _ = t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchClose, Queue: event.QueueTicket, ID: ticketOf(q, it)}})
	}
}

// item finds an item that a source holds now; nil: it does not.
func (t *test) item(source, id string) *held {
	for _, it := range t.sources[source] {
		if it.ID == id && it.since <= t.store.Now() {
			return it
		}
	}
	return nil
}

// handIn lets somebody hand in work.
func (t *test) handIn(ctx context.Context, m *ir.Moment) error {
	item, err := event.ItemOf(m.Data)
	if err == nil {
		_, err = t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Item: &item, By: m.By}})
	}
	if err != nil {
		t.fail(Failure{Kind: Broken, At: m.At, Text: "dispatch " + quoted(m.Name) + ": " + err.Error(), After: m.After})
	}
	return nil
}

// close lets somebody else end an item: of a source, or of the work that was handed in.
func (t *test) close(ctx context.Context, m *ir.Moment) error {
	found := false
	for source := range t.sources { // any order: each for itself
		if it := t.item(source, m.Name); it != nil && !it.Closed {
			found, it.Closed = true, true
		}
	}
	if found {
		return nil
	}
	v, err := t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchCancel, Queue: event.QueueDispatch, ID: m.Name, By: "test"}})
	if o, _ := v.(map[string]value.Value); err != nil || o["cancelled"] != true {
		t.unheard(m, "No source held the item as open then.")
	}
	return nil
}
