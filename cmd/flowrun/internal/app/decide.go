package app

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

func (a *app) newDecideCommand() *cobra.Command {
	var r args.Decide
	c := &cobra.Command{
		Use: "decide RUN NODE WORD", Short: "Decide for a node that waits for people", Args: between(1, 3, "RUN NODE WORD"),
		Long: `decide records the decision of a person, and returns when it is durable. flowrun inbox lists the waiting nodes and their words. NODE is the
path of the node with or without iterations, or its name if it is unique; a dot is the run itself. The process of the run then continues it; without a
process, decide prints the command to continue, and --resume runs this command.

A decision that comes too late is not recorded: decide prints the earlier decision, and exits with 1. A person who is not an approver is refused in the same way. With --shown the decision is valid only for the value that the inbox showed, and is refused if the value has changed.

  flowrun decide latest ok approve --comment "go ahead" --input day=monday
  flowrun decide latest ok revise --comment "one page, not three"
  flowrun decide latest label done --output '{"label": "cat"}'
  flowrun decide latest label fail --message "the picture is missing"
  flowrun decide latest review/ok reject --as ann --resume
  flowrun decide latest build ack
  flowrun decide latest build override --output '{"version": "1.2"}'
  flowrun decide latest . continue`,
		RunE: func(c *cobra.Command, words []string) error {
			r.HasOutput = c.Flags().Changed("output")
			words = append(words, "", "")
			r.Run, r.Node, r.Word, a.asJSON = words[0], words[1], words[2], r.JSON
			if r.Word == "" && slices.Contains(event.Words, event.Word(r.Node)) {
				err := a.withRun(r.Run, nil, func(s *store, info engine.Info) error { return a.explainWord(s, info, &r) })
				if missing := (*noRun)(nil); errors.As(err, &missing) {
					missing.usage.Hint = "Name the run first. For the newest run:\n  " + quoteLine([]string{"flowrun", "decide", "latest", r.Run, r.Node})
				}
				return err
			}
			if !slices.Contains(event.Words, event.Word(r.Word)) {
				return a.withRun(r.Run, nil, func(s *store, info engine.Info) error { return a.explainWord(s, info, &r) })
			}
			if err := r.Check(); err != nil {
				return err
			}
			return a.withRun(r.Run, &r.Drive, func(s *store, info engine.Info) error { return a.runDecide(s, info, &r) })
		},
	}
	f := c.Flags()
	f.StringVar(&r.As, "as", "", "the `name` of the person who decides (default: the user of the operating system)")
	f.StringVar(&r.Comment, "comment", "", "a comment of the person")
	f.StringVar(&r.Comment, "message", "", "the same as --comment: the reason why a task fails")
	f.StringVar(&r.Output, "output", "", "the output of a task that is done, or of a node that is overridden, as `JSON`")
	f.StringVar(&r.Shown, "shown", "", "the `hash` of the content that the person has seen, as shown in the inbox")
	f.BoolVar(&r.Resume, "resume", false, "continue the run here if no process drives it")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	pairFlags(c, "input", "an input of the approval", &r.Inputs)
	noWaitFlag(c, &r.Drive)
	return c
}

// runDecide records a decision, and says what became of it.
func (a *app) runDecide(s *store, info engine.Info, r *args.Decide) error {
	ctx := context.Background()
	d := event.Decision{Word: event.Word(r.Word), By: r.As, Comment: r.Comment, Shown: r.Shown}
	if d.By == "" {
		d.By = userName()
	}
	if r.HasOutput {
		var err error
		if d.Output, err = valueOf("--output", r.Output); err != nil {
			return err
		}
		if d.Word != event.WordDone && d.Word != event.WordOverride {
			return args.Errorf("an output is only for %s or %s, and the decision is %s", event.WordDone, event.WordOverride, d.Word)
		}
	}
	q := &event.DecideRequest{Run: info.Run, Node: r.Node, Decision: d}
	if err := a.readAnswer(ctx, s, q, &r.Inputs); err != nil {
		return err
	}
	out, err := s.Ask(ctx, event.StoreRequest{Decide: q})
	if err != nil {
		return refusedRequest(err)
	}
	v, err := shared.ReadVerdict(out)
	if err == nil && v.Outcome == shared.Recorded && v.Word != "" {
		v, err = followDecision(ctx, s, v, info.Run, d.By)
	}
	if err != nil {
		return err
	}
	if info, err = s.Get(ctx, info.Run); err != nil {
		return err
	}
	return a.sayVerdict(s, info, v, d, r)
}
