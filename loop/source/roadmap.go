package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/loop/backlog"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// roadmap is a file whose items that nobody has begun become tickets of the store. The id of the item, which comes from the path, the
// headings and the title, is the key of the ticket: so an item becomes a ticket once, whoever lists it and however often.
type roadmap struct{ *file }

// list makes the tickets that are missing, and lists the open ones of this file. A ticket is closed after its item was ticked off, so
// somebody has unticked an item that the file calls open, if its ticket was closed before the file was read: it is open again.
func (r *roadmap) list(ctx context.Context) ([]event.Item, error) {
	tickets, err := r.tickets(ctx)
	if err != nil {
		return nil, err
	}
	d, err := r.document()
	if err != nil {
		return nil, err
	}
	items := d.Work(r.Source, func(id string) bool { return r.claimed(ctx, id) })
	var out []event.Item
	for i := range items {
		it := &items[i]
		state, known := tickets[r.ticket(it.ID)]
		if !known && !it.Closed && it.Assignee == "" {
			t := event.Item{ID: r.ticket(it.ID), Title: executor.Clip(it.Title, limits.MaxWorkTitle), Body: executor.Clip(it.Body, MaxItemBody), Labels: it.Labels, Priority: it.Priority,
				Data: map[string]any{"roadmap": r.name, "item": it.ID}}
			_, err := r.x.ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: &t, By: r.Source}})
			if err != nil {
				return nil, fail(event.Blocking, event.ReasonStore, "the item %s of %s cannot become a ticket: %v", it.ID, r.name, err)
			}
		}
		if known && state == string(event.ClaimClosed) && !it.Closed && r.ticks(d, it.ID) {
			if err := r.reopen(ctx, it.ID); err != nil {
				return nil, err
			}
			state = string(event.ClaimOpen)
		}
		it.Closed = it.Closed || known && state != string(event.ClaimOpen) && state != string(event.ClaimHeld) && state != string(event.ClaimParked)
		out = append(out, *it)
	}
	return out, nil
}

// ticks reports whether the file can say of an item that it is done. An item without a mark never says so.
func (r *roadmap) ticks(d *backlog.Document, id string) bool {
	_, err := d.Mark(d.Find(id), backlog.Done)
	return err == nil
}

func (r *roadmap) reopen(ctx context.Context, id string) error {
	_, err := r.x.ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchReopen, Queue: event.QueueTicket, ID: r.ticket(id), By: r.Source}})
	if err != nil {
		return fail(event.Blocking, event.ReasonStore, "the ticket of the item %s of %s cannot be opened again: %v", id, r.name, err)
	}
	return nil
}

// ticket is the id of the ticket of an item. What the file itself calls the item is not alone in the store.
func (r *roadmap) ticket(id string) string {
	sum := sha256.Sum256([]byte(r.Key(id)))
	return "rm-" + hex.EncodeToString(sum[:8])
}

// tickets gives the state of each ticket of the store.
func (r *roadmap) tickets(ctx context.Context) (map[string]string, error) {
	v, err := r.x.ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueTicket, All: true}})
	if err != nil {
		return nil, fail(event.Blocking, event.ReasonStore, "%v", err)
	}
	o, _ := v.(map[string]any)
	list, _ := o["items"].([]any)
	states := map[string]string{}
	for _, one := range list {
		t, _ := one.(map[string]any)
		id, _ := t["id"].(string)
		state, _ := t["state"].(string)
		states[id] = state
	}
	return states, nil
}

// report ticks the item off in the file, and closes its ticket.
func (r *roadmap) report(ctx context.Context, it *event.Item, o *event.ItemOutcome) (string, error) {
	warning, err := r.file.report(ctx, it, o)
	if err != nil || o.Status != event.ItemClosed {
		return warning, err
	}
	_, err = r.x.ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchClose, Queue: event.QueueTicket, ID: r.ticket(it.ID)}})
	if err != nil && ctx.Err() == nil { // it is long gone
		return fmt.Sprintf("%s the ticket of %s cannot be closed: %v", warning, it.ID, err), nil
	}
	return warning, err
}
