package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/lsp"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/workflows"
)

// initFirst is the template of a first workflow.
const initFirst = "checks"

func (a *app) newInitCommand() *cobra.Command {
	template, editor, list, asJSON := initFirst, "", false, false
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Write a workflow that runs at once",
		Long: `init writes a workflow and its tests into a folder. Without --template it is ` + initFirst + `.flow.hcl, which checks the files there, with
a parallel group, a gate and outputs. --list shows the other templates: patterns of work with agents. Each runs at once, because small
scripts replace its agents; init names the lines where your own agents go. init needs no network, overwrites no file, and
adds nothing to a folder that has a program.

--editor NAME writes the files that make an editor use flowrun lsp in that folder, and no workflow.

  flowrun init --list
  flowrun init --template review reviews
  flowrun init --editor neovim`,
		Args: between(0, 1, "[DIR]"),
		RunE: func(_ *cobra.Command, words []string) error {
			dir := "."
			if len(words) > 0 {
				dir = words[0]
			}
			switch {
			case list:
				return a.listInit(asJSON)
			case dir == "":
				return emptyPath()
			case editor != "":
				return a.writeInitEditor(filepath.Clean(dir), editor)
			}
			return a.runInit(filepath.Clean(dir), template)
		},
	}
	c.Flags().StringVar(&template, "template", initFirst, "write the template `NAME` of the list")
	c.Flags().StringVar(&editor, "editor", "", "write the files of the editor `NAME`: "+strings.Join(lsp.EditorNames(), ", "))
	c.Flags().BoolVar(&list, "list", false, "list the templates and write nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "with --list: as JSON")
	return c
}

// listInit shows the templates, a line each.
func (a *app) listInit(asJSON bool) error {
	all := workflows.All()
	if asJSON {
		return ui.WriteJSON(a.out, all)
	}
	for _, t := range all {
		a.out.Printf("%-20s  %s\n", t.Name, t.About)
	}
	a.err.Printf("Next:  flowrun init DIR --template NAME\n")
	return nil
}

// runInit writes a template into a folder. It creates the folder if there is none.
func (a *app) runInit(dir, template string) error {
	files := workflows.Files(template)
	if files == nil {
		var names []string
		for _, t := range workflows.All() {
			names = append(names, t.Name)
		}
		hint := "See flowrun init --list."
		if near := diag.Nearest(template, names); near != "" {
			hint = fmt.Sprintf("Did you mean %q? ", near) + hint
		}
		return &args.Error{Message: fmt.Sprintf("no template has the name %q", template), Hint: hint}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("creating the folder: %w", err)
	}
	if there, _, _ := dsl.Own(a.openFolder(dir)); len(there) > 0 {
		return a.refuseInit(there[0].Name)
	}
	for _, f := range files { // before the first file is written
		if name := filepath.Join(dir, filepath.FromSlash(f.Name)); a.existsInit(name) {
			return a.refuseInit(name)
		}
	}
	var change []string // lines with stand-ins
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := a.writeInit(name, f); err != nil {
			return err
		}
		for n, line := range strings.Split(string(f.Text), "\n") {
			if strings.Contains(line, `"`+workflows.Standin) {
				change = append(change, fmt.Sprintf("  %s:%d: %s\n", ui.Clean(name), n+1, strings.TrimSpace(line)))
			}
		}
	}
	if len(change) > 0 {
		a.err.Printf("The files in %s replace real agents. Put your own commands into these lines; flowrun explain protocol describes the input and output of an agent:\n%s",
			ui.Clean(filepath.Join(dir, "agents")), strings.Join(change, ""))
	}
	program := filepath.Join(dir, files[0].Name)
	a.err.Printf("Next:  flowrun %s  or  flowrun test %s\nRuns are kept in .flowrun/ at the root of the repository. Git already ignores this folder, so no .gitignore entry is needed.\n",
		a.nextInit(program), ui.Quote(strings.TrimSuffix(program, ".flow.hcl")+".flowtest.hcl"))
	return nil
}

// writeInitEditor writes the files that make an editor use the language server.
func (a *app) writeInitEditor(dir, editor string) error {
	if err := args.OneOf("--editor", editor, lsp.EditorNames()...); err != nil {
		return err
	}
	files := lsp.EditorFiles(editor)
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names { // before the first file is written
		if name = filepath.Join(dir, filepath.FromSlash(name)); a.existsInit(name) {
			return a.refuseInit(name)
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := a.writeInit(path, workflows.File{Name: name, Text: files[name], Mode: 0o666}); err != nil {
			return err
		}
	}
	return nil
}

// nextInit is what to type first to see a program work: it is a loop, if the workflow that would run is done by one.
func (a *app) nextInit(path string) string {
	if p, err := a.loadProgram(path); err == nil {
		w, none := p.workflow("")
		for _, l := range p.ir.Loops {
			if none != nil || slices.ContainsFunc(l.Handles, func(h ir.Handle) bool { return h.Workflow == w.Name }) {
				return fmt.Sprintf("loop run %s %s --until-idle", l.Name, ui.Quote(path))
			}
		}
	}
	return "apply " + ui.Quote(path)
}

// existsInit reports whether something has this name already, a link that leads nowhere too.
func (a *app) existsInit(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// refuseInit says that a file is in the way of init.
func (a *app) refuseInit(name string) error {
	a.err.Printf("flowrun: %s exists already, and init overwrites nothing.\n", ui.Clean(name))
	return &ended{exitNo}
}

// writeInit writes a file of a template. A file that is there stays as it is.
func (a *app) writeInit(name string, file workflows.File) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("creating the folder: %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, file.Mode)
	if errors.Is(err, fs.ErrExist) {
		return a.refuseInit(name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(file.Text)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name) // a part of it would stand in the way of the next try
		return fmt.Errorf("writing %s: %w", name, err)
	}
	a.out.Printf("%s\n", ui.Clean(name))
	return nil
}
