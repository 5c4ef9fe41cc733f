package app

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/web"
	"github.com/flowrun/flowrun/runner/engine"
)

func (a *app) newExportCommand() *cobra.Command {
	to := ""
	c := &cobra.Command{
		Use: "export RUN", Short: "Write a run to one HTML file", Args: between(1, 1, "RUN"),
		Long: `export writes one self-contained HTML file that shows a run to people without flowrun: the nodes with their status and reason, the graph, the timeline,
the attempts of failed nodes, and the definition. The file has no scripts and loads nothing. Sensitive values are masked, as everywhere.

  flowrun export latest > run.html
  flowrun export nightly --output nightly.html`,
		RunE: func(_ *cobra.Command, words []string) error { return a.runExport(words[0], to) },
	}
	c.Flags().StringVarP(&to, "output", "o", "", "write to this `FILE` and not to standard output")
	return c
}

func (a *app) runExport(run, to string) error {
	return a.withRun(run, nil, func(s *store, info engine.Info) error {
		body, err := web.Export(context.Background(), serve.Reader(s), info.Run)
		if err != nil {
			return err
		}
		if to == "" {
			a.out.Raw(body)
			return nil
		}
		if err := os.WriteFile(to, body, 0o644); err != nil {
			return fmt.Errorf("writing run %s: %w", info.Run, err)
		}
		return nil
	})
}
