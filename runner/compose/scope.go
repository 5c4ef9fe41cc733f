package compose

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/plan"
)

// State gives the expressions of one node values from the state of the run. The machine implements
// it.
type State interface {
	// Verdict returns the end of the run, as far as it is known.
	Verdict() Verdict
	// Read returns an attribute of a node's result, or the whole result if attr is "".
	Read(w Which, node int, attr string) value.Value
	// HasInstances reports whether a node is a for_each that has begun.
	HasInstances(w Which, node int) bool
	// Instance returns an attribute of one instance of a for_each, by its index or key. It returns
	// false if there is no such instance yet.
	Instance(w Which, node int, key value.Value, attr string) (value.Value, bool)
	// Own returns the attempts of the node. It returns false before the node's release.
	Own() (Own, bool)
	// OwnOutput returns the output of the node before its end.
	OwnOutput() value.Value
	// HasMembers reports whether a node has an output of which [State.Member] reads a member alone.
	HasMembers(w Which, node int) bool
	// Member returns a member of the output of such a node. It returns false if the output must be
	// read as a whole.
	Member(w Which, node int, key value.Value) (value.Value, bool)
	// Each returns the key and the value of the nearest for_each around the node; false if there is
	// none.
	Each() (key, item value.Value, ok bool)
	// Iteration returns the number of the nearest iteration around the node, from 1; 0 if there is
	// none.
	Iteration() int
	// Counts counts the ends of the node's children or instances so far.
	Counts() Counts
	// Outputs returns the outputs of the node's children or instances so far.
	Outputs() value.Value
}

// Which selects a node, seen from the node of the expression.
type Which uint8

const (
	// Visible is the node of a number, in the same region or in one around it.
	Visible Which = iota
	// LastIteration is the node of a number in the iteration before.
	LastIteration
	// Itself is the node of the expression. The number is ignored.
	Itself
)

// Verdict is the end of a run as expressions read it. The zero value is a run that has just begun.
type Verdict struct {
	Status  event.Status // "" means running
	Failed  []any        // the names of nodes that failed
	Error   *event.Error
	Started event.Time
	Now     event.Time // of the event at hand
	Usage   event.Usage
}

// Own is a node's own attempts as its expressions read them.
type Own struct {
	Attempts int
	Error    *event.Error
	Feedback string
	Recalled []event.Recalled
	Healed   value.Value // what a workflow of the escalation of the node, or of a group around it, has returned
}

// Scope resolves the names in an expression of one node. It computes only values that the expression
// reads.
type Scope struct {
	composer *Composer
	state    State // nil: nothing of the run has happened
	node     int32 // in the graph; plan.None: the workflow's own attributes and outputs
	// Mode selects the meaning of result.
	Mode Mode
	// More is what the mode adds: the value of an input in InGate without a node, the data of an event in InMatch, and Metrics in InRule. It is one field for both, because runs
	// make many scopes.
	More any
	// Failure, if given, is the failed attempt that result, error, attempt and elapsed tell of, in place of the node's own attempts.
	Failure *Failure
	// inputs, if given, stand in for the run's: those of a called run that is about to start.
	inputs map[string]value.Value
}

// Failure is a failed attempt.
type Failure struct {
	Error   *event.Error
	Attempt int
	Elapsed time.Duration // since the first start of the node
	Healed  value.Value   // what a workflow of the escalation has returned; nil: nothing
	// Streams returns what the attempt wrote, as an expression reads it, and its exit code.
	Streams func() (stdout, stderr string, exit int)
}

// read returns a name of a failure; ok is false for other names.
func (f *Failure) read(r ir.Ref) (v value.Value, ok bool) {
	switch r.Root {
	case "result":
		stdout, stderr, exit := f.Streams()
		return readMember(event.FailedResult(stdout, stderr, exit), r.Name+r.Attr), true
	case "error":
		return readObject(f.Error.Object(), r.Name), true
	case "attempt":
		return float64(f.Attempt), true
	case "elapsed":
		return f.Elapsed.Seconds(), true
	case "healed":
		return readMember(f.Healed, r.Name), true
	}
	return nil, false
}

// Mode selects the meaning of the name result.
type Mode uint8

const (
	// Plain has no result.
	Plain Mode = iota
	// InGate is the node before its gates have decided.
	InGate
	// AfterEnd is the node, or the iteration, after its end.
	AfterEnd
	// InJoin is the group so far.
	InJoin
	// InMatch is a wait, or a subscription, that looks at an event: the name event is Scope.More.
	InMatch
	// InRule is a rule of adapt: the name metrics reads Scope.More.
	InRule
	// InItem is about an item of a loop: Scope.More is an [Item].
	InItem
)

// Item is an item of a loop and the agent that takes it.
type Item struct {
	Value  value.Value
	Worker string
}

func (i Item) read(r ir.Ref) value.Value {
	switch r.Root {
	case "item":
		return readMember(i.Value, r.Name)
	case "worker":
		return i.Worker
	}
	return nil
}

