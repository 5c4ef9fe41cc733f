package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/reference"
	"github.com/flowrun/flowrun/runner/event"
)

// writeReport writes a report in the requested form.
func (a *app) writeReport(r *ui.Report, f args.Form) error {
	switch {
	case f.Path != "":
		if err := reportTo(f.Path, func(w io.Writer) error { return r.Write(w, f.Format) }); err != nil {
			return err
		}
	case f.Format == "text":
		ui.Diagnostics(a.err, r.List, r.Sources)
		if !r.List.HasErrors() {
			a.out.Printf("%s\n", r.Checked)
		}
	default:
		if err := r.Write(a.out, f.Format); err != nil {
			return err
		}
	}
	if f.Format == "github" {
		return a.appendSummary(r.Summary)
	}
	return nil
}

// reportTo writes a report to a file, after the whole report could be made.
func reportTo(path string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// appendSummary adds a text to the summary of the step if GitHub Actions asks for one, within the
// bound of its file: text receives the number of bytes that are left.
func (a *app) appendSummary(text func(most int) string) error {
	name := a.getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("writing the summary of the step: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteString(text(ui.MaxSummaryBytes - int(info.Size())))
	}
	if err != nil {
		return fmt.Errorf("writing the summary of the step: %w", err)
	}
	return nil
}

// baseOf returns the function that names files relative to the root of the repository of the
// current folder, or relative to that folder.
func baseOf() func(string) (string, bool) {
	root, err := os.Getwd()
	if r := disk.Repository(root); err == nil && r != "" {
		root = r
	}
	return func(name string) (string, bool) {
		abs, err := filepath.Abs(name)
		if err != nil {
			return name, false
		}
		rel, err := filepath.Rel(root, abs)
		if err != nil || !filepath.IsLocal(rel) {
			return filepath.ToSlash(name), false
		}
		return filepath.ToSlash(rel), true
	}
}

// ruleOf returns the description of a code.
func ruleOf(code string) ui.Rule {
	r := ui.Rule{Title: reference.Title(code)}
	if p, ok := reference.PageOf(code); ok {
		r.Help, r.URL = p.Why+"\n\n"+p.Todo, reference.URL(code)
	}
	return r
}

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
