package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
)

// Webhook is a registered webhook with the key of its signatures. Nobody may write the key down.
type Webhook struct {
	Event   string // the name of its events
	Program string // the path
	Hook    *ir.Hook
	Secret  string
	// Err, if set, is why the key cannot be had.
	Err error
}

// Webhooks are the registered webhooks by the names of their events. The zero value has none.
type Webhooks struct {
	All map[string]*Webhook

	programs []event.DueStarts
}

// Webhooks returns the registered webhooks. The key of each is read where its program got it. What has not changed is taken from before,
// which is an earlier answer or the zero value: a key takes a tenth of a second of CPU time.
func (s *Service) Webhooks(ctx context.Context, before Webhooks) (Webhooks, error) {
	var programs []event.DueStarts
	if err := s.ask(ctx, event.StoreRequest{Outside: true}, &programs); err != nil {
		return before, err
	}
	if slices.Equal(programs, before.programs) {
		return before, nil
	}
	of, err := s.startables(ctx, programs)
	if err != nil {
		return before, err
	}
	now := Webhooks{map[string]*Webhook{}, programs}
	for path, x := range of { // any order: no webhook is in two programs
		if x.why != "" {
			continue
		}
		for i := range x.program.Ons {
			on := &x.program.Ons[i]
			if on.Hook == nil || now.All[on.Event] != nil {
				continue
			}
			w := &Webhook{Event: on.Event, Program: path, Hook: on.Hook}
			if w.Secret, w.Err = s.webhookSecret(x, on.Hook.Secret); w.Err != nil {
				now.programs = nil // another time the key may be there
			}
			now.All[on.Event] = w
		}
	}
	return now, nil
}

// webhookSecret reads the key of a webhook, which is a sensitive variable of a registered program.
func (s *Service) webhookSecret(x *startable, name string) (string, error) {
	ref := "var." + name
	mark, has := x.first.Secrets[ref]
	if !has {
		return "", fmt.Errorf("the program was registered without the sensitive variable %q", name)
	}
	first := event.RunStarted{Vars: x.first.Vars, Secrets: map[string]event.Secret{ref: mark}}
	held, _, problems := given.Search{First: &first, Program: x.program.Program, Same: s.marks.same, LookupEnv: s.lookupEnv}.Find()
	if len(problems) > 0 {
		return "", problems[0]
	}
	text, is := held[ref].(string)
	if !is || text == "" {
		return "", fmt.Errorf("the sensitive variable %q is not a text with characters", name)
	}
	return text, nil
}

// Deliver publishes the event of a delivery to a webhook, or records that the delivery was refused. When it returns without an error, the
// event is durable.
func (s *Service) Deliver(ctx context.Context, r *event.DeliveryRequest) (a event.DeliveryAnswer, err error) {
	v, err := s.host.Ask(ctx, event.StoreRequest{Delivery: r})
	if err == nil && r.Reason == "" {
		err = decodeAnswer(v, &a)
	}
	return a, err
}
