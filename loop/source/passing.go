package source

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// ticket is a ticket of the store. issue is its item in the backlog; "": it has none.
type ticket struct{ state, issue string }

// isOpen reports whether the work on a ticket has not ended.
func (t ticket) isOpen() bool {
	return t.state == string(event.ClaimOpen) || t.state == string(event.ClaimHeld) || t.state == string(event.ClaimParked)
}

// readTickets gives the tickets of the store.
func readTickets(ctx context.Context, ask Ask) (map[string]ticket, error) {
	v, err := ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueTicket, All: true}})
	if err != nil {
		return nil, fail(event.Blocking, event.ReasonStore, "%v", err)
	}
	o, _ := v.(map[string]any)
	list, _ := o["items"].([]any)
	all := map[string]ticket{}
	for _, one := range list {
		t, _ := one.(map[string]any)
		id, _ := t["id"].(string)
		state, _ := t["state"].(string)
		data, _ := t["data"].(map[string]any)
		issue, _ := data["issue"].(string)
		all[id] = ticket{state, issue}
	}
	return all, nil
}

// addTicket asks for the ticket of an item of a roadmap; issue is its item in the backlog.
func addTicket(id string, it *event.Item, by, roadmap, issue string) event.StoreRequest {
	data := map[string]any{"roadmap": roadmap, "item": it.ID}
	if issue != "" {
		data["issue"] = issue
	}
	t := event.Item{ID: id, Title: executor.Clip(it.Title, limits.MaxWorkTitle), Body: executor.Clip(it.Body, MaxItemBody), Labels: it.Labels, Priority: it.Priority, Data: data}
	return event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: &t, By: by}}
}

// Passing passes the items of a roadmap on to a backlog: an item there for each item that can be begun. The store has a ticket for each, whose
// id is the key of the item there, so an item that was made when the process died is not made again.
type Passing struct {
	Ask      Ask
	By, Name string // the source, and the file
	Dry      bool   // nothing is written
	Items    []event.Item
	Ticket   func(item string) string // the id of the first ticket of an item
	Ticks    func(item string) bool   // whether the roadmap can say of an item that it is done
	Tick     func(item string) error
	// Look says whether an item of the backlog is closed, and whether nobody did it.
	Look   func(ticket string, it *event.Item) (closed, dropped bool, err error)
	Create func(ctx context.Context, it *event.Item) (issue string, err error)

	tickets map[string]ticket
}

// Read reads the tickets. It comes before the roadmap is read: an item is ticked off before its ticket is closed, so an item that is open
// afterwards, although its ticket is closed, was unticked by somebody.
func (p *Passing) Read(ctx context.Context) (err error) {
	p.tickets, err = readTickets(ctx, p.Ask)
	return err
}

// PassOn ticks off the items whose items in the backlog are done, and makes those that can be begun now. It returns how all of them stand.
func (p *Passing) PassOn(ctx context.Context) (passed string, err error) {
	closed := map[string]bool{}
	for i := range p.Items {
		closed[p.Items[i].ID] = p.Items[i].Closed
	}
	ids, now := make([]string, len(p.Items)), make([]ticket, len(p.Items))
	for i := range p.Items { // what is done first: others may wait for it
		it := &p.Items[i]
		if ids[i], now[i], err = p.settle(ctx, it); err != nil {
			return "", err
		}
		closed[it.ID] = closed[it.ID] || now[i].state == string(event.ClaimClosed)
	}
	for i := range p.Items {
		it, t := &p.Items[i], &now[i]
		waits := slices.ContainsFunc(it.Needs, func(need string) bool { return !closed[need] })
		if t.state == "" && !it.Closed && it.Assignee == "" && !waits && !p.Dry {
			if t.state, err = p.make(ctx, ids[i], it); err != nil {
				return "", err
			}
		}
		if t.state != "" {
			passed += ids[i] + " " + t.state + "\n"
		}
	}
	if passed == "" {
		passed = "none"
	}
	return passed, nil
}

// settle finds the newest ticket of an item, and ends it if its item in the backlog has ended. An item that was unticked has no ticket yet.
func (p *Passing) settle(ctx context.Context, it *event.Item) (id string, t ticket, err error) {
	first := p.Ticket(it.ID)
	id, t = first, p.tickets[first]
	next := first
	for n := 2; ; n++ {
		next = fmt.Sprintf("%s-%d", first, n)
		later, known := p.tickets[next]
		if !known {
			break
		}
		id, t = next, later
	}
	if t.state == string(event.ClaimClosed) && !it.Closed && p.Ticks(it.ID) {
		return next, ticket{}, nil
	}
	if !t.isOpen() || p.Dry {
		return id, t, nil
	}
	done, dropped, err := p.Look(id, &event.Item{ID: t.issue, Title: it.Title})
	if err != nil || !done {
		return id, t, err
	}
	end := event.DispatchCancel
	if t.state = "cancelled"; !dropped {
		end, t.state = event.DispatchClose, string(event.ClaimClosed)
		if err := p.Tick(it.ID); err != nil {
			return id, t, err
		}
	}
	if _, err := p.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: end, Queue: event.QueueTicket, ID: id}}); err != nil {
		return id, t, fail(event.Blocking, event.ReasonStore, "the ticket %s of %s cannot be ended: %v", id, p.Name, err)
	}
	return id, t, nil
}

// makingSpace is the namespace of the keys under which one process makes an item, and makingTime how long a key stays if that process
// dies. A backlog of which each request is an attempt gets no more time than that.
const (
	makingSpace = "flowrun-tickets"
	makingTime  = 5 * time.Minute
)

// make makes an item of the backlog, and its ticket, and returns the state of the ticket: "" if another loop makes it at this moment. Two
// loops can list one roadmap at once, and a backlog such as GitHub's cannot be asked to add an item only if it is new.
func (p *Passing) make(ctx context.Context, id string, it *event.Item) (state string, err error) {
	ctx, stop := context.WithTimeout(ctx, makingTime)
	defer stop()
	key := event.KVRequest{Operation: ir.KVCAS, Namespace: makingSpace, Key: id, Value: p.By, TTL: makingTime}
	cannot := func(err error) error {
		return fail(event.Blocking, event.ReasonStore, "the item %s of %s cannot become a ticket: %v", it.ID, p.Name, err)
	}
	v, err := p.Ask(ctx, event.StoreRequest{KV: &key})
	if err != nil {
		return "", cannot(err)
	}
	if o, _ := v.(map[string]any); o["swapped"] != true {
		return "", nil
	}
	defer func() {
		key.Operation, key.Value, key.TTL = ir.KVDelete, nil, 0
		if _, failed := p.Ask(context.WithoutCancel(ctx), event.StoreRequest{KV: &key}); failed != nil && err == nil {
			err = cannot(failed)
		}
	}()
	tickets, err := readTickets(ctx, p.Ask)
	if err != nil || tickets[id].state != "" { // another loop has made it meanwhile
		return tickets[id].state, err
	}
	issue, err := p.Create(ctx, &event.Item{ID: id, Title: it.Title, Body: it.Body, Labels: it.Labels, Priority: it.Priority})
	if err != nil {
		return "", err
	}
	if _, err := p.Ask(ctx, addTicket(id, it, p.By, p.Name, issue)); err != nil {
		return "", cannot(err)
	}
	return string(event.ClaimOpen), nil
}
