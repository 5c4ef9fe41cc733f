package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

func (a *app) newLoopNextCommand() *cobra.Command {
	var o args.LoopNext
	c := &cobra.Command{
		Use: "next NAME [FILE|DIR]", Short: "Show which item each agent of a loop would take, and why no agent takes the others", Args: between(1, 2, "NAME [FILE|DIR]"),
		Long: `next asks the sources of a loop, and prints which agent would take which item, and for each other item why no agent takes it.
On a Temporal server, a worker asks the sources from its workspace.
next takes nothing, so it requires --dry-run. It does not list sources of the kind improvement, which are used when there is no other work.`,
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

func (a *app) runLoopNext(o *args.LoopNext) error {
	if err := o.Check(); err != nil {
		return err
	}
	p, err := a.loadProgram(o.Path)
	if err != nil {
		return err
	}
	if err := a.useEngineOf(p); err != nil {
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
	out, err := a.readLoopNext(p, l.Name, o.Path, first, held)
	if err != nil {
		return err
	}
	out.Loop = l.Name
	if o.JSON {
		return ui.WriteJSON(a.out, out.nextOfLoop)
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
	for _, s := range out.Sources {
		a.out.Printf("source %s: %s\n", ui.Clean(s.Name), ui.Clean(s.Barred))
	}
	return nil
}

// readLoopNext asks the sources of a loop, from the workspace of a worker where the runs are on an engine.
func (a *app) readLoopNext(p *program, name, path string, first event.RunStarted, held map[string]value.Value) (out board, err error) {
	var s *store
	if a.engine() != "" {
		err = refuseOnFleet(p, name, &first)
	} else {
		var dir string
		if dir, err = a.storeDir(path); err == nil {
			s, err = a.openStore(dir, args.Drive{})
		}
	}
	if err != nil {
		return out, err
	}
	if s != nil {
		defer s.Close()
	}
	start, _ := newStart(p, name, first)
	return a.askBoard(context.Background(), s, start, held)
}
