package app

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/diag"
)

func (a *app) validate() *cobra.Command {
	var v args.Validate
	asJSON := false
	c := &cobra.Command{
		Use: "validate [PATH...]", Short: "Check files without running anything",
		Long: `validate checks programs: a file, or a folder whose files are read together. DIR/... means every program below DIR, each
for itself. Without a path it checks the current folder. The exit code is 1 if any of them is refused.`,
		RunE: func(c *cobra.Command, words []string) error {
			if asJSON && !c.Flags().Changed("format") {
				v.Format = "json"
			}
			if err := v.Check(); err != nil {
				return err
			}
			if v.Paths = words; len(words) == 0 {
				v.Paths = []string{"."}
			}
			return a.check(&v)
		},
	}
	c.Flags().StringVar(&v.Format, "format", "text", "how to print what is found: text or json")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return c
}

// check loads every program and shows all that was found in one list.
func (a *app) check(v *args.Validate) error {
	paths, err := programs(v.Paths)
	if err != nil {
		return err
	}
	var list diag.List
	sources, nodes := ui.Sources{}, 0
	for _, path := range paths {
		p, found := read(path)
		list = append(list, found...)
		for name, text := range p.Sources {
			sources[name] = text
		}
		if p.IR != nil {
			for i := range p.IR.Workflows {
				nodes += len(namesOf(p.IR.Workflows[i].Nodes, nil))
			}
		}
	}
	if v.Format == "json" {
		err = ui.DiagnosticsJSON(a.out, list, sources)
	} else {
		ui.Diagnostics(a.err, list, sources)
	}
	switch {
	case err != nil:
		return err
	case list.HasErrors():
		return &ended{refusal(list)}
	case v.Format != "json":
		a.out.Printf("%s\n", ui.Checked(len(paths), nodes, len(list)))
	}
	return nil
}

// programs expands DIR/... to every folder below DIR that holds a program. Hidden folders are left out.
func programs(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		if path == "" {
			return nil, emptyPath()
		}
		dir, all := strings.CutSuffix(path, "...")
		if !all || dir != "" && !strings.HasSuffix(dir, "/") {
			out = append(out, path)
			continue
		}
		last, before := "", len(out)
		root := filepath.Clean(dir) + "/" // with its slash, a link to a folder is that folder
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			hidden := p != root && strings.HasPrefix(d.Name(), ".")
			switch {
			case d.IsDir() && hidden:
				return fs.SkipDir
			case d.IsDir() || hidden || !strings.HasSuffix(p, ".hcl") || strings.HasSuffix(p, ".flowtest.hcl"):
			case filepath.Dir(p) != last:
				last = filepath.Dir(p)
				out = append(out, last)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(out) == before {
			return nil, args.Errorf("there is no workflow file below %s", filepath.Clean(dir))
		}
	}
	return out, nil
}
