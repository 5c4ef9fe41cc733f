package reference

import (
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/shell"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// Limit is a bound of what a file may say, or of what a run of it may do.
type Limit struct {
	What  string `json:"what"`
	Most  int    `json:"most"`
	Units string `json:"units"`
}

func listLimits() []Limit {
	return []Limit{
		{"a file", syntax.MaxFileBytes, "bytes"},
		{"files of a program", dsl.MaxFiles, "files"},
		{"a line outside of heredocs and comments", syntax.MaxLineBytes, "bytes"},
		{"a heredoc, or a comment", syntax.MaxHeredocBytes, "bytes"},
		{"a block without the blocks inside it", syntax.MaxBlockBytes, "bytes"},
		{"copying to assemble long texts, for each byte of a file of 1 MiB or more", syntax.MaxCopies, "bytes"},
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
		{"a text that an expression returns", expr.MaxStringBytes, "bytes"},
		{"members of a list that a function returns", expr.MaxRange, "members"},
		{"work of one evaluation", expr.MaxSteps, "steps"},
		{"memory of one evaluation", expr.MaxBytes, "bytes"},
		{"JSON of a value", expr.MaxResultBytes, "bytes"},
		{"a script", shell.MaxScript, "bytes"},
		{"values in a script", shell.MaxValues, "values"},
		{"commands inside each other in a script", shell.MaxDepth, "levels"},
		{"one value in a script", limits.MaxScriptValue, "bytes"},
		{"input of an agent or a called run, as JSON", limits.MaxValue, "bytes"},
		{"an output, and the file $FLOWRUN_OUTPUT", limits.MaxOutput, "bytes"},
		{".stdout and .stderr", limits.MaxStream, "bytes"},
		{"max_bytes of an http step: the body of a response", limits.MaxBody, "bytes"},
		{"headers of a response", limits.MaxHeader, "bytes"},
		{"the response of an http agent", limits.MaxAgentAnswer, "bytes"},
		{"follow of an http step", limits.MaxRedirects, "redirects"},
		{"the wait of a response with Retry-After", limits.MaxRetryAfter, "seconds"},
		{"a duration: of a wait, a timeout, a deadline, a delay", int(value.MaxDuration / (24 * time.Hour)), "days"},
		{"instances of a for_each", limits.MaxInstances, "instances"},
		{"max of a repeat", limits.MaxIterations, "iterations"},
		{"levels of calls above a called run", limits.MaxCallDepth, "runs"},
		{"called runs of one run at once; further calls wait", limits.MaxLiveCalls, "runs"},
		{"the name of a concurrency group", limits.MaxGroupName, "bytes"},
		{"priority, positive or negative", limits.MaxPriority, ""},
		{"max_concurrency", limits.MaxConcurrency, "attempts"},
		{"max_attempts", limits.MaxAttempts, "attempts"},
		{"multiplier of a retry", limits.MaxMultiplier, ""},
		{"a key of kv", limits.MaxKVKey, "bytes"},
		{"a value of kv, as JSON", limits.MaxKVValue, "bytes"},
		{"the name of a namespace of kv", limits.MaxNamespace, "bytes"},
		{"keys of a namespace of kv", limits.MaxKVKeys, "keys"},
		{"limit of a scan of kv", limits.MaxKVScanned, "keys"},
		{"k of a recall, and of an agent's memory", limits.MaxRecalled, "entries"},
		{"budget of a recall, and of an agent's memory", limits.MaxRecallBudget, "tokens"},
		{"a text of a remember", limits.MaxRemembered, "bytes"},
		{"tags of a remember", limits.MaxTags, "tags"},
		{"groups of a memory", schema.MaxGroups, "groups"},
		{"notes of an agent in an attempt (lines of type remember)", limits.MaxNotes, "entries"},
		{"learnings beside an agent's result", limits.MaxLearned, "entries"},
		{"text of gates that is checked again for other output types", check.MaxJudged, "bytes"},
	}
}
