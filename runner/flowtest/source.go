package flowtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop/backlog"
	"github.com/flowrun/flowrun/loop/source"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// askedSource is a source of a loop that was asked for its items.
type askedSource struct{ loop, source string }

// held is an item that a source of a loop holds.
type held struct {
	event.Item
	since event.Time
}

// holdItems reads the items that the sources hold.
func (t *test) holdItems() error {
	t.sources, t.askedSources, t.lists = map[string][]*held{}, map[askedSource]int{}, maps.Clone(t.Lists)
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
	fail := func(err error) {
		executor.Fail(ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, ExitCode: -1, Message: err.Error()})
	}
	if q.Verb == event.SourceList {
		t.askedSources[askedSource{q.Loop, q.Source}]++
		t.record.lists[q.List] = q.Source
		if t.stubbedList(a, ans) {
			return
		}
		if into, is := q.Config["backlog"].(string); is && isRoadmap(q) {
			passed, err := t.passOn(ctx, q, into)
			if ans.Output = map[string]any{"items": []any{}, "left": 0.0, "tickets": passed}; err != nil {
				fail(err)
			}
			return
		}
		items, err := t.listItems(ctx, q)
		if ans.Output = map[string]any{"items": items, "left": 0.0}; err != nil {
			fail(err)
		}
		return
	}
	open, err := t.isOpen(q.Source, q.Item.ID)
	why, closed := "", false
	switch {
	case err != nil:
		fail(err)
		return
	case !open:
		why, closed = "it is closed, or the source does not have it any more", true
	case q.Verb == event.SourceTake || q.Verb == event.SourceReport:
		v, err := t.host.Ask(ctx, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimLook, Item: q.Key(q.Item.ID), Token: q.Token}})
		c, bad := event.ClaimOf(v)
		if err = errors.Join(err, bad); err == nil && c.Why == "" {
			closed = q.Verb == event.SourceReport && q.Outcome.Status == event.ItemClosed
			err = t.mark(ctx, q, closed)
		}
		if why = c.Why; err != nil {
			fail(err)
			return
		}
	}
	o := map[string]any{"ok": why == "", "closed": closed, "why": why}
	if q.Verb == event.SourceReport && closed {
		open, err := t.isOpen(q.Source, q.Item.ID) // an item without a mark of its own stays as it is
		o["gone"] = err == nil && !open
	}
	ans.Output = o
}

// stubbedList answers in place of a source by the next reply of its stub, if the reply fails or is not a list of items. Otherwise the source
// has the items of the reply from now on, or those that it had.
func (t *test) stubbedList(a *event.Attempt, ans *event.AttemptFinished) (answered bool) {
	at := slices.IndexFunc(t.stubs, func(s *stub) bool { return s.Kind == ir.SourceStub && s.Name == a.Source.Source })
	if at < 0 {
		return false
	}
	s, g := t.stubs[at], t.answered[a.Key]
	fresh := false
	if g == nil || g.done {
		fresh = s.asked < len(s.Replies)
		g = &given{reply: &s.Replies[min(s.asked, len(s.Replies)-1)]}
		t.answered[a.Key] = g
		s.asked++
	}
	g.ticket = ticketKey{a.Run, a.Ticket}
	c, r := computing{t: t, scope: asking{t, a}}, g.reply
	t.took = c.duration(r.Takes)
	failure, status, code, output := c.value(r.Error), c.whole(r.Status, 200), c.whole(r.ExitCode, 0), c.value(r.Output)
	switch {
	case c.err != nil:
		t.fail(Failure{Kind: BadReply, At: r.At, Text: c.err.Error(), After: t.elapsed()})
		executor.Fail(ans, &event.Error{Kind: event.Fatal, Reason: event.ReasonStart, ExitCode: -1, Message: "the reply of the stub cannot be computed: " + c.err.Error()})
	case r.Hang:
		t.took = source.Timeout
		executor.Fail(ans, source.TimedOut(a.Source.Source, source.Timeout))
	case r.Lost:
		executor.Fail(ans, &event.Error{Kind: event.Transient, Reason: event.ReasonLost, ExitCode: -1, Message: "lost contact with it"})
	case code != 0:
		executor.Fail(ans, executor.ExitError(code))
		if failure != nil {
			executor.Fail(ans, t.errorOf(failure, a, ans))
		}
	case failure != nil:
		executor.Fail(ans, t.errorOf(failure, a, ans))
	case status < 200 || status > 299:
		executor.Fail(ans, &event.Error{Kind: executor.StatusKind(status), Reason: event.ReasonHTTP, Status: status, ExitCode: -1, Message: fmt.Sprintf("status %d", status)})
	case r.Output == nil:
		return false
	default:
		items, err := t.itemsOf(output)
		if err != nil {
			executor.Fail(ans, &event.Error{Kind: event.Blocking, Reason: event.ReasonBadOutput, ExitCode: -1, Message: err.Error()})
			return true
		}
		if fresh {
			t.replace(a.Source.Source, items)
		}
		return false
	}
	return true
}

