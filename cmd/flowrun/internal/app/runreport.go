package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/event"
)

// writeReports writes the requested reports on a run, and the summary for GitHub Actions if it asks
// for one. It returns the run's own verdict unless a write fails. The reports are made from the
// journal, however the run ended, because the driver keeps less than the reports show.
func (a *app) writeReports(s *store, run string, scene ui.Scene, reports []args.Form, verdict error) error {
	var done *ended
	if len(reports) == 0 && a.getenv("GITHUB_STEP_SUMMARY") == "" || verdict != nil && !errors.As(verdict, &done) {
		return verdict
	}
	p, err := s.History(context.Background(), run)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	now := event.At(time.Now())
	for _, f := range reports {
		err := reportTo(f.Path, func(w io.Writer) error { return ui.RunReport(w, f.Format, p.View, scene, now) })
		if err != nil {
			return err
		}
	}
	if err := a.appendSummary(func(most int) string { return ui.RunSummary(p.View, scene, now, most) }); err != nil {
		return err
	}
	return verdict
}
