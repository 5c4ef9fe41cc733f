package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

func (a *app) newDispatchClaimCommand() *cobra.Command {
	var r args.DispatchClaim
	c := &cobra.Command{
		Use: "claim [ID]", Short: "Take work, outside of a loop", Args: between(0, 1, "[ID]"),
		Long: `claim takes a piece of work for an agent or a person outside of a loop, and prints the token of the claim. Without an ID it takes the work
that a loop would give first to an agent of this name. No other agent, person or loop can take the work until the lease ends: renew it before.
If the lease ends, the work is lost once; after the second loss, the work becomes a dead letter.

  flowrun dispatch claim --as ann --lease 30m
  flowrun dispatch renew ds-1 --token 1 --lease 30m         I am still at work
  flowrun dispatch close ds-1 --token 1                     it is done
  flowrun dispatch release ds-1 --token 1 --reason "..."    give it back
  flowrun dispatch hand-over ds-1 --token 1 --to leo --summary "..." --next "..."

Each claim has a higher token than all claims before it. A command with an old token changes nothing, and says so.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				r.ID = words[0]
			}
			return a.runDispatchClaim(&r)
		},
	}
	f := c.Flags()
	f.StringVar(&r.As, "as", "", "the `name` of the agent or person that takes the work")
	f.StringArrayVar(&r.Capabilities, "capability", nil, "a capability of the agent, as `word` (repeatable)")
	f.BoolVar(&r.Tickets, "tickets", false, "take from the tickets of the store's own backlog instead")
	leaseFlag(c, &r.Lease)
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDispatchClaim(r *args.DispatchClaim) error {
	if err := r.Check(); err != nil {
		return err
	}
	queue := event.QueueDispatch
	if r.ID != "" {
		queue = serve.QueueOf(r.ID)
	} else if r.Tickets {
		queue = event.QueueTicket
	}
	items, list, err := a.claimable(queue)
	if err != nil {
		return err
	}
	b := &loop.Board{Agents: []loop.Agent{{Name: r.As, Capabilities: r.Capabilities, Free: 1}}, Sources: []loop.Source{{Name: string(queue), Items: items}}}
	if r.ID != "" {
		return a.claimNamed(b, list, queue, r)
	}
	for {
		i := b.Pick(0, 0)
		if i < 0 {
			break
		}
		c, err := a.claimWork(queue, &items[i].Item, r)
		if err != nil {
			return err
		}
		if c.Won {
			return a.printClaim(c, list[i], r.JSON)
		}
		items[i].Taken = c.Why // somebody else was faster
	}
	if r.JSON {
		return ui.WriteJSON(a.out, map[string]any{"id": nil})
	}
	a.err.Printf("There is no work for %s.\n", ui.Clean(r.As))
	for i := range items {
		if !items[i].Closed {
			a.err.Printf("  %s: %s\n", ui.Clean(items[i].ID), ui.Clean(b.Why(0, 0, i)))
		}
	}
	return nil
}

// claimNamed takes the work that a person has named.
func (a *app) claimNamed(b *loop.Board, list []value.Value, queue event.Queue, r *args.DispatchClaim) error {
	items := b.Sources[0].Items
	for i := range items {
		if items[i].ID != r.ID {
			continue
		}
		if why := b.Why(0, 0, i); why != "" {
			return a.refuseClaim(r.ID, "taken", why)
		}
		c, err := a.claimWork(queue, &items[i].Item, r)
		if err == nil && !c.Won {
			err = a.refuseClaim(r.ID, "taken", c.Why)
		}
		if err != nil {
			return err
		}
		return a.printClaim(c, list[i], r.JSON)
	}
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchShow, Queue: queue, ID: r.ID}}, readsStore)
	if err != nil {
		return err
	}
	o, _ := v.(map[string]any)
	state, _ := o["state"].(string)
	return a.refuseClaim(r.ID, "taken", "it is "+state)
}

// claimable lists the open work of a queue as a loop would see it, beside the answer of the store.
func (a *app) claimable(queue event.Queue) ([]loop.Item, []value.Value, error) {
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: queue}}, readsStore)
	if err != nil {
		return nil, nil, err
	}
	o, _ := v.(map[string]any)
	list, _ := o["items"].([]any)
	items := make([]loop.Item, len(list))
	for i, one := range list {
		if items[i].Item, err = event.ItemOf(one); err != nil {
			return nil, nil, err
		}
		o, _ := one.(map[string]any)
		claim, _ := o["claim"].(map[string]any)
		switch state, _ := o["state"].(string); event.ClaimState(state) {
		case event.ClaimHeld, event.ClaimParked:
			c, err := event.ClaimOf(claim)
			if err != nil {
				return nil, nil, err
			}
			items[i].Taken = fmt.Sprintf("%s has it with token %d", c.Who(), c.Token)
			if c.Until != 0 {
				items[i].Taken += " until " + c.Until.String()
			}
		case event.ClaimDead:
			items[i].Barred = "it was given up, and is a dead letter: flowrun dlq list"
		case event.ClaimOpen, event.ClaimClosed:
		}
	}
	return items, list, nil
}

// claimWork asks the store for the claim of an item. An item that was closed or cancelled since it was listed is not taken.
func (a *app) claimWork(queue event.Queue, item *event.Item, r *args.DispatchClaim) (c event.Claim, err error) {
	lease, err := r.Lease.Read()
	if err != nil {
		return c, err
	}
	ask := event.ClaimRequest{Operation: event.ClaimTake, Item: shared.ItemKey(queue, item.ID), Agent: r.As, Lease: lease, Title: item.Title}
	if c, err = a.askClaim(&ask); err != nil || !c.Won {
		return c, err
	}
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchShow, Queue: queue, ID: item.ID}}, readsStore)
	if err != nil {
		return c, err
	}
	if o, _ := v.(map[string]any); o["closed"] == true {
		c, err = a.askClaim(&event.ClaimRequest{Operation: event.ClaimClose, Item: ask.Item, Token: c.Token})
		c.Won, c.Why = false, "it was closed or cancelled meanwhile"
	}
	return c, err
}

// printClaim prints a claim that was taken, and the work.
func (a *app) printClaim(c event.Claim, item value.Value, asJSON bool) error {
	o, _ := item.(map[string]any)
	delete(o, "claim")
	delete(o, "state")
	if asJSON {
		return ui.WriteJSON(a.out, struct {
			ID    value.Value `json:"id"`
			Token uint64      `json:"token"`
			Until string      `json:"until"`
			Item  value.Value `json:"item"`
		}{o["id"], c.Token, c.Until.String(), o})
	}
	id, _ := o["id"].(string)
	title, _ := o["title"].(string)
	a.out.Printf("%s  token %d until %s  %s\n", ui.Clean(id), c.Token, c.Until, ui.Clean(title))
	a.printWork(o)
	return nil
}
