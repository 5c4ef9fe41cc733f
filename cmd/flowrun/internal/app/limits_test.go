package app

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/local"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/http"
	"github.com/flowrun/flowrun/runner/executor/protocol"
	"github.com/flowrun/flowrun/runner/executor/recall"
	"github.com/flowrun/flowrun/runner/machine"
	"github.com/flowrun/flowrun/runner/plan"
	"github.com/flowrun/flowrun/runner/policy"
	"github.com/flowrun/flowrun/runner/request"
	"github.com/flowrun/flowrun/runner/shared"
	"github.com/flowrun/flowrun/runner/slots"
)

// TestLimitsAreToldAsTheyAre compares what the reference says with what runs are held to: the language knows nothing of what
// carries runs out, so the numbers stand in two places.
func TestLimitsAreToldAsTheyAre(t *testing.T) {
	for what, pair := range map[string][2]int{
		"depth of calls":          {schema.MaxCallDepth, engine.MaxDepth},
		"calls at once":           {schema.MaxLiveCalls, local.MaxChildren},
		"instances":               {schema.MaxInstances, machine.MaxInstances},
		"iterations":              {schema.MaxIterations, machine.MaxIterations},
		"priority":                {schema.MaxPriority, slots.MostPriority},
		"max_concurrency":         {schema.MaxConcurrency, plan.MaxConcurrency},
		"redirects":               {schema.MaxRedirects, compose.MaxRedirects},
		"body":                    {schema.MaxBody, compose.MaxBody},
		"body, by the host":       {schema.MaxBody, executor.MaxOutput},
		"output":                  {schema.MaxOutput, executor.MaxOutput},
		"streams":                 {schema.MaxStream, machine.MaxStream},
		"streams, by the host":    {schema.MaxStream, executor.MaxInline},
		"values":                  {schema.MaxValue, request.MaxValue},
		"values in scripts":       {schema.MaxScriptValue, request.MaxScriptValue},
		"headers":                 {schema.MaxHeader, http.MaxHeader},
		"an agent's answer":       {schema.MaxAgentAnswer, http.MaxStream},
		"group":                   {schema.MaxGroupName, compose.MaxGroupName},
		"attempts":                {schema.MaxAttempts, policy.MaxAttempts},
		"multiplier":              {schema.MaxMultiplier, policy.MaxMultiplier},
		"recalled":                {schema.MaxRecalled, compose.MaxRecalled},
		"budget of a recall":      {schema.MaxRecallBudget, compose.MaxRecallBudget},
		"a key of kv":             {schema.MaxKVKey, shared.MaxKey},
		"a name of an event":      {schema.MaxEventName, shared.MaxEventName},
		"a hand-over":             {schema.MaxHandoff, shared.MaxItem},
		"priority of work":        {schema.MaxPriority, shared.MaxPriority},
		"priority of a hand-over": {schema.MaxPriority, compose.MaxWorkPriority},
		"title of a hand-over":    {compose.MaxWorkTitle, shared.MaxTitle},
		"a name of a point":       {schema.MaxSyncName, shared.MaxName},
		"parties of a point":      {schema.MaxParties, shared.MaxParties},
		"votes of an approval":    {schema.MaxVotes, compose.MaxVotes},
		"a value of kv":           {schema.MaxKVValue, shared.MaxValue},
		"a namespace":             {schema.MaxNamespace, shared.MaxNamespace},
		"keys of a namespace":     {schema.MaxKVKeys, shared.MaxKeys},
		"limit of a scan":         {schema.MaxKVScanned, shared.MaxScanned},
		"limit, computed":         {schema.MaxKVScanned, compose.MaxScanned},
		"remembered":              {schema.MaxRemembered, compose.MaxRemembered},
		"tags":                    {schema.MaxTags, compose.MaxTags},
		"notes":                   {schema.MaxNotes, protocol.MaxNotes},
		"notes, kept":             {schema.MaxNotes, recall.MaxNotes},
		"learned":                 {schema.MaxLearned, protocol.MaxLearned},
		"retry after":             {schema.MaxRetryAfter, int(policy.MaxRetryAfter / time.Second)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: the reference says %d, and it is %d", what, pair[0], pair[1])
		}
	}
}
