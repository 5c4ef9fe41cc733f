package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/value"
)

// requestType is what a reply of a stub can read.
var requestType = value.Object(map[string]value.Type{
	"task": value.StringType, "with": value.AnyType, "feedback": value.StringType, "attempt": value.IntType, "iteration": value.IntType,
	"agent": value.StringType, "inputs": value.AnyType, "handoff": ir.HandoffType,
})

// callType is one request that a stub was asked.
var callType = value.Object(map[string]value.Type{
	"at": value.NumberType, "ended": value.NumberType, "node": value.StringType, "key": value.StringType,
	"task": value.StringType, "with": value.AnyType, "feedback": value.StringType, "attempt": value.IntType, "agent": value.StringType, "handoff": ir.HandoffType,
	"command": value.List(value.StringType), "script": value.StringType, "stdin": value.StringType, "env": value.Map(value.StringType),
	"url": value.StringType, "method": value.StringType, "body": value.StringType,
})

// publishedType is an event that was published.
var publishedType = value.Object(map[string]value.Type{
	"id": value.StringType, "name": value.StringType, "at": value.NumberType, "source": value.StringType, "key": value.StringType, "data": value.AnyType,
})

// toldType is a message that was sent.
var toldType = value.Object(map[string]value.Type{
	"channel": value.StringType, "title": value.StringType, "text": value.StringType, "level": value.StringType, "kind": value.StringType,
	"run": value.StringType, "workflow": value.StringType, "node": value.StringType, "error": errorInRules, "key": value.StringType,
	"data": value.AnyType, "at": value.NumberType, "suppressed": value.IntType, "signature": value.StringType, "decide": value.StringType,
})

// breakerType is how a circuit breaker stands.
var breakerType = value.Object(map[string]value.Type{"state": value.StringType, "failures": value.IntType})

// routineType is how a routine stands.
var routineType = value.Object(map[string]value.Type{"next": value.StringType, "waiting": value.IntType, "started": value.IntType, "missed": value.IntType, "paused": value.BoolType})

// changeType is what a rule of adapt has changed.
var changeType = value.Object(map[string]value.Type{
	"what": {Kind: value.StringT, Enum: []string{"max_concurrency", "workflow"}}, "from": value.AnyType, "to": value.AnyType, "why": value.StringType,
	"node": value.StringType, "rule": value.IntType, "at": value.NumberType,
})

// What waits for people, and a decision that was refused.
var (
	inboxType = value.Object(map[string]value.Type{
		"kind": value.StringType, "run": value.StringType, "node": value.StringType, "plain": value.StringType, "agent": value.StringType, "name": value.StringType, "words": value.List(value.StringType), "since": value.NumberType,
		"until": value.NumberType.OrNull(), "prompt": value.StringType, "show": value.AnyType, "shown": value.StringType,
		"approvers": value.List(value.StringType), "votes": value.List(value.AnyType), "quorum": value.IntType,
	})
	refusedType = value.Object(map[string]value.Type{
		"run": value.StringType, "node": value.StringType, "word": value.StringType, "by": value.StringType, "at": value.NumberType,
		"why": value.StringType, "message": value.StringType,
	})
	refusedEventType = value.Object(map[string]value.Type{
		"name": value.StringType, "at": value.NumberType, "from": value.StringType, "why": value.StringType, "message": value.StringType, "more": value.IntType,
	})
)

// deadType is what was given up.
var deadType = value.Object(map[string]value.Type{
	"id": value.StringType, "kind": value.StringType, "workflow": value.StringType, "run": value.StringType, "node": value.StringType,
	"channel": value.StringType, "message": value.AnyType, "times": value.IntType, "at": value.NumberType, "last": value.NumberType,
	"error":    value.Object(map[string]value.Type{"kind": value.StringType, "reason": value.StringType, "message": value.StringType}),
	"redrives": value.List(value.Object(map[string]value.Type{"by": value.StringType, "at": value.NumberType})),
})

// claimType is who has an item.
var claimType = value.Object(map[string]value.Type{
	"item": value.StringType, "state": value.Type{Kind: value.StringT, Enum: []string{"open", "held", "parked", "closed", "dead"}}, "token": value.IntType,
	"loop": value.StringType, "agent": value.StringType, "run": value.StringType, "until": value.NumberType.OrNull(), "failures": value.IntType, "lost": value.IntType,
})

// workType is work in a queue of the store.
var workType = func() value.Type {
	attrs := maps.Clone(ir.ItemType.Attrs)
	delete(attrs, "source")
	delete(attrs, "url")
	delete(attrs, "data")
	attrs["created_at"], attrs["by"], attrs["claim"] = value.NumberType, value.StringType, claimType.OrNull()
	attrs["agents"] = value.List(value.StringType).OrNull()
	attrs["state"] = value.Type{Kind: value.StringT, Enum: []string{"open", "held", "parked", "dead", "closed", "cancelled"}}
	return value.Object(attrs)
}()

