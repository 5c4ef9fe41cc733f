package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
)

func (a *app) newLoopNextCommand() *cobra.Command {
	var o args.LoopNext
	c := &cobra.Command{
		Use: "next NAME [FILE|DIR]", Short: "Show which item each agent of a loop would take, and why no agent takes the others", Args: between(1, 2, "NAME [FILE|DIR]"),
		Long: `next asks the sources of a loop as its next round would, and prints which agent takes which item, and for each other item the reason why no agent takes it.
It takes nothing, so it wants --dry-run. Sources of the kind improvement, which come when there is nothing else to do, are not listed.`,
		RunE: func(_ *cobra.Command, words []string) error {
			o.Name, o.Path, a.asJSON = words[0], ".", o.JSON
			if len(words) > 1 {
				o.Path = words[1]
			}
			return a.runLoopNext(&o)
		},
	}
	variableFlags(c, &o.Given)
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "only show it")
	c.Flags().BoolVar(&o.JSON, "json", false, "as JSON")
	return c
}

// loopNext is the output of loop next with --json.
type loopNext struct {
	Loop    string             `json:"loop"`
	Choices []serve.LoopChoice `json:"choices"`
	Items   []serve.LoopLeft   `json:"items"` // that nobody takes
}

func (a *app) runLoopNext(o *args.LoopNext) error {
	if err := o.Check(); err != nil {
		return err
	}
	p, err := a.loadProgram(o.Path)
	if err != nil {
		return err
	}
	if err := a.refuseEngineOf(p, "loop next"); err != nil {
		return err
	}
	l, err := p.loop(o.Name)
	if err != nil {
		return err
	}
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: l.Name}, &args.Apply{Given: o.Given})
	if err != nil {
		return err
	}
	dir, err := a.storeDir(o.Path)
	if err != nil {
		return err
	}
	s, err := a.openStore(dir, args.Drive{})
	if err != nil {
		return err
	}
	defer s.Close()
	start, _ := newStart(p, l.Name, first)
	b, err := s.LoopBoard(context.Background(), start, held)
	if err != nil {
		return err
	}
	out := loopNext{Loop: l.Name}
	out.Choices, out.Items = serve.ReadBoard(b)
	if o.JSON {
		return ui.WriteJSON(a.out, out)
	}
	for _, c := range out.Choices {
		a.out.Printf("%s takes %s of %s: %s\n", ui.Clean(c.Agent), ui.Clean(c.ID), ui.Clean(c.Source), ui.Clean(c.Title))
	}
	if len(out.Choices) == 0 {
		a.out.Printf("no agent takes an item\n")
	}
	for _, i := range out.Items {
		a.out.Printf("left: %s of %s: %s\n", ui.Clean(i.ID), ui.Clean(i.Source), ui.Clean(i.Title))
		for _, why := range i.Why {
			a.out.Printf("  %s\n", ui.Clean(why))
		}
	}
	for s := range b.Sources {
		if why := b.Sources[s].Barred; why != "" {
			a.out.Printf("source %s: %s\n", ui.Clean(b.Sources[s].Name), ui.Clean(why))
		}
	}
	return nil
}
