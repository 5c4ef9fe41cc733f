package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// testPatience is how much real time one test may take.
const testPatience = 10 * time.Second

func (a *app) newTestCommand() *cobra.Command {
	t := args.Test{Format: "text"}
	c := &cobra.Command{
		Use: "test [PATH...]", Short: "Prove workflows in virtual time, without starting anything",
		Long: `test runs the tests of files NAME.flowtest.hcl: a file, or those of a folder; DIR/... means those of every folder below DIR. Without a
path it takes the current folder. A test stands beside its program. Each test runs a workflow in virtual time, and the stubs of the test
answer in place of agents, programs and requests: nothing is started, and days of retries take milliseconds.

The exit code is 1 if a test fails, and 2 if a test file or its program is refused.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if t.Paths = words; len(words) == 0 {
				t.Paths = []string{"."}
			}
			if err := t.Check(); err != nil {
				return err
			}
			return a.runTest(&t)
		},
	}
	c.Flags().StringVar(&t.Run, "run", "", "run only the tests whose names match a `regular expression`")
	c.Flags().StringVar(&t.Format, "format", "text", "how to print the results: "+strings.Join(args.TestFormats, ", "))
	return c
}

// runTest runs the tests of all files, and prints their results.
func (a *app) runTest(t *args.Test) error {
	files, err := findTests(t.Paths)
	if err != nil {
		return err
	}
	report := &ui.TestReport{Sources: ui.Sources{}}
	began := time.Now()
	var list diag.List
	for _, file := range files {
		results, found := a.testFile(file, t.Wanted, report.Sources)
		list = append(list, found...)
		report.Files = append(report.Files, ui.TestFile{Name: ui.Clean(file), Results: results})
	}
	report.Took = time.Since(began)
	if list = list.Sort(); list.HasErrors() {
		if t.Format == "json" {
			_ = ui.DiagnosticsJSON(a.out, list, report.Sources)
		} else {
			ui.Diagnostics(a.err, list, report.Sources)
		}
		return &ended{exitUsage}
	}
	if report.Tests() == 0 {
		return &args.Error{Message: "no test was run", Hint: noTestHint(t.Run)}
	}
	if err := report.Write(a.out, t.Format); err != nil {
		return err
	}
	if report.Failed() > 0 {
		return &ended{exitNo}
	}
	return nil
}

func noTestHint(pattern string) string {
	if pattern != "" {
		return "No name of a test matches --run " + ui.Quote(pattern) + "."
	}
	return `A test file has blocks  test "NAME" { … }.`
}

// testFile runs the tests of a file whose names are wanted.
func (a *app) testFile(file string, wanted func(string) bool, sources ui.Sources) (out []*flowtest.Result, list diag.List) {
	fsys, name, opts := a.openFolder(file)
	tests, list := dsl.LoadTests(fsys, name, opts)
	for name, text := range tests.Sources { // any order: it fills a map
		sources[name] = text
	}
	if list.HasErrors() {
		return nil, list
	}
	p := flowtest.NewProgram(tests.IR)
	for i := range tests.Tests {
		if wanted(tests.Tests[i].Name) {
			out = append(out, runOneTest(p, &tests.Tests[i]))
		}
	}
	return out, nil
}

func runOneTest(p *flowtest.Program, t *ir.Test) *flowtest.Result {
	ctx, stop := context.WithTimeoutCause(context.Background(), testPatience, flowtest.ErrTooLong)
	defer stop()
	return flowtest.Run(ctx, p, t)
}

// findTests lists the test files that paths mean.
func findTests(paths []string) ([]string, error) {
	if slices.Contains(paths, "") {
		return nil, emptyPath()
	}
	files, err := disk.Tests(paths)
	if none := new(disk.NoTests); errors.As(err, &none) {
		hint := "Tests stand in files NAME" + dsl.TestSuffix + " beside the program."
		if !none.File {
			hint += " DIR/... means every folder below DIR."
		}
		return nil, &args.Error{Message: ui.Clean(none.Error()), Hint: hint}
	}
	return files, err
}
