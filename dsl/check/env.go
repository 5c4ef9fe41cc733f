package check

import (
	"maps"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

type roots map[string]*expr.Root

// where says what kind of place an expression stands in: it decides which names can be read there.
type where int

const (
	inWorkflow   where = iota // attributes of a workflow
	inOutput                  // its outputs
	once                      // attributes of a node that are evaluated once, in the scope around it: for_each, max_concurrency
	inWhen                    // a node's condition
	inJoin                    // its join
	atStart                   // evaluated once for an instance, before its iterations: require, priority, deadline, repeat
	inUntil                   // repeat.until
	inMatch                   // match of a wait for an event
	perNode                   // evaluated once for an iteration: timeout, value, wait
	inResult                  // value and winner of a group
	inDegrade                 // degrade.output
	inCompensate              // attributes of compensate
	perAttempt                // evaluated for each attempt: run, stdin, task, with, env, dir
	inRetry                   // retry.when
	inClassify                // classify.when
	inGate                    // a gate's attributes
)

// Types of the names that every run has.
var (
	errorType = value.Object(map[string]value.Type{
		"kind": value.StringType, "reason": value.StringType, "message": value.StringType, "status": value.IntType.OrNull(),
		"exit_code": value.IntType, "signal": value.StringType.OrNull(), "gate": value.StringType.OrNull(),
		"node": value.StringType.OrNull(), "attempt": value.IntType.OrNull(), "retry_after": value.NumberType.OrNull(),
	})
	// errorInRules is the error that a rule like retry.when selects by. What it does not have is null there too, but a rule
	// that reads null matches nothing and is not a fault, so its members are not checked for it.
	errorInRules = plainMembers(errorType)
	// failedType is the type of result in rules about a failed attempt.
	failedType = value.Object(map[string]value.Type{"exit_code": value.IntType, "stdout": value.StringType, "stderr": value.StringType})
	statusType = value.Type{Kind: value.StringT, Enum: schema.Statuses}
	runType    = value.Object(map[string]value.Type{
		"id": value.StringType, "workflow": value.StringType, "started_at": value.StringType,
		"status": statusType, "failed": value.List(value.StringType), "error": errorType.OrNull(), "usage": usageType,
		"cause": causeType,
	})
	causeType = value.Object(map[string]value.Type{
		"kind": {Kind: value.StringT, Enum: schema.CauseKinds}, "name": value.StringType.OrNull(), "id": value.StringType.OrNull(), "source": value.StringType.OrNull(),
		"at": value.StringType.OrNull(), "scheduled_at": value.StringType.OrNull(), "depth": value.IntType,
		"worktree": value.StringType.OrNull(), "branch": value.StringType.OrNull(),
	})
	usageType = value.Object(map[string]value.Type{
		"attempts": value.IntType, "input_tokens": value.IntType, "output_tokens": value.IntType, "tokens": value.IntType, "cost_usd": value.NumberType,
	})
)

// plainMembers is an object type whose members are never null.
func plainMembers(t value.Type) value.Type {
	attrs := maps.Clone(t.Attrs)
	for _, name := range t.Names() {
		a := attrs[name]
		a.Nullable = false
		attrs[name] = a
	}
	return value.Object(attrs)
}

// ended hides what is known of a run at its end from all but its outputs, its compensations and finally.
var ended = map[string]string{"status": notEnded, "failed": notEnded, "error": notEnded}

// Why a name of the language cannot be read in a place.
const (
	notEach         = "each is the member of a for_each instance, and this place is not inside a for_each."
	notPrevious     = "previous is the result of the previous node in a sequence; this is not a node of a sequence."
	notAttempt      = "attempt is available in values that are evaluated for each attempt: run, stdin, task, with, env, dir, gates and retry."
	notResult       = "result is the result that a gate judges, or what a failed attempt has left. Gates, retry.when, and rules of classify and escalation can read it. For the result of a step, read step.NAME."
	notError        = "error is the error of the previous attempt; run, stdin, task, with, env, dir, gates and retry can read it. The error of another node is step.NAME.error."
	notInAllRetries = "This retry applies to all nodes of the workflow. If it reads a step, put it into the node."
	notInAllRules   = "This rule applies to all nodes of the workflow. If it reads a step, put it into the node."
	notHealed       = "healed is the output of a healing workflow, for the next attempt of a node. The node, or a group around it, needs  escalate = escalation.NAME,  and a level with  workflow = workflow.NAME."
	notElapsed      = "elapsed is the number of seconds since the node started; only conditions of retry, classify and escalation can read it."
	notStep         = "This is evaluated before any step has a result."
	notInput        = "Inputs belong to a workflow, and this is outside any workflow. Use a variable (var.NAME), or move it into the workflow."
	notRun          = "This is evaluated before a run exists."
	notIteration    = "iteration counts from 1 inside a repeat, and this place is not inside a repeat."
	notInWhen       = "when is evaluated before the iterations of the node. Read iteration in the action of the node, or in until; inside a repeated group, put it into a step (value = iteration) and read that step's output."
	notLast         = "last is the previous iteration of a repeat, and this place is not inside a repeat."
	notCounted      = "Only join can read the counts of a join. For the counts of a for_each, read step.NAME.counts."
	notFeedback     = "feedback is the message of a gate with on_fail = \"retry\" for the next attempt, or the attribute feedback of the step. run, stdin, task, with, env and dir of a step with one of the two can read it."
	notRecalled     = "recalled has the memory entries for an attempt of an agent; gates, retry, until, degrade and compensate of the step can read it. To search the memory in a step, write  recall { query = … }."
	notNow          = "Only attributes of nodes and outputs can read now. The start of the run is run.started_at."
	notEvent        = "event is the data of an event; match of a wait for an event, and when and with of an  on  block can read it. The data that a step received is its output: step.NAME.output."
	notRound        = "product and review are the results of a round of a feedback; accept and value of the feedback can read them."
	notEnded        = "It is available at the end of the run: outputs of the workflow, finally and compensate can read it. For the status of a node, read step.NAME.status."
	notPicked       = "It is the name of the winner. It is null, except for a group with the attribute winner, and for a parallel or for_each with the join \"any\" or \"first_success\"."
	notRepeated     = "It counts the iterations of a repeat, and is null for a node without one."
	notLocal        = "Values are validated before locals are computed. Read var or input."
	notFixed        = "It must be a literal, because it is read before everything else."
)

func root(what string, t value.Type) *expr.Root { return &expr.Root{What: what, Type: t} }

// failureRoots are the names of a failed attempt, for conditions that sort failures.
func failureRoots() roots {
	return roots{"error": root("error", errorInRules), "attempt": root("attempt", value.IntType), "elapsed": root("elapsed", value.NumberType),
		"result": root("result", failedType)}
}

func resultRoot(what string, t value.Type) *expr.Root {
	return &expr.Root{What: what, Type: t, Absent: absentAttrs}
}

// makeGlobals builds the roots that all workflows share. Types of locals are filled in as they become known.
func (c *checker) makeGlobals() {
	places := map[string]diag.Range{}
	for _, v := range c.program.Variables {
		places[v.Name] = nameRange(v.Block)
	}
	locals := map[string]value.Type{}
	for n := range c.locals { // any order: each for itself
		locals[n] = value.AnyType
	}
	c.global = roots{
		"var": {What: "variable", Names: c.vars, Secret: secrets(c.program.Variables), Used: map[string]bool{}, Decl: func(n string) diag.Range { return places[n] }},
		"local": {What: "local", Names: locals, Secret: map[string]bool{}, Used: map[string]bool{}, Fixed: map[string]value.Value{}, Decl: func(n string) diag.Range {
			if a := c.locals[n]; a != nil {
				return a.Src.Range
			}
			return diag.Range{}
		}},
	}
}

// env makes an environment of the global roots and more; all other roots of the language are hidden.
func (c *checker) env(more roots, why map[string]string) *expr.Env {
	e := &expr.Env{Roots: roots{}, File: c.reader(), Work: &c.work, Hidden: map[string]string{
		"input": notInput, "step": notStep, "each": notEach, "run": notRun, "attempt": notAttempt, "iteration": notIteration,
		"previous": notPrevious, "last": notLast, "result": notResult, "error": notError, "feedback": notFeedback, "recalled": notRecalled, "event": notEvent,
		"elapsed": notElapsed, "healed": notHealed, "metrics": notMetrics, "now": notNow, "item": notItem, "worker": notWorker,
	}}
	for _, name := range counts {
		e.Hidden[name] = notCounted
	}
	for _, name := range []string{"product", "review"} {
		e.Hidden[name] = notRound
	}
	for _, p := range schema.AllPlanned() {
		if p.Name != "" && p.Block == "" {
			e.Hidden[p.Name] = "It is planned, and not in this release. Until then: " + p.Instead
		}
	}
	for _, rs := range []roots{c.global, more} {
		for n, r := range rs { // any order: each for itself
			e.Roots[n] = r
			delete(e.Hidden, n)
		}
	}
	for n, s := range why { // any order: each for itself
		if e.Roots[n] == nil {
			e.Hidden[n] = s
		}
	}
	return e
}

// gateEnv is for gates at the top.
func (c *checker) gateEnv() *expr.Env {
	return c.gateEnvOf(resultType(value.AnyType, value.AnyType, nullType, nullType))
}

// gateEnvOf is for gates at the top that judge a result of a known type.
func (c *checker) gateEnvOf(result value.Type) *expr.Env {
	return c.env(roots{"result": resultRoot("result", result), "recalled": root("recalled", recalledType)},
		map[string]string{"step": "All steps share a gate at the top of the file. Move the gate into the step to read other steps.", "input": "All workflows share a gate at the top of the file. Move the gate into the step to read inputs."})
}

// envKey tells apart the environments of a workflow. Places that may read the same share one.
type envKey struct {
	where where
	whole bool     // of the workflow itself, not of a node
	each  *Node    // whose for_each gives each
	prev  *Node    // the sibling before
	first bool     // the first of a sequence: previous is null
	self  *Node    // whose result a gate judges, or who sees other nodes in its own way
	round *Node    // whose iteration counts
	final bool     // in finally
	said  bool     // a gate can have said something to the next attempt
	heals *healing // the workflows that can have healed the node
}

// ofOne reports whether no other node has this environment. Such environments are kept only until the next node asks.
func (k envKey) ofOne() bool { return k.prev != nil || k.self != nil }

// forget drops the environments of a workflow: all of them, or those that were made while some types were not known.
func (w *Workflow) forget() {
	w.envs, w.rounds = map[envKey]*expr.Env{}, map[*Node]*expr.Root{}
	w.own, w.ownOf = nil, nil
}

// envAt returns the environment of a place in a node; n is nil for the workflow itself.
func (c *checker) envAt(w *Workflow, n *Node, at where) *expr.Env {
	k := envKey{where: at, whole: n == nil}
	if n != nil {
		k.each = eachOf(n, at == once || at == inJoin && n.attr("for_each") != nil)
		k.final = n.final
		k.said = at >= perAttempt && (n.attr("feedback") != nil || c.retries(n))
		if at >= perNode {
			k.heals = c.healing(n)
		}
		k.round = repeatOf(n, at <= atStart || at == inDegrade)
		k.prev = n.Before
		k.first = n.Before == nil && n.Parent != nil && n.Parent.Schema.Kind == "sequence"
		if at == inGate || at == inUntil || at == inJoin || at == inResult || at == inCompensate || at == inMatch || n.seesOwn(at) {
			k.self = n
		}
	}
	if k.ofOne() && w.ownOf != n {
		w.own, w.ownOf = map[envKey]*expr.Env{}, n
	}
	envs := w.envs
	if k.ofOne() {
		envs = w.own
	}
	if e := envs[k]; e != nil {
		return e
	}
	more := roots{"input": w.roots["input"], "run": w.roots["run"]}
	if at == inOutput || at == inCompensate || k.final {
		more["run"] = root("run", runType)
	}
	if n != nil || at == inOutput {
		more["now"] = root("now", value.StringType)
	}
	if at != inWorkflow && (n != nil || at == inOutput) {
		more["step"] = w.steps(n, at)
	}
	if k.each != nil {
		more["each"] = root("each", eachType(k.each))
	}
	switch {
	case k.prev != nil:
		more["previous"] = resultRoot("previous", w.resultFor(k.prev, n))
	case k.first:
		more["previous"] = resultRoot("previous", anyResult.OrNull())
	}
	if k.round != nil {
		if at != inWhen {
			more["iteration"] = root("iteration", value.IntType)
		}
		more["last"] = w.last(k.round)
	}
	if k.said {
		more["feedback"] = root("feedback", value.StringType.OrNull())
	}
	if k.heals != nil {
		more["healed"] = root("healed", healedType(k.heals.by).OrNull())
	}
	if at >= perAttempt {
		more["attempt"] = root("attempt", value.IntType)
		more["error"] = root("error", errorType.OrNull())
	}
	if at == inRetry || at == inClassify || at == inGate || at == inUntil || at == inDegrade || at == inCompensate {
		more["recalled"] = root("recalled", recalledType)
	}
	switch at {
	case inRetry, inClassify:
		maps.Copy(more, failureRoots())
	case inMatch:
		more["event"] = root("event", n.Inner("wait").eventData())
	case inGate:
		more["result"] = resultRoot("result", n.judged())
	case inUntil:
		// What is null only because the iteration may have failed is not a fault: then the until cannot be computed, and says so.
		more["result"] = resultRoot("result", n.judged())
	case inCompensate:
		more["result"] = resultRoot("result", uncertain(n.judged()))
	case inJoin:
		maps.Copy(more, joinRoots(n.joinedResult()))
	case inDegrade:
		more["attempt"], more["error"] = root("attempt", value.IntType), root("error", errorType)
	}
	why := map[string]string{"step": "An attribute of the workflow is evaluated before any step has run."}
	if at == inRetry {
		why["step"] = notInAllRetries
	}
	if at == inClassify {
		why["step"] = notInAllRules
	}
	if at == inWhen {
		why["iteration"] = notInWhen
	}
	e := c.env(more, why)
	envs[k] = e
	return e
}
