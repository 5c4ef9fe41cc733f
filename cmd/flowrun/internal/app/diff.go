package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) newDiffCommand() *cobra.Command {
	asJSON, all := false, false
	c := &cobra.Command{
		Use: "diff A [B]", Short: "Compare run B, or the current file, with run A", Args: between(1, 2, "A [B]"),
		Long: `diff compares two runs: their definitions, their inputs, and their nodes by path. A node differs in status, attempts, output, error or
definition, or in duration, if the difference is at least one second and at least half.
Without B, diff compares the definition of A with the current version of its file.

  flowrun runs diff release latest
  flowrun runs diff latest`,
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withRun(words[0], nil, func(s *store, one engine.Info) error {
				ctx := context.Background()
				if len(words) == 1 {
					d, err := serve.CompareFile(ctx, s, one.Run, Release)
					if err == nil && asJSON {
						err = ui.WriteJSON(a.out, d)
					} else if err == nil {
						a.sayDiffOfFile(&d)
					}
					return err
				}
				other, err := a.findRun(ctx, s, words[1])
				if err != nil {
					return err
				}
				d, err := serve.CompareRuns(ctx, s, one, other, all)
				if err != nil {
					return err
				}
				if asJSON {
					return ui.WriteJSON(a.out, d)
				}
				ui.Comparison(a.out, &d)
				return nil
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().BoolVar(&all, "all", false, "also show nodes that do not differ")
	return c
}

// sayDiffOfFile writes how a file differs from the definition of a run.
func (a *app) sayDiffOfFile(d *serve.DefinitionChanges) {
	path := ui.Clean(disk.Short(d.Path))
	switch d.State {
	case serve.FileUnknown:
		a.err.Printf("Run %s does not know its file, or the file cannot be read.\n", d.Run)
		return
	case serve.FileGone:
		a.err.Printf("%s, which run %s began with, no longer exists.\n", path, d.Run)
		return
	case serve.FileBroken:
		a.err.Printf("%s has errors now: %s. See: flowrun validate %s\n", path, ui.Clean(d.Message), ui.Quote(path))
	case serve.FileSame:
		a.err.Printf("The current file %s would do the same as run %s.\n", path, d.Run)
	}
	for _, c := range append(d.Changes.Declarations, d.Changes.Nodes...) {
		a.out.Printf("%s\n", ui.Clean(ui.ChangeWords(c)))
	}
	for _, f := range d.Files {
		ui.DiffText(a.out, f.Diff)
	}
}