// itemsOf reads the items of a reply. The title of an item that has none is its id.
func (t *test) itemsOf(v value.Value) (items []event.Item, err error) {
	list, is := v.([]any)
	if !is {
		return nil, errors.New("the answer has no list of items")
	}
	for _, v := range list {
		o, _ := v.(map[string]any)
		if o["id"] != nil && o["title"] == nil {
			o = maps.Clone(o)
			o["title"] = o["id"]
			v = o
		}
		item, err := event.ItemOf(v)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// replace gives a source other items. Those that it had and has still keep what was done with them.
func (t *test) replace(source string, items []event.Item) {
	var now []*held
	for _, item := range items {
		x := &held{Item: item, since: t.store.Now()}
		if old := t.item(source, item.ID); old != nil {
			x.since, x.Closed = old.since, old.Closed || item.Closed
		}
		now = append(now, x)
	}
	t.sources[source] = now
	delete(t.lists, source)
}

// listItems are the items of a source: those that are open, and those that open ones need. Each item of a roadmap becomes a ticket of the
// store, once.
func (t *test) listItems(ctx context.Context, q *event.SourceRequest) (list []any, err error) {
	list = []any{}
	needed := map[string]bool{}
	all, err := t.holds(ctx, q)
	for i := range all {
		for _, id := range all[i].Needs {
			needed[id] = true
		}
	}
	for i := range all {
		it := &all[i]
		if it.Closed && !needed[it.ID] {
			continue
		}
		if isRoadmap(q) && !it.Closed && it.Assignee == "" {
			ticket := event.Item{ID: ticketOf(q, it.ID), Title: it.Title, Body: it.Body, Labels: it.Labels, Priority: it.Priority, Data: map[string]any{"item": it.ID}}
			_, err = t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueTicket, Item: &ticket, By: q.Source}})
			if err == nil && t.ticks(q.Source, it.ID) { // somebody has unticked it, if its ticket is closed
				_, err = t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchReopen, Queue: event.QueueTicket, ID: ticket.ID, By: q.Source}})
			}
			if err != nil {
				return list, err
			}
		}
		it.Source = q.Source
		list = append(list, it.Object())
	}
	return list, err
}

// passOn passes the items of a roadmap on to a backlog of the test.
func (t *test) passOn(ctx context.Context, q *event.SourceRequest, into string) (string, error) {
	p := source.Passing{Ask: t.host.Ask, By: q.Source, Name: q.Source, Ticket: func(id string) string { return ticketOf(q, id) }, Ticks: func(id string) bool { return t.ticks(q.Source, id) }}
	err := p.Read(ctx)
	if err == nil {
		p.Items, err = t.holds(ctx, q)
	}
	if err != nil {
		return "", err
	}
	p.Tick = func(id string) error {
		if it := t.item(q.Source, id); it != nil {
			it.Closed = true
			return nil
		}
		return t.markLine(q.Source, id, backlog.Done)
	}
	p.Look = func(_ string, it *event.Item) (closed, dropped bool, err error) {
		open, err := t.isOpen(into, it.ID)
		return !open, !open && !t.knows(into, it.ID), err
	}
	p.Create = func(_ context.Context, it *event.Item) (string, error) {
		if _, is := t.lists[into]; !is {
			if t.item(into, it.ID) == nil {
				t.sources[into] = append(t.sources[into], &held{Item: *it, since: t.store.Now()})
			}
			return it.ID, nil
		}
		d, err := t.read(into)
		if err != nil || d.Find(it.ID) >= 0 {
			return it.ID, err
		}
		e, err := d.Append(backlog.New{ID: it.ID, Title: it.Title, Tags: it.Labels})
		if err == nil {
			t.lists[into] = string(e.Apply(d.Source()))
		}
		return it.ID, err
	}
	return p.PassOn(ctx)
}

