package expr

import (
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Env says what names one place in a file may read, with their types. Checking changes nothing in it but how often names
// were suggested and what its Work has counted, so places that may read the same can share it, and environments that differ in some roots can share the
// others; not between goroutines.
type Env struct {
	// Roots are the names that an expression may begin with: "var", "local", "input", "step", "last", "each",
	// "run", "attempt", "iteration", "result", "error", "feedback", "previous", and the counts of a join.
	Roots map[string]*Root
	// Hidden are roots that the language has, but not in this place, with one sentence that says why.
	Hidden map[string]string
	// File reads the file of a path for file("PATH"); its error says in words why it cannot. nil: no file can be read here.
	File func(path string) (string, error)
	// Work counts what the expressions of the program cost together. nil: nothing is counted, and no expression over Fixed
	// is tried out.
	Work *Work
}

// NoName says why a root does not have a name. Where Summary is empty, the name is unknown.
type NoName struct{ Summary, Detail string }

// Root is one name that expressions may begin with. It must not be copied.
type Root struct {
	// What names the kind of thing in messages: "variable", "input", "step".
	What string
	// Type is the type of the root itself. It counts only where Names is nil: attempt is an int, each is an object
	// of key and value, result is the object of a node's result.
	Type value.Type
	// Names are the declared names below a root of declarations (var, local, input, step), each with its type; that
	// of a step is the object of its whole result. Such a root is never read as a whole.
	Names map[string]value.Type
	// Whole, if set, is the type of the root where it is read without a name.
	Whole *value.Type
	// Resolve, if set, gives the type of a name in place of Names, or says why there is no such name.
	Resolve func(name string) (t value.Type, missing *NoName)
	// Decl tells where a name is declared, for notes. It may be nil.
	Decl func(name string) diag.Range
	// Hidden are names that are declared but cannot be read here, with a sentence that says what to do instead.
	Hidden map[string]string
	// HiddenAttrs are attributes, of the root or of what is declared below it, that cannot be read here, with a sentence
	// that says why. They may be part of the type: then they are there where the object is read as a whole.
	HiddenAttrs map[string]string
	// Why says in a sentence why what is declared can be null, or nothing. It may be nil.
	Why func(name string) string
	// Absent are attributes of results that are null for some, with a sentence that says for whom they are not: reading
	// one where its type is null is a mistake.
	Absent map[string]string

	// Secret are names whose values are sensitive; Used, if it is not nil, learns which names are read.
	Secret map[string]bool
	Used   map[string]bool
	// Fixed are the values of names that are the same in every run: those of locals that read nothing else. An expression that
	// reads nothing but them is tried out when it is checked.
	Fixed map[string]value.Value

	suggested int      // how often names were suggested
	order     []string // the declared names, sorted, once they were asked for
}

// MaxSuggestions bounds how many unknown names below one root are compared with all that are declared: a file with
// 10,000 names and 10,000 typing errors must be refused in seconds.
const MaxSuggestions = 100

// fixed is the scope of the names whose values are the same in every run.
type fixed struct{ roots map[string]*Root }

// Lookup implements ir.Scope.
func (f fixed) Lookup(r ir.Ref) (value.Value, error) { return f.roots[r.Root].Fixed[r.Name], nil }

// fixes reports whether all names that an expression reads have the same values in every run, and whether it can be tried out.
func (e *Env) fixes(reads []ir.Ref) bool {
	if len(reads) == 0 || !e.work().tries() {
		return false
	}
	for _, r := range reads {
		root := e.Roots[r.Root]
		if root == nil || r.Attr != "" {
			return false
		}
		if _, ok := root.Fixed[r.Name]; !ok {
			return false
		}
	}
	return true
}
