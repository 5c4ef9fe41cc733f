package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop/backlog"
	"github.com/flowrun/flowrun/runner/event"
)

// roadmap is a file whose items that nobody has begun become tickets of the store, or of a backlog. The id of the item, which comes from the
// path, the headings and the title, is the key of the ticket: so an item becomes a ticket once, whoever lists it and however often.
type roadmap struct {
	*file
	passed string // how the tickets stand that are in a backlog, after list
}

// The settings that say where tickets go: those of the backlog are behind its name and a dot.
const (
	intoName = "backlog"
	intoKind = "backlog.from"
)

// list makes the tickets that are missing, and lists the open ones of this file. A ticket is closed after its item was ticked off, so
// somebody has unticked an item that the file calls open, if its ticket was closed before the file was read: it is open again.
func (r *roadmap) list(ctx context.Context) ([]event.Item, error) {
	if r.Config[intoKind] != nil {
		return nil, r.passOn(ctx)
	}
	tickets, err := readTickets(ctx, r.x.ask)
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
		row, known := tickets[r.ticket(it.ID)]
		state := row.state
		if !known && !it.Closed && it.Assignee == "" && !r.Dry {
			if err := r.add(ctx, it); err != nil {
				return nil, err
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
	if r.Dry {
		return nil
	}
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

// add makes the ticket of an item.
func (r *roadmap) add(ctx context.Context, it *event.Item) error {
	if _, err := r.x.ask(ctx, addTicket(r.ticket(it.ID), it, r.Source, r.name, "")); err != nil {
		return fail(event.Blocking, event.ReasonStore, "the item %s of %s cannot become a ticket: %v", it.ID, r.name, err)
	}
	return nil
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

// passOn passes the items on to the backlog, and ticks off those whose items there are done.
func (r *roadmap) passOn(ctx context.Context) error {
	p := Passing{Ask: r.x.ask, By: r.Source, Name: r.name, Dry: r.Dry, Ticket: r.ticket}
	err := p.Read(ctx)
	if err != nil {
		return err
	}
	d, err := r.document()
	if err != nil {
		return err
	}
	p.Items = d.Work(r.Source, func(string) bool { return false })
	p.Ticks = func(id string) bool { return r.ticks(d, id) }
	p.Tick = func(id string) error {
		_, err := r.mark(id, backlog.Done)
		return err
	}
	p.Look = func(ticket string, it *event.Item) (closed, dropped bool, err error) {
		into, err := r.into(event.SourceLook, it, r.a.Key+"-"+ticket) // each look is another question
		if err != nil {
			return false, false, err
		}
		s, err := into.look(ctx, it)
		return s.closed, s.dropped, err
	}
	p.Create = func(ctx context.Context, it *event.Item) (string, error) {
		into, err := r.into(event.SourceCreate, it, it.ID) // once, whoever asks
		if err != nil {
			return "", err
		}
		issue, _, err := into.create(ctx, it)
		return issue, err
	}
	r.passed, err = p.PassOn(ctx)
	return err
}

// into is the backlog that gets the tickets. key is that of what it is asked.
func (r *roadmap) into(verb event.SourceVerb, it *event.Item, key string) (place, error) {
	q, a := event.SourceRequest{Loop: r.Loop, Verb: verb, Item: it, Config: map[string]value.Value{}}, *r.a
	kind, _ := r.Config[intoKind].(string)
	q.Source, q.Kind, a.Key = intoName, ir.SourceKind(kind), key
	for name, v := range r.Config { // any order: it fills a map
		if name, is := strings.CutPrefix(name, intoName+"."); is && name != "from" {
			q.Config[name] = v
		}
	}
	if name, is := r.Config[intoName].(string); is {
		q.Source = name
	}
	return (&question{&q, r.x, &a}).place()
}