// Metrics returns the figure of a name; "" is the object of all figures.
type Metrics func(name string) value.Value

// ScopeAt returns the scope of a node of the graph; plan.None is the scope of the workflow. state
// may be nil: then only var, input, local and run have values.
func (c *Composer) ScopeAt(state State, node int) Scope {
	return Scope{composer: c, state: state, node: int32(node)}
}

// Constants returns a scope without a node and a state. It serves expressions that read only values
// from the beginning of the run: locals, settings of agents, the name of a group of runs.
func (c *Composer) Constants() *Scope {
	s := c.ScopeAt(nil, plan.None)
	return &s
}

// Lookup implements ir.Scope.
func (s *Scope) Lookup(r ir.Ref) (value.Value, error) {
	c := s.composer
	switch r.Root {
	case "var":
		return c.readGiven(r, c.run.Vars)
	case "input":
		if s.inputs != nil {
			return s.inputs[r.Name], nil
		}
		return c.readGiven(r, c.run.Inputs)
	case "local":
		return c.evalLocal(r.Name)
	case "run":
		return s.readRun(r.Name), nil
	case "event":
		if s.Mode == InMatch {
			return s.More, nil
		}
	case "step":
		n := c.graph.Number(r.Name)
		if n == plan.None {
			return nil, fmt.Errorf("no node %q", r.Name)
		}
		if s.state != nil {
			return s.state.Read(Visible, n, r.Attr), nil
		}
	}
	if s.Failure != nil {
		if v, ok := s.Failure.read(r); ok {
			return v, nil
		}
	}
	if s.Mode == InItem {
		return s.More.(Item).read(r), nil
	}
	if s.node == plan.None && s.Mode == InGate && r.Root == "result" {
		return s.readResult(r.Name + r.Attr), nil
	}
	if s.state == nil {
		return nil, nil
	}
	return s.readState(r), nil
}

// readState resolves the names that depend on the node. A name without a value is null.
func (s *Scope) readState(r ir.Ref) value.Value {
	switch r.Root {
	case "previous":
		if p := s.previousNode(); p != plan.None {
			return s.state.Read(Visible, p, r.Name+r.Attr)
		}
	case "last":
		if n := s.composer.graph.Number(r.Name); n != plan.None {
			return s.state.Read(LastIteration, n, r.Attr)
		}
	case "metrics":
		if s.Mode == InRule {
			return s.More.(Metrics)(r.Name)
		}
	case "result":
		return s.readResult(r.Name + r.Attr)
	case "now":
		return s.state.Verdict().Now.String()
	case "each":
		if key, item, ok := s.state.Each(); ok {
			return readEach(r.Name, key, item)
		}
	case "iteration":
		if i := s.state.Iteration(); i > 0 {
			return float64(i)
		}
	case "total", "done", "succeeded", "failed", "skipped":
		if s.Mode == InJoin {
			return s.state.Counts().read(r.Root)
		}
	case "attempt", "feedback", "recalled", "error", "healed":
		return s.readOwn(r)
	}
	return nil
}

// readOwn resolves the names that say how the node's own attempts went.
func (s *Scope) readOwn(r ir.Ref) value.Value {
	own, released := s.state.Own()
	switch r.Root {
	case "attempt":
		if released {
			return float64(own.Attempts)
		}
	case "feedback":
		if own.Feedback != "" {
			return own.Feedback
		}
		if s.node == plan.None {
			return nil
		}
		if said, err := s.composer.Feedback(&s.composer.graph.Nodes[s.node], s); err == nil && said != "" {
			return said
		}
	case "healed":
		return readMember(own.Healed, r.Name)
	case "recalled":
		return readObject(event.RecalledObject(own.Recalled), r.Name)
	case "error":
		return readObject(own.Error.Object(), r.Name)
	}
	return nil
}

// previousNode returns the number of the node before this one in its sequence, or plan.None.
func (s *Scope) previousNode() int {
	if s.node == plan.None {
		return plan.None
	}
	return s.composer.graph.Nodes[s.node].Previous
}

// readResult returns an attribute of the node's own result, for modes that have one.
func (s *Scope) readResult(attr string) value.Value {
	switch {
	case s.Mode == Plain, s.Mode == InMatch, s.Mode == InRule, s.Mode == InItem:
		return nil
	case s.Mode == AfterEnd:
		return s.state.Read(Itself, 0, attr)
	case attr == "":
		return ResultObject(s.readResult)
	case s.node == plan.None && s.Mode == InGate && attr == "output":
		return s.More
	case s.node == plan.None && s.Mode == InGate:
		return (&Result{Status: event.Succeeded}).Attribute(attr)
	case attr == "output" && s.Mode == InJoin:
		return s.state.Outputs()
	case attr == "output":
		return s.state.OwnOutput()
	case attr == "status" && s.Mode == InGate:
		return string(event.Succeeded)
	}
	return s.state.Read(Itself, 0, attr)
}

