package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/importer"
)

func (a *app) newImportCommand() *cobra.Command {
	var i args.Import
	var formats []string
	for _, f := range importer.Formats {
		formats = append(formats, string(f))
	}
	c := &cobra.Command{
		Use: "import FILE", Short: "Write a first workflow from a file of another tool",
		Long: `import reads a workflow of GitHub Actions, a DAG of dagu, a Taskfile or a workflow of Argo, and writes a flowrun program:
NAME.flow.hcl in the current folder, where NAME is the name of the file. It overwrites no file; --output names another one, and - is
standard output. FILE may be - for standard input.

Parts with a counterpart are carried over. A part without one becomes a comment in its place, and import lists it. A value that only
the other tool knows, such as github.sha, becomes an input. Work that cannot be carried over, such as an action of the marketplace, becomes a
step that fails with a message, so that nothing is left out silently. import also checks the program that it wrote.

  flowrun import .github/workflows/ci.yml
  flowrun import Taskfile.yml --output tasks.flow.hcl`,
		Args: between(1, 1, "FILE"),
		RunE: func(_ *cobra.Command, words []string) error {
			i.File = words[0]
			if err := i.Check(formats); err != nil {
				return err
			}
			return a.runImport(&i)
		},
	}
	c.Flags().StringVar(&i.From, "from", "", "the `FORMAT` of the file: "+strings.Join(formats, ", ")+" (default: detected from the file)")
	c.Flags().StringVarP(&i.Output, "output", "o", "", "write to `PATH`; - is standard output")
	return c
}

func (a *app) runImport(i *args.Import) error {
	var src []byte
	var err error
	name := i.File
	if name == "-" {
		name = "imported"
		src, err = io.ReadAll(io.LimitReader(a.Stdin, importer.MaxBytes+1))
	} else {
		src, err = readImported(name, importer.MaxBytes+1)
	}
	if err != nil {
		return err
	}
	made, err := importer.Import(filepath.ToSlash(name), src, importer.Format(i.From))
	if errors.Is(err, importer.ErrFormat) {
		return &args.Error{Message: err.Error(), Hint: "Name the format with --from."}
	}
	if err != nil {
		return err
	}
	out := i.Output
	if out == "" {
		base, _, _ := strings.Cut(filepath.Base(name), ".")
		out = strings.ToLower(base) + ".flow.hcl"
	}
	if out == "-" {
		a.out.Printf("%s", made.HCL)
	} else if err := writeImported(out, made.HCL); err != nil {
		return err
	}
	for _, n := range made.Notes {
		a.err.Printf("%s\n", ui.Clean(n))
	}
	if out == "-" {
		return nil
	}
	fsys, base, opts := a.openFolder(out)
	p, list := dsl.Check(fsys, base, opts)
	ui.Diagnostics(a.err, list, ui.Sources(p.Sources))
	a.err.Printf("wrote %s\n", out)
	if list.HasErrors() {
		return &ended{refusal(list)}
	}
	a.err.Printf("Next:  flowrun plan %s\n", out)
	return nil
}

// readImported reads the beginning of a file.
func readImported(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// writeImported writes a file that must not exist.
func writeImported(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &args.Error{Message: name + " exists, and import overwrites no file", Hint: "Name another one with --output, or write to standard output with --output -."}
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return f.Close()
}
