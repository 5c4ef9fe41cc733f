package check

import (
	"maps"

	"github.com/flowrun/flowrun/dsl/value"
)

// ResultType is the type of step.NAME where nothing is known of its output, for documentation: with what only nodes with
// a repeat, or a join that picks one, have.
func ResultType() value.Type {
	t := anyResult
	t.Attrs = maps.Clone(t.Attrs)
	t.Attrs["iterations"] = value.Type{Kind: value.NumberT, Int: true, Nullable: true}
	t.Attrs["winner"] = value.StringType.OrNull()
	return t
}

// ErrorType is the type of what error is, and the error of a result.
func ErrorType() value.Type { return errorType }

// RunType is the type of run, as outputs of a workflow see it.
func RunType() value.Type { return runType }