// readRun returns a member of run, or the whole.
func (s *Scope) readRun(name string) value.Value {
	run := s.composer.run
	switch name {
	case "id":
		return run.Run
	case "workflow":
		return run.Workflow
	case "cause":
		return run.CauseOf().Object()
	}
	var v Verdict
	if s.state != nil {
		v = s.state.Verdict()
	}
	if v.Status == "" {
		v.Status = event.Running
	}
	return readObject(map[string]any{
		"id": run.Run, "workflow": run.Workflow, "status": string(v.Status), "failed": v.Failed,
		"error": objectOrNull(v.Error.Object()), "started_at": v.Started.String(), "usage": v.Usage.Object(),
		"cause": run.CauseOf().Object(),
	}, name)
}

// readGiven returns the value of a variable or an input. Reading a secret is an error.
func (c *Composer) readGiven(r ir.Ref, values map[string]value.Value) (value.Value, error) {
	_, late := c.run.Late[r.Name]
	if c.isSecret(r) || late && r.Root == "input" {
		return nil, fmt.Errorf("%s is sensitive: its value is not part of the run", r)
	}
	return values[r.Name], nil
}

// localValue is the value of a local that was read, or its error.
type localValue struct {
	value value.Value
	err   error
	busy  bool // the value is being computed
}

func (c *Composer) evalLocal(name string) (value.Value, error) {
	l, known := c.locals[name]
	switch {
	case known && l.busy:
		return nil, fmt.Errorf("local %q needs itself", name)
	case known:
		return l.value, l.err
	}
	e := c.graph.Local(name)
	if e == nil {
		return nil, fmt.Errorf("no local %q", name)
	}
	c.locals[name] = localValue{busy: true}
	v, err := c.eval.Eval(e, c.Constants())
	if err != nil {
		err = fmt.Errorf("local %q: %w", name, err)
	}
	c.locals[name] = localValue{value: v, err: err}
	return v, err
}

// findInstances finds the for_each behind a name of outputs or instances, and the attribute; ok is
// false for other names.
func (s *Scope) findInstances(r ir.Ref) (w Which, node int, attr string, ok bool) {
	if s.state == nil {
		return 0, 0, "", false
	}
	switch attr = r.Attr; r.Root {
	case "step":
		node = s.composer.graph.Number(r.Name)
	case "previous":
		node, attr = s.previousNode(), r.Name+r.Attr
	case "result":
		if s.Mode != InJoin && s.Mode != AfterEnd || s.node == plan.None {
			return 0, 0, "", false
		}
		w, attr = Itself, r.Name+r.Attr
	default:
		return 0, 0, "", false
	}
	partial := attr == "output" && w == Itself && s.Mode == InJoin
	return w, node, attr, node != plan.None && (attr == "instances" || partial) && s.state.HasInstances(w, node)
}

// HasMembers implements ir.Members.
func (s *Scope) HasMembers(r ir.Ref) bool {
	if _, _, _, ok := s.findInstances(r); ok {
		return true
	}
	node := s.findOutput(r)
	return node != plan.None && s.state.HasMembers(Visible, node)
}

// findOutput finds the node of which a name reads the output; plan.None for other names.
func (s *Scope) findOutput(r ir.Ref) int {
	switch {
	case s.state == nil:
	case r.Root == "step" && r.Attr == "output":
		return s.composer.graph.Number(r.Name)
	case r.Root == "previous" && r.Name+r.Attr == "output":
		return s.previousNode()
	}
	return plan.None
}

// Member implements ir.Members.
func (s *Scope) Member(r ir.Ref, key value.Value) (value.Value, bool) {
	w, node, attr, ok := s.findInstances(r)
	if !ok {
		if node = s.findOutput(r); node != plan.None && s.state.HasMembers(Visible, node) {
			return s.state.Member(Visible, node, key)
		}
		return nil, false
	}
	if attr == "instances" {
		return s.state.Instance(w, node, key, "")
	}
	if k, number := key.(float64); number && k < 0 {
		return nil, false // a negative index counts from the end of all instances, made or not
	}
	return s.state.Instance(w, node, key, "output")
}

// readObject reads one member of an object, or the whole if name is empty; null if there is no
// object.
func readObject(o map[string]any, name string) value.Value {
	if o == nil {
		return nil
	}
	if name == "" {
		return o
	}
	return o[name]
}

// readMember reads one member of a value that may be an object, or the whole if name is empty.
func readMember(v value.Value, name string) value.Value {
	o, is := v.(map[string]any)
	if name != "" && !is {
		return nil
	}
	if name == "" {
		return v
	}
	return o[name]
}

// readEach reads a member of each, or the whole if name is empty.
func readEach(name string, key, item value.Value) value.Value {
	switch name {
	case "":
		return map[string]any{"key": key, "value": item}
	case "key":
		return key
	case "value":
		return item
	}
	return nil
}

func objectOrNull(o map[string]any) value.Value {
	if o == nil {
		return nil
	}
	return o
}