// testRunType is the run as a test sees it.
func testRunType(w *Workflow) value.Type {
	attrs := maps.Clone(runType.Attrs)
	attrs["error"] = errorInRules
	attrs["outputs"] = always(w.outputType())
	attrs["warnings"], attrs["degraded"], attrs["cause"] = value.List(value.StringType), value.List(value.StringType), always(causeType)
	return value.Object(attrs)
}

// always is a type without null, on all levels: a condition of a test says what must be there, and where it is not the test fails.
func always(t value.Type) value.Type {
	if t.IsAny() || t.Kind == value.Null {
		return t
	}
	t.Nullable, t.Optional = false, false
	if t.Elem != nil {
		e := always(*t.Elem)
		t.Elem = &e
	}
	if t.Elems != nil {
		elems := make([]value.Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = always(e)
		}
		t.Elems = elems
	}
	if t.Attrs != nil {
		attrs := make(map[string]value.Type, len(t.Attrs))
		for name, a := range t.Attrs { // any order: each for itself
			attrs[name] = always(a)
		}
		t.Attrs = attrs
	}
	return t
}

// requestEnv is for the replies of stubs.
func (c *testChecker) requestEnv() *expr.Env {
	env := c.fixedEnv()
	for _, name := range schema.Roots {
		env.Hidden[name] = "A reply can only read  request: its task, with, feedback, attempt, iteration, agent, handoff and inputs."
	}
	env.Roots = roots{"request": root("request", requestType)}
	return env
}

// Why a name of the language cannot be read in a condition of a test.
const notInTest = "A test reads run, step.NAME, node[\"PATH\"], input.NAME, calls.NAME, max_at_once.NAME, max_in_use.NAME, breakers.NAME, routines.NAME, runs.NAME, path, elapsed, live and before('A', 'B'), and in a test of a loop  loop, or loops.NAME of several, and agents.NAME."

