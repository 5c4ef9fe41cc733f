package reference

import (
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// Limit is a bound of what a file may say.
type Limit struct {
	What  string `json:"what"`
	Most  int    `json:"most"`
	Units string `json:"units"`
}

func limits() []Limit {
	return []Limit{
		{"a file", syntax.MaxFileBytes, "bytes"},
		{"files of a program", dsl.MaxFiles, "files"},
		{"a line outside of heredocs and comments", syntax.MaxLineBytes, "bytes"},
		{"a heredoc, or a comment", syntax.MaxHeredocBytes, "bytes"},
		{"a block without the blocks inside it", syntax.MaxBlockBytes, "bytes"},
		{"copies to put texts of many lines together, for each byte of a file of a MiB or more", syntax.MaxCopies, "bytes"},
		{"brackets, braces and templates inside each other", syntax.MaxDepth, "levels"},
		{"operators in a row", syntax.MaxOperators, "operators"},
		{"digits of a number", syntax.MaxDigits, "digits"},
		{"exponent of a number", syntax.MaxExponent, ""},
		{"a number", value.MaxNumber, ""},
		{"a name", check.MaxName, "characters"},
		{"a value of the command line", dsl.MaxInputBytes, "bytes"},
		{"a condition", expr.MaxConditionBytes, "bytes"},
		{"brackets inside each other in a condition", expr.MaxConditionDepth, "levels"},
		{"names, values and operators of a condition", expr.MaxConditionNodes, "parts"},
		{"predicates inside each other", expr.MaxPredicateDepth, "levels"},
		{"a regular expression", expr.MaxPatternBytes, "bytes"},
		{"a text that an expression makes", expr.MaxStringBytes, "bytes"},
		{"members of a list that a function makes", expr.MaxRange, "members"},
		{"work of one evaluation", expr.MaxSteps, "steps"},
		{"memory of one evaluation", expr.MaxBytes, "bytes"},
		{"JSON of a value", expr.MaxResultBytes, "bytes"},
		{"max_concurrency", schema.MaxConcurrency, "attempts"},
		{"max_attempts", schema.MaxAttempts, "attempts"},
		{"multiplier of a retry", schema.MaxMultiplier, ""},
		{"text of gates that is checked again for outputs of other types", check.MaxJudged, "bytes"},
	}
}
