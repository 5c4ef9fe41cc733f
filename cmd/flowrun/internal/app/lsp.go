package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/lsp"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/runner/standalone"
)

func (a *app) newLspCommand() *cobra.Command {
	stdio := true
	c := &cobra.Command{
		Use: "lsp", Short: "Serve an editor with the Language Server Protocol",
		Long: `lsp is a language server: an editor starts it and talks to it over standard input and output. While you type, it shows the findings of flowrun validate. It completes blocks, attributes and names, also inside conditions. It explains words, finds and renames declarations, formats files, and applies fixes.

The files of a folder are one program, unless two of them declare the same name: then each file is a separate program.

flowrun init --editor NAME writes the files that make an editor start this command.`,
		Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return a.runLsp() },
	}
	c.Flags().BoolVar(&stdio, "stdio", true, "use standard input and output; this is the default, and many editors give this flag")
	return c
}

// runLsp serves the editor at standard input until the editor ends it.
func (a *app) runLsp() error {
	err := lsp.Serve(a.Stdin, a.Stdout, lsp.Config{Release: thisVersion().Release, Check: a.checkLsp, Last: a.lastLsp})
	if errors.Is(err, lsp.ErrNoShutdown) { // exit code 1 is the rule of the protocol
		a.err.Printf("flowrun: %v\n", err)
		return &ended{exitNo}
	}
	return err
}

// checkLsp finds what validate finds, where open texts replace files.
func (a *app) checkLsp(path string, open map[string][]byte) diag.List {
	fsys, name, opts := a.openFolder(path)
	dir := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		dir = filepath.Dir(path)
	}
	opts.LookPath = func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	}
	_, list := dsl.Check(lsp.Overlay(fsys, dir, open), name, opts)
	return adviseFirst(path, list).Sort()
}

// lastLsp says how the last run of a workflow ended; "" if there is none, or no store.
func (a *app) lastLsp(path, workflow string) string {
	dir, err := a.storeDir(path)
	if err != nil {
		return ""
	}
	s, err := standalone.Read(dir)
	if err != nil {
		return ""
	}
	defer s.Close()
	infos, err := s.List(context.Background(), 200)
	if err != nil {
		return ""
	}
	for i := range infos {
		if infos[i].Workflow == workflow {
			return string(ui.NewListed(&infos[i]).Status)
		}
	}
	return ""
}
