package check

import "github.com/flowrun/flowrun/dsl/value"

// ResultType is the type of step.NAME where nothing is known of its output, for documentation.
func ResultType() value.Type { return anyResult }

// ErrorType is the type of what error is, and the error of a result.
func ErrorType() value.Type { return errorType }

// RunType is the type of run, as outputs of a workflow see it.
func RunType() value.Type { return runType }