// names is for the conditions of the test at hand. Tests whose runs have the same workflows share it.
func (c *testChecker) names() *expr.Env {
	w, key := c.workflow, ""
	if c.runs.severalOrNone() {
		key = "start "
	}
	key += c.runs.loopNames()
	for _, of := range c.runs.workflows {
		key += of.Name + " "
	}
	if env := c.envs[key]; env != nil {
		return env
	}
	env := c.fixedEnv()
	env.Hidden = map[string]string{}
	for _, name := range schema.Roots {
		env.Hidden[name] = notInTest
	}
	for _, p := range schema.AllPlanned() {
		if p.Name != "" && p.Block == "test" {
			env.Hidden[p.Name] = "It is planned, and not in this release. Until then: " + p.Instead
		}
	}
	steps, hidden := c.stepsOf(w)
	calls, counts := map[string]value.Type{}, map[string]value.Type{}
	asked := func(name string) { calls[name], counts[name] = value.List(callType), value.IntType }
	for name := range c.agents { // any order: each for itself
		asked(name)
	}
	for name := range c.gates { // any order: each for itself
		asked(name)
	}
	for name := range c.workflows { // any order: each for itself
		counts[name], counts["workflow."+name] = value.IntType, value.IntType
	}
	for _, p := range c.places() {
		if asked(p.path); p.path != p.node.Name {
			asked(p.node.Name)
		}
		for _, g := range gateNames(p.node) {
			asked(p.path + "/" + g)
		}
		if p.node.Inner("compensate") != nil {
			asked(p.path + compensation)
		}
		for _, g := range p.node.Gates {
			asked(g.Name)
		}
	}
	breakers, units := map[string]value.Type{}, map[string]value.Type{}
	for name, a := range c.agents { // any order: each for itself
		if a.Inner("circuit_breaker") != nil {
			breakers[name] = breakerType
		}
	}
	for name, q := range c.quotas { // any order: each for itself
		if q.Inner("circuit_breaker") != nil {
			breakers[name] = breakerType
		}
		if q.attr("capacity") != nil {
			units[name] = value.IntType
		}
	}
	routines := map[string]value.Type{}
	for _, b := range c.program.Routines {
		routines[b.Name] = routineType
	}
	decl := func(n string) diag.Range {
		if node := w.ByName[n]; node != nil {
			return nameRange(node.Block)
		}
		return diag.Range{}
	}
	resolve := func(path string) (value.Type, *expr.NoName) {
		p, missing := c.findOne(path)
		if missing != nil {
			return value.AnyType, missing
		}
		c.named[path] = p.whole(path)
		if keyed().MatchString(path) || p.node.attr("for_each") == nil {
			return always(resultType(p.node.output, value.StringType, nullType, nullType)), nil
		}
		return always(p.in.resultFor(p.node, nil)), nil
	}
	// of gives the type of what is known of a name; an instance has it, too.
	of := func(known map[string]value.Type, t value.Type) func(string) (value.Type, *expr.NoName) {
		return func(name string) (value.Type, *expr.NoName) {
			plain := keyed().ReplaceAllString(name, "")
			if run, inside := c.runs.split(plain); run != nil {
				plain = inside
			}
			if _, is := known[plain]; is {
				return t, nil
			}
			if near := c.nearestOf(name, func() []string { return slices.Sorted(maps.Keys(known)) }); near != "" {
				return t, &expr.NoName{Detail: fmt.Sprintf("Did you mean %q?", near)}
			}
			return t, &expr.NoName{Detail: "The program has no such name."}
		}
	}
	stored := func(key string) (value.Type, *expr.NoName) { return value.AnyType, storeKey(key) }
	env.Roots = roots{
		"run":   root("run", testRunType(w)),
		"step":  {What: "step", Names: steps, Hidden: hidden, Absent: absentAttrs, Decl: decl},
		"node":  {What: "node", Resolve: resolve, Absent: absentAttrs},
		"input": {What: "input", Names: inputsOf(w)},
		"calls": {What: "agent, step or gate", Names: calls, Resolve: of(calls, value.List(callType))}, "max_at_once": {What: "agent, step, gate or workflow", Names: counts, Resolve: of(counts, value.IntType)},
		"max_in_use": {What: "quota with a capacity", Names: units},
		"breakers":   {What: "agent or quota with a circuit_breaker", Names: breakers},
		"routines":   {What: "routine", Names: routines},
		"path":       root("path", value.List(value.StringType)), "elapsed": root("elapsed", value.NumberType), "live": root("live", value.IntType),
		"before": {What: "node", Type: value.BoolType, Resolve: resolve},
		"runs":   c.runsRoot(),
		"events": root("events", value.List(publishedType)), "notifications": root("notifications", value.List(toldType)), "dlq": root("dlq", value.List(deadType)),
		"dispatches": root("dispatches", value.List(workType)), "tickets": root("tickets", value.List(workType)), "claims": root("claims", value.List(claimType)),
		"changes": root("changes", value.List(changeType)),
		"inbox":   root("inbox", value.List(always(inboxType))), "refused_decisions": root("refused_decisions", value.List(refusedType)),
		"refused_events": root("refused_events", value.List(refusedEventType)),
		"kv":             {What: "key", Resolve: stored},
	}
	for name := range env.Roots { // any order: each for itself
		delete(env.Hidden, name)
	}
	c.hideRun(env)
	c.loopRoots(env)
	c.envs[key] = env
	return env
}

// manyTimes is the outermost group around a node, without the node itself, that makes instances; nil if there is none.
func (n *Node) manyTimes() (many *Node) {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.attr("for_each") != nil {
			many = p
		}
	}
	return many
}

// shownInstance is the path of a node in the first instances of the groups around it.
func shownInstance(n, many *Node) string {
	path := n.Name
	for p := n.Parent; p != nil; p = p.Parent {
		name := p.Name
		if p.attr("for_each") != nil {
			name += "[0]"
		}
		path = name + "/" + path
	}
	return path
}

// TestNames are what conditions of tests can read, with their types, for documentation.
func TestNames() value.Type {
	return value.Object(map[string]value.Type{
		"run": value.Object(nil), "step": value.Object(nil), "node": value.Object(nil), "input": value.Object(nil),
		"runs": value.List(value.AnyType), "calls": value.List(value.AnyType), "max_at_once": value.IntType, "path": value.List(value.StringType),
		"before": value.BoolType, "events": value.List(value.AnyType), "inbox": value.List(value.AnyType), "refused_decisions": value.List(value.AnyType), "refused_events": value.List(value.AnyType),
		"notifications": value.List(value.AnyType), "dlq": value.List(value.AnyType), "dispatches": value.List(value.AnyType), "tickets": value.List(value.AnyType), "claims": value.List(value.AnyType),
		"max_in_use": value.IntType, "breakers": breakerType, "routines": routineType, "kv": value.AnyType, "elapsed": value.NumberType, "live": value.IntType,
		"loop": loopType, "loops": loopType, "agents": workerType,
	})
}

// CallType is the type of one member of calls.NAME.
func CallType() value.Type { return callType }

// RequestType is the type of request.
func RequestType() value.Type { return requestType }
