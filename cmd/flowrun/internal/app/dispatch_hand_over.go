package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newDispatchHandOverCommand() *cobra.Command {
	var r args.DispatchHandOver
	c := &cobra.Command{
		Use: "hand-over ID", Short: "Hand claimed work over to an agent", Args: between(1, 1, "ID"),
		Long: `hand-over closes work that was claimed, and hands in its continuation for another agent, with a document that says what was done and what to do next. Both happen in one transaction. hand-over prints the id of the new work; repeating the command adds nothing.

  flowrun dispatch hand-over ds-1 --token 1 --to leo --summary "The button works" --next "Write a test for it" --file login.js`,
		RunE: func(_ *cobra.Command, words []string) error {
			r.ID = words[0]
			return a.runDispatchHandOver(&r)
		},
	}
	f := c.Flags()
	f.StringVar(&r.To, "to", "", "the `agent` that continues")
	f.StringVar(&r.Summary, "summary", "", "what was done, as `text`")
	f.StringVar(&r.Next, "next", "", "the next work, as `text`; its first line is the title")
	f.StringArrayVar(&r.FilesChanged, "file", nil, "a `file` that was changed (repeatable)")
	f.StringArrayVar(&r.Decisions, "decision", nil, "a decision, as `text` (repeatable)")
	f.StringArrayVar(&r.OpenQuestions, "question", nil, "an open question, as `text` (repeatable)")
	f.StringArrayVar(&r.Acceptance, "acceptance", nil, "a criterion for done work, as `text` (repeatable)")
	f.StringArrayVar(&r.Blockers, "blocker", nil, "an obstacle, as `text` (repeatable)")
	f.IntVar(&r.Priority, "priority", 0, "a `number`; the highest priority is first")
	f.StringVar(&r.As, "as", "", "the `name` of the person or agent that hands the work over (default: the user of the operating system)")
	tokenFlag(c, &r.Token)
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runDispatchHandOver(r *args.DispatchHandOver) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.As == "" {
		r.As = strings.TrimPrefix(a.person().Author, "user:")
	}
	title, _, _ := strings.Cut(strings.TrimSpace(r.Next), "\n")
	v, err := a.askShared(event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchHandOver, Queue: serve.QueueOf(r.ID), ID: r.ID, Token: r.Token, By: r.As,
		Item: &event.Item{Title: strings.TrimSpace(title), Body: r.Summary, Priority: r.Priority, Assignee: r.To, Handoff: &event.Handoff{To: r.To, Ticket: r.ID, Summary: r.Summary, Next: r.Next,
			FilesChanged: r.FilesChanged, Decisions: r.Decisions, OpenQuestions: r.OpenQuestions, Acceptance: r.Acceptance, Blockers: r.Blockers}}}}, changesStore)
	if err != nil {
		return err
	}
	if o, _ := v.(map[string]any); o["id"] == nil {
		why, _ := o["why"].(string)
		return a.refuseToken(r.ID, r.Token, "handed over", why)
	}
	return a.printAdded(v, "has taken its place already", r.JSON)
}
