package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// workFlags declares the flags that describe work.
func workFlags(c *cobra.Command, r *args.DispatchAdd) {
	f := c.Flags()
	f.StringVar(&r.Body, "body", "", "a description, as `text`")
	f.StringVar(&r.To, "to", "", "the `agent` for the work (default: any agent)")
	f.StringArrayVar(&r.Labels, "label", nil, "a `label` of it (repeatable)")
	f.StringArrayVar(&r.Needs, "needs", nil, "the `id` of work that must be done first (repeatable)")
	f.StringArrayVar(&r.Capabilities, "capability", nil, "a capability that an agent needs, as `word` (repeatable)")
	f.IntVar(&r.Priority, "priority", 0, "a `number`; the highest priority is first")
	f.StringVar(&r.ID, "id", "", "the `id` of the work (default: the store gives one)")
	f.StringVar(&r.Key, "key", "", "a `key`: work with the same key is added only once")
	f.StringVar(&r.As, "as", "", "the `name` of the person who adds the work (default: the user of the operating system)")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
}

// addWork adds work to the queue dispatch.
func (a *app) addWork(r *args.DispatchAdd) error {
	if r.As == "" {
		r.As = strings.TrimPrefix(a.person().Author, "user:")
	}
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchAdd, Queue: event.QueueDispatch, Key: r.Key, By: r.As,
		Item: &event.Item{ID: r.ID, Title: r.Title, Body: r.Body, Labels: r.Labels, Needs: r.Needs, Capabilities: r.Capabilities, Priority: r.Priority, Assignee: r.To}}}, makesStore)
	if err != nil {
		return err
	}
	return a.printAdded(v, "is there already", r.JSON)
}

// workWords is work in a line: its id, how it stands, and what it is.
func workWords(v value.Value) string {
	o, _ := v.(map[string]any)
	text := func(o map[string]any, name string) string {
		s, _ := o[name].(string)
		return ui.Clean(s)
	}
	state := text(o, "state")
	if claim, is := o["claim"].(map[string]any); is && (state == string(event.ClaimHeld) || state == string(event.ClaimParked)) {
		state += " by " + text(claim, "agent")
	}
	about := ""
	if n, _ := o["priority"].(float64); n != 0 {
		about += fmt.Sprintf("  priority %g", n)
	}
	if to := text(o, "assignee"); to != "" {
		about += "  to " + to
	} else if agents := joinWords(o["agents"]); agents != "" {
		about += "  to one of " + agents
	}
	if needs := joinWords(o["needs"]); needs != "" {
		about += "  needs " + needs
	}
	return fmt.Sprintf("%s  %s  %s%s", text(o, "id"), state, text(o, "title"), about)
}

// joinWords is a list of texts in words.
func joinWords(v value.Value) string {
	list, _ := v.([]any)
	words := make([]string, len(list))
	for i, one := range list {
		words[i] = ui.Clean(value.Text(one))
	}
	return strings.Join(words, ", ")
}

// leaseFlag declares the flag --lease.
func leaseFlag(c *cobra.Command, l *args.Lease) {
	c.Flags().StringVar((*string)(l), "lease", "", "the lease of the claim, as `duration`, at most 24h (default 10m)")
}

// refuseClaim says that a claim is not given or changed, and why.
func (a *app) refuseClaim(id, done, why string) error {
	a.err.Printf("%s is not %s: %s\n", ui.Clean(id), done, ui.Clean(why))
	return &ended{exitNo}
}

// refuseToken is refuseClaim for whoever gave the token of a claim. If that claim has ended, it says so, and what to do.
func (a *app) refuseToken(id string, token uint64, done, why string) error {
	refused := a.refuseClaim(id, done, why)
	c, err := a.askClaim(&event.ClaimRequest{Operation: event.ClaimLook, Item: shared.ItemKey(serve.QueueOf(id), id), Token: token})
	if err != nil || token > c.Token || token == c.Token && c.State != event.ClaimOpen {
		return refused
	}
	a.err.Printf("The claim with token %d has ended: its lease ran out, or the work was given back.\n", token)
	switch c.State {
	case event.ClaimOpen:
		a.err.Printf("The work is free now. Take it again with: flowrun dispatch claim %s --as NAME\n", quoteWord(id))
	case event.ClaimHeld, event.ClaimParked:
		a.err.Printf("Leave the work to %s, and take other work with: flowrun dispatch claim --as NAME\n", ui.Clean(c.Who()))
	case event.ClaimClosed, event.ClaimDead:
		a.err.Printf("Take other work with: flowrun dispatch claim --as NAME\n")
	}
	return refused
}

