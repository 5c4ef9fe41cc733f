package app

import (
	"context"
	"fmt"
	"os"
	pathpkg "path"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/runner/standalone"
)

// An environment, such as staging or production, has a store of its own and gives variables values of its own: those of the file
// NAME.flowvars beside the program.

const (
	// environmentsFolder is the folder of a store that holds the stores of environments.
	environmentsFolder = "env"
	// allEnvironments means each environment that has a file beside the program. Only validate takes it.
	allEnvironments = "all"
)

// environment is the name of the environment that the command line or FLOWRUN_ENV names; "" if there is none.
func (a *app) environment() string {
	if a.global.Env != "" {
		return a.global.Env
	}
	return a.getenv("FLOWRUN_ENV")
}

// inEnvironment returns the store of the environment below a store.
func (a *app) inEnvironment(dir string) (string, error) {
	switch name := a.environment(); name {
	case "":
		return dir, nil
	case allEnvironments:
		return "", &args.Error{Message: "--env all is for validate", Hint: "Name one environment."}
	default:
		return filepath.Join(dir, environmentsFolder, name), nil
	}
}

// outsideEnvironment undoes inEnvironment.
func (a *app) outsideEnvironment(dir string) string {
	return strings.TrimSuffix(dir, filepath.Join(string(filepath.Separator), environmentsFolder, a.environment()))
}

// addEnvironment lets the variables of the environment's file stand before those of the command line.
func (a *app) addEnvironment(dir string, o *args.Given) error {
	name := a.environment()
	if name == "" {
		return nil
	}
	if _, err := a.inEnvironment(""); err != nil {
		return err
	}
	file, err := findEnvironment(dir, name)
	if err == nil {
		o.VarFiles = append([]string{file}, o.VarFiles...)
	}
	return err
}

// findEnvironment returns the file of an environment.
func findEnvironment(dir, name string) (string, error) {
	file := filepath.Join(dir, name+dsl.VariablesSuffix)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	known := listEnvironments(dir)
	otherwise := fmt.Sprintf("Write the file %s. It may be empty; a line is name = value.", ui.Quote(disk.Short(file)))
	if len(known) > 0 {
		otherwise = "There are: " + strings.Join(known, ", ") + "."
	}
	return "", unknown(name, known, otherwise, fmt.Sprintf("there is no environment %q: the program has no file %s beside it", name, name+dsl.VariablesSuffix))
}

// listEnvironments lists the environments that have a file in a folder, sorted.
func listEnvironments(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*"+dsl.VariablesSuffix)) // the pattern is sound
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), dsl.VariablesSuffix))
	}
	return names
}

// describeNoRuns says that nothing has run in the store of a folder, and names the environments of the same store that have runs.
func (a *app) describeNoRuns(dir string) *args.Error {
	e := &args.Error{Message: fmt.Sprintf("nothing has run in %s yet", dir)}
	if name := a.environment(); name != "" {
		e.Message = fmt.Sprintf("the environment %s has no runs: %s", name, e.Message)
	}
	if names := environmentsWithRuns(a.outsideEnvironment(dir)); len(names) > 0 {
		e.Hint = "Environments with runs: " + strings.Join(names, ", ") + ". Name one with --env."
	}
	return e
}

// environmentsWithRuns lists the environments of the store in a folder that have runs, sorted.
func environmentsWithRuns(dir string) (names []string) {
	folders, _ := os.ReadDir(filepath.Join(dir, environmentsFolder)) // many stores have no environments
	for _, f := range folders {
		s, err := standalone.Read(filepath.Join(dir, environmentsFolder, f.Name()))
		if err != nil {
			continue
		}
		if runs, err := s.List(context.Background(), 1); err == nil && len(runs) > 0 {
			names = append(names, f.Name())
		}
		s.Close()
	}
	return names
}

// checkEnvironments checks the files of environments against a program without errors.
func (a *app) checkEnvironments(path string) (list diag.List, err error) {
	name := a.environment()
	if name == "" || dsl.IsVariables(path) || dsl.IsTest(path) {
		return nil, nil
	}
	dir, err := disk.Folder(path)
	if err != nil {
		return nil, err
	}
	names := []string{name}
	if name == allEnvironments {
		names = listEnvironments(dir)
	}
	fsys, program, opts := a.openFolder(path)
	folder := program
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		folder = pathpkg.Dir(program)
	}
	for _, name := range names {
		if _, err := findEnvironment(dir, name); err != nil {
			return nil, err
		}
		_, found := dsl.CheckVariables(fsys, pathpkg.Join(folder, name+dsl.VariablesSuffix), program, opts)
		list = append(list, found...)
	}
	return list, nil
}
