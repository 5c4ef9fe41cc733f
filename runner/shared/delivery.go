package shared

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Webhook is the source of the events of webhooks.
const Webhook = "webhook"

// MaxDeliveryData is the size of the data of a delivery's event as JSON, in bytes.
const MaxDeliveryData = 512 << 10

// Spaces of the deliveries that were refused, by number, and of the last number.
const (
	refusedEventSpace     = "refused-events"
	refusedEventLastSpace = "refused-event-last"
)

// MaxRefusedEvents is how many refused deliveries a store remembers. The oldest makes room for the next.
const MaxRefusedEvents = 1000

// refusedEvent is a delivery that was refused.
type refusedEvent struct {
	Seq     uint64     `json:"seq"`
	At      event.Time `json:"at"`
	Name    string     `json:"name"`
	From    string     `json:"from"`
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	More    int        `json:"more,omitempty"`
}

// applyDelivery publishes the event of a delivery to a webhook, or records that it was refused. A repetition gets the answer of the first.
func applyDelivery(rows Rows, r *event.DeliveryRequest, now event.Time) (Answer, error) {
	if !strings.HasPrefix(r.Name, ir.WebhookEvents) {
		return Answer{}, refuse("%.80q is not the event of a webhook: the names of those begin with %s", r.Name, ir.WebhookEvents)
	}
	if r.Reason != "" {
		return Answer{}, refuseDelivery(rows, r, now)
	}
	list, err := subscribers(rows, r.Name)
	if err != nil {
		return Answer{}, err
	}
	answer := event.DeliveryAnswer{}
	for i := range list {
		answer.Full = answer.Full || list[i].Waiting >= MaxDue
	}
	a := Answer{}
	if !answer.Full {
		p, err := Emit(rows, &Emission{Name: r.Name, Key: r.ID, Source: Webhook, Data: r.Data, Signed: r.Signed, Most: MaxDeliveryData}, now)
		if err != nil {
			return Answer{}, err
		}
		answer.ID, answer.Duplicate, answer.Replayed = p.ID, p.Duplicate, p.Replayed
		for _, run := range p.Runs {
			a.Posts = append(a.Posts, Post{run, p.Event.External(r.Name)})
		}
	}
	if answer.ID != "" && !answer.Duplicate && !answer.Replayed {
		err = recordAudit(rows, &event.AuditRequest{By: "webhook", From: r.From, What: "deliver", Target: r.Name, Data: string(value.Append(nil, map[string]value.Value{"id": answer.ID}))}, now)
	}
	if answer.Replayed {
		refused := *r
		refused.Reason, refused.Message = "replayed", "a delivery with another id has had the signature"
		err = refuseDelivery(rows, &refused, now)
	}
	a.Output = map[string]value.Value{"id": answer.ID, "duplicate": answer.Duplicate, "replayed": answer.Replayed, "full": answer.Full}
	return a, err
}

// refuseDelivery records a delivery that is refused: in the audit, and beside the subscriptions to which it would have gone.
func refuseDelivery(rows Rows, r *event.DeliveryRequest, now event.Time) error {
	list, err := subscribers(rows, r.Name)
	for i := range list {
		if list[i].Refused += uint64(1 + r.More); err == nil {
			err = saveRow(rows, subscriptionSpace, list[i].key(), &list[i])
		}
	}
	var last uint64
	if err == nil {
		err = loadRow(rows, refusedEventLastSpace, "", &last)
	}
	if last++; err == nil {
		err = saveRow(rows, refusedEventLastSpace, "", last)
	}
	if err == nil && last > MaxRefusedEvents {
		err = rows.Delete(refusedEventSpace, seqKey(last-MaxRefusedEvents))
	}
	if err == nil {
		err = saveRow(rows, refusedEventSpace, seqKey(last), &refusedEvent{last, now, r.Name, r.From, r.Reason, r.Message, r.More})
	}
	if err != nil {
		return err
	}
	return recordAudit(rows, &event.AuditRequest{By: "nobody", From: r.From, What: "refuse", Target: r.Name, Data: string(value.Append(nil, map[string]value.Value{
		"reason": r.Reason, "message": r.Message, "more": float64(r.More)}))}, now)
}

// listRefusedEvents lists the deliveries that were refused, the oldest first: objects of name, at, from, why, message and more.
func listRefusedEvents(rows Rows) (value.Value, error) {
	list := []any{}
	err := scanRows(rows, refusedEventSpace, "", func(e *refusedEvent) bool {
		list = append(list, map[string]any{"name": e.Name, "at": e.At.String(), "from": e.From, "why": e.Reason, "message": e.Message, "more": float64(e.More)})
		return true
	})
	return list, err
}

// outside are the beginnings of the names of events that a daemon publishes for a program.
var outside = []string{ir.FileEvents, ir.WebhookEvents}

// isOutside reports whether a daemon publishes the events of a name for a program.
func isOutside(name string) bool {
	return slices.ContainsFunc(outside, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// listOutside lists the programs that have webhooks or watch files, with what their runs begin with.
func listOutside(rows Rows) (value.Value, error) {
	list, seen, err := []any{}, map[string]bool{}, error(nil)
	var paths []string
	for _, prefix := range outside {
		if err == nil {
			err = scanRows(rows, subscriptionSpace, prefix, func(s *Subscription) bool {
				if strings.HasPrefix(s.Event, prefix) && !seen[s.Program] {
					seen[s.Program] = true
					paths = append(paths, s.Program)
				}
				return strings.HasPrefix(s.Event, prefix)
			})
		}
	}
	for _, path := range paths {
		var p map[string]any
		if err == nil {
			p, err = startsOf(rows, path)
		}
		list = append(list, p)
	}
	return list, err
}

// checkOutside refuses a registration of a webhook that another program has: its deliveries would start runs of both, and one of them has
// not checked their signatures. Of watched files it is the same: which files they are, one program says.
func checkOutside(rows Rows, r *event.RegisterRequest) error {
	for _, on := range r.Ons {
		if !isOutside(on.Event) {
			continue
		}
		list, err := subscribers(rows, on.Event)
		if err != nil {
			return err
		}
		for i := range list {
			if s := &list[i]; s.Event == on.Event && s.Program != r.Program {
				return refuse("%q belongs to the program %s, and one program has it: give yours another name, or remove that program", on.Event, s.Program)
			}
		}
	}
	return nil
}
