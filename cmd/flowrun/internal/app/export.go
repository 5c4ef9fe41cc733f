package app

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/web"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/trace"
	"github.com/flowrun/flowrun/runner/trace/otlp"
)

func (a *app) newExportCommand() *cobra.Command {
	to, asTrace := "", false
	c := &cobra.Command{
		Use: "export RUN", Short: "Write a run to one HTML file, or its trace to JSON", Args: between(1, 1, "RUN"),
		Long: `export writes one self-contained HTML file that shows a run to people without flowrun: the nodes with their status and reason, the graph, the timeline,
the attempts of failed nodes, and the definition. The file has no scripts and loads nothing. Sensitive values are masked, as everywhere.

  flowrun export latest > run.html
  flowrun export nightly --output nightly.html

With --otlp it writes the spans of the run and of the runs that it called, in the JSON form of OpenTelemetry: see flowrun explain traces.`,
		RunE: func(_ *cobra.Command, words []string) error { return a.runExport(words[0], to, asTrace) },
	}
	c.Flags().BoolVar(&asTrace, "otlp", false, "write the trace as JSON of OTLP")
	c.Flags().StringVarP(&to, "output", "o", "", "write to this `FILE` and not to standard output")
	return c
}

func (a *app) runExport(run, to string, asTrace bool) error {
	return a.withRun(run, nil, func(s *store, info engine.Info) (err error) {
		var body []byte
		if asTrace {
			body, err = a.exportTrace(s, info.Run)
		} else {
			body, err = web.Export(context.Background(), serve.Reader(s), info.Run)
		}
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

// exportTrace returns the spans of a run and of the runs that it called, as JSON. Of a run that has not ended it returns those of the attempts
// that have.
func (a *app) exportTrace(s *store, run string) ([]byte, error) {
	ctx := context.Background()
	tree, err := s.Tree(ctx, run)
	if err != nil {
		return nil, err
	}
	var spans []*trace.Span
	for i := range tree {
		err := s.Spans(ctx, tree[i].Run, func(span *trace.Span) error {
			spans = append(spans, span)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading run %s: %w", tree[i].Run, err)
		}
	}
	resource, err := otlp.ReadResource(a.getenv, Release)
	if err != nil {
		return nil, err
	}
	body, err := trace.JSON(&resource, spans)
	return append(body, '\n'), err
}
