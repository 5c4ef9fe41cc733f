// Package app is the command line: it joins the language (dsl), the run service (runner) and the screen (ui).
//
// Package app decides little. Each command X has a file with newXCommand, which declares the
// command, and runX, which carries it out; a test at the root holds that, and names the files that several
// commands share. The search for a run is in store.go, and exit codes are in exit.go.
// Package runner/standalone opens stores: no file here imports a host or the machine.
//
// Invariants: standard output carries only results; a command that only reads creates no store; an
// error has one line that names the action that failed. Enter at [Main].
package app

import (
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/runner/engine"
)

// Streams holds the inputs and outputs of the process.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	// At, set only by tests, receives the points that the drive of a run reaches.
	At func(engine.Point)
}

// Process returns the streams of this process. A closed reader of the output must not end the
// process, so SIGPIPE is caught. Children do not inherit a handler, but they would inherit an
// ignored signal.
func Process() Streams {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
}

// app is one call of the command line.
type app struct {
	Streams
	arguments []string // the words of the command line
	global    args.Global
	limits    syntax.Limits
	// fileEngine is the engine that the file of a program names, where nothing else names one.
	fileEngine string
	grace      time.Duration // between TERM and KILL of an attempt; 0 is the default
	asJSON     bool          // results, diagnostics and errors are JSON
	// memoryFile is the program that selects the memory: --file of the memory's commands.
	memoryFile string
	blanked    *regexp.Regexp // what is read as blanks in the files of a program; nil: nothing
	out, err   *ui.Term
}

// openTerminals detects the terminals: once with the default, and again when the flags are known.
func (a *app) openTerminals() {
	color := a.global.Color
	if color == "" {
		color = "auto"
	}
	a.out, a.err = ui.NewTerm(a.Stdout, color, a.getenv), ui.NewTerm(a.Stderr, color, a.getenv)
	a.out.UTC, a.err.UTC = a.global.UTC, a.global.UTC
}

// getenv reads the environment of the app: the last of several values, like os.Getenv.
func (a *app) getenv(name string) string {
	text, _ := a.lookupEnv(name)
	return text
}

func (a *app) lookupEnv(name string) (text string, ok bool) {
	for _, pair := range a.Environ {
		if n, t, found := strings.Cut(pair, "="); found && n == name {
			text, ok = t, true
		}
	}
	return text, ok
}