// askClaim takes or changes a claim.
func (a *app) askClaim(q *event.ClaimRequest) (event.Claim, error) {
	v, err := a.askShared(event.StoreRequest{Claim: q}, changesStore)
	if err != nil {
		return event.Claim{}, err
	}
	return event.ClaimOf(v)
}

// holdFlags declares the flags of the commands that change a claim.
func holdFlags(c *cobra.Command, r *args.DispatchHold) {
	tokenFlag(c, &r.Token)
	c.Flags().BoolVar(&r.JSON, "json", false, "as JSON")
}

func tokenFlag(c *cobra.Command, token *uint64) {
	c.Flags().Uint64Var(token, "token", 0, "the `number` that dispatch claim printed")
}

// changeClaim renews, gives back or closes a claim.
func (a *app) changeClaim(r *args.DispatchHold, o event.ClaimOperation, done string) error {
	if err := r.Check(); err != nil {
		return err
	}
	q := event.ClaimRequest{Operation: o, Item: shared.ItemKey(serve.QueueOf(r.ID), r.ID), Token: r.Token, Message: r.Reason}
	if o == event.ClaimRenew {
		q.Lease, _ = r.Lease.Read()
	}
	c, err := a.askClaim(&q)
	if err != nil {
		return err
	}
	if !c.Won {
		return a.refuseToken(r.ID, r.Token, done, c.Why)
	}
	switch {
	case r.JSON:
		return ui.WriteJSON(a.out, struct {
			ID    string           `json:"id"`
			Token uint64           `json:"token"`
			State event.ClaimState `json:"state"`
			Until *string          `json:"until"`
		}{r.ID, c.Token, c.State, textOrNull(c.Until.String())})
	case o == event.ClaimRenew:
		a.out.Printf("%s is yours until %s\n", ui.Clean(r.ID), c.Until)
	case c.State == event.ClaimDead:
		a.out.Printf("%s failed for the second time, and is a dead letter: flowrun dlq list\n", ui.Clean(r.ID))
	case c.State == event.ClaimOpen:
		a.out.Printf("%s can be taken by others again\n", ui.Clean(r.ID))
	default:
		a.out.Printf("%s is closed\n", ui.Clean(r.ID))
	}
	return nil
}

func textOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// printWork prints what work is about, and the document of its hand-over.
func (a *app) printWork(o map[string]any) {
	a.printMembers("", o, "by", "created_at", "ended", "labels", "capabilities", "url", "body")
	if h, is := o["handoff"].(map[string]any); is {
		a.out.Printf("  handed over:\n")
		a.printMembers("  ", h, "to", "ticket", "summary", "next", "files_changed", "decisions", "open_questions", "acceptance", "blockers", "artifacts", "run", "node", "at")
	}
}

// printMembers prints the members of an object that are there, a line each.
func (a *app) printMembers(indent string, o map[string]any, names ...string) {
	for _, name := range names {
		switch v := o[name].(type) {
		case nil:
		case string:
			if v != "" {
				a.out.Printf("%s  %s: %s\n", indent, name, ui.CleanLines(v))
			}
		case []any:
			if len(v) > 0 {
				a.out.Printf("%s  %s: %s\n", indent, name, joinWords(v))
			}
		case map[string]any:
			for _, key := range value.Keys(v) {
				a.out.Printf("%s  %s %s: %s\n", indent, name, ui.Clean(key), ui.CleanLines(value.Text(v[key])))
			}
		default:
			a.out.Printf("%s  %s: %s\n", indent, name, ui.CleanLines(value.Text(v)))
		}
	}
}
