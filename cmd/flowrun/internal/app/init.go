package app

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
)

// initName is the file that init writes. Its text is the file beside this one, which a session
// validates and runs.
const initName = "checks.flow.hcl"

//go:embed checks.flow.hcl
var initText []byte

// initTestName are the tests that init writes beside it.
const initTestName = "checks.flowtest.hcl"

//go:embed checks.flowtest.hcl
var initTestText []byte

func (a *app) newInitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init [DIR]", Short: "Write a first workflow that runs at once",
		Long: `init writes ` + initName + ` into a folder: a workflow that checks the files there, with a parallel group, a gate and
outputs; and its tests, ` + initTestName + `. It needs no network. init overwrites no file, and adds nothing to a folder that
has a program.`,
		Args: between(0, 1, "[DIR]"),
		RunE: func(_ *cobra.Command, words []string) error {
			dir := "."
			if len(words) > 0 {
				dir = words[0]
			}
			if dir == "" {
				return emptyPath()
			}
			return a.runInit(filepath.Clean(dir))
		},
	}
}

// runInit writes the first workflow into a folder. It creates the folder if there is none.
func (a *app) runInit(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("creating the folder: %w", err)
	}
	if there, _, _ := dsl.Own(a.openFolder(dir)); len(there) > 0 {
		return a.refuseInit(there[0].Name)
	}
	name, test := filepath.Join(dir, initName), filepath.Join(dir, initTestName)
	if _, err := os.Lstat(test); err == nil { // before the first file is written
		return a.refuseInit(test)
	}
	if err := a.writeInit(name, initText); err != nil {
		return err
	}
	if err := a.writeInit(test, initTestText); err != nil {
		return err
	}
	a.err.Printf("Next:  flowrun apply %s  or  flowrun test %s\nRuns are kept in .flowrun/ at the root of the repository. Git ignores this folder; .gitignore needs no line.\n", ui.Quote(name), ui.Quote(test))
	return nil
}

// refuseInit says that a file is in the way of init.
func (a *app) refuseInit(name string) error {
	a.err.Printf("flowrun: %s exists already, and init overwrites nothing.\n", ui.Clean(name))
	return &ended{exitNo}
}

// writeInit writes a file that init makes. A file that is there stays as it is.
func (a *app) writeInit(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return a.refuseInit(name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name) // a part of it would stand in the way of the next try
		return fmt.Errorf("writing %s: %w", name, err)
	}
	a.out.Printf("%s\n", ui.Clean(name))
	return nil
}
