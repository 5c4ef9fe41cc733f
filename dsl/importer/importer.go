// Package importer writes a first flowrun program from a file of another tool: a workflow of GitHub Actions, a DAG of dagu, a Taskfile, or a
// workflow of Argo.
//
// What has a counterpart is carried over. What has none becomes a comment where it stood, and a note. A value that only the other tool knows,
// such as github.sha, becomes an input, so that the conditions and scripts that read it stay whole. Work that cannot be carried over becomes a
// step that fails with a message: nothing is left out silently.
//
// The package is pure: bytes in, bytes out. Enter at [Import].
package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/format"
)

// MaxBytes is the size of the largest file that Import reads.
const MaxBytes = 1 << 20

// Format is a kind of file.
type Format string

// The formats that Import knows.
const (
	GitHub   Format = "github"
	Dagu     Format = "dagu"
	Taskfile Format = "taskfile"
	Argo     Format = "argo"
)

// Formats are all formats, in the order in which help lists them.
var Formats = []Format{GitHub, Dagu, Taskfile, Argo}

// ErrFormat is the error of a file that does not tell its format.
var ErrFormat = errors.New("the file does not tell its format")

// Result is a program in HCL.
type Result struct {
	Format Format
	// HCL is the program, formatted.
	HCL []byte
	// Notes say what was not carried over and what became an input, a line each.
	Notes []string
}

// Import writes the program. name is the file's name, for messages and for workflows without a name of their own. from may be "": then the
// file tells its format. An error says why the file cannot be read.
func Import(name string, src []byte, from Format) (Result, error) {
	if len(src) > MaxBytes {
		return Result{}, fmt.Errorf("%s has more than %d bytes; at most that many are read", name, MaxBytes)
	}
	docs, err := parse(src)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(docs) == 0 {
		return Result{}, fmt.Errorf("%s: the file is empty", name)
	}
	if from == "" {
		if from = guess(docs[0]); from == "" {
			return Result{}, fmt.Errorf("%s: %w", name, ErrFormat)
		}
	}
	p := &program{name: name}
	switch from {
	case GitHub:
		err = importGitHub(p, docs[0])
	case Dagu:
		err = importDagu(p, docs)
	case Taskfile:
		err = importTaskfile(p, docs[0])
	case Argo:
		err = importArgo(p, docs)
	default:
		err = fmt.Errorf("%q is not a format; the formats are %s", from, strings.Join(words(), ", "))
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	text, list := format.Format(name+".flow.hcl", []byte(p.print()))
	if list.HasErrors() {
		return Result{}, errors.New(list[0].Summary)
	}
	return Result{Format: from, HCL: text, Notes: p.notes}, nil
}

// Words are the names of all formats.
func words() (all []string) {
	for _, f := range Formats {
		all = append(all, string(f))
	}
	return all
}

// guess tells the format by the members that only this format has.
func guess(doc *node) Format {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return doc.get(n) == nil })
	}
	switch {
	case has("apiVersion", "kind") && strings.HasPrefix(doc.get("apiVersion").text(), "argoproj.io/"):
		return Argo
	case has("jobs"):
		return GitHub
	case has("tasks"):
		return Taskfile
	case has("steps"):
		return Dagu
	}
	return ""
}
