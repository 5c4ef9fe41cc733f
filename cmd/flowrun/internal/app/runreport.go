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

// writeReports writes the reports on a run that were asked for, and the summary where GitHub Actions wants one, and gives the run's own
// verdict unless that fails. They are made from the journal, however the run stands: whoever drives it keeps less than they show.
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
