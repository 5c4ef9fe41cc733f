package app

import (
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
)

func (a *app) newValidateCommand() *cobra.Command {
	v := args.Validate{FailLevel: "error", Advice: "auto"}
	asJSON := false
	c := &cobra.Command{
		Use: "validate [PATH...]", Short: "Check files without running anything",
		Long: `validate checks programs: a file, or a folder whose files are read together. DIR/... means every folder below DIR with
files *.flow.hcl; each of these folders is a program of its own, and other files *.hcl there are left to other tools. Without a
path it checks the current folder. The exit code is 1 if a program is refused.

--env NAME also checks that NAME.flowvars beside the program has valid values for its variables; --env all checks each
such file.

--format FORMAT sets the form of the findings on the screen, --format FORMAT=PATH writes them to a file; it can be repeated.
Under GitHub Actions the default on the screen is github, and validate also writes a summary of the job.

Advice is about valid code that could be better, and never fails a check. The formats github, sarif and junit leave it out unless
--advice always is given; --advice never leaves it out everywhere. A comment in a file switches it off, too: # flowrun-ignore: F0272
for its own line or the next one, # flowrun-ignore-file: F0272 for the file.`,
		RunE: func(c *cobra.Command, words []string) error {
			if asJSON && !c.Flags().Changed("format") {
				v.Formats = []string{"json"}
			}
			if err := v.Check(); err != nil {
				return err
			}
			usual := "text"
			if a.getenv("GITHUB_ACTIONS") == "true" {
				usual = "github"
			}
			forms, err := v.Forms(usual, ui.Formats)
			if err != nil {
				return err
			}
			if v.Paths = words; len(words) == 0 {
				v.Paths = []string{"."}
			}
			return a.runValidate(&v, forms)
		},
	}
	c.Flags().StringArrayVar(&v.Formats, "format", nil, "print findings as `FORMAT`, or write them with FORMAT=PATH: "+strings.Join(ui.Formats, ", "))
	c.Flags().StringVar(&v.FailLevel, "fail-level", "error", "exit with 1 from this severity on: error or warning")
	c.Flags().StringVar(&v.Advice, "advice", "auto", "`WHEN` advice is shown: auto (not in github, sarif and junit), always or never")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return c
}

// runValidate loads every program and prints all diagnostics in one list.
func (a *app) runValidate(v *args.Validate, forms []args.Form) error {
	paths, err := findPrograms(v.Paths)
	if err != nil {
		return err
	}
	process.CollectSeldom(a.getenv)
	var list diag.List
	sources, nodes := ui.Sources{}, 0
	for _, path := range paths {
		fsys, name, opts := a.openFolder(path)
		opts.LookPath = func(name string) bool {
			_, err := exec.LookPath(name)
			return err == nil
		}
		p, found := dsl.Check(fsys, name, opts)
		list, nodes = append(list, adviseFirst(path, found)...), nodes+p.Nodes
		if !found.HasErrors() {
			misfits, err := a.checkEnvironments(path)
			if err != nil {
				return err
			}
			list = append(list, misfits...)
		}
		for name, text := range p.Sources { // any order: it fills a map
			if len(found) == 0 {
				text = nil // only its name is shown, and thousands of texts would stay in memory
			}
			sources[name] = text
		}
	}
	list = list.Sort()
	r := &ui.Report{List: list, Sources: sources, Checked: ui.Checked(len(paths), nodes, list),
		Release: thisVersion().Release, Unread: refusal(list) == exitCouldNot, Base: baseOf(), Rule: ruleOf}
	plain := *r
	plain.List = slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Severity == diag.Advice })
	plain.Checked = ui.Checked(len(paths), nodes, plain.List)
	for _, f := range forms {
		shown := r
		if !v.ShowsAdvice(f.Format) {
			shown = &plain
		}
		if err := a.writeReport(shown, f); err != nil {
			return err
		}
	}
	switch {
	case list.HasErrors():
		return &ended{refusal(list)}
	case v.FailLevel == "warning" && slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Warning }):
		return &ended{exitNo}
	}
	return nil
}