// knows reports whether a source has an item, open or done.
func (t *test) knows(source, id string) bool {
	if _, is := t.lists[source]; is {
		d, err := t.read(source)
		return err == nil && d.Find(id) >= 0 && d.Items[d.Find(id)].Status != backlog.Cancelled
	}
	return t.item(source, id) != nil
}

// ticks reports whether a source can say of an item that it is done. In a file, an item without a mark never says so.
func (t *test) ticks(source, id string) bool {
	if _, is := t.lists[source]; !is {
		return true
	}
	d, err := t.read(source)
	if err != nil {
		return false
	}
	i := d.Find(id)
	if i >= 0 {
		_, err = d.Mark(i, backlog.Done)
	}
	return i >= 0 && err == nil
}

// holds are the items that a source has now.
func (t *test) holds(ctx context.Context, q *event.SourceRequest) (all []event.Item, err error) {
	if _, is := t.lists[q.Source]; is {
		d, err := t.read(q.Source)
		if err != nil {
			return nil, err
		}
		return d.Work(q.Source, func(id string) bool {
			v, err := t.host.Ask(ctx, event.StoreRequest{Claim: &event.ClaimRequest{Operation: event.ClaimLook, Item: q.Key(id)}})
			c, bad := event.ClaimOf(v)
			return errors.Join(err, bad) == nil && c.Token > 0
		}), nil
	}
	for _, it := range t.sources[q.Source] {
		if it.since <= t.store.Now() {
			all = append(all, it.Item)
		}
	}
	return all, nil
}

// read reads the file of a source.
func (t *test) read(source string) (*backlog.Document, error) {
	path := ""
	for _, loop := range t.Loops {
		for _, s := range t.program.Loop(loop).Sources {
			for _, x := range s.Settings {
				if name, is := x.Value.Const.(string); is && s.Name == source && x.Name == "path" {
					path = name
				}
			}
		}
	}
	return backlog.Read([]byte(t.lists[source]), backlog.Options{Path: path, Today: t.store.Now().Go()})
}

// isOpen reports whether a source has an item and says that it is open.
func (t *test) isOpen(source, id string) (bool, error) {
	if _, is := t.lists[source]; is {
		d, err := t.read(source)
		if err != nil {
			return false, err
		}
		i := d.Find(id)
		return i >= 0 && !d.Items[i].Status.Closed(), nil
	}
	it := t.item(source, id)
	return it != nil && !it.Closed, nil
}

// mark writes down that an item was taken, is done, or can be taken again.
func (t *test) mark(ctx context.Context, q *event.SourceRequest, done bool) error {
	status := backlog.Todo
	switch {
	case done:
		status = backlog.Done
	case q.Verb == event.SourceTake:
		status = backlog.Doing
	}
	if it := t.item(q.Source, q.Item.ID); it != nil {
		it.Closed = done
	} else if err := t.markLine(q.Source, q.Item.ID, status); err != nil {
		return err
	}
	if done && isRoadmap(q) { // there is none to close where the item was never listed
		_, _ = t.host.Ask(ctx, event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchClose, Queue: event.QueueTicket, ID: ticketOf(q, q.Item.ID)}})
	}
	return nil
}

// markLine changes the mark of an item of a file, which the file has. An item without a mark of its own stays as it is.
func (t *test) markLine(source, id string, status backlog.Status) error {
	d, err := t.read(source)
	if err != nil {
		return err
	}
	e, err := d.Mark(d.Find(id), status)
	if errors.Is(err, backlog.ErrNoMark) {
		return nil
	}
	if err == nil {
		t.lists[source] = string(e.Apply(d.Source()))
	}
	return err
}

func isRoadmap(q *event.SourceRequest) bool {
	return q.Kind == ir.SourceFile && q.Config["tickets"] == true
}

// ticketOf is the id of the ticket of an item.
func ticketOf(q *event.SourceRequest, id string) string {
	sum := sha256.Sum256([]byte(q.Key(id)))
	return "rm-" + hex.EncodeToString(sum[:8])
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
	for source := range t.lists { // any order: each for itself
		if open, err := t.isOpen(source, m.Name); err != nil || open {
			if found = true; err == nil {
				err = t.markLine(source, m.Name, backlog.Done)
			}
			if err != nil {
				t.fail(Failure{Kind: Broken, At: m.At, Text: "close " + quoted(m.Name) + ": " + err.Error(), After: m.After})
			}
		}
	}
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
