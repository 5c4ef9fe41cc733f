package given

import (
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
)

// VarPrefix stands before the name of a variable in the environment, and in files of an environment.
const VarPrefix = "FLOWRUN_VAR_"

// Kind says what sort of place a value was taken from.
type Kind string

// The kinds of places. The zero value means that no value was given.
const (
	Default Kind = "default"  // the file itself
	Env     Kind = "env"      // a variable of the environment
	EnvFile Kind = "env-file" // a line of a file of an environment
	VarFile Kind = "var-file" // a member of a file of variables
	File    Kind = "file"     // a file that holds the text of the value
	Told    Kind = "told"     // a person, or whoever started the run
)

// Place is where a value was taken from. Name is a variable of the environment, or the path of a file; "" for other kinds.
type Place struct {
	Kind Kind
	Name string
}

// ParsePlace reads the form of [Place.String].
func ParsePlace(text string) Place {
	kind, name, _ := strings.Cut(text, " ")
	return Place{Kind(kind), name}
}

// String is the form of a place in a journal.
func (p Place) String() string {
	if p.Name == "" {
		return string(p.Kind)
	}
	return string(p.Kind) + " " + p.Name
}

// encode gives the form of a place for a journal: paths are absolute, so that they mean the same in another folder.
func (p Place) encode() string {
	switch p.Kind {
	case "":
		p.Kind = Default
	case EnvFile, VarFile, File:
		if whole, err := filepath.Abs(p.Name); err == nil {
			p.Name = whole
		}
	}
	return p.String()
}

// Values are values by name, with their places.
type Values struct {
	Values map[string]value.Value
	From   map[string]Place
}

// NewValues makes empty values.
func NewValues() Values { return Values{map[string]value.Value{}, map[string]Place{}} }
