// Package args holds what the command line can say as plain structs, and what is checked of it before anything is
// opened: pairs, files of variables, names of formats.
//
// It knows no command library, no workflow file and no terminal, and imports the standard library only. A wrong word
// is an [Error]; the command line turns it into exit code 2. What always holds: nothing is read or written here but
// through the functions that the caller hands in. Enter at [Pairs].
package args

import (
	"fmt"
	"strings"
)

// Global is what every command takes.
type Global struct {
	Color string // auto | always | never
	Store string // "" means the usual place
	Env   string // the environment; "" means FLOWRUN_ENV, or none
	// Engine is the address of the server that keeps the runs, and Artifacts the folder that its workers and readers share.
	Engine, Artifacts string
	UTC               bool // times for people are in UTC
	// Limits are those of files, each NAME=SIZE.
	Limits []string
}

// Given are the flags that give values to a run, in their order.
type Given struct {
	Inputs   Pairs
	Vars     Pairs
	VarFiles []string
	EnvFiles []string
}

// Error is a wrong use of the command line.
type Error struct {
	Message string
	Hint    string // what to do, or ""
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// Errorf makes an Error.
func Errorf(format string, a ...any) error { return &Error{Message: fmt.Sprintf(format, a...)} }

// OneOf checks a flag with few values.
func OneOf(flag, given string, allowed ...string) error {
	for _, a := range allowed {
		if given == a {
			return nil
		}
	}
	return Errorf("%s %q is not known: one of %s", flag, given, strings.Join(allowed, ", "))
}
