package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/doctor"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
)

// The exit codes. Scripts rely on them: a code is never given another meaning.
const (
	exitDone        = 0   // it is done; skipped steps included
	exitNo          = 1   // it ran and the answer is no: the run failed, the file was refused
	exitUsage       = 2   // wrong use: an unknown flag, name or input, a value that does not fit
	exitCouldNot    = 3   // it could not be done: store, files, a defect of ours
	exitWaits       = 4   // all that is left waits for people; the run can be resumed
	exitLimit       = 5   // stopped by the run's own timeout, or cancelled
	exitChange      = 6   // only with --detailed-exitcode: something would run
	exitInterrupted = 130 // by Ctrl-C; the run can be resumed
	exitTerminated  = 143 // by TERM; the run can be resumed
)

// ended is an outcome that was already printed and only needs its exit code.
type ended struct{ code int }

func (e *ended) Error() string { return fmt.Sprintf("exit %d", e.code) }

// panicked is a defect of flowrun.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("a bug in flowrun: %v", p.value)
}

// exitCode returns the exit code of an error. No other function does.
func exitCode(err error) int {
	var done *ended
	var usage *args.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &done):
		return done.code
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitCouldNot
}

// reportError prints an error that was not printed yet, and returns the exit code.
func (a *app) reportError(arguments []string, err error) int {
	code := exitCode(err)
	if err == nil || code == exitNo { // an answer that nobody gets is none
		if e := errors.Join(a.out.Err(), a.err.Err()); e != nil {
			err, code = fmt.Errorf("writing the result: %w", e), exitCouldNot
		}
	}
	var done *ended
	if err == nil || errors.As(err, &done) {
		return code
	}
	err = doctor.WayOut(err)
	var p *panicked
	if errors.As(err, &p) && a.getenv("FLOWRUN_DEBUG") != "" {
		a.err.Printf("%s\n", ui.CleanLines(string(p.stack)))
	}
	if wantsJSON(arguments) {
		kind := "failed"
		if code == exitUsage {
			kind = "usage"
		}
		_ = ui.WriteJSON(a.out, ui.NewProblem(kind, err.Error(), code))
		if a.out.Err() == nil {
			return code
		} // standard output failed: standard error names the cause
	}
	a.err.Printf("flowrun: %s\n", ui.CleanLines(err.Error()))
	return code
}

// wantsJSON reads the words themselves: if the flags are wrong, the answer still has the requested
// form.
func wantsJSON(arguments []string) bool {
	for i, w := range arguments {
		switch {
		case w == "--":
			return false
		case w == "--json", w == "--json=true", w == "--format=json":
			return true
		case w == "--format" && i+1 < len(arguments) && arguments[i+1] == "json":
			return true
		}
	}
	return false
}

// unknown refuses a word and suggests the nearest known word, or gives another hint.
func unknown(word string, known []string, otherwise, message string) error {
	if near := diag.Nearest(word, known); near != "" {
		otherwise = fmt.Sprintf("Did you mean %q?", near)
	}
	return &args.Error{Message: message, Hint: otherwise}
}

// emptyPath refuses a path without a letter, which is usually a variable of a script that is not
// set, and not the current folder.
func emptyPath() error {
	return &args.Error{Message: "the path is empty", Hint: "For the current folder write a dot."}
}

// argumentFlags are the flags that a word behind the arguments of a command is meant for.
var argumentFlags = map[string]string{"backup": "to", "emit": "data"}

// hintOfArgument says what to write in place of a command with more words than it takes.
func hintOfArgument(c *cobra.Command, words []string, most int) string {
	flag := argumentFlags[c.Name()]
	if strings.HasPrefix(words[most], "temporal://") {
		flag = "engine"
	}
	if flag != "" && len(words) == most+1 && c.Flags().Lookup(flag) != nil && !c.Flags().Changed(flag) {
		return inFlowrun(quoteLine(append(append(strings.Fields(c.CommandPath()), words[:most]...), "--"+flag, words[most])), "")
	}
	return "See " + c.CommandPath() + " --help."
}

// between checks the number of words of a command.
func between(least, most int, form string) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		usage := strings.TrimSpace(c.CommandPath() + " " + form)
		switch {
		case len(words) < least:
			hint := "See " + c.CommandPath() + " --help."
			if own, _, _ := dsl.Own(disk.Open(".", dsl.Options{})); len(own) > 0 && strings.HasPrefix(form, "FILE|DIR") {
				hint = "For the program in this folder: " + c.CommandPath() + " ."
			}
			if len(words) == 0 && least == 1 && strings.HasPrefix(form, "RUN") {
				hint = "For the newest run: " + c.CommandPath() + " latest"
			}
			return &args.Error{Message: "an argument is missing: " + usage, Hint: hint}
		case len(words) > most:
			return &args.Error{Message: fmt.Sprintf("there is one argument too many, %q: %s", words[most], usage), Hint: hintOfArgument(c, words, most)}
		}
		return nil
	}
}
