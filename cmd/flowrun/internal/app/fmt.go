package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/syntax"
)

func (a *app) newFmtCommand() *cobra.Command {
	var o args.Fmt
	c := &cobra.Command{
		Use: "fmt [PATH...]", Short: "Format files",
		Long: `fmt formats a file, or the files of the program in a folder; DIR/... means every program below DIR; - reads standard
input and writes the result to standard output. Without a path it formats the current folder. The meaning of a program never
changes: strings, scripts, conditions and comments stay as they are. fmt prints the names of the files that it changes. It does not
change a file with a syntax error, and then the exit code is 1.

fmt leaves files of other tools alone: DIR/... takes only files *.flow.hcl, DIR only files that have blocks of flowrun, such as
workflow. To format a file without such a block, name it and add --force.`,
		RunE: func(_ *cobra.Command, words []string) error {
			if o.Paths = words; len(words) == 0 {
				o.Paths = []string{"."}
			}
			if err := o.Check(); err != nil {
				return err
			}
			return a.runFmt(&o)
		},
	}
	c.Flags().BoolVar(&o.Dry, "check", false, "write nothing: name the files that would change, and exit with 1 if there are any")
	c.Flags().BoolVar(&o.Diff, "diff", false, "write nothing: show what would change")
	c.Flags().BoolVar(&o.Force, "force", false, "also format files that have no block of flowrun")
	return c
}

// fmtFiles is one call of fmt over several files.
type fmtFiles struct {
	*app
	*args.Fmt
	list    diag.List
	sources ui.Sources
	changed int
	failed  []error
}

func (a *app) runFmt(o *args.Fmt) error {
	l := &fmtFiles{app: a, Fmt: o, sources: ui.Sources{}}
	err := l.all()
	if err != nil {
		return err
	}
	ui.Diagnostics(a.err, l.list, l.sources)
	switch {
	case len(l.failed) > 0:
		return errors.Join(l.failed...)
	case l.list.HasErrors():
		return &ended{refusal(l.list)}
	case o.Dry && l.changed > 0:
		return &ended{exitNo}
	}
	return nil
}

// all formats the named files, each file once. If one of them is not a file of flowrun, no file is
// formatted.
func (l *fmtFiles) all() error {
	if l.Paths[0] == "-" {
		data, err := io.ReadAll(io.LimitReader(l.Stdin, syntax.MaxFileBytes+1))
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		if !l.Force && dsl.OriginOf("<stdin>", data) == dsl.Foreign {
			return refuseFmt([]dsl.File{{Name: "-"}})
		}
		l.file(dsl.File{Name: "<stdin>", Data: data}, true)
		return nil
	}
	paths, err := findPrograms(l.Paths)
	if err != nil {
		return err
	}
	if err := l.judge(paths); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, path := range paths {
		files, foreign, found := dsl.Own(l.openFolder(path))
		l.list = append(l.list, found...)
		if l.Force {
			files = append(files, foreign...)
		}
		for _, f := range files {
			if !seen[f.Name] {
				l.file(f, false)
			}
			seen[f.Name] = true
		}
	}
	return nil
}

// judge refuses paths that hold nothing but files of other tools.
func (l *fmtFiles) judge(paths []string) error {
	var refused []dsl.File
	for _, path := range paths {
		own, foreign, _ := dsl.Own(l.openFolder(path))
		if len(own) == 0 {
			refused = append(refused, foreign...)
		}
	}
	if len(refused) == 0 || l.Force {
		return nil
	}
	return refuseFmt(refused)
}

// refuseFmt refuses files of other tools.
func refuseFmt(files []dsl.File) error {
	what, word := ui.Clean(files[0].Name), "has"
	switch {
	case what == "-":
		what = "standard input"
	case len(files) > 1:
		what, word = fmt.Sprintf("%s and %d more files", what, len(files)-1), "have"
	}
	return &args.Error{Message: fmt.Sprintf("%s %s no block of flowrun, such as workflow, agent or gate", what, word),
		Hint: "Nothing was changed. If it is a workflow file: flowrun fmt --force " + ui.Quote(files[0].Name)}
}

// file formats one file, and prints or writes the result as the flags ask.
func (l *fmtFiles) file(f dsl.File, stdin bool) {
	out, found := format.Format(f.Name, f.Data)
	if len(found) > 0 {
		tree, _ := syntax.Parse(f.Name, f.Data) // places count in its text
		l.list, l.sources[f.Name] = append(l.list, found...), dsl.Withhold(tree.Src)
	}
	if found.HasErrors() {
		return
	}
	same := bytes.Equal(out, f.Data)
	if !same {
		l.changed++
	}
	switch {
	case l.Diff:
		ui.Diff(l.out, f.Name, dsl.Withhold(f.Data), dsl.Withhold(out))
	case stdin && !l.Dry:
		l.out.Raw(out)
	case same:
	case l.Dry:
		l.out.Printf("%s\n", ui.Clean(f.Name))
	default:
		if err := disk.Replace(f.Name, f.Data, out); err != nil {
			l.failed = append(l.failed, fmt.Errorf("writing %s: %w", f.Name, err))
			return
		}
		l.out.Printf("%s\n", ui.Clean(f.Name))
	}
}
